"""Exports as Markdown and as plain HTML: tables that read anywhere, without script and without a network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

from trajdiff.render.aligned_tables import TaskTable, task_tables
from trajdiff.render.markdown_text import cell, code, table
from trajdiff.render.registry import Renderer
from trajdiff.render.safety import clean, one_line
from trajdiff.render.table_columns import REVIEW_COLUMNS
from trajdiff.render.tables import TABLES, columns_of, flat

if TYPE_CHECKING:
    from trajdiff.render.view import View
    from trajdiff.report import Report

_TITLES = {"trials": "Trials", "alignment": "Aligned trials", "divergences": "Divergences"}
#: Columns that are code and not words.
_CODE = frozenset({"ref", "task_id", "trial_id", "row_id", "tool", "source", "passed_source", "json_path"})

_STYLE = """
body{font:14px/1.5 system-ui,sans-serif;margin:1.5rem;color:#1f2328;background:#fff}
h1{font-size:1.3rem}h2{font-size:1.1rem;margin-top:2rem}
table{border-collapse:collapse;margin:.5rem 0}
th,td{border:1px solid #d1d9e0;padding:.25rem .5rem;text-align:left;vertical-align:top;white-space:pre-wrap;
overflow-wrap:anywhere;max-width:34rem}
th{background:#f3f5f7;position:sticky;top:0}
tr.root td{background:#ffe17a;color:#1f2328}tr.shows td{outline:2px solid;outline-offset:-2px}
tr.fold td{color:#59636e;font-style:italic}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th{background:#1c2430}
th,td{border-color:#3d444d}tr.fold td{color:#9198a1}}
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()


def markdown_rows(name: str, report: Report, view: View) -> str:
    """A table of the rows; the columns for a reviewer are left out unless asked for."""
    columns = _columns(name, report, view)
    rows = [
        tuple(_markdown(column, row.get(column)) for column in columns)
        for row in TABLES[name].rows(report, view.choice)
    ]
    return f"### {_TITLES[name]}\n\n{table(columns, rows)}"


def markdown_alignment(report: Report, view: View) -> str:
    """The aligned tables of the chosen tasks."""
    if view.columns:
        return markdown_rows("alignment", report, view)
    return "\n".join(_markdown_table(one) for one in task_tables(report, view)) or "no aligned task\n"


def _markdown_table(one: TaskTable) -> str:
    rows: list[tuple[str, ...]] = []
    for row in one.rows:
        if row.fold:
            rows.append(("", "", f"*{cell(row.fold)}*", *[""] * (len(one.headings) - 3)))
        else:
            texts = ("<br>".join(code(part) for part in text.split("\n")) for text in row.texts)
            rows.append((row.mark, row.number, *texts))
    said = "".join(f"{cell(text)}\n\n" for text in one.sentences)
    note = f"\n{cell(one.note)}\n" if one.note else ""
    return f"### {cell(one.title)}\n\n{said}{table([cell(text) for text in one.headings], rows)}{note}"


def _markdown(column: str, value: Any) -> str:
    value = flat(value)
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return code(str(value)) if column in _CODE else cell(str(value))


def html_rows(name: str, report: Report, view: View) -> str:
    """The same table as a page."""
    columns = _columns(name, report, view)
    rows = [[_plain(row.get(column)) for column in columns] for row in TABLES[name].rows(report, view.choice)]
    return _page(_TITLES[name], _html_table(columns, [("", row) for row in rows]))


def html_alignment(report: Report, view: View) -> str:
    """The aligned tables of the chosen tasks as a page."""
    if view.columns:
        return html_rows("alignment", report, view)
    parts = []
    for one in task_tables(report, view):
        rows: list[tuple[str, list[str]]] = []
        for row in one.rows:
            kind = (
                "fold" if row.fold else "root" if row.mark == view.marks.root else "shows" if row.mark else ""
            )
            texts = ["", "", row.fold] if row.fold else [row.mark, row.number, *row.texts]
            rows.append((kind, [*texts, *[""] * (len(one.headings) - len(texts))]))
        said = "".join(f"<p>{escape(one_line(text))}</p>\n" for text in one.sentences)
        note = f"<p>{escape(one_line(one.note))}</p>\n" if one.note else ""
        parts.append(f"<h2>{escape(one_line(one.title))}</h2>\n{said}{_html_table(one.headings, rows)}{note}")
    return _page(_TITLES["alignment"], "\n".join(parts) or "<p>no aligned task</p>")


def _html_table(columns: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    head = "".join(f'<th scope="col">{escape(one_line(column))}</th>' for column in columns)
    lines = []
    for kind, row in rows:
        inside = "".join(f"<td>{escape(clean(text))}</td>" for text in row)
        lines.append(f"<tr{f' class={kind}' if kind else ''}>{inside}</tr>\n")
    body = "".join(lines)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"


def _page(title: str, body: str) -> str:
    """A page that can run nothing and load nothing."""
    policy = f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>trajdiff: {escape(title)}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n{body}\n</body>\n</html>\n"
    )


def _columns(name: str, report: Report, view: View) -> list[str]:
    columns = columns_of(name, report, view.columns)
    return [column for column in columns if view.columns or column not in REVIEW_COLUMNS]


def _plain(value: Any) -> str:
    value = flat(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def _renderers() -> tuple[Renderer, ...]:
    made = [
        Renderer(name="markdown", subject="export-alignment", render=markdown_alignment, suffixes=(".md",)),
        Renderer(name="html", subject="export-alignment", render=html_alignment, suffixes=(".html",)),
    ]
    for name in ("trials", "divergences"):
        subject = f"export-{name}"
        made.append(
            Renderer(name="markdown", subject=subject, render=partial(markdown_rows, name), suffixes=(".md",))
        )
        made.append(
            Renderer(name="html", subject=subject, render=partial(html_rows, name), suffixes=(".html",))
        )
    return tuple(made)


RENDERERS = _renderers()
