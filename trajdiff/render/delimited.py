"""Exports as csv, tsv, json and jsonl. A spreadsheet that opens one of them never starts a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from trajdiff.render.json_text import to_json, to_jsonl
from trajdiff.render.registry import Renderer
from trajdiff.render.safety import clean
from trajdiff.render.tables import TABLES, columns_of, flat

if TYPE_CHECKING:
    from trajdiff.render.view import View
    from trajdiff.report import Report

#: Beginnings of a text that a spreadsheet would take for a formula, full-width forms included.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def to_csv(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    """Comma-separated values, UTF-8 without a byte order mark, one line feed after each row."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([safe_cell(row.get(column)) for column in columns])
    return out.getvalue()


def to_tsv(columns: Sequence[str], rows: Iterable[dict[str, Any]]) -> str:
    r"""Tab-separated values; backslash, tab and line breaks in a cell are written ``\\``, ``\t``, ``\n``."""
    lines = ["\t".join(columns)]
    lines += ["\t".join(_escaped(safe_cell(row.get(column))) for column in columns) for row in rows]
    return "".join(f"{text}\n" for text in lines)


def safe_cell(value: Any) -> Any:
    """A cell: empty for unknown, numbers as numbers, text cleaned and never a formula."""
    value = flat(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value
    text = clean(value)
    return f"'{text}" if text.startswith(_FORMULA) or value.startswith(_FORMULA) else text


def _escaped(value: Any) -> str:
    text = str(value).replace("\\", "\\\\")
    return text.replace("\t", "\\t").replace("\r", "\\r").replace("\n", "\\n")


def _csv(name: str, report: Report, view: View) -> str:
    text = to_csv(columns_of(name, report, view.columns), TABLES[name].rows(report, view.choice))
    return f"\ufeff{text}" if view.excel else text


def _tsv(name: str, report: Report, view: View) -> str:
    return to_tsv(columns_of(name, report, view.columns), TABLES[name].rows(report, view.choice))


def _objects(name: str, report: Report, view: View) -> list[dict[str, Any]]:
    """The nested objects; with columns asked for, the flat rows with only these."""
    if not view.columns:
        return TABLES[name].objects(report, view.choice)
    rows = TABLES[name].rows(report, view.choice)
    return [{column: row.get(column) for column in view.columns} for row in rows]


def _json(name: str, report: Report, view: View) -> str:
    return to_json(_objects(name, report, view))


def _jsonl(name: str, report: Report, view: View) -> str:
    return to_jsonl(_objects(name, report, view))


def _renderers() -> tuple[Renderer, ...]:
    """csv and tsv of the report, and all four formats of each export."""
    found = []
    for name in TABLES:
        subject = name if name == "report" else f"export-{name}"
        found.append(Renderer(name="csv", subject=subject, render=partial(_csv, name), suffixes=(".csv",)))
        found.append(Renderer(name="tsv", subject=subject, render=partial(_tsv, name), suffixes=(".tsv",)))
        if name != "report":
            found.append(
                Renderer(name="json", subject=subject, render=partial(_json, name), suffixes=(".json",))
            )
            found.append(
                Renderer(name="jsonl", subject=subject, render=partial(_jsonl, name), suffixes=(".jsonl",))
            )
    return tuple(found)


RENDERERS = _renderers()
