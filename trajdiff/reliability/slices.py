"""Parts of a suite by something recorded, or by what the task requires."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from trajdiff.errors import UsageError
from trajdiff.model import Effect, TaskTrials, Trial, Verdict
from trajdiff.natural import natural_key, plural
from trajdiff.reliability.estimators import suite_curve, task_reliability
from trajdiff.reliability.families import Families
from trajdiff.reliability.intervals import FEW_TASKS, SuiteInterval, suite_interval
from trajdiff.reliability.outcomes import counted_trials
from trajdiff.reliability.pass_k import pass_hat_fraction

#: Keys that are worked out; any other is looked for in the metadata of tasks, then of trials.
TOOLS, WRITES, SUITE, MODEL, TERMINATION = "tools", "writes", "suite", "model", "termination"
NOT_RECORDED = "(not recorded)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """One value of the key. A slice of tasks has a curve and an interval; a slice of trials only counts.

    ``tasks`` is None for a slice by something that the trials themselves do. ``interval`` belongs to k = 1.
    """

    key: str
    value: str
    tasks: int | None
    trials: int
    passed: int
    pass_hat_k: tuple[float, ...] = ()
    interval: SuiteInterval | None = None

    @property
    def few_tasks(self) -> bool:
        """Whether the slice is too small to rest on."""
        return self.tasks is not None and self.tasks < FEW_TASKS


def slices(
    tasks: Sequence[TaskTrials],
    key: str,
    *,
    write_tools: Collection[str] = (),
    infra: str = "fail",
    unscored: str = "exclude",
    families: Families | None = None,
) -> tuple[Slice, ...]:
    """The suite by ``key``, values in natural order. Raises ``UsageError`` for a key that nothing has.

    ``tools`` and ``writes`` are how many tools and writes a task requires: by its recorded required steps,
    else by the fewest in its passes, so that the slice does not depend on the outcome.
    """
    counted = [(task, counted_trials(task, infra=infra, unscored=unscored)) for task in tasks]
    by_task = _task_values(counted, key, write_tools)
    if by_task is not None:
        return _by_task(tasks, by_task, key, families, infra=infra, unscored=unscored)
    return _by_trial(counted, key)


def known_keys(tasks: Sequence[TaskTrials]) -> tuple[str, ...]:
    """Every key that ``slices`` takes for these tasks."""
    found = {TOOLS, WRITES, SUITE, MODEL, TERMINATION}
    for task in tasks:
        found |= {name for name, value in task.task.metadata.items() if _plain(value)}
        for trial in task.trials:
            found |= {name for name, value in trial.metadata.items() if _plain(value)}
    return tuple(sorted(found))


def _task_values(
    counted: Sequence[tuple[TaskTrials, tuple[Trial, ...]]], key: str, write_tools: Collection[str]
) -> dict[str, str] | None:
    """The value of each task, None where the key is one of trials."""
    if key in (TOOLS, WRITES):
        return {task.task_id: _required(task, key, write_tools) for task, _ in counted}
    if key == SUITE:
        return {task.task_id: task.task.suite or NOT_RECORDED for task, _ in counted}
    if any(key in task.task.metadata for task, _ in counted):
        return {task.task_id: _text(task.task.metadata.get(key)) for task, _ in counted}
    values = {task.task_id: {_trial_value(trial, key) for trial in trials} for task, trials in counted}
    if key == TERMINATION or any(len(found) > 1 for found in values.values()):
        return None
    if not any(found - {NOT_RECORDED} for found in values.values()):
        known = ", ".join(known_keys([task for task, _ in counted]))
        raise UsageError(f'nothing to slice by: no task and no trial has "{key}"', f"known here: {known}")
    return {task_id: next(iter(found), NOT_RECORDED) for task_id, found in values.items()}


def _required(task: TaskTrials, key: str, write_tools: Collection[str]) -> str:
    """How many tools or writes the task needs, in words."""
    gold = task.task.expected_actions
    if gold is not None:
        flows = [[(action.name, action.name in write_tools) for action in gold]]
    else:
        flows = [
            [
                (name, _writes(name, hint, write_tools))
                for name, made, _, hint in trial.tally.tools
                for _ in range(made)
            ]
            for trial in task.passes
        ]
    if not flows:
        return "unknown (no required steps, no pass)"
    if key == TOOLS:
        return plural(min(len({name for name, _ in flow}) for flow in flows), "tool")
    return plural(min(sum(write for _, write in flow) for flow in flows), "write")


def _writes(name: str | None, hint: Effect | None, write_tools: Collection[str]) -> bool:
    return name in write_tools or hint is Effect.WRITE


def _by_task(
    tasks: Sequence[TaskTrials],
    values: Mapping[str, str],
    key: str,
    families: Families | None,
    *,
    infra: str,
    unscored: str,
) -> tuple[Slice, ...]:
    groups: dict[str, list[tuple[str, int, int]]] = {}
    for task in tasks:
        row = task_reliability(task, infra=infra, unscored=unscored)
        groups.setdefault(values[task.task_id], []).append((task.task_id, row.n, row.c))
    made = []
    for value in sorted(groups, key=natural_key):
        used = [entry for entry in groups[value] if entry[1]]
        counts = [(n, c) for _, n, c in used]
        trials = sum(n for n, _ in counts)
        units = None if families is None else families.of([task for task, _, _ in used])
        firsts = [pass_hat_fraction(n, c, 1) for n, c in counts]
        made.append(
            Slice(
                key=key,
                value=value,
                tasks=len(used),
                trials=trials,
                passed=sum(c for _, c in counts),
                pass_hat_k=suite_curve(counts)[0] if used else (),
                interval=suite_interval(firsts, trials, families=units) if used else None,
            )
        )
    return tuple(made)


def _by_trial(counted: Sequence[tuple[TaskTrials, tuple[Trial, ...]]], key: str) -> tuple[Slice, ...]:
    groups: dict[str, list[Trial]] = {}
    for _, trials in counted:
        for trial in trials:
            groups.setdefault(_trial_value(trial, key), []).append(trial)
    return tuple(
        Slice(
            key=key,
            value=value,
            tasks=None,
            trials=len(groups[value]),
            passed=sum(trial.verdict is Verdict.PASS for trial in groups[value]),
        )
        for value in sorted(groups, key=natural_key)
    )


def _trial_value(trial: Trial, key: str) -> str:
    if key == TERMINATION:
        return trial.termination.reason.value
    if key == MODEL:
        return trial.provenance.model or NOT_RECORDED
    return _text(trial.metadata.get(key))


def _text(value: object) -> str:
    return NOT_RECORDED if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _plain(value: object) -> bool:
    return isinstance(value, str | int | float | bool)
