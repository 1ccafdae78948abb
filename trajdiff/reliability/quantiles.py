"""Quantiles of the two distributions behind every interval, worked out here: loading SciPy for one number of a
report would take longer than a small report. Tests hold them to SciPy's answers.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

#: Newton's steps at most: from the series two or three are enough, with few degrees of freedom some more.
_STEPS = 60
#: Degrees of freedom from which the series alone is exact to the last digits.
_MANY = 1_000


@cache
def normal_quantile(level: float) -> float:
    """The z that a standard normal variable stays within with probability ``level``: 1.96 at 0.95."""
    return NormalDist().inv_cdf((1 + level) / 2)


@cache
def t_quantile(level: float, degrees: int) -> float:
    """The same for Student's t with ``degrees`` degrees of freedom (1 or more), ``level`` below 1."""
    if degrees == 1:
        return math.tan(math.pi * level / 2)
    if degrees == 2:
        return level * math.sqrt(2 / ((1 - level) * (1 + level)))
    found = _series(normal_quantile(level), degrees)
    for _ in range(_STEPS if degrees < _MANY else 0):
        step = (level - _within(found, degrees)) / (2 * _density(found, degrees))
        found += step
        if abs(step) <= 1e-15 * found:
            break
    return found


def _series(z: float, degrees: int) -> float:
    """Student's quantile from the normal one (Abramowitz and Stegun 26.7.5)."""
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return math.fsum(term / float(degrees) ** power for power, term in enumerate(terms))


def _within(t: float, degrees: int) -> float:
    """The probability of staying within ``t``: a finite sum for whole degrees (Abramowitz and Stegun 26.7.3,
    26.7.4)."""
    angle = math.atan2(t, math.sqrt(degrees))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = degrees % 2
    term = cosine if odd else 1.0
    terms = [term]
    for number in range(2 + odd, degrees - 1, 2):
        term *= cosine * cosine * (number - 1) / number
        terms.append(term)
    total = math.fsum(terms) * sine
    return 2 / math.pi * (angle + total) if odd else total


def _density(t: float, degrees: int) -> float:
    constant = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)
    return math.exp(constant - (degrees + 1) / 2 * math.log1p(t * t / degrees)) / math.sqrt(degrees * math.pi)
