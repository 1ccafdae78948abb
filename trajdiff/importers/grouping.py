"""Puts the trials of all files together by task: who is whose copy, which numbers they get, what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from trajdiff.importers.copies import Entry, drop_copies
from trajdiff.importers.jsontext import canonical
from trajdiff.importers.numbering import number_trials
from trajdiff.importers.planning import Slot, expected_and_missing, same_runs
from trajdiff.importers.protocol import Imported, Importer, Plan, ReadOptions
from trajdiff.importers.sameness import mixed_provenance
from trajdiff.model import Diagnostic, Task, TaskTrials, Trial
from trajdiff.natural import natural_key

_T = TypeVar("_T")
TaskKey = tuple[str | None, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One file (or folder layout) that was read."""

    path: str
    importer: Importer
    rule: str
    sha256: str
    imported: Imported


def group_trials(
    units: Sequence[Unit], options: ReadOptions
) -> tuple[tuple[TaskTrials, ...], tuple[Diagnostic, ...]]:
    """All tasks in natural order of their ids, each with its trials, and what was noticed on the way.

    Raises ``InputError`` if two recordings of one trial contradict each other.
    """
    notes: list[Diagnostic] = []
    entries = [
        Entry(trial=_with_suite(trial, options.suite), unit=number, place=place)
        for number, unit in enumerate(units)
        for place, trial in enumerate(unit.imported.trials)
    ]
    kept, joined = drop_copies(entries, [unit.path for unit in units], options.on_duplicate, notes)
    tasks = _tasks(units, options.suite)
    by_key: dict[TaskKey, list[Entry]] = {key: [] for key in tasks}
    for entry in kept:
        by_key.setdefault(_key(entry.trial), []).append(entry)
    numbered = {key: number_trials(found, notes) for key, found in by_key.items()}
    plans = _plans(units, _runs(units, joined, numbered), options.suite)
    shown = _shown_ids(by_key)
    result = []
    for key in sorted(by_key, key=lambda key: natural_key(shown[key])):
        name = shown[key]
        definitions = tasks.get(key, [])
        task = replace(_merged(definitions) or Task(task_id=key[1], suite=key[0]), task_id=name)
        trials = tuple(_named(entry.trial, name) for entry in numbered[key])
        notes.extend(mixed_provenance(name, trials, definitions))
        expected, missing = expected_and_missing(
            name, trials, plans.get(key, []), options.expected_trials, notes
        )
        result.append(TaskTrials(task=task, trials=trials, expected_n=expected, missing=missing))
    return tuple(result), tuple(notes)


def _named(trial: Trial, task_id: str) -> Trial:
    return trial if trial.task_id == task_id else replace(trial, task_id=task_id)


def _runs(
    units: Sequence[Unit], joined: Sequence[int], numbered: Mapping[TaskKey, Sequence[Entry]]
) -> list[int]:
    """Which files belong to one run of their producer; matters for how many trials were planned."""
    slots: dict[int, set[Slot]] = {}
    for (suite, task_id), entries in numbered.items():
        for entry in entries:
            slots.setdefault(entry.unit, set()).add((suite, task_id, entry.trial.ordinal))
    planned: dict[int, int] = {}
    conditions: dict[int, object] = {}
    for number, unit in enumerate(units):
        counts = [
            one.expected_n for one in unit.imported.plans if one.expected_n is not None and not one.whole_task
        ]
        if counts:
            planned[number] = max(counts)
            conditions[number] = (unit.importer.name, canonical(dict(unit.imported.producer)))
    return same_runs(joined, slots, planned, conditions)


def _plans(
    units: Sequence[Unit], runs: Sequence[int], suite: str | None
) -> dict[TaskKey, list[tuple[int, Plan]]]:
    found: dict[TaskKey, list[tuple[int, Plan]]] = {}
    for number, unit in enumerate(units):
        for plan in unit.imported.plans:
            found.setdefault((plan.task.suite or suite, plan.task.task_id), []).append((runs[number], plan))
    return found


def _with_suite(trial: Trial, suite: str | None) -> Trial:
    return replace(trial, suite=suite) if suite is not None and trial.suite is None else trial


def _key(trial: Trial) -> TaskKey:
    return trial.suite, trial.task_id


def _tasks(units: Iterable[Unit], suite: str | None) -> dict[TaskKey, list[Task]]:
    """Every definition of every task, in order of the files."""
    found: dict[TaskKey, list[Task]] = {}
    for unit in units:
        for plan in unit.imported.plans:
            task = replace(plan.task, suite=plan.task.suite or suite)
            known = found.setdefault((task.suite, task.task_id), [])
            if not known or task not in known:
                known.append(task)
    return found


def _merged(tasks: Sequence[Task]) -> Task | None:
    """One definition from several: of each field the first that is recorded."""
    if not tasks:
        return None
    merged = tasks[0]
    for other in tasks[1:]:
        merged = replace(
            merged,
            title=merged.title if merged.title is not None else other.title,
            fingerprint=merged.fingerprint if merged.fingerprint is not None else other.fingerprint,
            script=merged.script if merged.script is not None else other.script,
            expected_actions=_first(merged.expected_actions, other.expected_actions),
            expected_outputs=_first(merged.expected_outputs, other.expected_outputs),
            metadata=merged.metadata or other.metadata,
        )
    return merged


def _first(one: _T | None, other: _T | None) -> _T | None:
    return one if one is not None else other


def _shown_ids(keys: Iterable[TaskKey]) -> dict[TaskKey, str]:
    """The id each task is shown with: its suite is put before it only where the bare id means several."""
    ordered = sorted(keys, key=lambda key: (natural_key(key[1]), key[0] is not None, natural_key(key[0] or "")))
    suites: dict[str, int] = {}
    for _, task_id in ordered:
        suites[task_id] = suites.get(task_id, 0) + 1
    shown: dict[TaskKey, str] = {}
    taken: dict[str, None] = {}
    for key in ordered:
        suite, task_id = key
        name = f"{suite}/{task_id}" if suite is not None and suites[task_id] > 1 else task_id
        while name in taken:
            name = f"{suite}/{name}"
        taken[name] = None
        shown[key] = name
    return shown
