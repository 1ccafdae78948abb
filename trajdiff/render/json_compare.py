"""``compare task`` and ``compare trials`` as JSON: the task or the two trials, with the aligned table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from trajdiff.align.table import AlignedTable, Cell, Op, Row
from trajdiff.render.json_report import envelope, task_object, trial_object
from trajdiff.render.json_text import to_json, to_jsonl
from trajdiff.render.registry import Renderer
from trajdiff.render.view import pair_of, task_of

if TYPE_CHECKING:
    from trajdiff.render.view import Pair, View
    from trajdiff.report import Report


def render_task(report: Report, view: View) -> str:
    """One task with its aligned table."""
    task = task_of(report, view)
    table = task.finding.table
    return to_json(
        {
            **envelope(report, "compare-task"),
            "task": task_object(task),
            "table": None if table is None else table_object(table, view.trials),
        }
    )


def render_task_rows(report: Report, view: View) -> str:
    """One object per row of the aligned table."""
    table = task_of(report, view).finding.table
    return "" if table is None else to_jsonl(_row(row, view.trials) for row in table.rows)


def render_trials(report: Report, view: View) -> str:
    """Two trials of a task, row by row."""
    pair = pair_of(view)
    return to_json(
        {
            **envelope(report, "compare-trials"),
            "task_id": pair.a.task_id,
            "a": trial_object(pair.a),
            "b": trial_object(pair.b),
            "differing": sum(differs(row, pair) for row in pair.table.rows),
            "table": table_object(pair.table, ()),
        }
    )


def render_trials_rows(report: Report, view: View) -> str:
    """One object per row of two trials."""
    return to_jsonl(_row(row, ()) for row in pair_of(view).table.rows)


def differs(row: Row, pair: Pair) -> bool:
    """Whether the two trials differ in this row."""
    ops = {cell.trial_id: cell.op for cell in row.cells}
    return any(ops.get(trial.trial_id, Op.MISSING) not in (Op.REFERENCE, Op.SAME) for trial in (pair.a, pair.b))


def table_object(table: AlignedTable, trials: tuple[str, ...]) -> dict[str, Any]:
    """The aligned table; ``trials`` limits its columns, empty means all."""
    columns = [trial for trial in table.columns if not trials or trial in trials]
    return {
        "columns": columns,
        "reference": table.reference,
        "rows": [_row(row, tuple(columns)) for row in table.rows],
    }


def _row(row: Row, trials: tuple[str, ...]) -> dict[str, Any]:
    cells = [cell for cell in row.cells if not trials or cell.trial_id in trials]
    return {"step": row.number, "label": row.label, "cells": [_cell(cell) for cell in cells]}


def arguments_object(cell: Cell) -> dict[str, Any]:
    """Arguments by name, in recorded order; the texts of the table are JSON and become values again."""
    return {name: _value(text) for name, text in cell.arguments}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "trial_id": cell.trial_id,
        "op": str(cell.op),
        "actor": cell.actor,
        "kind": cell.kind,
        "tool": cell.tool,
        "effect": cell.effect,
        "arguments": [{"path": path, "value": value} for path, value in arguments_object(cell).items()],
        "arguments_changed": list(cell.changed),
        "result": cell.result,
        "is_error": cell.is_error,
        "text": cell.text,
        "message_index": cell.message_index,
        "json_path": cell.pointer or None,
        "line": cell.line,
    }


RENDERERS = (
    Renderer(name="json", subject="task", render=render_task, suffixes=(".json",)),
    Renderer(name="jsonl", subject="task", render=render_task_rows, suffixes=(".jsonl",), whole=False),
    Renderer(name="json", subject="trials", render=render_trials, suffixes=(".json",)),
    Renderer(name="jsonl", subject="trials", render=render_trials_rows, suffixes=(".jsonl",)),
)
