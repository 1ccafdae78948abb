"""Processes of this machine: a dead one, or one that takes too long, costs its job and no other.

Built on pebble, which gives every job its own time limit and replaces workers that end; the pool of the
standard library gives up all jobs when one worker dies.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures import TimeoutError as TooLong
from multiprocessing import get_all_start_methods, get_context
from typing import Any

from trajdiff.execution.runner import OUT_OF_MEMORY, Job, Lost, Result

#: Jobs that wait for each worker beside the one it does: enough that it never waits, few enough for memory.
AHEAD = 2


class Processes:
    """``workers`` processes; ``seconds`` is the longest that one job may take, None for ever.

    ``preload`` names modules that each worker needs.
    """

    here = False

    def __init__(self, workers: int, *, seconds: float | None = None, preload: Sequence[str] = ()) -> None:
        self.workers = workers
        self.seconds = seconds
        self.preload = tuple(preload)

    def run(
        self, function: Callable[[Job], Result], jobs: Sequence[Job]
    ) -> Iterator[tuple[int, Result | Lost]]:
        """See ``Runner``. When the caller stops asking, or is interrupted, no worker is left."""
        if not jobs:
            return
        from pebble import ProcessPool

        context = _context(self.preload)
        pool: Any = ProcessPool(
            max_workers=min(self.workers, len(jobs)), initializer=_ignore_interrupts, context=context
        )
        try:
            yield from self._run(pool, function, jobs)
        finally:
            pool.stop()
            pool.join()

    def _run(
        self, pool: Any, function: Callable[[Job], Result], jobs: Sequence[Job]
    ) -> Iterator[tuple[int, Result | Lost]]:
        waiting: dict[Future[Result], int] = {}
        for number, job in enumerate(jobs):
            future = pool.schedule(function, args=(job,), timeout=self.seconds)
            waiting[future] = number
            if len(waiting) >= self.workers * AHEAD:
                yield from self._finished(waiting)
        while waiting:
            yield from self._finished(waiting)

    def _finished(self, waiting: dict[Future[Result], int]) -> Iterator[tuple[int, Result | Lost]]:
        done, _ = wait(waiting, return_when=FIRST_COMPLETED)
        for future in sorted(done, key=lambda one: waiting[one]):
            yield waiting.pop(future), self._result(future)

    def _result(self, future: Future[Any]) -> Any:
        from pebble import ProcessExpired

        try:
            return future.result()
        except TooLong:
            return Lost(reason=f"it took longer than {self.seconds:g} s", advice="give it more time")
        except MemoryError:
            return Lost(reason=OUT_OF_MEMORY)
        except ProcessExpired as error:
            return Lost(reason=f"its worker ended ({_how(error.exitcode)})")


def available() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def _how(code: int | None) -> str:
    """How a process ended, in words."""
    if code is not None and code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"{name}, perhaps for want of memory" if name == "SIGKILL" else name
    return f"exit code {code}"


def _ignore_interrupts() -> None:
    # Ctrl-C reaches the whole group; the parent stops its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _context(preload: Sequence[str]) -> Any:
    """Workers that start from a fresh interpreter: a copy of this one would hold its threads' locks."""
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(["trajdiff.execution.worker_start", *preload])
    _start_server()
    return context


def _start_server() -> None:
    """Starts what workers are forked from with Ctrl-C held back: it loads for a while before it ignores it
    by itself. Here the key counts again at once."""
    from multiprocessing import forkserver, resource_tracker

    resource_tracker.ensure_running()  # first: it lets the key through again when it has started
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
