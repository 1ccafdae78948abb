"""What follows from one thing alone (a trial, a case, a reading) is worked out once for it, whoever asks."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar

Found = TypeVar("Found")


class HasMemo(Protocol):
    """Something that keeps what was worked out from it alone, by the function that did."""

    @property
    def memo(self) -> dict[Any, Any]:
        """What is kept."""


Owner = TypeVar("Owner", bound=HasMemo)


def once(compute: Callable[[Owner], Found]) -> Callable[[Owner], Found]:
    """The function, which keeps what it found in the ``memo`` of what it was asked about."""

    @wraps(compute)
    def found(owner: Owner) -> Found:
        memo = owner.memo
        if compute not in memo:
            memo[compute] = compute(owner)
        known: Found = memo[compute]
        return known

    return found
