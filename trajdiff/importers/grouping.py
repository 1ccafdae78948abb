"""Puts the trials of all files together by task: who is whose copy, which numbers they get, what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from trajdiff.frozen import replace
from trajdiff.importers.copies import Entry, drop_copies
from trajdiff.importers.group_split import GroupKey, Split, TaskKey, split_groups
from trajdiff.importers.groups import grouping_of, tell_groups
from trajdiff.importers.jsontext import canonical
from trajdiff.importers.ledger import Ledger
from trajdiff.importers.numbering import number_trials
from trajdiff.importers.outcome_join import Joined, join_outcomes
from trajdiff.importers.planning import Slot, expected_and_missing, same_runs
from trajdiff.importers.protocol import Imported, Plan, ReadOptions
from trajdiff.importers.sameness import mixed_provenance
from trajdiff.model import Diagnostic, Task, TaskTrials, Trial
from trajdiff.natural import natural_key

_T = TypeVar("_T")


class Unit(Struct, frozen=True, kw_only=True):
    """One file (or folder layout) that was read; ``importer`` and ``title`` are the names of its reader."""

    path: str
    importer: str
    title: str
    rule: str
    sha256: str
    imported: Imported


def group_trials(
    units: Sequence[Unit], options: ReadOptions, ledger: Ledger | None = None
) -> tuple[tuple[TaskTrials, ...], tuple[Diagnostic, ...]]:
    """All tasks in natural order of their ids, each with its trials, and what was noticed on the way.

    Trials of one task by several models or agents are several groups, each a row of its own. ``ledger`` holds
    outcomes to join by task and trial. Raises ``InputError`` if two recordings of one trial contradict each
    other.
    """
    notes: list[Diagnostic] = []
    entries = [
        Entry(trial=_with_suite(trial, options.suite), unit=number, place=place)
        for number, unit in enumerate(units)
        for place, trial in enumerate(unit.imported.trials)
    ]
    kept, joined = drop_copies(entries, [unit.path for unit in units], options.on_duplicate, notes)
    tasks = _tasks(units, options.suite)
    by_task: dict[TaskKey, list[Entry]] = {key: [] for key in tasks}
    for entry in kept:
        by_task.setdefault(_key(entry.trial), []).append(entry)
    split = _split(units, by_task, options)
    numbered = {key: number_trials(found, notes) for key, found in split.groups.items()}
    join = Joined(trials=numbered) if ledger is None else join_outcomes(ledger, numbered)
    context = _Context(
        options=options,
        tasks=tasks,
        join=join,
        units_of=split.units,
        plans=_plans(units, _runs(units, joined, join.trials), options.suite),
        least=_least_numbers(units),
        shown=_shown_ids(by_task),
        notes=notes,
    )
    order = sorted(
        join.trials, key=lambda key: (natural_key(context.shown[key[:2]]), natural_key(key[2] or ""))
    )
    result = tuple(_task_trials(key, context) for key in order)
    notes += tell_groups(_by_label(join.trials), units[0].path if units else None)
    return result, tuple(notes)


class _Context(Struct, frozen=True, kw_only=True):
    """What is known about all groups: definitions, trials, the files of each, plans, least trial numbers."""

    options: ReadOptions
    tasks: Mapping[TaskKey, list[Task]]
    join: Joined[GroupKey]
    units_of: Mapping[GroupKey, frozenset[int]]
    plans: Mapping[TaskKey, list[tuple[int, int, Plan]]]
    least: Mapping[int, int]
    shown: Mapping[TaskKey, str]
    notes: list[Diagnostic]


def _task_trials(key: GroupKey, context: _Context) -> TaskTrials:
    """One group of one task with its definition, its plan and what is missing."""
    suite, task_id, label = key
    shown = context.shown[suite, task_id]
    name = shown if label is None else f"{shown} [{label}]"
    definitions = context.tasks.get((suite, task_id), [])
    task = replace(_merged(definitions) or Task(task_id=task_id, suite=suite), task_id=name)
    trials = tuple(_named(entry.trial, name) for entry in context.join.trials[key])
    context.notes.extend(mixed_provenance(name, trials, definitions))
    units = context.units_of[key]
    plans = [(run, plan) for unit, run, plan in context.plans.get((suite, task_id), []) if unit in units]
    plans += _plans_of_rows(task_id, task, context.join) if label is None else []
    expected, missing = expected_and_missing(
        name,
        trials,
        plans,
        context.options.expected_trials,
        context.notes,
        from_one=min((context.least[unit] for unit in units if unit in context.least), default=0) == 1,
    )
    return TaskTrials(task=task, trials=trials, expected_n=expected, missing=missing, group=label)


def _split(units: Sequence[Unit], by_task: Mapping[TaskKey, list[Entry]], options: ReadOptions) -> Split:
    """The groups of every task by what is recorded about the making of its trials."""
    grouping = grouping_of(options.group_by)
    planning: dict[TaskKey, list[int]] = {}
    for number, unit in enumerate(units):
        for plan in unit.imported.plans:
            planning.setdefault((plan.task.suite or options.suite, plan.task.task_id), []).append(number)
    common = [grouping.common_maker(unit.imported.trials) for unit in units]
    return split_groups(by_task, planning, common, grouping)


def _by_label(trials: Mapping[GroupKey, Sequence[Entry]]) -> dict[str, list[Sequence[Entry]]]:
    found: dict[str, list[Sequence[Entry]]] = {}
    for (_, _, label), entries in trials.items():
        if label is not None:
            found.setdefault(label, []).append(entries)
    return found


def _plans_of_rows(task_id: str, task: Task, join: Joined[GroupKey]) -> list[tuple[int, Plan]]:
    """What outcome rows say about the number of trials, and the trials that only they know."""
    lost, expected = join.lost.get(task_id, ()), join.expected.get(task_id)
    if not lost and expected is None:
        return []
    return [(-1, Plan(task=task, expected_n=expected, whole_task=True, lost=lost))]


def _least_numbers(units: Sequence[Unit]) -> dict[int, int]:
    """The least trial number in each file that has any: some producers count from 0, some from 1."""
    numbers = {
        number: [trial.ordinal for trial in unit.imported.trials if trial.ordinal >= 0]
        for number, unit in enumerate(units)
    }
    return {number: min(found) for number, found in numbers.items() if found}


def _named(trial: Trial, task_id: str) -> Trial:
    return trial if trial.task_id == task_id else replace(trial, task_id=task_id)


def _runs(
    units: Sequence[Unit], joined: Sequence[int], numbered: Mapping[GroupKey, Sequence[Entry]]
) -> list[int]:
    """Which files belong to one run of their producer; matters for how many trials were planned."""
    slots: dict[int, set[Slot]] = {}
    for (suite, task_id, _), entries in numbered.items():
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
        conditions[number] = (unit.importer, canonical(dict(unit.imported.producer)))
    return same_runs(joined, slots, planned, conditions)


def _plans(
    units: Sequence[Unit], runs: Sequence[int], suite: str | None
) -> dict[TaskKey, list[tuple[int, int, Plan]]]:
    """The plans of every task, each with the number of its file and of its run."""
    found: dict[TaskKey, list[tuple[int, int, Plan]]] = {}
    for number, unit in enumerate(units):
        for plan in unit.imported.plans:
            key = (plan.task.suite or suite, plan.task.task_id)
            found.setdefault(key, []).append((number, runs[number], plan))
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
