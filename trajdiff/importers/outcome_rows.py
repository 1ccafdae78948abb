"""Rows of a side file: a manifest that names traces, or outcomes by task and trial, as TOML, CSV or JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from trajdiff.errors import InputError
from trajdiff.files import read_text, real_path
from trajdiff.importers.document import Document
from trajdiff.importers.jsontext import BadJsonError
from trajdiff.importers.naming import id_text, shortened
from trajdiff.importers.opening import open_document
from trajdiff.importers.protocol import Unreadable

# fmt: off
#: Other names of columns. ``success`` is none of them: it often means "submitted".
ALIASES = {
    "task_id": "task", "trial_id": "trial", "passed": "verdict", "pass": "verdict", "outcome": "verdict",
    "score": "reward", "stop": "termination", "env_version": "environment_version", "file": "path",
}
FIELDS = frozenset((
    "path", "format", "suite", "task", "trial", "verdict", "reward", "scorer", "termination", "model", "agent",
    "seed", "prompt_version", "tool_version", "environment_version", "fixture_version", "scorer_version",
    "error", "started_at", "ended_at", "duration_s", "cost_usd", "producer_id", "title", "script",
    "fingerprint", "expected_trials",
))
# fmt: on
_TOML_KEYS = ("trial", "outcomes", "columns")


class Row(Struct, frozen=True, kw_only=True):
    """One row: the file it stands in, its place there, its fields, and everything else as ``metadata``.

    ``columns`` says under which name a field was written. A ``path`` is relative to the row's file.
    """

    file: str
    place: str
    values: Mapping[str, Any]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)

    def text(self, key: str) -> str | None:
        """A field as text, None where it is empty."""
        return id_text(self.values.get(key))

    @property
    def judged(self) -> bool:
        """Whether the row says something about the outcome."""
        return "verdict" in self.columns or "reward" in self.columns

    @property
    def shown(self) -> str:
        """The row for messages: its place and what it names."""
        names = [f"{key} {shortened(str(self.values[key]), 60)}" for key in ("path", "task", "trial", "model")
                 if self.values.get(key) is not None]  # fmt: skip
        return f"{self.place}: {', '.join(names) or 'names nothing'}"


def read_rows(paths: Sequence[str]) -> tuple[Row, ...]:
    """All rows of these files and of the outcome files that manifests name. Raises ``InputError``."""
    rows: list[Row] = []
    seen: set[str] = set()
    waiting: list[tuple[str, Mapping[str, str]]] = [(path, {}) for path in paths]
    while waiting:
        path, columns = waiting.pop(0)
        if real_path(path) in seen:
            continue
        seen.add(real_path(path))
        if path.lower().endswith(".toml"):
            more, inner = _toml(path)
            waiting += more
            rows += _rows(path, inner, columns)
        else:
            rows += _rows(path, _table(path), columns)
    return tuple(rows)


_Written = tuple[str, Mapping[str, Any]]


def _rows(path: str, written: Iterable[_Written], columns: Mapping[str, str]) -> Iterator[Row]:
    renamed = {shown: meant for meant, shown in columns.items()}
    count = 0
    for place, said in written:
        count += 1
        values: dict[str, Any] = {}
        names: dict[str, str] = {}
        metadata: dict[str, Any] = {}
        for key, value in said.items():
            meant = renamed.get(key) or ALIASES.get(key.strip().lower(), key.strip().lower())
            if meant in FIELDS and (meant not in values or values[meant] is None):
                values[meant], names[meant] = _empty_as_none(value), key
            elif meant not in FIELDS and _empty_as_none(value) is not None:
                metadata[key.removeprefix("meta.")] = value
        row = Row(file=path, place=place, values=values, metadata=metadata, columns=names)
        _refuse_useless(row, said)
        yield row
    if not count and not path.lower().endswith(".toml"):
        raise InputError(f"{path}: no rows in it", "a row names task and trial and has a verdict or a reward")


def _empty_as_none(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


def _refuse_useless(row: Row, said: Mapping[str, Any]) -> None:
    path = row.text("path") or ""
    if "\x00" in path or any("\ud800" <= character <= "\udfff" for character in path):
        raise InputError(f"{row.file}: {row.place}: the path is no name of a file")
    if "path" in row.columns or ("task" in row.columns and row.judged):
        return
    lacks = "task" if "task" not in row.columns else "outcome"
    raise InputError(
        f"{row.file}: {row.place}: nothing says the {lacks}",
        f"found: {shortened(', '.join(map(str, said)), 100)}",
        "a row names task (or task_id), trial, and verdict, passed, outcome, reward or score; or a path",
        'a TOML manifest can name others: outcomes = "scores.csv" and columns = {verdict = "success"}',
    )


def _table(path: str) -> list[_Written]:
    """The rows of a CSV, TSV, JSON or JSONL file."""
    if path.lower().endswith((".csv", ".tsv")):
        return list(_csv(path))
    try:
        document = open_document(path)
        return list(_json(document))
    except Unreadable as error:
        raise InputError(f"{path}: {error.message}", *error.details) from None


def _csv(path: str) -> Iterator[_Written]:
    text = _text(path)
    head = text.partition("\n")[0]
    delimiter = "\t" if path.lower().endswith(".tsv") else ";" if head.count(";") > head.count(",") else ","
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for said in reader:
            extra = said.pop(None, None)
            if extra:
                raise InputError(f"{path}: line {reader.line_num} has more cells than the first line")
            yield f"line {reader.line_num}", said
    except csv.Error as error:
        raise InputError(f"{path}: line {reader.line_num} is not CSV: {error}") from None


def _json(document: Document) -> Iterator[_Written]:
    for record in document.records():
        try:
            value = record.decode()
        except BadJsonError as error:
            raise InputError(f"{document.path}: {record.place}: cannot be read: {error.problem}") from None
        if not isinstance(value, dict):
            raise InputError(f"{document.path}: {record.place}: a row is an object")
        yield record.place, value


def _toml(path: str) -> tuple[list[tuple[str, dict[str, str]]], list[_Written]]:
    """The outcome files a manifest names, with the names of their columns, and its own rows."""
    import tomllib

    try:
        said = tomllib.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid TOML: {error}") from None
    unknown = [key for key in said if key not in _TOML_KEYS]
    if unknown:
        known = "[[trial]] for each entry, outcomes, columns"
        raise InputError(f'{path}: unknown key "{shortened(unknown[0], 40)}"', f"known here: {known}")
    columns = said.get("columns", {})
    if not isinstance(columns, dict) or not all(isinstance(one, str) for one in columns.values()):
        raise InputError(f"{path}: columns must be a table of names", 'columns = {verdict = "success"}')
    wrong = [key for key in columns if key not in FIELDS]
    if wrong:
        known = ", ".join(sorted(FIELDS))
        raise InputError(f'{path}: columns: no field "{shortened(wrong[0], 40)}"', f"known: {known}")
    named = said.get("outcomes", [])
    files = [named] if isinstance(named, str) else named
    if not isinstance(files, list) or not all(isinstance(one, str) for one in files):
        raise InputError(f"{path}: outcomes must be a file or a list of files")
    entries = said.get("trial", [])
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise InputError(f"{path}: trial must be tables: [[trial]]")
    folder = Path(path).parent
    rows: list[_Written] = [(f"trial[{number}]", one) for number, one in enumerate(entries)]
    if not rows and not files:
        raise InputError(f"{path}: no [[trial]] and no outcomes in it")
    return [((folder / one).as_posix(), columns) for one in files], rows


def _text(path: str) -> str:
    try:
        return read_text(path)
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
