"""One file, opened: its bytes, its shape and its records, each decoded only when it is asked for."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import msgspec

from trajdiff.frozen import replace
from trajdiff.importers import jsontext
from trajdiff.importers.archive import Archive
from trajdiff.importers.deep_json import parts_of
from trajdiff.importers.file_places import Span, Stamp, spans_of
from trajdiff.importers.jsontext import BadJsonError
from trajdiff.importers.naming import shortened
from trajdiff.importers.notices import Notices
from trajdiff.importers.protocol import Peek, Shape, Unreadable
from trajdiff.importers.record import (
    Record,
    decoded,
    decoded_or_parts,
    fields_of,
    head_of,
    is_readable,
    record_of,
)
from trajdiff.model import Severity

__all__ = ["Document", "Record", "decoded"]

#: How many records are looked at to recognise a format.
_HEADS = {Shape.LINES: 60, Shape.ARRAY: 20, Shape.OBJECT: 1}
LINE_NAME = re.compile(r"\.(jsonl|ndjson)(\.gz)?$", re.IGNORECASE)


def _nobody(_: int) -> None:
    """Tells nobody."""


class Document:
    """A file whose content was found to be JSON text: an object, an array, or lines; or a zip ``archive``.

    ``path`` is the path as the user gave it. ``data`` is decompressed, UTF-8, without byte order mark. Of a
    ``shallow`` document no value is given out that is nested too deeply for its reader. ``stamp`` is that of a
    large file whose very bytes ``data`` are: its records say where they lie in it.
    Raises ``Unreadable`` when made from text that is not JSON.
    """

    def __init__(
        self,
        path: str,
        data: bytes,
        sha256: str | None = None,
        *,
        archive: Archive | None = None,
        shallow: bool = False,
        stamp: Stamp | None = None,
    ) -> None:
        self.path = path
        self.stamp = stamp
        self.shallow = shallow
        self.archive = archive
        self.data = data
        self.sha256 = sha256 or hashlib.sha256(data).hexdigest()
        self.notices = Notices(path)
        #: Told up to which byte of a large file its records were asked for.
        self.told: Callable[[int], None] = _nobody
        self.fields: dict[str, Any] = {}
        self._records: tuple[Record, ...] = ()
        self.shape = Shape.ARCHIVE if archive is not None else self._take_apart()

    # Taking the text apart, from the cheapest way to the most tolerant

    def _take_apart(self) -> Shape:
        first = self.data[:4096].lstrip()[:1]
        self._utf8 = jsontext.is_utf8(self.data)
        if first == b"{" and LINE_NAME.search(self.path) and self._begins_with_object_line():
            return self._as_lines()
        try:
            # The fast decoder does not look at what it skips: bytes that are no UTF-8 would pass unnoticed.
            if not self._utf8:
                return self._tolerantly(first)
            if first == b"{":
                self.fields = msgspec.json.decode(self.data, type=dict[str, msgspec.Raw])
                return Shape.OBJECT
            if first == b"[":
                items = msgspec.json.decode(self.data, type=list[msgspec.Raw])
                self._records = tuple(Record(pointer=f"$[{i}]", raw=one) for i, one in enumerate(items))
                return Shape.ARRAY
        except jsontext.FAST_ERRORS:
            pass
        return self._tolerantly(first)

    def _tolerantly(self, first: bytes) -> Shape:
        text, replaced = jsontext.bytes_to_text(self.data)
        doubles = jsontext.Doubles()
        try:
            value = jsontext.tolerant(text, doubles)
            if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
                value = jsontext.tolerant(value, doubles)
        except BadJsonError as error:
            if first == b"{" and (error.problem.startswith("more text") or self._begins_with_object_line()):
                return self._as_lines()
            if error.deep and first in (b"{", b"["):
                return self._in_parts(first, error)
            raise self._not_json(error) from None
        if replaced:
            self._tell_replaced("some bytes are")
        self._tell_doubled(doubles)
        if isinstance(value, dict):
            self.fields = value
            return Shape.OBJECT
        if isinstance(value, list):
            self._records = tuple(
                Record(pointer=f"$[{i}]", value=one, decoded=True) for i, one in enumerate(value)
            )
            return Shape.ARRAY
        found = jsontext.compact(value)[:40]
        raise Unreadable("not_a_log", f"a JSON object or list is expected, found {found}")

    def _in_parts(self, first: bytes, deep: BadJsonError) -> Shape:
        """Something in the file is nested too deeply: whatever lies beside it is read."""
        try:
            parts = parts_of(self.data)
        except BadJsonError:
            raise self._not_json(deep) from None
        if not any(is_readable(part.raw) for part in parts):
            raise self._not_json(deep)
        if first == b"{":
            self.fields = {part.key or "": part.raw for part in parts}
            return Shape.OBJECT
        self._records = tuple(Record(pointer=f"$[{i}]", raw=one.raw) for i, one in enumerate(parts))
        return Shape.ARRAY

    def _not_json(self, error: BadJsonError) -> Unreadable:
        place = f"line {error.line}, column {error.column}"
        if error.cut:
            return Unreadable(
                "truncated_json",
                "the JSON text ends early: the file is cut",
                f"at {place}",
                "it may still be being written, or was not copied completely",
            )
        start = self.data[:40].decode("utf-8", "replace").strip()
        found = f" (the file begins with {start[:24]!r})" if error.line == error.column == 1 else ""
        return Unreadable("not_json", f"not JSON: {error.problem}", f"at {place}{found}")

    def _begins_with_object_line(self) -> bool:
        """Whether one of the first lines is a JSON object of its own."""
        start = 0
        for _ in range(60):
            end = self.data.find(b"\n", start)
            line = self.data[start : end if end >= 0 else len(self.data)]
            if line[:1] == b"{" and fields_of(Record(pointer="$", raw=line)) is not None:
                return True
            if end < 0:
                return False
            start = end + 1
        return False

    # JSONL

    def _as_lines(self) -> Shape:
        records: list[Record] = []
        if not self._begins_with_object_line():
            self._glued_documents(records)
        else:
            lines = self.data.split(b"\n")
            last = max((i for i, line in enumerate(lines) if line.strip()), default=0)
            for number, line in enumerate(lines):
                if line.strip():
                    self._read_line(records, line, number + 1, number == last)
        self._records = tuple(records)
        return Shape.LINES

    def _glued_documents(self, records: list[Record]) -> None:
        """Several documents over many lines, one after the other."""
        text, replaced = jsontext.bytes_to_text(self.data)
        if replaced:
            self._tell_replaced("some bytes are")
        line, position = 1, 0
        try:
            for value, start in jsontext.several(text):
                line += text.count("\n", position, start)
                position = start
                records.append(Record(pointer="$", line=line, value=value, decoded=True))
        except BadJsonError as error:
            records.append(Record(pointer="$", line=error.line, problem=error.problem))

    def _tell_doubled(self, doubles: jsontext.Doubles, place: str | None = None) -> None:
        if doubles.keys:
            names = ", ".join(f'"{shortened(key)}"' for key in dict.fromkeys(doubles.keys[:5]))
            self.notices.add(
                Severity.WARNING,
                "duplicate_key",
                f"a key occurs twice in one object: {names}; the last one counts",
                pointer=place,
            )

    def _tell_replaced(self, what: str, place: str | None = None) -> None:
        self.notices.add(Severity.WARNING, "not_utf8", f"{what} not UTF-8 and were replaced", pointer=place)

    def _read_line(self, records: list[Record], line: bytes, number: int, last: bool) -> None:
        try:
            if self._utf8 or jsontext.is_utf8(line):
                msgspec.json.decode(line, type=msgspec.Raw)
                records.append(Record(pointer="$", line=number, raw=line))
                return
        except jsontext.FAST_ERRORS:
            pass
        text, replaced = jsontext.bytes_to_text(line)
        if replaced:
            self._tell_replaced(f"some bytes of line {number} are", f"line {number}")
        found, doubles = 0, jsontext.Doubles()
        try:
            for value, _ in jsontext.several(text, doubles):
                records.append(Record(pointer="$", line=number, value=value, decoded=True))
                found += 1
        except BadJsonError as error:
            cut = last and not self.ends_with_line_break
            problem = "the last line is cut" if cut else f"not JSON: {error.problem} (column {error.column})"
            records.append(Record(pointer="$", line=number, problem=problem))
        self._tell_doubled(doubles, f"line {number}")
        if found > 1:
            self.notices.add(
                Severity.WARNING,
                "glued_objects",
                f"line {number} holds {found} objects without a line break; all were read",
                pointer=f"line {number}",
            )

    @property
    def ends_with_line_break(self) -> bool:
        """Whether the last line is complete."""
        return self.data.endswith(b"\n")

    # What readers ask for

    @cached_property
    def peek(self) -> Peek:
        """The first records, as importers see them when they say whether the file is their own."""
        if self.archive is not None:
            return Peek(shape=self.shape, path=self.path, files=tuple(self.archive.members))
        heads = []
        if self.shape is Shape.OBJECT:
            heads.append(head_of(self.fields))
        for record in self._records[: _HEADS[self.shape]]:
            fields = fields_of(record)
            if fields is not None:
                heads.append(head_of(fields))
        return Peek(shape=self.shape, path=self.path, heads=tuple(heads))

    def field(self, key: str) -> Any:
        """The value of one key of the document, which must be an object. Raises ``BadJsonError``."""
        value = decoded(self.fields.get(key))
        return jsontext.not_deep(value) if self.shallow else value

    def member(self, data: bytes, place: str) -> Any:
        """The value of a member of an archive; replaced bytes are told. Raises ``BadJsonError``."""
        if not jsontext.is_utf8(data) and jsontext.bytes_to_text(data)[1]:
            self._tell_replaced("some bytes are", place)
        value = jsontext.decode(data)
        return jsontext.not_deep(value) if self.shallow else value

    def items(self, key: str) -> Iterable[Record] | None:
        """The records of the array under ``key``; None if there is no array."""
        records = self._items(key)
        if records is None:
            return None
        return self._telling(self._guarded(records) if self.shallow else records)

    def _telling(self, records: Iterable[Record]) -> Iterator[Record]:
        """The records; each one asked for tells how far the one before it reached."""
        for record in records:
            yield record
            if record.span is not None:
                self.told(record.span.start + record.span.length)

    def _items(self, key: str) -> tuple[Record, ...] | None:
        value = self.fields.get(key)
        if isinstance(value, msgspec.Raw):
            try:
                parts = msgspec.json.decode(value, type=list[msgspec.Raw])
                spans = self._spans(parts)
                return tuple(
                    Record(pointer=f"$.{key}[{i}]", raw=one, span=span)
                    for i, (one, span) in enumerate(zip(parts, spans, strict=True))
                )
            except jsontext.FAST_ERRORS:
                value = decoded_or_parts(value)
        if not isinstance(value, list):
            return None
        return tuple(record_of(one, f"$.{key}[{i}]") for i, one in enumerate(value))

    def _spans(self, parts: Sequence[msgspec.Raw]) -> Sequence[Span | None]:
        """Where these parts of ``data`` lie in the file."""
        if self.stamp is None:
            return [None] * len(parts)
        return spans_of(self.data, parts, self.path, self.stamp)

    def records(self) -> Iterator[Record]:
        """The records: items of an array, lines, or the one object."""
        found = self._all_records()
        yield from self._guarded(found) if self.shallow else found

    def _guarded(self, records: Iterable[Record]) -> tuple[Record, ...]:
        return tuple(replace(record, shallow=True) for record in records)

    def _all_records(self) -> Iterator[Record]:
        if self.shape is Shape.OBJECT:
            try:
                value = {key: decoded(one) for key, one in self.fields.items()}
                yield Record(pointer="$", value=value, decoded=True)
            except BadJsonError as error:
                yield Record(pointer="$", problem=error.problem)
        yield from self._records
