"""Intervals for the difference of two failure rates, with and without pairs.

R. G. Newcombe, Statistics in Medicine 17 (1998): method 10 for paired data (2635-2650) and for independent data
(873-890). Both are built from Wilson intervals of the two rates and stay inside [-1, 1] for small numbers.
"""

from __future__ import annotations

import math

from trajdiff.reliability.intervals import LEVEL, wilson
from trajdiff.reliability.quantiles import normal_quantile


def paired_interval(
    both: int, only_a: int, only_b: int, neither: int, level: float = LEVEL
) -> tuple[float, float]:
    """The interval of rate a minus rate b over pairs: both happened, only a, only b, neither.

    Raises ``ValueError`` without pairs.
    """
    n = both + only_a + only_b + neither
    if n < 1:
        raise ValueError("no pairs")
    z = normal_quantile(level)
    a, b = (both + only_a) / n, (both + only_b) / n
    (low_a, high_a), (low_b, high_b) = wilson(a, n, z), wilson(b, n, z)
    phi = _correlation(both, only_a, only_b, neither)
    down = _root((a - low_a) ** 2 - 2 * phi * (a - low_a) * (high_b - b) + (high_b - b) ** 2)
    up = _root((high_a - a) ** 2 - 2 * phi * (high_a - a) * (b - low_b) + (b - low_b) ** 2)
    return max(a - b - down, -1.0), min(a - b + up, 1.0)


def independent_interval(
    failures_a: int, n_a: int, failures_b: int, n_b: int, level: float = LEVEL
) -> tuple[float, float]:
    """The same for two groups without pairs. Raises ``ValueError`` for an empty group."""
    if n_a < 1 or n_b < 1:
        raise ValueError("an empty group")
    z = normal_quantile(level)
    a, b = failures_a / n_a, failures_b / n_b
    (low_a, high_a), (low_b, high_b) = wilson(a, n_a, z), wilson(b, n_b, z)
    down, up = math.hypot(a - low_a, high_b - b), math.hypot(high_a - a, b - low_b)
    return max(a - b - down, -1.0), min(a - b + up, 1.0)


def _correlation(both: int, only_a: int, only_b: int, neither: int) -> float:
    """The phi coefficient, with Newcombe's correction where it is positive; 0 where a margin is 0."""
    n = both + only_a + only_b + neither
    margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    if margins == 0:
        return 0.0
    product = both * neither - only_a * only_b
    if product > n / 2:
        product_corrected = product - n / 2
    elif product >= 0:
        product_corrected = 0.0
    else:
        product_corrected = float(product)
    return product_corrected / math.sqrt(margins)


def _root(square: float) -> float:
    return math.sqrt(max(square, 0.0))
