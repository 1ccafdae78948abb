"""Processes of this machine: a dead one, or one that takes too long, costs its job and no other.

Every worker has a pipe of its own and shares nothing: one that is killed, whatever it was just doing, holds no
lock that another one needs.
"""

from __future__ import annotations

import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import connection, get_all_start_methods, get_context
from queue import SimpleQueue
from threading import Thread
from typing import Any

from trajdiff.execution.runner import OUT_OF_MEMORY, Job, Lost, Result

#: Jobs that a worker has, with the one that it does: enough that it never waits, few enough for memory.
AHEAD = 2
#: How a worker ends that ran out of memory.
_NO_MEMORY = 79
#: Seconds that a worker whose pipe has closed gets to end.
_PATIENCE = 10


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
        team = _Team(_context(self.preload), function, jobs, self.seconds)
        try:
            yield from team.results(min(self.workers, len(jobs)))
        finally:
            team.stop()


class _Worker:
    """One process, the pipe to it, and the numbers of the jobs it has; it does the first of them ``since``."""

    def __init__(self, context: Any, function: Callable[[Any], Any]) -> None:
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, function), daemon=True)
        self.process.start()
        theirs.close()  # the worker's end is held by it alone: when it ends, the pipe does
        self.jobs: deque[int] = deque()
        self.since = 0.0

    def give(self, number: int, job: Any) -> None:
        """Hand out one more job. Raises ``OSError`` where the worker has ended."""
        if not self.jobs:
            self.since = time.monotonic()
        self.jobs.append(number)
        self.pipe.send(job)

    def end(self, patience: float = 0) -> int | None:
        """Ends the process if it does not end by itself in so many seconds; its exit code."""
        self.pipe.close()
        self.process.join(patience)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join(_PATIENCE)
        code: int | None = self.process.exitcode
        return code


class _Team:
    """The workers of one run; those that end are replaced."""

    def __init__(
        self, context: Any, function: Callable[[Any], Any], jobs: Sequence[Any], seconds: float | None
    ) -> None:
        self._context, self._function, self._jobs, self._seconds = context, function, jobs, seconds
        self._workers: list[_Worker] = []
        self._open = deque(range(len(jobs)))

    def results(self, size: int) -> Iterator[tuple[int, Any]]:
        """The number of each job with its result, as they are done."""
        while self._open or any(worker.jobs for worker in self._workers):
            self._hand_out(size)
            busy = {worker.pipe: worker for worker in self._workers if worker.jobs}
            for pipe in connection.wait(list(busy), self._time_left(busy.values())):
                yield from self._answer(busy[pipe])
            yield from self._too_long()

    def stop(self) -> None:
        """Ends all workers, whatever they do."""
        for worker in self._workers:
            with suppress(OSError):
                worker.process.kill()
        while self._workers:
            self._workers.pop().end(_PATIENCE)

    def _hand_out(self, size: int) -> None:
        """A job to everyone first, then one ahead to everyone."""
        while len(self._workers) < min(size, len(self._open) + len(self._workers)):
            self._workers.append(_Worker(self._context, self._function))
        for wanted in range(1, AHEAD + 1):
            for worker in self._workers:
                while self._open and len(worker.jobs) < wanted:
                    number = self._open.popleft()
                    try:
                        worker.give(number, self._jobs[number])
                    except OSError:  # it has ended; its pipe says so where it is read
                        break

    def _answer(self, worker: _Worker) -> Iterator[tuple[int, Any]]:
        """What a worker sends, or what it leaves behind."""
        try:
            done, result = worker.pipe.recv()
        except (EOFError, OSError):
            yield self._left(worker, None)
            return
        number = worker.jobs.popleft()
        worker.since = time.monotonic()
        if not done:
            raise result
        yield number, result

    def _left(self, worker: _Worker, reason: Lost | None) -> tuple[int, Lost]:
        """The job that a worker did when it ended; the other one that it had is handed out again."""
        self._workers.remove(worker)
        code = worker.end(_PATIENCE if reason is None else 0)
        number = worker.jobs.popleft()
        self._open.extendleft(reversed(worker.jobs))
        if reason is None:
            reason = Lost(reason=OUT_OF_MEMORY if code == _NO_MEMORY else f"its worker ended ({_how(code)})")
        return number, reason

    def _time_left(self, busy: Iterable[_Worker]) -> float | None:
        if self._seconds is None:
            return None
        oldest = min(worker.since for worker in busy)
        return max(0.0, oldest + self._seconds - time.monotonic())

    def _too_long(self) -> Iterator[tuple[int, Lost]]:
        if self._seconds is None:
            return
        limit = time.monotonic() - self._seconds
        for worker in [one for one in self._workers if one.jobs and one.since <= limit]:
            if not worker.pipe.poll():  # else it was done at the last moment
                reason = f"it took longer than {self._seconds:g} s"
                yield self._left(worker, Lost(reason=reason, advice="give it more time"))


def _work(pipe: Any, function: Callable[[Any], Any]) -> None:
    """What a worker does: one job after the other, until there are none or nobody asks any more.

    One that ran out of memory ends: its next jobs would find what is left of it and fail at once.
    """
    # Ctrl-C reaches the whole group; the parent stops its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    given: SimpleQueue[tuple[bool, Any] | None] = SimpleQueue()
    # Jobs are taken from the pipe while others are done, so that nobody waits for room in it.
    Thread(target=_receive, args=(pipe, given), daemon=True).start()
    while (received := given.get()) is not None:
        try:
            _answer(pipe, function, *received)
        except MemoryError:
            os._exit(_NO_MEMORY)
        except OSError:  # nobody is there to read the answer
            return


def _answer(pipe: Any, function: Callable[[Any], Any], readable: bool, job: Any) -> None:
    """Does one job and sends (whether it went well, result or error)."""
    if not readable:
        pipe.send((False, job))
        return
    try:
        answer = True, function(job)
    except MemoryError:
        raise
    except Exception as error:
        answer = False, error
    try:
        pipe.send(answer)
    except (OSError, MemoryError):
        raise
    except Exception as error:  # what cannot be sent
        pipe.send((False, RuntimeError(f"{type(error).__name__}: {error}")))


def _receive(pipe: Any, given: SimpleQueue[tuple[bool, Any] | None]) -> None:
    """Puts (whether it can be read, job or error) into the queue, None at the end."""
    while True:
        try:
            given.put((True, pipe.recv()))
        except MemoryError:
            os._exit(_NO_MEMORY)
        except (EOFError, OSError):
            given.put(None)
            return
        except Exception as error:
            given.put((False, error))


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
