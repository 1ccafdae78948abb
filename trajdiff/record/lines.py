"""Appends JSON lines to a file, each complete on disk before the call returns."""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

#: How the format writes the numbers that JSON lacks.
_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


class RecordError(Exception):
    """The trace could not be written, or the recorder was used in a way that cannot be recorded."""


class LineFile:
    """A file that only grows. Threads may share it.

    A line that cannot be written (a full disk) is kept and tried again with the next one, so that the agent is
    not disturbed; ``close`` raises ``RecordError`` if lines are left.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._pending = b""
        self._problem: OSError | None = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise RecordError(f"{self.path}: cannot be written ({error.strerror or error})") from error

    def append(self, value: Mapping[str, Any]) -> None:
        """Write one line."""
        line = encoded(value) + b"\n"
        with self._lock:
            self._pending += line
            self._write()

    def _write(self) -> None:
        try:
            while self._pending:
                written = os.write(self._file, self._pending)
                self._pending = self._pending[written:]
            self._problem = None
        except OSError as error:
            self._problem = error

    def close(self) -> None:
        """Close the file. Raises ``RecordError`` if something of it is not on disk."""
        with self._lock:
            self._write()
            os.close(self._file)
            if self._problem is not None:
                count = self._pending.count(b"\n")
                why = self._problem.strerror or str(self._problem)
                raise RecordError(f"{self.path}: the last {count} lines could not be written ({why})")


def encoded(value: Any) -> bytes:
    """The value as one line of JSON in UTF-8; what JSON cannot hold is written as text."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=plain)
    except (ValueError, TypeError, RecursionError):
        text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:  # half a surrogate pair has no place in UTF-8, but its escape has in JSON
        return json.dumps(json.loads(text), ensure_ascii=True).encode("ascii")


def plain(value: Any, depth: int = 60) -> Any:
    """The value in terms of JSON: text for NaN, for keys and for whatever JSON has no word for."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else _NOT_FINITE[repr(value)]
    if depth > 0 and isinstance(value, Mapping):
        return {str(key): plain(one, depth - 1) for key, one in value.items()}
    if depth > 0 and isinstance(value, list | tuple):
        return [plain(one, depth - 1) for one in value]
    if depth > 0 and isinstance(value, set | frozenset):
        return sorted((plain(one, depth - 1) for one in value), key=repr)
    try:
        return repr(value)
    except Exception:  # a value whose own repr fails must not end the trial
        return f"<{type(value).__name__}>"
