"""Progress on standard error: a bar on a terminal after one second, elsewhere a line every ten seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from trajdiff.cli.streams import State, is_terminal, say

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: Seconds before a bar appears, and between plain lines.
_PATIENCE, _INTERVAL = 1.0, 10.0
_MEGABYTE = 1_000_000


class Stage:
    """One stage of the work (``align``); call it with done and total. Use as a context manager."""

    def __init__(self, name: str, unit: str, state: State, *, quiet: bool) -> None:
        self._name, self._unit, self._state, self._quiet = name, unit, state, quiet
        self._started = self._told = time.monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Stage:
        self._state.stage = self._name
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        if kind is None:
            self._state.stage = ""

    def __call__(self, done: int, total: int) -> None:
        """Tell how far the stage is."""
        self._state.stage = f"{self._name} {done}/{total} {self._unit}"
        if self._quiet:
            return
        now = time.monotonic()
        if is_terminal(sys.stderr):
            self._show(done, total, now)
        elif now - self._told >= _INTERVAL:
            self._told = now
            say(self._state.stage)

    def _show(self, done: int, total: int, now: float) -> None:
        if self._bar is None:
            if now - self._started < _PATIENCE or done >= total:
                return
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            self._bar = Progress(
                TextColumn("{task.description:<8}"),
                BarColumn(bar_width=20),
                MofNCompleteColumn(),
                TextColumn(self._unit),
                TimeElapsedColumn(),
                console=Console(stderr=True, highlight=False),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(self._name, total=total)
        if self._task is not None:
            self._bar.update(self._task, completed=done, total=total)


def in_megabytes(stage: Stage) -> Callable[[int, int], None]:
    """Tells a stage that counts megabytes how many bytes were done with."""

    def tell(done: int, total: int) -> None:
        if total >= _MEGABYTE:
            stage(done // _MEGABYTE, total // _MEGABYTE)

    return tell
