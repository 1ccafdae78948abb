"""Sheets of a spreadsheet: frozen header, filters, shaded facts, drop-downs. Nothing in it is a formula."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from trajdiff.errors import UsageError
from trajdiff.render.delimited import safe_cell
from trajdiff.render.safety import cells

#: Characters of a cell before it is cut; a spreadsheet holds 32,767.
LONGEST_CELL = 32_000
#: Rows of a sheet, the header among them.
MOST_ROWS = 1_048_576
#: A file must not depend on the day it was made.
_NO_DATE = datetime(2000, 1, 1)

BLUE, ORANGE, GOLD, PALE_GOLD = "#0b5cad", "#b45309", "#ffe17a", "#fff3c4"
#: Characters that a name of a column may ask for.
_WIDEST_NAME = 24
#: Points of one line of text, and the most a row may take.
_LINE_HEIGHT, _HIGHEST = 13.0, 240.0
_GREY, _LINE, _INPUT = "#f3f5f7", "#b6bec7", "#e8f1fb"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One sheet. ``rows`` are cells by column; ``widths`` in characters.

    ``wrapped`` columns break lines, ``inputs`` are for a person to fill, ``choices`` get drop-downs; ``frozen``
    columns stay on the left, the first ``printed`` ones (0: all) are printed. ``looks`` gives the format of a
    cell (``root``, ``manifest``, ``pass``, ``fail``, ``muted``, ``changed``, ``top``: a line above) by row
    number and column.
    """

    name: str
    columns: tuple[str, ...]
    rows: Sequence[Mapping[str, Any]]
    widths: Mapping[str, float] = field(default_factory=dict)
    wrapped: frozenset[str] = frozenset()
    inputs: frozenset[str] = frozenset()
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hints: Mapping[str, str] = field(default_factory=dict)
    frozen: int = 1
    shaded: bool = False
    looks: Mapping[tuple[int, str], frozenset[str]] = field(default_factory=dict)
    filters: bool = True
    printed: int = 0


def workbook(sheets: Iterable[Sheet], title: str) -> bytes:
    """The sheets as one .xlsx file; equal sheets give equal bytes. Raises ``UsageError`` for too many rows."""
    try:
        import xlsxwriter
    except ImportError as error:  # pragma: no cover - part of the ordinary install
        raise UsageError("writing .xlsx needs an extra: pip install 'trajdiff[xlsx]'") from error
    out = io.BytesIO()
    book = xlsxwriter.Workbook(
        out,
        {
            "in_memory": True,
            "strings_to_formulas": False,
            "strings_to_urls": False,
            "strings_to_numbers": False,
        },
    )
    book.set_properties({"title": title, "created": _NO_DATE})
    formats = _Formats(book)
    for sheet in sheets:
        _write(book.add_worksheet(sheet.name), sheet, formats)
    book.close()
    return out.getvalue()


def cut_cells(sheet: Sheet) -> int:
    """How many cells of a sheet are too long for a spreadsheet."""
    return sum(
        isinstance(value := safe_cell(row.get(column)), str) and len(value) > LONGEST_CELL
        for row in sheet.rows
        for column in sheet.columns
    )


class _Formats:
    """Formats by their properties; a workbook wants each made once."""

    def __init__(self, book: Any) -> None:
        self._book = book
        self._made: dict[tuple[str, ...], Any] = {}

    def header(self, *, filled_in: bool) -> Any:
        """A heading; columns to fill in look different."""
        return self._get(
            ("header", str(filled_in)),
            {"bold": True, "bottom": 2, "valign": "top", "text_wrap": True,
             "bg_color": GOLD if filled_in else "#dde3ea"},
        )  # fmt: skip

    def cell(self, looks: frozenset[str]) -> Any:
        """A cell with these looks."""
        properties: dict[str, Any] = {"valign": "top"}
        for look, more in _LOOKS:
            if look in looks:
                properties |= more
        return self._get(tuple(sorted(looks)), properties)

    def _get(self, key: tuple[str, ...], properties: dict[str, Any]) -> Any:
        if key not in self._made:
            self._made[key] = self._book.add_format({"font_name": "Calibri", "font_size": 10, **properties})
        return self._made[key]


