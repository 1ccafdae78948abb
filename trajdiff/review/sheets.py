"""Reads a filled-in review back: workbook, CSV, TSV, JSON or JSONL. Rows come with the name of their cells."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trajdiff.errors import InputError, UsageError
from trajdiff.files import read_file

#: A sheet is one to review if its header has these.
NEEDED = ("row_id", "review_verdict")
#: Rows looked at for the header: people put a title above it.
_HEADER_WITHIN = 10

WORKBOOKS = (".xlsx", ".xlsm", ".ods", ".xls")


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetRow:
    """One row: texts by column (empty cells are absent), and where it stands, as ``Review!row 3``."""

    cells: dict[str, str]
    place: str
    letters: dict[str, str]

    def cell(self, column: str) -> str:
        """Name of a cell for a message: ``Review!L3`` in a workbook, ``row 3, review_verdict`` elsewhere."""
        letter = self.letters.get(column)
        if letter is None:
            return f"{self.place}, {column}"
        sheet, _, number = self.place.partition("!row ")
        return f"{sheet}!{letter}{number}"


def read_rows(path: Path, shown: str) -> tuple[SheetRow, ...]:
    """The rows of a review. Raises ``UsageError`` or ``InputError`` for a file that is none."""
    try:
        data = read_file(path)
    except OSError as error:
        raise UsageError(f"{shown}: cannot be read ({error.strerror or error})") from error
    suffix = path.suffix.lower()
    if suffix in WORKBOOKS:
        return tuple(_workbook(data, shown))
    text = _text(data)
    if suffix in (".json", ".jsonl"):
        return tuple(_objects(text, shown))
    if suffix in (".csv", ".tsv", ".txt"):
        return tuple(_delimited(text, shown, tab=suffix == ".tsv"))
    raise UsageError(f"{shown}: no format of a review", "known: .xlsx .ods .csv .tsv .json .jsonl")


def _text(data: bytes) -> str:
    """UTF-8; else what spreadsheet programs write on Windows."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _workbook(data: bytes, shown: str) -> Iterator[SheetRow]:
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError as error:  # pragma: no cover - part of the ordinary install
        raise UsageError("reading a workbook needs an extra: pip install 'trajdiff[xlsx]'") from error
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        sheets = [
            (name, book.get_sheet_by_name(name).to_python(skip_empty_area=False)) for name in book.sheet_names
        ]
    except (CalamineError, OSError, ValueError) as error:
        raise InputError(f"{shown}: not a readable workbook ({error})", "save it again as .xlsx") from error
    sheets.sort(key=lambda sheet: sheet[0] != "Review")
    for name, rows in sheets:
        head = _header([[cell_text(value) for value in row] for row in rows[:_HEADER_WITHIN]])
        if head is None:
            continue
        columns = [cell_text(value) for value in rows[head]]
        letters = {column: _letter(at) for at, column in enumerate(columns) if column}
        for number, row in enumerate(rows[head + 1 :], head + 2):
            made = _row(columns, [cell_text(value) for value in row])
            if made:
                yield SheetRow(cells=made, place=f"{name}!row {number}", letters=letters)
        return
    raise InputError(
        f"{shown}: no sheet to review in it", f"looked for the columns {' and '.join(NEEDED)}",
        "made by: trajdiff export divergences --to review.xlsx",
    )  # fmt: skip


def _delimited(text: str, shown: str, *, tab: bool) -> Iterator[SheetRow]:
    first = text.partition("\n")[0]
    mark = "\t" if tab else max(",;\t", key=first.count)
    if tab:
        rows = [[_unescaped(part) for part in line.split("\t")] for line in text.splitlines()]
    else:
        csv.field_size_limit(2**31 - 1)
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=mark))
    head = _header(rows[:_HEADER_WITHIN])
    if head is None:
        raise InputError(
            f"{shown}: no review", f"looked for the columns {' and '.join(NEEDED)}",
            "made by: trajdiff export divergences --to review.csv",
        )  # fmt: skip
    columns = [name.strip() for name in rows[head]]
    for number, row in enumerate(rows[head + 1 :], head + 2):
        made = _row(columns, row)
        if made:
            yield SheetRow(cells=made, place=f"row {number}", letters={})


def _objects(text: str, shown: str) -> Iterator[SheetRow]:
    """A list of objects or one per line, as exported or as saved by the review mode of a report."""
    try:
        found = json.loads(text)
    except ValueError:
        try:
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError) as error:
            raise InputError(f"{shown}: neither JSON nor JSONL ({error})") from error
    except RecursionError as error:
        raise InputError(f"{shown}: nested too deeply") from error
    entries = found if isinstance(found, list) else [found]
    if not all(isinstance(entry, dict) and isinstance(entry.get("row_id"), str) for entry in entries):
        raise InputError(f"{shown}: no review", "a list of objects with row_id and review_verdict is expected")
    for number, entry in enumerate(entries, 1):
        cells = {key: cell_text(value) for key, value in entry.items() if not isinstance(value, dict | list)}
        yield SheetRow(
            cells={key: text for key, text in cells.items() if text}, place=f"entry {number}", letters={}
        )


def _header(rows: Sequence[Sequence[str]]) -> int | None:
    for at, row in enumerate(rows):
        names = {name.strip() for name in row}
        if all(name in names for name in NEEDED):
            return at
    return None


def _row(columns: Sequence[str], values: Sequence[str]) -> dict[str, str]:
    """Cells with something in them; the first of two columns with one name counts."""
    made: dict[str, str] = {}
    for column, value in zip(columns, values, strict=False):
        text = value.strip()
        if column and text and column not in made:
            made[column] = plain_text(text)
    return made


def plain_text(text: str) -> str:
    """A text without the quote that keeps a spreadsheet from taking it for a formula."""
    return text[1:] if text.startswith("'") and text[1:2] in tuple("=+-@\t\r\n＝＋－＠") else text


def cell_text(value: Any) -> str:
    """A cell as text; whole numbers as people write them."""
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _unescaped(text: str) -> str:
    out, at = [], 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text) and text[at + 1] in "tnr\\":
            out.append({"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}[text[at + 1]])
            at += 2
        else:
            out.append(text[at])
            at += 1
    return "".join(out)


def _letter(at: int) -> str:
    """Name of a column: A, Z, AA."""
    name = ""
    at += 1
    while at:
        at, rest = divmod(at - 1, 26)
        name = chr(65 + rest) + name
    return name
