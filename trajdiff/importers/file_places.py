"""Where records lie in a large plain file, so that each can be read again by itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from trajdiff.errors import InputError

#: Files of at least this many bytes keep the steps of their trials.
LARGE = 32_000_000


class Stamp(Struct, frozen=True, kw_only=True):
    """What tells that a file is still the one that was read."""

    size: int
    changed: int


class Span(Struct, frozen=True, kw_only=True):
    """Where a record lies in a plain file: its first byte and its length."""

    path: str
    start: int
    length: int
    stamp: Stamp

    def read(self) -> bytes:
        """The bytes of the record. Raises ``InputError`` where the file is not the same any more."""
        try:
            with open(self.path, "rb", buffering=0) as file:  # noqa: PTH123 - the path is text as the user gave it
                if stamp_of(os.fstat(file.fileno())) != self.stamp:
                    raise InputError(f"{self.path}: the file changed while it was read", "run it again")
                file.seek(self.start)
                return file.read(self.length)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(f"{self.path}: cannot be read again: {reason}") from error


def stamp_of(status: os.stat_result) -> Stamp:
    """The stamp of a file by its status."""
    return Stamp(size=status.st_size, changed=status.st_mtime_ns)


def spans_of(data: bytes, parts: Sequence[Any], path: str, stamp: Stamp) -> list[Span | None]:
    """Where slices of ``data`` lie in it; None for one that lies elsewhere."""
    import numpy as np

    def address(part: Any) -> int:
        return int(np.frombuffer(part, np.uint8).ctypes.data)

    start, found = address(data), list[Span | None]()
    for part in parts:
        view = memoryview(part)
        at = address(view) - start
        inside = 0 <= at <= len(data) - len(view)
        found.append(Span(path=path, start=at, length=len(view), stamp=stamp) if inside else None)
    return found
