"""Families of tasks: tasks that share a template, a document or an environment are not independent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trajdiff.errors import UsageError
from trajdiff.model import TaskTrials
from trajdiff.natural import plural
from trajdiff.reliability.side_tables import csv_rows, json_object


@dataclass(frozen=True, slots=True, kw_only=True)
class Families:
    """The family of each task that has one; ``source`` is the file or the metadata key they come from."""

    by_task: Mapping[str, str]
    source: str

    def of(self, task_ids: Sequence[str]) -> tuple[str, ...]:
        """The family of each task in this order. A task without one is a family of its own."""
        return tuple(
            f"family {self.by_task[task]}" if task in self.by_task else f"task {task}" for task in task_ids
        )

    def alone(self, task_ids: Sequence[str]) -> tuple[str, ...]:
        """Tasks that were given no family."""
        return tuple(task for task in task_ids if task not in self.by_task)

    def check(self, known: Sequence[str]) -> None:
        """Raises ``UsageError`` for a task that was not read, and where all tasks are one family."""
        strange = sorted(set(self.by_task) - set(known))
        if strange:
            shown = ", ".join(f'"{task}"' for task in strange[:5]) + (" ..." if len(strange) > 5 else "")
            raise UsageError(f"{self.source}: families name {plural(len(strange), 'task')} not read: {shown}")
        if len(known) > 1 and len(set(self.of(known))) == 1:
            raise UsageError(f"{self.source}: all tasks are one family: no interval can be had from that")


def read_families(text: str, name: str) -> Families:
    """Families from the text of a file. Raises ``UsageError``; ``name`` is used in messages.

    CSV with the columns ``task_id`` and ``family``, or JSON: ``{"families": {"task": "family"}}``.
    """
    text = text.lstrip("\ufeff")
    rows = _json_rows(text, name) if text.lstrip().startswith("{") else _csv_rows(text, name)
    found: dict[str, str] = {}
    for where, task, family in rows:
        if not task or not family:
            raise UsageError(f"{name}: {where}: a task and its family are needed")
        if task in found:
            raise UsageError(f'{name}: {where}: task "{task}" has two families')
        found[task] = family
    if not found:
        raise UsageError(f"{name}: no family in it")
    return Families(by_task=found, source=name)


def recorded_families(tasks: Sequence[TaskTrials], key: str) -> Families:
    """Families by a recorded property of tasks, or one that all trials of a task share.

    Raises ``UsageError`` where no task has it.
    """
    found = {}
    for task in tasks:
        value = _value(task, key)
        if value is not None:
            found[task.task_id] = value
    if not found:
        known = {name for task in tasks for name in task.task.metadata}
        known |= {name for task in tasks for trial in task.trials for name in trial.metadata}
        raise UsageError(
            f'--families {key}: no such file, and no task records "{key}"',
            "a CSV with task_id and family, or a recorded property of tasks",
            f"recorded here: {', '.join(sorted({'suite', *known}))}",
        )
    return Families(by_task=found, source=key)


def _value(task: TaskTrials, key: str) -> str | None:
    """What the task records under the key; trials that differ in it are in no family."""
    own = task.task.suite if key == "suite" else task.task.metadata.get(key)
    if own is not None and own != "":
        return str(own)
    values = {str(trial.metadata[key]) for trial in task.trials if trial.metadata.get(key) not in (None, "")}
    return values.pop() if len(values) == 1 else None


def _csv_rows(text: str, name: str) -> list[tuple[str, str, str]]:
    rows = csv_rows(text, name, ("task_id", "family"), what="families", error=UsageError)
    return [(f"line {at}", row["task_id"].strip(), row["family"].strip()) for at, row in rows]


def _json_rows(text: str, name: str) -> list[tuple[str, str, str]]:
    document = json_object(text, name, what="families")
    table = document.get("families")
    if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
        raise UsageError(f'{name}: families need "families", a table of task ids and names')
    return [(f"families.{task}", task, family) for task, family in table.items()]
