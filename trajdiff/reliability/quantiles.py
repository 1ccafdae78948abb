"""Quantiles of the two distributions behind every interval. SciPy is imported where it is asked."""

from __future__ import annotations

from functools import cache
from statistics import NormalDist


@cache
def normal_quantile(level: float) -> float:
    """The z that a standard normal variable stays within with probability ``level``: 1.96 at 0.95."""
    return NormalDist().inv_cdf((1 + level) / 2)


@cache
def t_quantile(level: float, degrees: int) -> float:
    """The same for Student's t with ``degrees`` degrees of freedom."""
    from scipy.special import stdtrit  # type: ignore[import-untyped]

    return float(stdtrit(degrees, (1 + level) / 2))
