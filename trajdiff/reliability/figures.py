"""The figures of a suite with their uncertainty: what stands beside every point estimate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from trajdiff.model import TaskTrials
from trajdiff.reliability.adaptive import AdaptiveDesign, adaptive_design
from trajdiff.reliability.bootstrap import SEED, BootstrapInterval, bootstrap_means
from trajdiff.reliability.estimators import MOST_K, TaskReliability, best_case
from trajdiff.reliability.families import Families
from trajdiff.reliability.intervals import SuiteInterval, suite_interval, task_interval
from trajdiff.reliability.outcomes import outcomes_of
from trajdiff.reliability.pass_k import gap_contribution, pass_at_fraction, pass_hat_fraction
from trajdiff.reliability.spread import SharedFault, Spread, shared_fault, spread, trial_index_means
from trajdiff.reliability.weights import WeightedRow, Weights, weighted_row


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFigures:
    """One task: Wilson interval of c/n at 95 %, and what it adds to the gap at its suite's largest k."""

    task_id: str
    n: int
    c: int
    low: float
    high: float
    gap: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteFigures:
    """Uncertainty of the curves and where it comes from.

    ``hat[k-1]`` and ``at[k-1]`` are the headline intervals of pass^k and pass@k; ``hat_bootstrap`` and
    ``at_bootstrap`` the bootstrap's, empty where it was not asked for. ``histogram`` gives for each n the
    number of tasks with 0 ... n passes; ``index_means`` the mean per trial index as (index, mean, tasks).
    ``tasks`` are in natural order.
    """

    hat: tuple[SuiteInterval | None, ...]
    at: tuple[SuiteInterval | None, ...]
    hat_bootstrap: tuple[BootstrapInterval | None, ...]
    at_bootstrap: tuple[BootstrapInterval | None, ...]
    spread: Spread | None
    histogram: tuple[tuple[int, tuple[int, ...]], ...]
    index_means: tuple[tuple[int, float, int], ...]
    fault: SharedFault | None
    adaptive: AdaptiveDesign | None
    tasks: tuple[TaskFigures, ...]
    weighted: WeightedRow | None = None

    def interval(self, k: int) -> SuiteInterval | None:
        """The headline interval of pass^k, None where there is none."""
        return self.hat[k - 1] if 1 <= k <= len(self.hat) else None


def suite_figures(
    tasks: Sequence[TaskTrials],
    rows: Sequence[TaskReliability],
    *,
    infra: str = "fail",
    unscored: str = "exclude",
    detailed: bool = False,
    seed: int = SEED,
    weights: Weights | None = None,
    families: Families | None = None,
) -> SuiteFigures:
    """Figures of tasks and their rows, in the same order.

    ``detailed`` adds what costs a second: the bootstrap and the check for a shared fault. With ``families``
    these are the units of every interval. Raises ``UsageError`` for weights or families of unknown tasks.
    """
    counts = [(row.n, row.c) for row in rows if row.n]
    units = None if families is None else families.of([row.task_id for row in rows if row.n])
    largest = min((n for n, _ in counts), default=0)
    ks = range(1, min(largest, MOST_K) + 1)
    hat = _values(counts, ks, pass_hat_fraction)
    at = _values(counts, ks, pass_at_fraction)
    outcomes = [outcomes_of(task, infra=infra, unscored=unscored) for task in tasks]
    outcomes = [task for task in outcomes if task]
    trials = sum(n for n, _ in counts)
    drawn: Sequence[BootstrapInterval | None] = ()
    if detailed:
        drawn = bootstrap_means([[float(x) for x in row] for row in (*hat, *at)], families=units, seed=seed)
    return SuiteFigures(
        hat=tuple(suite_interval(row, trials, families=units) for row in hat),
        at=tuple(suite_interval(row, trials, families=units) for row in at),
        hat_bootstrap=tuple(drawn[: len(hat)]),
        at_bootstrap=tuple(drawn[len(hat) :]),
        spread=spread(counts),
        histogram=_histogram(counts),
        index_means=trial_index_means(outcomes),
        fault=shared_fault(outcomes) if detailed else None,
        adaptive=adaptive_design([_in_order(task) for task in outcomes]),
        tasks=tuple(_task(row, largest) for row in rows if row.n),
        weighted=_weighted(rows, weights),
    )


def best_case_interval(
    rows: Sequence[TaskReliability], metric: str, k: int, families: Families | None = None
) -> SuiteInterval | None:
    """The headline interval if every planned trial that is missing, unscored or infra had passed.

    ``metric`` is ``pass_hat`` or ``pass_at``; None where there is no such k or no interval.
    """
    counts = [(row.task_id, *best_case(row)) for row in rows]
    used = [(task, n, c) for task, n, c in counts if n]
    if not used or k > min(n for _, n, _ in used):
        return None
    estimator = pass_hat_fraction if metric == "pass_hat" else pass_at_fraction
    return suite_interval(
        [estimator(n, c, k) for _, n, c in used],
        sum(n for _, n, _ in used),
        families=None if families is None else families.of([task for task, _, _ in used]),
    )


def _values(
    counts: Sequence[tuple[int, int]], ks: Sequence[int], estimator: Callable[[int, int, int], Fraction]
) -> list[list[Fraction]]:
    """Exact values per k and task; equal counts are computed once."""
    made = []
    for k in ks:
        known = {pair: estimator(*pair, k) for pair in set(counts)}
        made.append([known[pair] for pair in counts])
    return made


def _histogram(counts: Sequence[tuple[int, int]]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    seen = Counter(counts)
    sizes = sorted({n for n, _ in counts})
    return tuple((n, tuple(seen[n, c] for c in range(n + 1))) for n in sizes)


def _in_order(task: Mapping[int, bool]) -> list[bool]:
    return [task[index] for index in sorted(task)]


def _task(row: TaskReliability, largest: int) -> TaskFigures:
    low, high = task_interval(row.n, row.c)
    gap = gap_contribution(row.n, row.c, largest) if largest else 0.0
    return TaskFigures(task_id=row.task_id, n=row.n, c=row.c, low=low, high=high, gap=gap)


def _weighted(rows: Sequence[TaskReliability], weights: Weights | None) -> WeightedRow | None:
    if weights is None:
        return None
    return weighted_row({row.task_id: (row.n, row.c) for row in rows}, weights)
