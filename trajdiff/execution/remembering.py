"""Results that are known from before, and work for those that are not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from trajdiff.execution.runner import Lost, Runner


class Results(Protocol):
    """Where results are kept by key."""

    def get(self, key: str) -> Any:
        """The result, or None."""

    def put(self, key: str, result: Any) -> None:
        """Keep a result."""


class Remembering:
    """Takes what is known from ``results`` and has ``runner`` do the rest. ``keys_of`` names a job by all that
    its result depends on, then any work whose result has that of the job in it."""

    def __init__(self, runner: Runner, results: Results, keys_of: Callable[[Any], Iterable[str]]) -> None:
        self._runner, self._results, self._keys_of = runner, results, keys_of
        self.here = runner.here

    def run(self, function: Callable[[Any], Any], jobs: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """See ``Runner``; what is known comes first."""
        missing = {}
        for number, job in enumerate(jobs):
            keys = tuple(self._keys_of(job))
            known = next((found for key in keys if (found := self._results.get(key)) is not None), None)
            if known is None:
                missing[number] = keys[0]
            else:
                yield number, known
        rest = list(missing)
        for at, result in self._runner.run(function, _Chosen(jobs, rest)):
            if not isinstance(result, Lost):
                self._results.put(missing[rest[at]], result)
            yield rest[at], result

    def keep(self, job: Any, result: Any) -> None:
        """Keep the result of a job that came about in another way."""
        self._results.put(next(iter(self._keys_of(job))), result)


class _Chosen(Sequence[Any]):
    """Some of the jobs, each looked up when it is handed out."""

    def __init__(self, jobs: Sequence[Any], numbers: Sequence[int]) -> None:
        self._jobs, self._numbers = jobs, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return _Chosen(self._jobs, self._numbers[index])
        return self._jobs[self._numbers[index]]


def keep(runner: Runner, job: Any, result: Any) -> None:
    """Has a runner that remembers keep a result that it was not asked for."""
    if isinstance(runner, Remembering):
        runner.keep(job, result)
