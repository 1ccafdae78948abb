"""The sheets a reviewer works with: one row per failing trial with drop-downs, and the steps beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trajdiff.align.table import AlignedTable, Cell, Op, Row
from trajdiff.model import StepKind, Verdict
from trajdiff.render.choosing import chosen_divergences
from trajdiff.render.lines import plain
from trajdiff.render.places import first_row, manifest_row, root_row, trial_row
from trajdiff.render.steps import NO_STEP, Look, cell_of, step_lines
from trajdiff.render.table_columns import DIVERGENCE_COLUMNS, MEANINGS, REVIEW_COLUMNS
from trajdiff.render.tables import divergence_rows
from trajdiff.render.workbook import Sheet
from trajdiff.review.verdicts import CATEGORIES, VERDICTS

if TYPE_CHECKING:
    from trajdiff.divergence.finding import Divergence
    from trajdiff.render.view import View
    from trajdiff.report import Report, TaskReport

#: What a reviewer reads first; the other facts stand to the right of the columns to fill.
_FIRST = ("row_id", "task_id", "trial_id", "grade", "actor", "kind", "tool", "root_step", "manifest_step",
          "sentence", "support")  # fmt: skip
_WIDTHS: dict[str, float] = {
    "row_id": 14, "task_id": 10, "trial_id": 8, "grade": 7, "kind": 18, "tool": 20, "root_step": 8,
    "manifest_step": 9, "sentence": 60, "support": 10, "review_verdict": 14, "review_category": 16,
    "review_ref": 18, "review_note": 36, "reviewer": 14, "first_difference": 40, "source": 44,
    "passed_source": 44, "provenance": 30, "finding": 14, "reason": 18,
}  # fmt: skip

#: Characters of a step in the wide sheet; the whole step stands in the table.
_LONGEST_STEP = 1200
#: Rows of the aligned table kept on each side of a root step.
_AROUND = 2


def review_sheet(report: Report, view: View, columns: tuple[str, ...] = ()) -> Sheet:
    """The divergences with the columns to fill beside what is claimed."""
    if not columns or set(columns) == set(DIVERGENCE_COLUMNS):
        rest = (c for c in DIVERGENCE_COLUMNS if c not in _FIRST and c not in REVIEW_COLUMNS)
        columns = (*_FIRST, *REVIEW_COLUMNS, *rest)
    inputs = frozenset(REVIEW_COLUMNS) & frozenset(columns)
    lists = {"review_verdict": VERDICTS, "review_category": CATEGORIES}
    return Sheet(
        name="Review",
        columns=columns,
        rows=divergence_rows(report, view.choice),
        widths=_WIDTHS,
        wrapped=frozenset({"sentence", "review_note", "first_difference"}),
        inputs=inputs,
        choices={name: values for name, values in lists.items() if name in inputs},
        hints={name: MEANINGS[name] for name in inputs},
        frozen=1,
        shaded=True,
        printed=len(_FIRST) + len(REVIEW_COLUMNS) if columns[: len(_FIRST)] == _FIRST else 0,
    )


def around_roots(report: Report, view: View) -> Sheet:
    """The aligned steps around each root step: reference and failing trial, one step per row."""
    rows: list[dict[str, Any]] = []
    looks: dict[tuple[int, str], frozenset[str]] = {}
    for task, divergence in chosen_divergences(report, view.choice):
        table = task.finding.table
        root = root_row(task.finding, divergence)
        if table is None or root is None or divergence.abstained:
            continue
        last = max(root, manifest_row(task.finding, divergence) or root)
        first = len(rows)
        for row in table.rows:
            if root - _AROUND <= row.number <= last + _AROUND:
                look = _place(task, divergence, row.number)
                rows.append(_step(task, divergence, table, row, view, look))
                if look:
                    looks |= {(len(rows) - 1, column): frozenset({look}) for column in _STEP_COLUMNS}
        looks |= {(first, c): looks.get((first, c), frozenset()) | {"top"} for c in _STEP_COLUMNS}
    return Sheet(
        name="Steps",
        columns=_STEP_COLUMNS,
        rows=rows,
        widths={"row_id": 14, "task_id": 10, "trial_id": 8, "step": 6, "place": 16, "op": 12, "reference": 60,
                "failing trial": 60},
        wrapped=frozenset({"reference", "failing trial"}),
        frozen=4,
        looks=looks,
    )  # fmt: skip


_STEP_COLUMNS = ("row_id", "task_id", "trial_id", "step", "place", "op", "reference", "failing trial")
_PLACES = {"root": "root step", "manifest": "shows here", "first": "first difference", "": None}


def _place(task: TaskReport, divergence: Divergence, number: int) -> str:
    if number == root_row(task.finding, divergence):
        return "root"
    if number == manifest_row(task.finding, divergence):
        return "manifest"
    return "first" if number == first_row(task.finding, divergence) else ""


def _step(
    task: TaskReport, divergence: Divergence, table: AlignedTable, row: Row, view: View, place: str
) -> dict[str, Any]:
    own = cell_of(row, divergence.trial_id)
    reference = None if table.reference is None else cell_of(row, table.reference)
    op = next((cell.op for cell in row.cells if cell.trial_id == divergence.trial_id), Op.MISSING)
    return {
        "row_id": divergence.row_id,
        "task_id": task.task_id,
        "trial_id": divergence.trial_id,
        "step": row.number,
        "place": _PLACES[place],
        "op": str(op),
        "reference": _text(reference, view),
        "failing trial": _text(own, view),
    }


def _text(cell: Cell | None, view: View) -> str:
    """A step as text for one cell of a sheet: the whole call, its result below it."""
    look = Look(width=10_000, marks=view.marks, full=True)
    return "\n".join(plain(part).strip() for part in step_lines(cell, look))


def side_by_side(report: Report, view: View) -> Sheet | None:
    """One row per step, one column per trial; None unless exactly one task with steps is chosen."""
    tasks = [task for task in report.tasks if task.finding.table is not None]
    if len(tasks) != 1 or tasks[0].finding.table is None:
        return None
    task, table = tasks[0], tasks[0].finding.table
    names = {trial: _heading(task, table, trial, view) for trial in table.columns}
    rows: list[dict[str, Any]] = []
    looks: dict[tuple[int, str], frozenset[str]] = {}
    for at, row in enumerate(table.rows):
        entry: dict[str, Any] = {"step": row.number}
        places = []
        for divergence in task.finding.divergences:
            place = "" if divergence.abstained else _place(task, divergence, row.number)
            if place in ("root", "manifest"):
                mark = view.marks.root if place == "root" else view.marks.manifest
                places.append(f"{mark} {_PLACES[place]}, trial {divergence.trial_id}")
                looks[at, names[divergence.trial_id]] = frozenset({place})
        entry["place"] = "\n".join(places) or None
        for trial, name in names.items():
            entry[name] = _wide(row, trial, table, view)
            if entry[name] in (view.marks.same, NO_STEP):
                looks[at, name] = looks.get((at, name), frozenset()) | {"muted"}
        rows.append(entry)
    return Sheet(
        name="Side by side",
        columns=("step", "place", *names.values()),
        rows=rows,
        widths={"step": 6, "place": 22, **dict.fromkeys(names.values(), 46.0)},
        wrapped=frozenset({"place", *names.values()}),
        frozen=2,
        looks=looks,
    )


def _heading(task: TaskReport, table: AlignedTable, trial_id: str, view: View) -> str:
    row = trial_row(task, trial_id)
    verdict = None if row is None else row.verdict
    word = {Verdict.PASS: "passed", Verdict.FAIL: "failed"}.get(verdict, str(verdict)) if verdict else "missing"
    reference = ", reference" if trial_id == table.reference else ""
    return f"{view.marks.trial(verdict)} trial {trial_id} ({word}{reference})"


def _wide(row: Row, trial_id: str, table: AlignedTable, view: View) -> str:
    """A step in the wide sheet: a dot where it is the same as in the reference, the whole step elsewhere."""
    cell = cell_of(row, trial_id)
    if cell is None:
        return NO_STEP
    same = cell.op is Op.SAME and trial_id != table.reference and table.reference is not None
    if same and cell_of(row, table.reference or "") is not None and cell.kind != StepKind.TERMINATION:
        return view.marks.same
    text = _text(cell, view)
    left = len(text) - _LONGEST_STEP
    return text if left <= 0 else f"{text[:_LONGEST_STEP]} {view.marks.ellipsis} ({left} characters more)"