#: Later looks win over earlier ones.
_LOOKS: tuple[tuple[str, dict[str, Any]], ...] = (
    # Some programs show a truth value as 1 unless the format says otherwise.
    ("truth", {"num_format": '"TRUE";"TRUE";"FALSE"', "align": "left"}),
    ("number", {"align": "left"}),
    ("wrapped", {"text_wrap": True}),
    ("facts", {"bg_color": _GREY}),
    ("input", {"bg_color": _INPUT, "border": 1, "border_color": _LINE}),
    ("muted", {"font_color": "#59636e"}),
    ("pass", {"font_color": BLUE, "bold": True}),
    ("fail", {"font_color": ORANGE, "bold": True}),
    ("changed", {"bold": True}),
    ("manifest", {"bg_color": PALE_GOLD}),
    ("root", {"bg_color": GOLD}),
    ("top", {"top": 1, "top_color": _LINE}),
)


def _write(page: Any, sheet: Sheet, formats: _Formats) -> None:
    if len(sheet.rows) >= MOST_ROWS:
        raise UsageError(
            f"{len(sheet.rows)} rows are too many for a spreadsheet ({MOST_ROWS - 1})",
            "choose tasks with --task or --only, or write .csv or .parquet",
        )
    for at, column in enumerate(sheet.columns):
        page.set_column(at, at, max(sheet.widths.get(column, 12), min(len(column) + 2, _WIDEST_NAME)))
        page.write_string(0, at, str(safe_cell(column)), formats.header(filled_in=column in sheet.inputs))
    base = {column: _base(sheet, column) for column in sheet.columns}
    for number, row in enumerate(sheet.rows, 1):
        for at, column in enumerate(sheet.columns):
            value = row.get(column)
            looks = sheet.looks.get((number - 1, column), frozenset()) | base[column] | _by_type(value)
            _put(page, number, at, value, formats.cell(looks))
        page.set_row(number, _height(sheet, row))
    page.freeze_panes(1, sheet.frozen)
    if sheet.filters and sheet.columns:
        page.autofilter(0, 0, max(len(sheet.rows), 1), len(sheet.columns) - 1)
    page.set_landscape()
    page.repeat_rows(0)
    page.fit_to_pages(1, 0)
    if sheet.printed:
        page.print_area(0, 0, max(len(sheet.rows), 1), sheet.printed - 1)
    _drop_downs(page, sheet)


def _by_type(value: Any) -> frozenset[str]:
    """Numbers stand on the left like the ids beside them; truth values are written out."""
    if isinstance(value, bool):
        return frozenset({"truth"})
    return frozenset({"number"}) if isinstance(value, int | float) else frozenset()


def _height(sheet: Sheet, row: Mapping[str, Any]) -> float:
    """Points that a row takes: not every program makes rows fit by itself."""
    lines = 1
    for column in sheet.wrapped:
        text = row.get(column)
        if isinstance(text, str):
            width = max(sheet.widths.get(column, 12) - 1, 1)
            lines = max(lines, sum(max(1, math.ceil(cells(part) / width)) for part in text.split("\n")))
    return min(lines * _LINE_HEIGHT + 2, _HIGHEST)


def _base(sheet: Sheet, column: str) -> frozenset[str]:
    looks = set()
    if column in sheet.wrapped:
        looks.add("wrapped")
    if column in sheet.inputs:
        looks.add("input")
    elif sheet.shaded:
        looks.add("facts")
    return frozenset(looks)


def _put(page: Any, row: int, at: int, value: Any, look: Any) -> None:
    """One cell. Texts are written as texts, whatever they begin with."""
    if isinstance(value, bool):
        page.write_boolean(row, at, value, look)
        return
    value = safe_cell(value)
    if value == "":
        page.write_blank(row, at, None, look)
    elif isinstance(value, int | float) and abs(value) < 1e15:
        page.write_number(row, at, value, look)
    else:
        text = str(value)
        if len(text) > LONGEST_CELL:
            text = f"{text[:LONGEST_CELL]} … (cut, {len(text)} characters)"
        page.write_string(row, at, text, look)


def _drop_downs(page: Any, sheet: Sheet) -> None:
    last = max(len(sheet.rows), 1)
    for column, values in sheet.choices.items():
        at = sheet.columns.index(column)
        page.data_validation(
            1, at, last, at,
            {"validate": "list", "source": list(values), "input_title": column[:32],
             "input_message": sheet.hints.get(column, "")[:255], "error_title": "not in the list",
             "error_message": f"one of: {', '.join(values)}"},
        )  # fmt: skip
