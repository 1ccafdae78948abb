"""The numbers and ids of the trials of one task: those of the log, else a stable order."""

from __future__ import annotations

from collections.abc import Sequence

from trajdiff.frozen import replace
from trajdiff.importers.copies import Entry
from trajdiff.importers.sameness import content_of
from trajdiff.model import Diagnostic, Severity, Trial
from trajdiff.natural import natural_key


def number_trials(entries: Sequence[Entry], notes: list[Diagnostic]) -> tuple[Entry, ...]:
    """The trials ordered by number, then id; every trial has both, and no two have the same id.

    Trials without a number get the free ones, ordered by start time, then producer's id, then place. A second
    trial under a used id (of another model or seed) is shown with ``~2``.
    """
    ordered = sorted(entries, key=_known_order)
    trials = [entry.trial for entry in ordered]
    taken = {trial.ordinal for trial in trials if trial.ordinal >= 0}
    _tell_twins([trial for trial in trials if not trial.trial_id], notes)
    free = (number for number in range(len(trials) + len(taken)) if number not in taken)
    numbered: list[Entry] = []
    used: set[str] = set()
    for entry in ordered:
        trial = entry.trial
        ordinal = trial.ordinal if trial.ordinal >= 0 else next(free)
        wanted = trial.trial_id or str(ordinal)
        trial_id, copy = wanted, 1
        while trial_id in used:
            copy += 1
            trial_id = f"{wanted}~{copy}"
        used.add(trial_id)
        numbered.append(replace(entry, trial=replace(trial, ordinal=ordinal, trial_id=trial_id)))
    return tuple(sorted(numbered, key=lambda entry: (entry.trial.ordinal, natural_key(entry.trial.trial_id))))


def _known_order(entry: Entry) -> tuple[object, ...]:
    """Numbered trials first, then named ones, then by time, producer's id and place."""
    trial = entry.trial
    kind = 0 if trial.ordinal >= 0 else 1 if trial.trial_id else 2
    return (
        kind,
        trial.ordinal,
        natural_key(trial.trial_id),
        trial.started_at is None,
        trial.started_at or "",
        natural_key(trial.producer_id or ""),
        entry.unit,
        entry.place,
    )


def _tell_twins(trials: Sequence[Trial], notes: list[Diagnostic]) -> None:
    """Identical trials without number or id may be copies or may be real: both count, and it is said."""
    alike: dict[str, list[Trial]] = {}
    for trial in trials:
        if trial.producer_id is None:
            alike.setdefault(content_of(trial), []).append(trial)
    for group in (found for found in alike.values() if len(found) > 1):
        count = "two" if len(group) == 2 else str(len(group))
        notes.append(
            Diagnostic(
                severity=Severity.WARNING,
                slug="identical_trials",
                message=f'{count} unnumbered trials of task "{group[0].task_id}" hold the same; all count',
                path=group[-1].source.path,
                details=tuple(f"{one.source.path} {one.source.pointer}" for one in group[:5]),
                task_id=group[0].task_id,
            )
        )
