"""How many trials of a task were planned, and which of them are not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from trajdiff.importers.protocol import Plan
from trajdiff.model import Diagnostic, Severity, Trial
from trajdiff.natural import natural_key

#: More trials of one task than anybody plans; a larger number is a slip of the file.
_MOST = 10_000

Slot = tuple[str | None, str, int]


class _Run(Struct, kw_only=True):
    """A run of a producer, spread over one file or several: its slots and its planned trials a task."""

    expected: int
    conditions: object
    slots: set[Slot] = field(default_factory=set)
    number: int


def same_runs(
    joined: Sequence[int],
    slots: Mapping[int, set[Slot]],
    planned: Mapping[int, int],
    conditions: Mapping[int, object],
) -> list[int]:
    """For every file the number of the run it belongs to.

    ``joined`` already joins files that hold copies of one trial; ``slots`` are the (suite, task, number) of a
    file's trials, ``planned`` its planned trials a task, ``conditions`` what must be equal inside a run. Files
    that fill each other's gaps are one run; two files with the same slot are two.
    """
    runs: list[_Run] = []
    result = list(joined)
    for number in sorted(set(joined)):
        files = [file for file, root in enumerate(joined) if root == number]
        plans = [planned[file] for file in files if file in planned]
        if not plans:
            continue
        mine: set[Slot] = set().union(*(slots.get(file, set()) for file in files))
        expected = max(plans)
        fits = all(ordinal < expected for _, _, ordinal in mine)
        home = next(
            (
                run
                for run in runs
                if fits
                and run.expected == expected
                and run.conditions == conditions[files[0]]
                and run.slots.isdisjoint(mine)
                and all(ordinal < expected for _, _, ordinal in run.slots)
            ),
            None,
        )
        if home is None:
            home = _Run(expected=expected, conditions=conditions[files[0]], number=number)
            runs.append(home)
        home.slots |= mine
        for file in files:
            result[file] = home.number
    return result


def expected_and_missing(
    task_id: str,
    trials: Sequence[Trial],
    plans: Sequence[tuple[int, Plan]],
    asked: int | None,
    notes: list[Diagnostic],
    *,
    from_one: bool = False,
) -> tuple[int | None, tuple[str, ...]]:
    """The planned number of trials and the ids of the missing ones.

    ``plans`` pairs the run of a file with what it plans: files of one run repeat the same plan, different
    runs add up. ``from_one`` says that the files count their trials from 1. ``asked`` is the number the user
    gave, which wins. Without either the number is None.
    """
    expected = asked if asked is not None else _planned(plans)
    there = {trial.trial_id for trial in trials}
    lost = {slot for _, plan in plans for slot in plan.lost if slot not in there}
    if expected is not None and expected > _MOST:
        notes.append(
            Diagnostic(
                severity=Severity.WARNING,
                slug="odd_plan",
                message=f'task "{task_id}": more than {_MOST} trials are announced, which cannot be meant',
                path=trials[0].source.path if trials else None,
                details=("how many trials were planned is taken as unknown",),
                task_id=task_id,
            )
        )
        expected = None
    if expected is None:
        return None, tuple(sorted(lost, key=natural_key))
    if len(trials) > expected:
        notes.append(
            Diagnostic(
                severity=Severity.NOTE,
                slug="more_trials_than_planned",
                message=f'task "{task_id}" has {len(trials)} trials, {expected} were planned; all are counted',
                path=trials[0].source.path,
                task_id=task_id,
            )
        )
        return len(trials), ()
    return expected, _names(trials, expected, lost, from_one=from_one)


def _planned(plans: Sequence[tuple[int, Plan]]) -> int | None:
    whole = [plan.expected_n for _, plan in plans if plan.whole_task and plan.expected_n is not None]
    by_run: dict[int, int] = {}
    for run, plan in plans:
        if plan.expected_n is not None and not plan.whole_task:
            by_run[run] = max(plan.expected_n, by_run.get(run, 0))
    numbers = [*whole, sum(by_run.values())] if by_run else whole
    return max(numbers, default=None)


def _names(trials: Sequence[Trial], expected: int, lost: set[str], *, from_one: bool) -> tuple[str, ...]:
    """Ids of the missing trials: those known to be lost, then the free numbers of the plan."""
    absent = expected - len(trials)
    there = {trial.trial_id for trial in trials}
    ordinals = [trial.ordinal for trial in trials]
    # Most logs count from 0; one whose numbers end at the planned count counts from 1.
    ends_there = bool(ordinals) and min(ordinals) >= 1 and max(ordinals) == expected
    number = 1 if ends_there or (from_one and 0 not in ordinals) else 0
    names = dict.fromkeys(sorted(lost, key=natural_key)[:absent])
    while len(names) < absent:
        if str(number) not in there:
            names[str(number)] = None
        number += 1
    return tuple(sorted(names, key=natural_key))
