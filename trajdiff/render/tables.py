"""The rows of each export, under the names of ``table_columns``. One function per export."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from trajdiff.align.table import Cell, Op, Row
from trajdiff.divergence.finding import Divergence, FindingKind
from trajdiff.frozen import replace
from trajdiff.natural import natural_key
from trajdiff.render.choosing import Choice, chosen_divergences, chosen_tasks
from trajdiff.render.json_compare import arguments_object
from trajdiff.render.json_divergence import divergence_object
from trajdiff.render.json_report import task_object, trial_object
from trajdiff.render.json_text import finite
from trajdiff.render.places import first_row, manifest_row, places, root_row
from trajdiff.render.table_columns import (
    ALIGNMENT_COLUMNS,
    DIVERGENCE_COLUMNS,
    REPORT_HEAD,
    REPORT_TAIL,
    REVIEW_COLUMNS,
    TRIAL_COLUMNS,
)
from trajdiff.report import Report, TaskReport, TrialRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One export: its columns, its flat rows for csv and tsv, its nested objects for json and jsonl."""

    columns: tuple[str, ...]
    rows: Callable[[Report, Choice], list[dict[str, Any]]]
    objects: Callable[[Report, Choice], list[dict[str, Any]]]


#: ``op`` of a gap in a row that the reference has no step in either.
NO_STEP_ANYWHERE = "absent"


def trial_rows(report: Report, choice: Choice) -> list[dict[str, Any]]:
    """One row per trial; an expected trial that is not there has the verdict ``missing``."""
    rows = []
    for trial in _trials(report, choice):
        row = trial_object(trial)
        row["verdict"] = row["verdict"] or "missing"
        row["source"] = trial.pointer or None
        rows.append({column: row[column] for column in TRIAL_COLUMNS})
    return rows


def trial_objects(report: Report, choice: Choice) -> list[dict[str, Any]]:
    """The trials with everything the JSON report says about them."""
    return [trial_object(trial) for trial in _trials(report, choice)]


def _trials(report: Report, choice: Choice) -> list[TrialRow]:
    tasks = sorted(chosen_tasks(report, _unlimited(choice)), key=lambda task: natural_key(task.task_id))
    trials = [
        trial
        for task in tasks
        for trial in with_missing(task)
        if choice.stop is None or trial.termination == choice.stop
    ]
    return trials if choice.limit is None else trials[: choice.limit]


def with_missing(task: TaskReport) -> list[TrialRow]:
    """The trials of a task and, in their places, the expected ones that are not there."""
    known = {trial.trial_id for trial in task.trials}
    absent = [_missing(task, trial_id) for trial_id in task.missing if trial_id not in known]
    if not absent:
        return list(task.trials)
    return sorted([*task.trials, *absent], key=lambda trial: natural_key(trial.trial_id))


def _missing(task: TaskReport, trial_id: str) -> TrialRow:
    return TrialRow(
        task_id=task.task_id,
        trial_id=trial_id,
        verdict=None,
        reward=None,
        verdict_rule="expected, not recorded",
        verdict_raw=None,
        termination="",
        termination_raw=None,
        producer_id=None,
        steps=0,
        tool_calls=0,
        errors=0,
        tokens=None,
        cost=None,
        duration=None,
        variant=None,
        ref=f"{task.task_id}/{trial_id}",
        path="",
        pointer="",
        comparable=False,
    )


def _unlimited(choice: Choice) -> Choice:
    """The same conditions on tasks; the limit is meant for rows."""
    return replace(choice, limit=None)


def alignment_rows(report: Report, choice: Choice) -> list[dict[str, Any]]:
    """One row per step and trial of the aligned tables, gaps included."""
    rows = []
    for task in sorted(chosen_tasks(report, _unlimited(choice)), key=lambda task: natural_key(task.task_id)):
        table = task.finding.table
        if table is None:
            continue
        for row in table.rows:
            cells = {cell.trial_id: cell for cell in row.cells}
            for trial_id in table.columns:
                found = cells.get(trial_id)
                entry = _alignment_row(task, row, found or Cell(trial_id=trial_id, op=Op.MISSING))
                rows.append(entry if found is not None else {**entry, "op": NO_STEP_ANYWHERE})
    return rows if choice.limit is None else rows[: choice.limit]


def _alignment_row(task: TaskReport, row: Row, cell: Cell) -> dict[str, Any]:
    trial = next((trial for trial in task.trials if trial.trial_id == cell.trial_id), None)
    own = next((entry for entry in task.finding.divergences if entry.trial_id == cell.trial_id), None)
    at = "" if cell.message_index is None else f"@{cell.message_index}"
    claimed = own is not None and not own.abstained
    table = task.finding.table
    return {
        "task_id": task.task_id,
        "step": row.number,
        "trial_id": cell.trial_id,
        "verdict": None if trial is None or trial.verdict is None else str(trial.verdict),
        "is_reference": table is not None and table.reference == cell.trial_id,
        "op": str(cell.op),
        "tool": cell.tool,
        "effect": cell.effect or None,
        "arguments": arguments_object(cell) if cell.tool is not None else None,
        "arguments_changed": list(cell.changed),
        "result": cell.result,
        "is_error": cell.is_error,
        "text": cell.text,
        "is_root": claimed and own is not None and root_row(task.finding, own) == row.number,
        "is_manifest": claimed and own is not None and manifest_row(task.finding, own) == row.number,
        "is_first_difference": own is not None and first_row(task.finding, own) == row.number,
        "message_index": cell.message_index,
        "json_path": cell.pointer or None,
        "ref": None if trial is None or cell.step is None else f"{trial.ref}{at}",
    }


