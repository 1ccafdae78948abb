"""How far the reading is, in bytes of the files: told to who asked for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

#: Called with the bytes read so far and those of all files.
Progress = Callable[[int, int], None]


class Meter:
    """Counts what was read of the files at ``paths``; companions of a file and its outcomes do not count."""

    def __init__(self, paths: Iterable[str], progress: Progress | None) -> None:
        self._progress = progress
        self._sizes = {path: _size(path) for path in paths} if progress is not None else {}
        self._total = sum(self._sizes.values())
        self._done = 0

    def within(self, position: int) -> None:
        """The file that is being read was read up to this byte."""
        if self._progress is not None:
            self._progress(min(self._done + position, self._total), self._total)

    def finished(self, path: str) -> None:
        """A file was read, or it was found that it cannot be."""
        self._done += self._sizes.pop(path, 0)
        self.within(0)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116 - the path is text as the user gave it
    except (OSError, ValueError):
        return 0
