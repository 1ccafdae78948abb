"""Reliability figures per task and over tasks: counts, pass^k, pass@k."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from trajdiff.errors import UsageError
from trajdiff.frozen import replace
from trajdiff.model import TaskTrials
from trajdiff.natural import natural_key
from trajdiff.reliability.counting import count_task
from trajdiff.reliability.pass_k import (
    InvalidCountsError,
    disagreement,
    format_k,
    log10_pass_hat_k,
    none_of_k,
    pass_at_k,
    pass_hat_k,
    suite_curve,
    task_curve,
    why_absent,
)

__all__ = [
    "INFRA_POLICIES",
    "UNSCORED_POLICIES",
    "InvalidCountsError",
    "SuiteReliability",
    "TaskReliability",
    "best_case",
    "disagreement",
    "format_k",
    "log10_pass_hat_k",
    "none_of_k",
    "pass_at_k",
    "pass_hat_k",
    "suite_curve",
    "suite_reliability",
    "task_reliability",
    "why_absent",
]

#: What ``infra`` and ``unscored`` may say; the first is the default.
INFRA_POLICIES = ("fail", "exclude")
UNSCORED_POLICIES = ("exclude", "fail")
#: Intervals, and curves over planned trials, are computed up to this k; more would not be looked at.
MOST_K = 64


class TaskReliability(Struct, frozen=True, kw_only=True):
    """One task. ``pass_hat_k[k-1]`` is pass^k; both tuples reach from k = 1 to n, empty when n = 0.

    ``n`` counted trials, ``c`` accepted ones, ``expected`` None when no plan was recorded. The other tuples
    hold trial ids in natural order: ``limit_unscored`` are trials without a verdict that used up their own
    budget (counted as failures), ``unplanned`` are beyond the plan (not counted, not in ``completed``).
    """

    task_id: str
    n: int
    c: int
    expected: int | None
    completed: int
    infra: tuple[str, ...]
    unscored: tuple[str, ...]
    missing: tuple[str, ...]
    pass_hat_k: tuple[float, ...]
    pass_at_k: tuple[float, ...]
    disagreement: float | None
    limit_unscored: tuple[str, ...] = ()
    unplanned: tuple[str, ...] = ()


class SuiteReliability(Struct, frozen=True, kw_only=True):
    """All tasks. ``pass_hat_k[k-1]`` is the equal-weight mean over tasks, up to the smallest n.

    ``always``, ``sometimes`` and ``never`` count tasks with c = n, 0 < c < n and c = 0; ``no_trials`` names
    tasks without a counted trial (n/a, not in any mean). Trials are named ``task/trial``, in natural order.

    The tuples that end in ``_excluded``, ``_best`` and ``_worst`` are the further rows of the infrastructure
    table, each up to its own smallest n. ``excluded_no_trials`` are tasks that have no
    value in the excluded row, ``excluded_shortest`` those that keep its k below that of the headline,
    ``excluded_n_min`` the n they have there. ``micro`` is accepted trials / counted trials.
    """

    tasks: int
    expected: int | None
    completed: int
    counted: int
    passed: int
    failed: int
    infra: tuple[str, ...]
    unscored: tuple[str, ...]
    missing: tuple[str, ...]
    no_trials: tuple[str, ...]
    pass_hat_k: tuple[float, ...]
    pass_at_k: tuple[float, ...]
    micro: float | None
    always: int
    sometimes: int
    never: int
    n_min: int
    n_max: int
    infra_policy: str
    unscored_policy: str
    limit_unscored: tuple[str, ...] = ()
    unplanned: tuple[str, ...] = ()
    pass_hat_k_excluded: tuple[float, ...] = ()
    pass_at_k_excluded: tuple[float, ...] = ()
    pass_hat_k_best: tuple[float, ...] = ()
    pass_at_k_best: tuple[float, ...] = ()
    pass_hat_k_worst: tuple[float, ...] = ()
    pass_at_k_worst: tuple[float, ...] = ()
    excluded_no_trials: tuple[str, ...] = ()
    excluded_shortest: tuple[str, ...] = ()
    excluded_n_min: int = 0

    @property
    def complete(self) -> bool:
        """Whether every planned trial was completed and judged, and every task has a counted one."""
        return not (self.missing or self.unscored or self.no_trials)

    @property
    def flip_rate(self) -> float | None:
        """Share of tasks that sometimes pass, of the tasks with a counted trial."""
        used = self.always + self.sometimes + self.never
        return self.sometimes / used if used else None

    @property
    def gap(self) -> float | None:
        """Mean minus pass^k at the largest k: made by the tasks that sometimes pass, and by them alone."""
        return self.pass_hat_k[0] - self.pass_hat_k[-1] if self.pass_hat_k else None


def task_reliability(task: TaskTrials, *, infra: str = "fail", unscored: str = "exclude") -> TaskReliability:
    """The figures of one task under the two counting rules.

    ``infra`` is ``fail`` or ``exclude``, ``unscored`` is ``exclude`` or ``fail``; raises ``UsageError``
    otherwise. Trials without a verdict that used up their own budget count as failures under both.
    """
    _check_policies(infra, unscored)
    counts = count_task(task)
    c = len(counts.passed)
    n = c + len(counts.failed) + len(counts.limit_unscored)
    n += len(counts.infra) if infra == "fail" else 0
    n += len(counts.unscored) if unscored == "fail" else 0
    hat, at = task_curve(n, c)
    return TaskReliability(
        task_id=task.task_id,
        n=n,
        c=c,
        expected=counts.expected,
        completed=counts.completed,
        infra=counts.infra,
        unscored=counts.unscored,
        missing=counts.missing,
        pass_hat_k=hat,
        pass_at_k=at,
        disagreement=disagreement(n, c),
        limit_unscored=counts.limit_unscored,
        unplanned=counts.unplanned,
    )


def suite_reliability(
    rows: Sequence[TaskReliability], *, infra: str = "fail", unscored: str = "exclude"
) -> SuiteReliability:
    """The figures over tasks: means with equal weights, counts, and the rows of the infrastructure table.

    The two settings must be those the rows were made with. Raises ``InvalidCountsError`` for no rows and
    where the counts of a row do not add up, ``UsageError`` for unknown settings. Where no task has a counted
    trial the curves are empty and ``micro`` is None.
    """
    _check_policies(infra, unscored)
    if not rows:
        raise InvalidCountsError("no tasks")
    rows = sorted(rows, key=lambda row: natural_key(row.task_id))
    for row in rows:
        _check_sums(row, infra, unscored)
    used = [row for row in rows if row.n]
    counted, passed = sum(row.n for row in rows), sum(row.c for row in rows)
    hat, at = _curve((row.n, row.c) for row in rows)
    plans = [row.expected for row in rows if row.expected is not None]
    suite = SuiteReliability(
        tasks=len(rows),
        expected=sum(plans) if len(plans) == len(rows) else None,
        completed=sum(row.completed for row in rows),
        counted=counted,
        passed=passed,
        failed=counted - passed,
        infra=_names((row.task_id, row.infra) for row in rows),
        unscored=_names((row.task_id, row.unscored) for row in rows),
        missing=_names((row.task_id, row.missing) for row in rows),
        no_trials=tuple(row.task_id for row in rows if not row.n),
        pass_hat_k=hat,
        pass_at_k=at,
        micro=passed / counted if counted else None,
        always=sum(row.c == row.n for row in used),
        sometimes=sum(0 < row.c < row.n for row in used),
        never=sum(row.c == 0 for row in used),
        n_min=min((row.n for row in used), default=0),
        n_max=max((row.n for row in used), default=0),
        infra_policy=infra,
        unscored_policy=unscored,
        limit_unscored=_names((row.task_id, row.limit_unscored) for row in rows),
        unplanned=_names((row.task_id, row.unplanned) for row in rows),
    )
    return _with_infra_rows(suite, rows)


def _with_infra_rows(suite: SuiteReliability, rows: Sequence[TaskReliability]) -> SuiteReliability:
    """Adds the rows of the infrastructure table beside the headline.

    A trial that used up its budget without a verdict is a failure in all of them.
    """
    left = [(row, row.n - (len(row.infra) if suite.infra_policy == "fail" else 0)) for row in rows]
    # A plan may name thousands of trials: what is far beyond the headline's reach is of no use to anybody.
    most = max(len(suite.pass_hat_k), MOST_K)
    excluded_hat, excluded_at = _curve(((n, row.c) for row, n in left), most)
    best_hat, best_at = _curve(((_slots(row), _possible(row)) for row in rows), most)
    worst_hat, worst_at = _curve(((_slots(row), row.c) for row in rows), most)
    largest = len(excluded_hat)
    shorter = largest < len(suite.pass_hat_k)
    return replace(
        suite,
        pass_hat_k_excluded=excluded_hat,
        pass_at_k_excluded=excluded_at,
        pass_hat_k_best=best_hat,
        pass_at_k_best=best_at,
        pass_hat_k_worst=worst_hat,
        pass_at_k_worst=worst_at,
        excluded_no_trials=tuple(row.task_id for row, n in left if not n),
        excluded_shortest=tuple(row.task_id for row, n in left if shorter and n and n == largest),
        excluded_n_min=largest,
    )


def _check_policies(infra: str, unscored: str) -> None:
    for name, value, allowed in (("infra", infra, INFRA_POLICIES), ("unscored", unscored, UNSCORED_POLICIES)):
        if value not in allowed:
            raise UsageError(f'{name} is "{value}", not {" or ".join(allowed)}')


def _check_sums(row: TaskReliability, infra: str, unscored: str) -> None:
    """That the counts of a row add up both ways, and that it was made with these settings."""
    left_out = (len(row.infra) if infra == "exclude" else 0) + (
        len(row.unscored) if unscored == "exclude" else 0
    )
    if row.completed != row.n + left_out:
        raise InvalidCountsError(
            f'task "{row.task_id}": {row.completed} completed trials are not {row.n} counted'
            f" and {left_out} left out"
        )
    if row.expected is not None and row.expected != row.completed + len(row.missing):
        raise InvalidCountsError(
            f'task "{row.task_id}": {row.expected} expected trials are not {row.completed} completed'
            f" and {len(row.missing)} missing"
        )


def best_case(row: TaskReliability) -> tuple[int, int]:
    """(n, c) over the planned trials if everything that nobody judged had passed."""
    return _slots(row), _possible(row)


def _slots(row: TaskReliability) -> int:
    """Planned trials; where no plan was recorded, completed ones."""
    return row.completed if row.expected is None else row.expected


def _possible(row: TaskReliability) -> int:
    """Accepted trials if everything that nobody judged had been accepted; a used-up budget stays a failure."""
    open_slots = len(row.infra) + len(row.unscored) + (0 if row.expected is None else len(row.missing))
    return row.c + open_slots


def _curve(
    counts: Iterable[tuple[int, int]], most: int | None = None
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Both curves up to ``most``, empty where no task has a trial in this row."""
    used = [(n, c) for n, c in counts if n]
    return suite_curve(used, most) if used else ((), ())


def _names(trials: Iterable[tuple[str, tuple[str, ...]]]) -> tuple[str, ...]:
    """Trials as ``task/trial``; tasks and trials are in natural order already."""
    return tuple(f"{task_id}/{trial_id}" for task_id, trial_ids in trials for trial_id in trial_ids)
