"""Reads the small tables that stand beside traces: weights, families, labels."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from trajdiff.errors import TrajdiffError, UsageError

#: Bytes of a cell; the csv module takes no more than 2**17 by itself.
_LONGEST_CELL = 2**31 - 1


def csv_rows(
    text: str, name: str, needed: Sequence[str], *, what: str, error: type[TrajdiffError]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows of a CSV with these columns and the lines they end at, missing cells empty.

    Raises ``error`` with file and line for what is no such CSV; ``what`` is said to need the columns.
    """
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.DictReader(io.StringIO(text.lstrip("\ufeff"), newline=""))
    try:
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as problem:
        raise error(f"{name}: line {reader.line_num}: no CSV ({problem})") from problem
    if not rows or any(column not in (reader.fieldnames or ()) for column in needed):
        raise error(f"{name}: {what} need the columns {', '.join(needed)}")
    for line, row in rows:
        if None in row:
            raise error(
                f"{name}: line {line}: more cells than the {len(reader.fieldnames or ())} columns",
                "a cell with a comma stands in quotation marks",
            )
        yield line, {column: row[column] or "" for column in needed}


def json_object(text: str, name: str, *, what: str) -> dict[str, Any]:
    """The object in a JSON text. Raises ``UsageError``, also for a key that one object has twice: the decoder
    would take the last without a word."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise UsageError(f'{name}: "{twice}" is there twice')
        return made

    try:
        made = json.loads(text.lstrip("\ufeff"), object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name}: {what} cannot be read as JSON ({error})") from error
    if not isinstance(made, dict):
        raise UsageError(f"{name}: {what} must be one JSON object")
    return made
