"""Finds recordings of the same trial and keeps one of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trajdiff.errors import InputError
from trajdiff.frozen import replace
from trajdiff.importers.later_copy import Entry, again, age, fuller, rule_of
from trajdiff.importers.sameness import (
    other_id,
    other_maker,
    other_run,
    recorded_difference,
    same_content,
)
from trajdiff.importers.toml_text import toml
from trajdiff.model import Diagnostic, Severity, Trial
from trajdiff.natural import natural_key

__all__ = ["Entry", "drop_copies", "place_of"]


Slot = tuple[str | None, str, str]


def drop_copies(
    entries: Sequence[Entry], paths: Sequence[str], on_duplicate: str | None, notes: list[Diagnostic]
) -> tuple[list[Entry], list[int]]:
    """The entries without copies, and for every file the number of the run it belongs to.

    Two files that hold copies of the same trial record the same run. Raises ``InputError`` if two recordings
    of one trial have different verdicts and no rule says which one counts.
    """
    runs = list(range(len(paths)))
    kept = _drop_by_producer_id(entries, runs, on_duplicate, notes)
    if on_duplicate is None:
        kept = _drop_copied_files(kept, paths, runs, notes)
        kept = _number_by_file(kept, paths, notes)
    kept = _drop_by_slot(kept, runs, on_duplicate, notes)
    return kept, [_root(runs, number) for number in range(len(paths))]


def _root(runs: list[int], number: int) -> int:
    while runs[number] != number:
        number = runs[number]
    return number


def _join(runs: list[int], one: int, other: int) -> None:
    first, second = sorted((_root(runs, one), _root(runs, other)))
    runs[second] = first


# The same id of the producer


def _drop_by_producer_id(
    entries: Sequence[Entry], runs: list[int], on_duplicate: str | None, notes: list[Diagnostic]
) -> list[Entry]:
    groups: dict[tuple[str | None, str, str | int], list[Entry]] = {}
    for number, entry in enumerate(entries):
        known: str | int = entry.trial.producer_id if entry.trial.producer_id is not None else number
        groups.setdefault((entry.trial.suite, entry.trial.task_id, known), []).append(entry)
    return _settle(groups.values(), runs, on_duplicate, notes, "its producer gives both the same id")


# Whole files that hold the same trials, and files that are one trial each


def _by_slot(entries: Iterable[Entry]) -> dict[Slot, list[Entry]]:
    slots: dict[Slot, list[Entry]] = {}
    for entry in entries:
        if entry.trial.trial_id:
            slots.setdefault((entry.trial.suite, entry.trial.task_id, entry.trial.trial_id), []).append(entry)
    return slots


def _collisions(entries: Sequence[Entry]) -> dict[tuple[int, int], list[tuple[Entry, Entry]]]:
    """Pairs of files with the same slots, each with the pairs of trials of one agent that meet there."""
    found: dict[tuple[int, int], list[tuple[Entry, Entry]]] = {}
    for group in _by_slot(entries).values():
        for position, one in enumerate(group):
            for other in group[position + 1 :]:
                if one.unit != other.unit and not other_maker(one.trial, other.trial):
                    found.setdefault((one.unit, other.unit), []).append((one, other))
    return found


def _drop_copied_files(
    entries: Sequence[Entry], paths: Sequence[str], runs: list[int], notes: list[Diagnostic]
) -> list[Entry]:
    """Drop from a file what it shares with an earlier one, where everything shared is identical."""
    dropped: dict[tuple[int, int], None] = {}
    for (first, second), pairs in sorted(_collisions(entries).items(), key=lambda item: item[0]):
        pairs = [pair for pair in pairs if (pair[0].unit, pair[0].place) not in dropped]
        if not pairs or not all(_is_copy(one.trial, other.trial) for one, other in pairs):
            continue
        _join(runs, first, second)
        for _, other in pairs:
            dropped[other.unit, other.place] = None
        count = f"{len(pairs)} trial{'s' if len(pairs) > 1 else ''}"
        notes.append(
            Diagnostic(
                severity=Severity.NOTE,
                slug="duplicate_trial",
                message=f"{count} also in {paths[first]}, with the same content; counted once",
                path=paths[second],
            )
        )
    return [entry for entry in entries if (entry.unit, entry.place) not in dropped]


def _is_copy(one: Trial, other: Trial) -> bool:
    return (
        not other_id(one, other)
        and recorded_difference(one, other) in (None, "run")
        and same_content(one, other)
    )


def _number_by_file(entries: Sequence[Entry], paths: Sequence[str], notes: list[Diagnostic]) -> list[Entry]:
    """Number the trials by file where every file has one trial number only and they collide.

    Some producers write trial 0 into every file of a repeated run: then the file is the trial.
    """
    clash = sorted(
        {
            unit
            for pair, trials in _collisions(entries).items()
            for unit in pair
            if not all(_of_runs(one.trial, other.trial) for one, other in trials)
        }
    )
    if not clash:
        return list(entries)
    places: dict[tuple[int, str | None, str], int] = {}
    for entry in entries:
        if entry.unit in clash:
            key = (entry.unit, entry.trial.suite, entry.trial.task_id)
            places[key] = places.get(key, 0) + 1
    tasks = {(suite, task_id) for _, suite, task_id in places}
    used = {entry.trial.trial_id for entry in entries if (entry.trial.suite, entry.trial.task_id) in tasks}
    # A number that differs anywhere in these tasks is a real one: the files do number their trials.
    if len(used) > 1 or any(count > 1 for count in places.values()):
        return list(entries)
    order = sorted(clash, key=lambda unit: natural_key(paths[unit]))
    number_of = {unit: number for number, unit in enumerate(order)}
    notes.append(
        Diagnostic(
            severity=Severity.NOTE,
            slug="numbered_by_file",
            message=f"{len(order)} files repeat one trial number; their trials are numbered by file",
            path=paths[order[0]],
            details=tuple(f"trial {number_of[unit]}: {paths[unit]}" for unit in order[:8]),
        )
    )
    return [
        _renumbered(entry, number_of[entry.unit]) if entry.unit in number_of else entry for entry in entries
    ]


def _of_runs(one: Trial, other: Trial) -> bool:
    """Whether it is known how the two belong together: two runs, or a retry inside one."""
    return other_run(one, other) or again(one, other)


def _renumbered(entry: Entry, number: int) -> Entry:
    return replace(entry, trial=replace(entry.trial, trial_id=str(number), ordinal=number))


# The same slot


def _drop_by_slot(
    entries: Sequence[Entry], runs: list[int], on_duplicate: str | None, notes: list[Diagnostic]
) -> list[Entry]:
    groups: list[list[Entry]] = [[entry] for entry in entries if not entry.trial.trial_id]
    for group in _by_slot(entries).values():
        # Recordings that differ in model, agent or seed are other trials under the same number.
        alike: list[list[Entry]] = []
        for entry in group:
            home = next((one for one in alike if recorded_difference(one[0].trial, entry.trial) is None), None)
            if home is None:
                alike.append([entry])
            else:
                home.append(entry)
        groups.extend(alike)
    return _settle(groups, runs, on_duplicate, notes, "both are the same trial of the same task")


def _settle(
    groups: Iterable[list[Entry]], runs: list[int], on_duplicate: str | None, notes: list[Diagnostic], why: str
) -> list[Entry]:
    """Keep one entry of every group."""
    kept: list[Entry] = []
    conflicts: list[tuple[Entry, Entry]] = []
    for group in groups:
        chosen = group[0]
        for other in group[1:]:
            _join(runs, chosen.unit, other.unit)
            if same_content(chosen.trial, other.trial):
                chosen, left = fuller(chosen, other)
                notes.append(_note("duplicate_trial", chosen, left, "the same content; counted once", why))
            elif _contradict(chosen, other, on_duplicate):
                conflicts.append((chosen, other))
            else:
                first, second = sorted((chosen, other), key=age(chosen, other, on_duplicate))
                chosen, left = (first, second) if on_duplicate == "first" else (second, first)
                rule = rule_of(chosen, left, on_duplicate)
                notes.append(_note("superseded_trial", chosen, left, rule, why))
        kept.append(chosen)
    if conflicts:
        raise _conflict_error(conflicts, on_duplicate)
    return sorted(kept, key=lambda entry: (entry.unit, entry.place))


def _contradict(one: Entry, other: Entry, on_duplicate: str | None) -> bool:
    if on_duplicate is None:
        return one.trial.verdict is not other.trial.verdict and not again(one.trial, other.trial)
    return on_duplicate == "error"


def place_of(trial: Trial) -> str:
    """Where a trial was recorded, for messages."""
    line = f" line {trial.source.line}" if trial.source.line else ""
    return f"{trial.source.path}{line} {trial.source.pointer}"


def _named(trial: Trial) -> str:
    return f'trial {trial.trial_id or trial.producer_id} of task "{trial.task_id}"'


def _note(slug: str, kept: Entry, left: Entry, what: str, why: str) -> Diagnostic:
    trial = kept.trial
    return Diagnostic(
        severity=Severity.NOTE,
        slug=slug,
        message=f"{_named(trial)} was recorded twice: {what}",
        path=left.trial.source.path,
        pointer=left.trial.source.pointer,
        details=(why, f"counted: {place_of(trial)}", f"left out: {place_of(left.trial)}"),
        task_id=trial.task_id,
        trial_id=trial.trial_id or None,
    )


def _conflict_error(conflicts: Sequence[tuple[Entry, Entry]], on_duplicate: str | None) -> InputError:
    details = []
    for one, other in conflicts[:5]:
        details.append(f'task "{one.trial.task_id}", trial {one.trial.trial_id or one.trial.producer_id}:')
        details.extend(f"  {place_of(entry.trial)} ({entry.trial.verdict})" for entry in (one, other))
    if len(conflicts) > 5:
        details.append(f"and {len(conflicts) - 5} more")
    several = any(one.trial.source.path != other.trial.source.path for one, other in conflicts)
    give = "give one of the two files only, or choose" if several else "both stand in one file: choose"
    details.append(f"{give} with --on-duplicate latest or first")
    if several:
        details.append(
            "where the same ids are other tasks, name the suite of each file in a manifest (--outcomes):"
        )
        details.append(f'  [[trial]] with path = {toml(conflicts[0][0].trial.source.path)} and suite = "..."')
    differ = "with different content" if on_duplicate == "error" else "with different verdicts"
    count = len(conflicts)
    subject = "a trial was" if count == 1 else f"{count} trials were"
    return InputError(f"{subject} recorded twice {differ}", *details)
