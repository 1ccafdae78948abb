"""A dask cluster: jobs go to its workers through the executor of ``distributed``.

The cluster moves the jobs of a worker that dies to another one by itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

from trajdiff.errors import UsageError
from trajdiff.execution.runner import OUT_OF_MEMORY, Job, Lost, Result

#: Seconds to wait for the scheduler and its first worker.
PATIENCE = 15
#: Jobs that wait for each thread of the cluster beside the one it does.
AHEAD = 2


class Cluster:
    """The workers behind the scheduler at ``address``; ``seconds`` is the longest that one job may take."""

    here = False

    def __init__(self, address: str, *, seconds: float | None = None) -> None:
        self.address = address
        self.seconds = seconds

    def run(
        self, function: Callable[[Job], Result], jobs: Sequence[Job]
    ) -> Iterator[tuple[int, Result | Lost]]:
        """See ``Runner``. Raises ``UsageError`` without ``distributed``, without a scheduler or a worker."""
        if not jobs:
            return
        client = _connected(self.address)
        executor = client.get_executor(pure=False)
        try:
            threads = sum(client.nthreads().values())
            yield from self._run(executor, function, jobs, max(threads, 1) * AHEAD)
        finally:
            executor.shutdown(wait=False)  # forgets what was not done
            client.close()

    def _run(
        self, executor: Any, function: Callable[[Job], Result], jobs: Sequence[Job], window: int
    ) -> Iterator[tuple[int, Result | Lost]]:
        waiting: dict[Future[Result], tuple[int, float]] = {}
        suspects: list[int] = []
        for number, job in enumerate(jobs):
            waiting[executor.submit(function, job)] = number, time.monotonic()
            if len(waiting) >= window:
                yield from self._finished(waiting, suspects)
        while waiting:
            yield from self._finished(waiting, suspects)
        # A worker that died takes along jobs that only waited for it: each is tried by itself.
        for number in suspects:
            alone: Future[Result] = executor.submit(function, jobs[number])
            wait([alone], timeout=self.seconds)
            yield number, self._result(alone)

    def _finished(
        self, waiting: dict[Future[Result], tuple[int, float]], suspects: list[int]
    ) -> Iterator[tuple[int, Result | Lost]]:
        from distributed import KilledWorker

        done: set[Future[Result]] = set()
        while not done:
            done, _ = wait(waiting, timeout=1, return_when=FIRST_COMPLETED)
            if self.seconds is not None and not done:
                # A job may have waited for those before it: count the time of all that share its thread.
                limit = time.monotonic() - self.seconds * AHEAD
                done = {future for future, (_, since) in waiting.items() if since < limit}
        for future in sorted(done, key=lambda one: waiting[one]):
            number, _ = waiting.pop(future)
            # The executor of distributed stumbles (TypeError) over a result whose worker died meanwhile.
            if future.done() and isinstance(future.exception(), KilledWorker | TypeError):
                suspects.append(number)
            else:
                yield number, self._result(future)

    def _result(self, future: Future[Any]) -> Any:
        from distributed import KilledWorker

        if not future.done():
            future.cancel()
            return Lost(reason=f"it took longer than {self.seconds:g} s", advice="give it more time")
        try:
            return future.result()
        except MemoryError:
            return Lost(reason=OUT_OF_MEMORY)
        except KilledWorker:
            return Lost(reason="every worker that tried it died")
        except ModuleNotFoundError as error:
            raise UsageError(
                f"the workers of the cluster lack {error.name}", "install the same version there as here"
            ) from error


def _connected(address: str) -> Any:
    try:
        import distributed
    except ImportError as error:
        raise UsageError("--scheduler needs dask", "pip install 'trajdiff[dask]'") from error
    connect: Any = distributed.Client
    try:
        client = connect(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise UsageError(f"no scheduler answers at {address}", str(error) or type(error).__name__) from error
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError as error:
        client.close()
        raise UsageError(f"the scheduler at {address} has no worker") from error
    return client
