"""The aligned tables of the chosen tasks as Markdown and HTML, folded as in ``compare task``.

Columns: the reference, then a failed trial of each divergence, or a trial of each variant where none failed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from trajdiff.align.table import AlignedTable, Op, Row
from trajdiff.render.choosing import chosen_tasks
from trajdiff.render.lines import plain
from trajdiff.render.places import manifest_row, root_row, trial_row
from trajdiff.render.steps import Look, cell_of, rows_with, step_lines, step_name
from trajdiff.render.wording import plural, trial_strip

if TYPE_CHECKING:
    from trajdiff.render.view import View
    from trajdiff.report import Report, TaskReport

#: Trials beside the reference; the others are named.
_MOST_COLUMNS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """A row: its mark and number, one text per column; or a fold that spans all columns."""

    mark: str = ""
    number: str = ""
    texts: tuple[str, ...] = ()
    fold: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTable:
    """The table of one task: what is said about it, headings, rows, and the trials that are left out."""

    title: str
    sentences: tuple[str, ...]
    headings: tuple[str, ...]
    rows: tuple[TableRow, ...]
    note: str = ""


def task_tables(report: Report, view: View) -> Iterator[TaskTable]:
    """The tables of the chosen tasks, in the order of the report."""
    for task in chosen_tasks(report, view.choice):
        if task.finding.table is not None:
            yield _table(task, task.finding.table, view)


def _table(task: TaskReport, table: AlignedTable, view: View) -> TaskTable:
    columns = _columns(task, table)
    left_out = [trial for trial in table.columns if trial not in columns]
    places = _places(task, view)
    rows: list[TableRow] = []
    inside = rows_with(table, columns)
    for matches, group in groupby(inside, key=lambda row: row.number not in places and _same(row, columns)):
        part = tuple(group)
        if matches:
            rows.append(TableRow(fold=_fold(part, columns, view)))
        else:
            rows += [_row(row, columns, places, view) for row in part]
    title = f"{task.task_id} {task.title or ''}".strip()
    claimed = [entry for entry in task.finding.divergences if entry.trial_id in columns]
    return TaskTable(
        title=f"{title}   {trial_strip(task, view.marks)}",
        sentences=tuple(
            f"trial {entry.trial_id}: {entry.sentence}" + (f" Grade {entry.grade}." if entry.grade else "")
            for entry in claimed
        )
        or (task.finding.text,),
        headings=("", "step", *(_heading(task, table, trial, view) for trial in columns)),
        rows=tuple(rows),
        note=f"not shown: {', '.join(left_out)}" if left_out else "",
    )


def _columns(task: TaskReport, table: AlignedTable) -> tuple[str, ...]:
    """The reference, then one trial of each group of failed ones, or of each variant."""
    first = table.reference or (table.columns[0] if table.columns else "")
    seen: dict[str, str] = {}
    for entry in task.finding.divergences:
        seen.setdefault(entry.identity or entry.trial_id, entry.trial_id)
    others = list(seen.values()) or [variant.trials[0] for variant in task.finding.variants]
    rest = [trial for trial in others if trial != first and trial in table.columns]
    return (first, *rest[:_MOST_COLUMNS])


def _places(task: TaskReport, view: View) -> dict[int, str]:
    found: dict[int, str] = {}
    for entry in task.finding.divergences:
        if entry.abstained:
            continue
        root, manifest = root_row(task.finding, entry), manifest_row(task.finding, entry)
        if manifest is not None:
            found.setdefault(manifest, view.marks.manifest)
        if root is not None:
            found[root] = view.marks.root
    return found


def _same(row: Row, columns: tuple[str, ...]) -> bool:
    ops = [None if (cell := cell_of(row, trial)) is None else cell.op for trial in columns]
    return all(op in (Op.SAME, Op.REFERENCE, Op.MOVED) for op in ops)


def _fold(rows: tuple[Row, ...], columns: tuple[str, ...], view: View) -> str:
    names = [step_name(row, cell_of(row, columns[0])) for row in rows]
    ends = names[0] if len(names) == 1 else f"{names[0]} {view.marks.ellipsis} {names[-1]}"
    return f"{plural(len(rows), 'step')} {'matches' if len(rows) == 1 else 'match'} ({ends})"


def _row(row: Row, columns: tuple[str, ...], places: dict[int, str], view: View) -> TableRow:
    look = Look(width=10_000 if view.full else 110, marks=view.marks, full=view.full, lines=3)
    texts = []
    for trial in columns:
        cell = cell_of(row, trial)
        same = cell is not None and cell.op is Op.SAME and trial != columns[0]
        texts.append(
            view.marks.same if same else "\n".join(plain(part).strip() for part in step_lines(cell, look))
        )
    return TableRow(mark=places.get(row.number, ""), number=str(row.number), texts=tuple(texts))


def _heading(task: TaskReport, table: AlignedTable, trial_id: str, view: View) -> str:
    found = trial_row(task, trial_id)
    mark = view.marks.trial(None if found is None else found.verdict)
    return f"{mark} trial {trial_id}{' (reference)' if trial_id == table.reference else ''}"