def divergence_rows(report: Report, choice: Choice) -> list[dict[str, Any]]:
    """One row per failing or infrastructure trial, with empty columns for a reviewer."""
    return [_divergence_row(task, divergence) for task, divergence in chosen_divergences(report, choice)]


def divergence_objects(report: Report, choice: Choice) -> list[dict[str, Any]]:
    """The same trials as nested objects."""
    return [
        {**divergence_object(task, divergence), "finding": finding_of(divergence)}
        for task, divergence in chosen_divergences(report, choice)
    ]


def finding_of(divergence: Divergence) -> str:
    """What is said about one trial: the kind of its divergence, or why there is none."""
    if not divergence.abstained and divergence.kind != FindingKind.INFRASTRUCTURE.value:
        return FindingKind.DIVERGENCE.value
    reason = None if divergence.reason is None else str(divergence.reason)
    if reason in (FindingKind.SAME_PATH.value, FindingKind.INFRASTRUCTURE.value):
        return reason
    return FindingKind.ABSTAINED.value if divergence.abstained else FindingKind.INFRASTRUCTURE.value


def _divergence_row(task: TaskReport, divergence: Divergence) -> dict[str, Any]:
    entry = divergence_object(task, divergence)
    support = entry["support"] or {}
    found = {place.side: place for place in places(task, divergence)}
    first, origin, recovery = entry["first_difference"], entry["provenance"], entry["recovery"]
    row = {
        **entry,
        "trials": len(entry["group"]) or 1,
        "finding": finding_of(divergence),
        "support": f"{support['failed_with']}/{support['failed']} {support['passed_with']}/{support['passed']}"
        if support
        else None,
        **{
            name: support.get(name) for name in ("failed_with", "failed", "passed_with", "passed", "smallest_p")
        },
        "provenance": f"{origin['value']} from {origin['from']}" if origin else None,
        "recovery": _recovery_text(recovery) if recovery else None,
        "first_difference": first["text"] if first else None,
        "source": found["failed"].ref if "failed" in found else None,
        "passed_source": found["passed"].ref if "passed" in found else None,
        **reviewed(divergence),
    }
    return {column: row.get(column) for column in DIVERGENCE_COLUMNS}


def reviewed(divergence: Divergence) -> dict[str, Any]:
    """What a reviewer said before: it stands in the columns to fill, so that nothing has to be typed again."""
    own = [note for note in divergence.reviews if not note.carried] or list(divergence.reviews)
    if not own:
        return dict.fromkeys(REVIEW_COLUMNS)
    last = own[-1]
    return dict(
        zip(REVIEW_COLUMNS, (last.verdict, last.category, last.ref, last.note, last.reviewer), strict=True)
    )


def _recovery_text(recovery: dict[str, Any]) -> str:
    undone = recovery["failed_recovered"] + recovery["passed_recovered"]
    return f"not recovered; undone in {undone} other" if undone else "not recovered"


def report_columns(report: Report) -> tuple[str, ...]:
    """The columns of the task table; one per k of the task with the most counted trials."""
    largest = max((task.reliability.n for task in report.tasks), default=0)
    ks = range(1, largest + 1)
    return (*REPORT_HEAD, *(f"pass_hat_{k}" for k in ks), *(f"pass_at_{k}" for k in ks), *REPORT_TAIL)


def report_rows(report: Report, choice: Choice) -> list[dict[str, Any]]:
    """One row per task, in the order of the report; a pass^k above n is empty, never zero."""
    columns = report_columns(report)
    return [
        {column: row.get(column) for column in columns}
        for row in (_report_row(task) for task in chosen_tasks(report, choice))
    ]


def _report_row(task: TaskReport) -> dict[str, Any]:
    entry = task_object(task)
    lead = task.finding.lead
    row: dict[str, Any] = {
        **{
            name: entry[name]
            for name in ("task_id", "title", "n_expected", "n_completed", "n_counted", "passed")
        },
        "trials": " ".join("missing" if trial.verdict is None else str(trial.verdict) for trial in task.trials),
        **{name: len(entry[name]) for name in ("infra", "unscored", "missing")},
        **{f"pass_hat_{point['k']}": point["value"] for point in entry["pass_hat_k"]},
        **{f"pass_at_{point['k']}": point["value"] for point in entry["pass_at_k"]},
        "disagree": entry["disagree"],
        "finding": entry["finding"]["kind"],
    }
    if lead is not None:
        found = divergence_object(task, lead)
        row |= {
            name: found[name] for name in ("grade", "actor", "kind", "root_step", "manifest_step", "sentence")
        }
        support = found["support"] or {}
        row |= {name: support.get(name) for name in ("failed_with", "failed", "passed_with")}
    return row


def report_objects(report: Report, choice: Choice) -> list[dict[str, Any]]:
    """The tasks as nested objects."""
    return [task_object(task) for task in chosen_tasks(report, choice)]


def flat(value: Any) -> Any:
    """A value for one cell of a flat table: numbers and truth values stay, lists and objects become JSON."""
    value = finite(value)
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, sort_keys=False) if value else ""
    return value


def columns_of(name: str, report: Report, wanted: Sequence[str] = ()) -> Sequence[str]:
    """Columns of an export in their order, or those that were asked for."""
    return wanted or (report_columns(report) if name == "report" else TABLES[name].columns)


TABLES = {
    "trials": Table(columns=TRIAL_COLUMNS, rows=trial_rows, objects=trial_objects),
    "alignment": Table(columns=ALIGNMENT_COLUMNS, rows=alignment_rows, objects=alignment_rows),
    "divergences": Table(columns=DIVERGENCE_COLUMNS, rows=divergence_rows, objects=divergence_objects),
    "report": Table(columns=(), rows=report_rows, objects=report_objects),
}
