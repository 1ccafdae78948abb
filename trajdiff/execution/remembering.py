"""Results that are known from before, and work for those that are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from trajdiff.execution.runner import Lost, Runner


class Results(Protocol):
    """Where results are kept by key."""

    def get(self, key: str) -> Any:
        """The result, or None."""

    def put(self, key: str, result: Any) -> None:
        """Keep a result."""


class Remembering:
    """Takes what is known from ``results`` and has ``runner`` do the rest. ``key_of`` names a job by everything
    that its result depends on."""

    def __init__(self, runner: Runner, results: Results, key_of: Callable[[Any], str]) -> None:
        self._runner, self._results, self._key_of = runner, results, key_of
        self.here = runner.here

    def run(self, function: Callable[[Any], Any], jobs: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """See ``Runner``."""
        keys = [self._key_of(job) for job in jobs]
        missing = []
        for number, key in enumerate(keys):
            known = self._results.get(key)
            if known is None:
                missing.append(number)
            else:
                yield number, known
        for at, result in self._runner.run(function, [jobs[number] for number in missing]):
            if not isinstance(result, Lost):
                self._results.put(keys[missing[at]], result)
            yield missing[at], result
