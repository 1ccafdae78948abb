"""Cheaper designs and how far off they are, and what to measure next."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from trajdiff.errors import UsageError
from trajdiff.natural import natural, natural_key
from trajdiff.reliability.intervals import LEVEL
from trajdiff.reliability.pass_k import InvalidCountsError


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoPhase:
    """Estimate of a screened design: all screened failures and a random share of screened passes repeated.

    ``variance`` holds the sampling of the strata too, so that it speaks of new tasks; ``units`` are the
    repeated tasks; ``weight_of_pass`` is how many tasks one repeated screened pass stands for.
    """

    estimate: float
    variance: float
    units: int
    weight_of_pass: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """pass@k with a perfect selector against the share of tasks whose chosen trial is accepted."""

    k: int
    pass_at_k: float
    selected: float

    @property
    def loss(self) -> float:
        """What the selector loses."""
        return self.pass_at_k - self.selected


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatPlan:
    """Which tasks to repeat next.

    ``failed`` had a failure and are all repeated; ``sampled`` were drawn from those that always passed, each
    standing for ``weight`` of them; ``left`` are not repeated this time. With ``rotation`` (i, of n) they are
    the i-th of n random strata, so that n rounds repeat every task. ``naive`` is what pass^k would read if
    only the failed ones were repeated and the rest taken as stable, ``measured`` what it is in the data.
    """

    failed: tuple[str, ...]
    sampled: tuple[str, ...]
    left: tuple[str, ...]
    weight: float | None
    seed: int
    trials: int
    k: int
    naive: float | None = None
    measured: float | None = None
    rotation: tuple[int, int] | None = None


def two_phase(failed: Sequence[Fraction], passed: Sequence[Fraction], m_failed: int, m_passed: int) -> TwoPhase:
    """Weights the repeated tasks of both strata; values of the screening run itself must not be in them.

    Raises ``InvalidCountsError`` where a stratum has tasks and fewer than two of them (or not all) repeated.
    """
    m = m_failed + m_passed
    strata = [(list(values), size) for values, size in ((failed, m_failed), (passed, m_passed)) if size]
    for values, size in strata:
        if len(values) > size or (len(values) < 2 and len(values) < size):
            raise InvalidCountsError(f"{len(values)} repeated of {size} tasks: no variance to be had")
    means = [sum(values, Fraction(0)) / len(values) for values, _ in strata]
    theta = sum((Fraction(size, m) * mean for (_, size), mean in zip(strata, means, strict=True)), Fraction(0))
    variance = Fraction(0)
    for (values, size), mean in zip(strata, means, strict=True):
        share, r = Fraction(size, m), len(values)
        if r > 1:
            variance += share**2 * sum(((x - mean) ** 2 for x in values), Fraction(0)) / (r - 1) / r
        variance += share * (mean - theta) ** 2 / m
    return TwoPhase(
        estimate=float(theta),
        variance=float(variance),
        units=sum(len(values) for values, _ in strata),
        weight_of_pass=m_passed / len(passed) if passed else None,
    )


def hard_subset(pass_hat: Sequence[Fraction | float], k: int) -> float:
    """What repeating only the tasks that failed a first run reports as pass^k: E p + E p^k - E p^(k+1).

    ``pass_hat[j-1]`` is E p^j and must reach k + 1.
    """
    if len(pass_hat) <= k or k < 1:
        raise InvalidCountsError(f"a curve up to {len(pass_hat)} does not reach k + 1 = {k + 1}")
    return float(pass_hat[0] + pass_hat[k - 1] - pass_hat[k])


def stop_at_first_pass_mean(p: Fraction, most: int) -> Fraction:
    """Mean of c/n where a task is run until its first pass, at most ``most`` times: above p."""
    if not 0 <= p <= 1 or most < 1:
        raise InvalidCountsError(f"chance {p}, at most {most} trials")
    return sum(((1 - p) ** (n - 1) * p / n for n in range(1, most + 1)), Fraction(0))


def beta_pass_hat(a: Fraction, b: Fraction, k: int) -> Fraction:
    """E p^k for p from Beta(a, b): a model of what lies beyond n, never in the main table."""
    made = Fraction(1)
    for j in range(k):
        made *= (a + j) / (a + b + j)
    return made


def runs_without_failure(p: float, level: float = LEVEL) -> int:
    """The fewest runs without a failure that show a task's chance to be above p, one-sided."""
    if not 0 < p < 1:
        raise UsageError(f"{p} is not between 0 and 1")
    return math.ceil(math.log(1 - level) / math.log(p))


def at_least_one_failure(mean: float, pass_hat: float, k: int) -> tuple[float, float]:
    """Chance of a failure in k repeats of one random task, and in k different random tasks."""
    return 1 - pass_hat, 1 - mean**k


def selected_at_k(tasks: Sequence[tuple[Sequence[bool], int]]) -> Selected:
    """Each task as (outcomes of its k attempts, index of the chosen one). All need the same k."""
    if not tasks or any(len(passed) != len(tasks[0][0]) or not passed for passed, _ in tasks):
        raise InvalidCountsError("a selector is judged on the same number of attempts for every task")
    if any(not 0 <= chosen < len(passed) for passed, chosen in tasks):
        raise InvalidCountsError("a chosen trial does not exist")
    m = len(tasks)
    return Selected(
        k=len(tasks[0][0]),
        pass_at_k=sum(any(passed) for passed, _ in tasks) / m,
        selected=sum(bool(passed[chosen]) for passed, chosen in tasks) / m,
    )


def repeat_plan(
    counts: Sequence[tuple[str, int, int]],
    *,
    trials: int,
    share: float = 0.25,
    seed: int = 0,
    first: Sequence[tuple[str, bool]] = (),
    k: int | None = None,
    measured: float | None = None,
    rotation: tuple[int, int] | None = None,
) -> RepeatPlan:
    """All tasks with a failure and a random ``share`` (at least two) of those that always passed.

    ``counts`` are (task id, n, c); ``first`` tells the first trial of each task, for the bias of the naive
    plan; ``rotation`` (i, of n) takes the i-th of n random strata in place of the share. The draw depends on
    the ids and the seed, not on the order of ``counts``. Raises ``UsageError`` for a round that does not
    exist.
    """
    failed = natural(task for task, n, c in counts if c < n or not n)
    stable = sorted((task for task, n, c in counts if n and c == n), key=natural_key)
    if rotation is not None:
        at, of = rotation
        if not 1 <= at <= of:
            raise UsageError(f"round {at} of a rotation of {of} does not exist")
        sampled = natural(random.Random(seed).sample(stable, len(stable))[at - 1 :: of])
    else:
        size = min(max(math.ceil(share * len(stable)), 2), len(stable))
        sampled = natural(random.Random(seed).sample(stable, size))
    chosen = set(sampled)
    return RepeatPlan(
        failed=failed,
        sampled=sampled,
        left=tuple(task for task in stable if task not in chosen),
        weight=len(stable) / len(sampled) if sampled else None,
        seed=seed,
        trials=trials,
        k=k or trials,
        naive=_naive(counts, first, k) if k else None,
        measured=measured,
        rotation=rotation,
    )


def _naive(counts: Sequence[tuple[str, int, int]], first: Sequence[tuple[str, bool]], k: int) -> float | None:
    """pass^k if tasks whose first trial passed had been taken as stable and the others measured."""
    passed = dict(first)
    values = [
        Fraction(1) if passed[task] else Fraction(math.comb(c, k), math.comb(n, k))
        for task, n, c in counts
        if n >= k and task in passed
    ]
    return float(sum(values, Fraction(0)) / len(values)) if values else None
