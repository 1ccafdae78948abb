"""The quantiles behind every interval, against SciPy's."""

from __future__ import annotations

import pytest
from scipy.special import ndtri, stdtrit  # type: ignore[import-untyped]

from trajdiff.reliability.quantiles import normal_quantile, t_quantile

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)


@pytest.mark.parametrize("level", LEVELS)
def test_student_is_that_of_scipy(level: float) -> None:
    for degrees in (*range(1, 130), 255, 500, 998, 999, 1_000, 1_001, 5_000, 100_001):
        expected = float(stdtrit(degrees, (1 + level) / 2))
        assert t_quantile(level, degrees) == pytest.approx(expected, rel=2e-11 if degrees > 10_000 else 1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_normal_is_that_of_scipy(level: float) -> None:
    assert normal_quantile(level) == pytest.approx(float(ndtri((1 + level) / 2)), rel=1e-12)
