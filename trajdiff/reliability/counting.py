"""Which trial enters the figures, and how: one state per planned trial, before any rate is computed."""

from __future__ import annotations

from msgspec import Struct

from trajdiff.model import LIMITS, NONE_CHOSEN, TaskTrials, TerminationReason, Trial, Verdict
from trajdiff.natural import natural, natural_key

_STATES = ("passed", "failed", "infra", "limit_unscored", "unscored", "missing")


class TaskCounts(Struct, frozen=True, kw_only=True):
    """The trials of one task by state, as trial ids in natural order; every trial stands in one tuple.

    ``limit_unscored`` used up their own budget and have no verdict. ``missing`` are planned trials without
    a record, or with a record that has neither an end nor a verdict. ``unplanned`` are beyond the plan.
    """

    task_id: str
    expected: int | None
    passed: tuple[str, ...]
    failed: tuple[str, ...]
    infra: tuple[str, ...]
    limit_unscored: tuple[str, ...]
    unscored: tuple[str, ...]
    missing: tuple[str, ...]
    unplanned: tuple[str, ...]

    @property
    def completed(self) -> int:
        """Number of planned trials that have an end."""
        states = (self.passed, self.failed, self.infra, self.limit_unscored, self.unscored)
        return sum(len(state) for state in states)


def count_task(task: TaskTrials) -> TaskCounts:
    """Puts every planned trial of a task into exactly one state.

    A plan of ``expected_n`` trials holds the first recorded trials that fit into it beside the missing ones;
    records beyond it are ``unplanned``, so that a run added after seeing results cannot move a figure.
    """
    planned, unplanned = _split_by_plan(task)
    states: dict[str, list[str]] = {state: [] for state in _STATES}
    for trial in planned:
        states[_state(trial)].append(trial.trial_id)
    states["missing"].extend(_absent(task, planned))
    return TaskCounts(
        task_id=task.task_id,
        expected=task.expected_n,
        unplanned=natural(trial.trial_id for trial in unplanned),
        **{state: natural(names) for state, names in states.items()},
    )


def states_of(task: TaskTrials) -> dict[str, str]:
    """The state of each recorded trial of the plan by its id; missing ones without a record are not named."""
    return {trial.trial_id: _state(trial) for trial in _split_by_plan(task)[0]}


def _state(trial: Trial) -> str:
    """The one state of a recorded trial. The verdict wins over the termination reason."""
    reason = trial.termination.reason
    match trial.verdict:
        case Verdict.PASS:
            return "passed"
        case Verdict.FAIL:
            return "failed"
        case Verdict.INFRA:
            return "infra"
        case Verdict.UNSCORED if reason in LIMITS and trial.judgement.rule != NONE_CHOSEN:
            return "limit_unscored"
        case Verdict.UNSCORED if reason is TerminationReason.INCOMPLETE:
            return "missing"
        case Verdict.UNSCORED:
            return "unscored"


def _split_by_plan(task: TaskTrials) -> tuple[tuple[Trial, ...], tuple[Trial, ...]]:
    """Recorded trials inside and beyond the plan. Without a plan all are inside."""
    if task.expected_n is None:
        return task.trials, ()
    ordered = sorted(task.trials, key=lambda trial: (trial.ordinal, natural_key(trial.trial_id)))
    room = max(task.expected_n - len(task.missing), 0)
    return tuple(ordered[:room]), tuple(ordered[room:])


def _absent(task: TaskTrials, planned: tuple[Trial, ...]) -> tuple[str, ...]:
    """Names of planned trials without a record.

    Where fewer are named than the plan lacks, the free numbers of the trials' own numbering are taken, so
    that expected = completed + missing holds and each missing trial has a name.
    """
    if task.expected_n is None:
        return task.missing
    named = task.missing[: task.expected_n]
    lacking = task.expected_n - len(planned) - len(named)
    taken = {trial.ordinal for trial in planned}
    known = {*named, *(trial.trial_id for trial in task.trials)}
    number = 0 if not taken or 0 in taken else min(min(taken), 1)
    free: list[str] = []
    while len(free) < lacking:
        if number not in taken and str(number) not in known:
            free.append(str(number))
        number += 1
    return (*named, *free)
