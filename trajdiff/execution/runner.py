"""What runs jobs: one after the other here, or somewhere else; a job that is lost does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

Job = TypeVar("Job")
Result = TypeVar("Result")

OUT_OF_MEMORY = "the memory ran out"


class Lost(Struct, frozen=True, kw_only=True):
    """A job without a result: why, and what could be done."""

    reason: str
    advice: str = "run that task alone, or with more time and memory"


class Runner(Protocol):
    """Runs jobs. Results do not depend on which one it is; only what can be lost does.

    ``here`` says whether jobs run in this process and may share what they made.
    """

    @property
    def here(self) -> bool:
        """Whether jobs run in this process."""

    def run(
        self, function: Callable[[Job], Result], jobs: Sequence[Job]
    ) -> Iterator[tuple[int, Result | Lost]]:
        """The number of each job with its result, as they are done. What a job raises is raised here."""


class Serial:
    """Runs jobs one after the other in this process; only memory can be short."""

    here = True

    def run(
        self, function: Callable[[Job], Result], jobs: Sequence[Job]
    ) -> Iterator[tuple[int, Result | Lost]]:
        """See ``Runner``."""
        for number, job in enumerate(jobs):
            try:
                result: Result | Lost = function(job)
            except MemoryError:
                result = Lost(reason=OUT_OF_MEMORY)
            yield number, result


SERIAL = Serial()
