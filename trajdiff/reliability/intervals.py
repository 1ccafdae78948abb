"""Intervals of one task and of a suite: Wilson on an effective number of tasks.

The suite's interval speaks of new tasks drawn like these, with the same trials per task. Tasks (or families
of tasks) are the units, never trials: the variation between trials is already in the value of each task.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

from trajdiff.errors import UsageError
from trajdiff.reliability.pass_k import InvalidCountsError
from trajdiff.reliability.quantiles import normal_quantile, t_quantile

#: Coverage of every interval, fixed in advance.
LEVEL = 0.95
#: Below this many units an interval is marked ``few tasks``.
FEW_TASKS = 10


class SuiteInterval(Struct, frozen=True, kw_only=True):
    """Interval of one figure over tasks.

    ``stderr`` is over tasks; ``n_eff`` the effective number of tasks; ``units`` the tasks, or with
    ``families`` those that the tasks belong to; ``branch`` is ``t``, or ``all_equal`` where no task differs;
    ``capped`` says that an end was moved to what ``units`` all-pass or all-fail tasks can show.
    """

    estimate: float
    stderr: float
    low: float
    high: float
    n_eff: float
    units: int
    branch: str
    capped: bool
    level: float = LEVEL
    families: bool = False

    @property
    def unit(self) -> str:
        """What was drawn: ``task`` or ``family``."""
        return "family" if self.families else "task"

    @property
    def few_tasks(self) -> bool:
        """Whether there are fewer units than an interval should rest on."""
        return self.units < FEW_TASKS


def wilson(p: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson score interval of a share ``p`` of ``n`` (which may be fractional), inside [0, 1]."""
    square = quantile * quantile
    middle = p + square / (2 * n)
    half = quantile * math.sqrt(p * (1 - p) / n + square / (4 * n * n))
    scale = 1 + square / n
    # Rounding may leave 1e-17 where the end is exactly 0 or 1.
    low = 0.0 if p == 0 else max((middle - half) / scale, 0.0)
    high = 1.0 if p == 1 else min((middle + half) / scale, 1.0)
    return low, high


def task_interval(n: int, c: int, level: float = LEVEL) -> tuple[float, float]:
    """Wilson interval of c accepted of n trials of one task. Raises ``InvalidCountsError``."""
    if n < 1 or not 0 <= c <= n:
        raise InvalidCountsError(f"{c} accepted of {n} counted trials")
    return wilson(c / n, n, normal_quantile(level))


def suite_interval(
    values: Sequence[Fraction],
    trials: int,
    *,
    families: Sequence[str] | None = None,
    weights: Sequence[Fraction] | None = None,
    level: float = LEVEL,
) -> SuiteInterval | None:
    """The headline interval of the mean of ``values``, one exact value per task.

    ``trials`` counts the trials behind all values: the effective number of tasks never exceeds it.
    ``families`` names the family of each task, ``weights`` gives each a weight (not both: ``UsageError``).
    None where there are fewer than two units; then there is no interval to show.
    """
    if families is not None and weights is not None:
        raise UsageError("weights and families together are not supported")
    units = len(values) if families is None else len(set(families))
    if units < 2:
        return None
    mean = weighted_mean(values, weights)
    square = _square(values, mean, families, weights)
    size = kish(weights) if weights is not None else Fraction(units)
    return interval_of(
        mean, square, units=units, size=float(size), trials=trials, level=level, families=families is not None
    )


def interval_of(
    mean: Fraction,
    square: Fraction,
    *,
    units: int,
    size: float,
    trials: int,
    level: float = LEVEL,
    families: bool = False,
) -> SuiteInterval:
    """The headline interval of an estimate with a given squared standard error.

    ``units`` (two or more) are what was drawn, ``size`` their effective number.
    """
    if square == 0:
        n_eff, crit = size, normal_quantile(level)
    else:
        n_eff = float(min(max(mean * (1 - mean) / square, Fraction(1)), Fraction(trials)))
        crit = t_quantile(level, units - 1)
    low, high = wilson(float(mean), n_eff, crit)
    cap = highest_lower_end(size, level)
    capped = square != 0 and (low > cap or high < 1 - cap)
    return SuiteInterval(
        estimate=float(mean),
        stderr=math.sqrt(square),
        low=min(low, cap),
        high=max(high, 1 - cap),
        n_eff=n_eff,
        units=units,
        branch="t" if square else "all_equal",
        capped=capped,
        level=level,
        families=families,
    )


def standard_error(values: Sequence[Fraction]) -> float | None:
    """s / sqrt(m) over tasks; None for fewer than two."""
    m = len(values)
    return math.sqrt(_square(values, sum(values, Fraction(0)) / m, None, None)) if m > 1 else None


def highest_lower_end(units: float, level: float = LEVEL) -> float:
    """The highest lower end that so many tasks can give, all of them passing: m / (m + z^2)."""
    return units / (units + normal_quantile(level) ** 2)


def tasks_needed(threshold: float, level: float = LEVEL) -> int:
    """The smallest number of all-pass tasks whose lower end reaches ``threshold`` (0 to below 1)."""
    if not 0 <= threshold < 1:
        raise UsageError(f"a lower end of {threshold} cannot be reached by any number of tasks")
    needed = max(math.ceil(threshold * normal_quantile(level) ** 2 / (1 - threshold)), 1)
    return needed if highest_lower_end(needed, level) >= threshold else needed + 1


def weighted_mean(values: Sequence[Fraction], weights: Sequence[Fraction] | None) -> Fraction:
    """Mean of the values, with equal weights where none are given."""
    if not values:
        raise InvalidCountsError("no tasks")
    if weights is None:
        return sum((value * times for value, times in Counter(values).items()), Fraction(0)) / len(values)
    return sum((w * x for w, x in zip(weights, values, strict=True)), Fraction(0)) / sum(weights)


def kish(weights: Sequence[Fraction]) -> Fraction:
    """Kish's effective size of a weighted sample: (sum w)^2 / sum w^2."""
    return sum(weights, Fraction(0)) ** 2 / sum((w * w for w in weights), Fraction(0))


def _square(
    values: Sequence[Fraction],
    mean: Fraction,
    families: Sequence[str] | None,
    weights: Sequence[Fraction] | None,
) -> Fraction:
    """The squared standard error of the mean, exact, so that "all equal" is no question of rounding."""
    m = len(values)
    if weights is not None:
        total = sum(weights, Fraction(0))
        spread = sum((w * w * (x - mean) ** 2 for w, x in zip(weights, values, strict=True)), Fraction(0))
        return Fraction(m, m - 1) * spread / total**2
    if families is not None:
        sums: dict[str, Fraction] = {}
        for family, value in zip(families, values, strict=True):
            sums[family] = sums.get(family, Fraction(0)) + value - mean
        spread = sum((total * total for total in sums.values()), Fraction(0))
        return Fraction(len(sums), len(sums) - 1) * spread / m**2
    spread = sum((times * (x - mean) ** 2 for x, times in Counter(values).items()), Fraction(0))
    return spread / (m * (m - 1))
