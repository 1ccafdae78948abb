"""Large files of one record a line, read line by line: never more than one line is in memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import cached_property
from typing import BinaryIO

from trajdiff.frozen import replace
from trajdiff.importers.document import LINE_NAME, Document
from trajdiff.importers.file_places import LARGE, Span, Stamp, stamp_of
from trajdiff.importers.jsontext import is_utf8
from trajdiff.importers.notices import Notices
from trajdiff.importers.protocol import Peek, Shape
from trajdiff.importers.record import Record, fields_of, head_of

#: Lines that are looked at to see that the file holds one record a line, and of which format.
_HEADS = 60
_BUFFER = 1 << 20


class LongLines(Document):
    """A large plain file of lines; ``data`` is empty, everything is read when it is asked for."""

    def __init__(self, path: str, stamp: Stamp, *, shallow: bool = False) -> None:
        self._file_stamp = stamp
        with open(path, "rb") as file:  # noqa: PTH123 - the path is text as the user gave it
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            file.seek(-1, os.SEEK_END)
            self._ends = file.read(1) == b"\n"
        super().__init__(path, b"", digest, shallow=shallow, stamp=stamp)
        self._told = False

    def _take_apart(self) -> Shape:
        self._utf8 = False  # each line is looked at when it is read
        return Shape.LINES

    @property
    def ends_with_line_break(self) -> bool:
        """Whether the last line is complete."""
        return self._ends

    @cached_property
    def peek(self) -> Peek:
        """The first records, as importers see them."""
        with open(self.path, "rb", _BUFFER) as file:  # noqa: PTH123
            fields = [fields_of(Record(pointer="$", raw=line)) for _, _, line in _lines(file, _HEADS)]
        heads = tuple(head_of(one) for one in fields if one is not None)
        return Peek(shape=self.shape, path=self.path, heads=heads)

    def _all_records(self) -> Iterator[Record]:
        # What is odd about lines is told once, however often they are read.
        notices, self._told = (Notices(self.path) if self._told else self.notices), True
        with open(self.path, "rb", _BUFFER) as file:  # noqa: PTH123
            before: tuple[int, int, bytes] | None = None
            for found in _lines(file):
                if before is not None:
                    yield from self._of_line(before, notices, last=False)
                    self.told(found[1])
                before = found
            if before is not None:
                yield from self._of_line(before, notices, last=True)

    def _of_line(self, found: tuple[int, int, bytes], notices: Notices, *, last: bool) -> Iterator[Record]:
        number, start, line = found
        records: list[Record] = []
        own, self.notices = self.notices, notices
        try:
            self._read_line(records, line, number, last)
        finally:
            self.notices = own
        if len(records) == 1 and not records[0].decoded and is_utf8(line):
            span = Span(path=self.path, start=start, length=len(line), stamp=self._file_stamp)
            records = [replace(records[0], span=span)]
        yield from records


def long_lines(path: str, *, shallow: bool = False) -> LongLines | None:
    """The file as lines, None where it is not large, not plain, or holds anything but one record a line."""
    try:
        status = os.stat(path)  # noqa: PTH116
        if status.st_size < LARGE or not LINE_NAME.search(path) or path.endswith((".gz", ".GZ")):
            return None
        with open(path, "rb", _BUFFER) as file:  # noqa: PTH123
            if file.read(1) != b"{":
                return None
            file.seek(0)
            first = [line for _, _, line in _lines(file, _HEADS)]
    except OSError:
        return None
    if any(b"\x00" in line[:1024] for line in first[:1]):
        return None
    if not any(line[:1] == b"{" and fields_of(Record(pointer="$", raw=line)) is not None for line in first):
        return None
    return LongLines(path, stamp_of(status), shallow=shallow)


def _lines(file: BinaryIO, most: int | None = None) -> Iterator[tuple[int, int, bytes]]:
    """(number, first byte, text) of every line that is not blank, of the first ``most`` lines."""
    start = 0
    for number, line in enumerate(file, 1):
        if most is not None and number > most:
            return
        if line.strip():
            yield number, start, line.removesuffix(b"\n")
        start += len(line)
