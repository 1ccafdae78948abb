"""Exports as .xlsx: the table itself, what a reviewer needs beside it, and a sheet that explains both."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from trajdiff.redaction import counts_text
from trajdiff.render.registry import Renderer
from trajdiff.render.review_sheets import around_roots, review_sheet, side_by_side
from trajdiff.render.table_columns import MEANINGS, REVIEW_COLUMNS
from trajdiff.render.tables import TABLES, columns_of
from trajdiff.render.workbook import LONGEST_CELL, Sheet, cut_cells, workbook

if TYPE_CHECKING:
    from trajdiff.render.view import View
    from trajdiff.report import Report

_TITLES = {"trials": "Trials", "alignment": "Alignment", "divergences": "Review", "report": "Tasks"}

_WIDTHS: dict[str, float] = {
    "arguments": 44, "result": 44, "text": 44, "sentence": 52, "json_path": 30, "ref": 40, "source": 40,
    "passed_source": 40, "title": 34, "tool": 24, "kind": 18, "first_difference": 40, "trials": 20,
    "arguments_changed": 18, "step": 6, "trial_id": 8, "verdict": 8, "op": 12, "finding": 16,
}  # fmt: skip


def render(name: str, report: Report, view: View) -> bytes:
    """One export as a workbook: its own table comes first."""
    columns = tuple(columns_of(name, report, view.columns))
    rows = TABLES[name].rows(report, view.choice)
    if name == "divergences":
        sheets = [review_sheet(report, view, columns), around_roots(report, view)]
    else:
        sheets = [_table(name, columns, rows)]
    if name == "alignment":
        wide = side_by_side(report, view)
        sheets += [*([wide] if wide is not None else []), review_sheet(report, view)]
    return workbook([*sheets, _read_me(name, report, view, sheets)], title=f"trajdiff {name}")


def _table(name: str, columns: tuple[str, ...], rows: Sequence[dict[str, Any]]) -> Sheet:
    ids = (
        ("task_id", "step", "trial_id")
        if name == "alignment"
        else ("ref",)
        if name == "trials"
        else ("task_id",)
    )
    frozen = len(ids) if columns[: len(ids)] == ids else 1
    looks: dict[tuple[int, str], frozenset[str]] = {}
    for at, row in enumerate(rows):
        for column in columns:
            found = _looks(name, rows, at, row, column)
            if found:
                looks[at, column] = found
    return Sheet(
        name=_TITLES[name],
        columns=columns,
        rows=rows,
        widths=_WIDTHS,
        wrapped=frozenset({"sentence", "title"}),
        frozen=frozen,
        looks=looks,
    )


def _looks(
    name: str, rows: Sequence[dict[str, Any]], at: int, row: dict[str, Any], column: str
) -> frozenset[str]:
    """How a cell of a table looks: colours repeat what the cell says in words."""
    looks = set()
    if column == "verdict" and row.get("verdict") in ("pass", "fail"):
        looks.add(str(row["verdict"]))
    if name == "alignment":
        before = rows[at - 1] if at else row
        if (before["task_id"], before["step"]) != (row["task_id"], row["step"]):
            looks.add("top")
        if row["is_root"]:
            looks.add("root")
        elif row["is_manifest"]:
            looks.add("manifest")
        if row["op"] in ("missing", "absent") or (row["op"] == "same" and column != "verdict"):
            looks.add("muted")
        if column == "op" and row["op"] not in ("same", "reference", "absent"):
            looks.add("changed")
    return frozenset(looks)


def _read_me(name: str, report: Report, view: View, sheets: Sequence[Sheet]) -> Sheet:
    """What each sheet and column means, how the workbook was made, and what was hidden or cut."""
    lines: list[tuple[str, str]] = [
        ("made by", f"trajdiff {report.tool_version}, export {name}"),
        *(("input", f"{file.path}   {file.format}   {file.trials} trials") for file in report.inputs),
        ("filters", ", ".join(words.removeprefix("--") for words in view.choice.words) or "none"),
        *((f"setting {key}", str(value)) for key, value in report.settings.items()),
        ("redaction", _redaction(report)),
        ("cut cells", f"{sum(map(cut_cells, sheets))} cells longer than {LONGEST_CELL} characters were cut"),
        ("", ""),
    ]
    told = {
        "Alignment": "one row per step and trial, gaps included; the root step of a divergence is gold",
        "Side by side": "one row per step, one column per trial: the reference first, then passed, then failed",
        "Review": "one row per failing trial; fill in the blue columns, then: trajdiff review import FILE",
        "Steps": "the steps around each root step, in the reference and in the failing trial",
    }
    lines += [(f"sheet {sheet.name}", told[sheet.name]) for sheet in sheets if sheet.name in told]
    lines += [("rule", text) for text in report.rules]
    lines += [("method", text) for text in report.method]
    lines.append(("", ""))
    seen = dict.fromkeys(column for sheet in sheets for column in sheet.columns)
    lines += [(column, MEANINGS[column]) for column in seen if column in MEANINGS]
    if any(column in seen for column in REVIEW_COLUMNS):
        lines.append(
            ("row_id", "leave it as it is: rows are matched by it, in any order, with any added column")
        )
    return Sheet(
        name="Read me",
        columns=("what", "meaning"),
        rows=[{"what": what, "meaning": text} for what, text in lines],
        widths={"what": 24, "meaning": 110},
        wrapped=frozenset({"meaning"}),
        filters=False,
    )


def _redaction(report: Report) -> str:
    if not report.content:
        return "texts and values left out (--no-content)"
    return "none (--no-redact)" if report.redacted is None else counts_text(dict(report.redacted))


RENDERERS = tuple(
    Renderer(
        name="xlsx",
        subject=name if name == "report" else f"export-{name}",
        render=partial(render, name),
        suffixes=(".xlsx",),
    )
    for name in TABLES
)
