"""One record of a file, decoded only when it is asked for."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from trajdiff.importers import jsontext
from trajdiff.importers.deep_json import parts_of
from trajdiff.importers.file_places import Span
from trajdiff.importers.jsontext import BadJsonError
from trajdiff.importers.naming import place_of
from trajdiff.importers.protocol import Head


class Record(Struct, frozen=True, kw_only=True):
    """One record of a file: where it lies and its JSON text, or why it cannot be read.

    A ``shallow`` record is refused if it is nested deeper than readers can walk. ``span`` is where it lies in a
    large plain file, None in any other.
    """

    pointer: str
    line: int | None = None
    raw: msgspec.Raw | bytes = b""
    value: Any = None
    decoded: bool = False
    problem: str | None = None
    shallow: bool = False
    span: Span | None = None

    @property
    def place(self) -> str:
        """Where the record lies, for messages."""
        return place_of(self.pointer, self.line)

    def decode(self) -> Any:
        """The JSON value. Raises ``BadJsonError``."""
        if self.problem is not None:
            raise BadJsonError(self.problem, self.line or 1)
        value = self.value if self.decoded else jsontext.decode(self.raw)
        return jsontext.not_deep(value) if self.shallow else value


def decoded_or_parts(raw: msgspec.Raw) -> Any:
    """The value; of a list that holds something too deep, its items as they are. Raises ``BadJsonError``."""
    try:
        return decoded(raw)
    except BadJsonError as error:
        if not error.deep or bytes(raw)[:1] != b"[":
            raise
        return [part.raw for part in parts_of(bytes(raw))]


def record_of(value: Any, pointer: str) -> Record:
    """A record of a value, which may be a part that is not decoded yet."""
    if isinstance(value, msgspec.Raw):
        return Record(pointer=pointer, raw=value)
    return Record(pointer=pointer, value=value, decoded=True)


def fields_of(record: Record) -> dict[str, Any] | None:
    """The keys of a record with their values, decoded or not; None if it is not an object."""
    if record.problem is not None:
        return None
    if not record.decoded:
        try:
            return msgspec.json.decode(record.raw, type=dict[str, msgspec.Raw])
        except jsontext.FAST_ERRORS:
            pass
    try:
        value = record.decode()
    except BadJsonError:
        return None
    return value if isinstance(value, dict) else None


def head_of(fields: dict[str, Any]) -> Head:
    """What an importer sees of a record before it says whether the file is its own."""

    def get(key: str) -> Any:
        try:
            return decoded(fields.get(key))
        except BadJsonError:
            return None

    return Head(keys=frozenset(fields), get=get)


def decoded(value: Any) -> Any:
    """The value behind a part that may not be decoded yet. Raises ``BadJsonError``."""
    return jsontext.decode(value) if isinstance(value, msgspec.Raw) else value


def is_readable(raw: msgspec.Raw) -> bool:
    """Whether a part can be decoded."""
    try:
        decoded(raw)
    except BadJsonError:
        return False
    return True
