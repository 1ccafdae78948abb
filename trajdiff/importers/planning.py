"""How many trials of a task were planned, and which of them are not there (formats.md 3.9)."""

from __future__ import annotations

from collections.abc import Sequence

from trajdiff.importers.naming import natural_key
from trajdiff.importers.protocol import Plan
from trajdiff.model import Diagnostic, Severity, Trial


def expected_and_missing(
    task_id: str,
    trials: Sequence[Trial],
    plans: Sequence[tuple[int, Plan]],
    asked: int | None,
    notes: list[Diagnostic],
) -> tuple[int | None, tuple[str, ...]]:
    """The planned number of trials and the ids of the missing ones.

    ``plans`` pairs the run of a file with what it plans: files of one run repeat the same plan, different
    runs add up. ``asked`` is the number the user gave, which wins. Without either the number is None.
    """
    by_run: dict[int, int] = {}
    for run, plan in plans:
        if plan.expected_n is not None:
            by_run[run] = max(plan.expected_n, by_run.get(run, 0))
    expected = asked if asked is not None else sum(by_run.values()) if by_run else None
    there = {trial.trial_id for trial in trials}
    lost = {slot for _, plan in plans for slot in plan.lost if slot not in there}
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
    return expected, _names(trials, expected, lost)


def _names(trials: Sequence[Trial], expected: int, lost: set[str]) -> tuple[str, ...]:
    """Ids of the missing trials: those known to be lost, then the free numbers of the plan."""
    absent = expected - len(trials)
    there = {trial.trial_id for trial in trials}
    ordinals = [trial.ordinal for trial in trials]
    # Most logs count from 0; one whose numbers end at the planned count counts from 1.
    start = 1 if ordinals and min(ordinals) >= 1 and max(ordinals) == expected else 0
    names = sorted(lost, key=natural_key)[:absent]
    number = start
    while len(names) < absent:
        if str(number) not in there and str(number) not in names:
            names.append(str(number))
        number += 1
    return tuple(sorted(names, key=natural_key))
