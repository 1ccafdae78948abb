"""Identifiers that a trial's own writes create, renamed by where they came from.

A new order number differs in every trial and means the same. An identifier that first shows in the result of a
write gets the name of that write, the place in its result and a running number; the name is used from there
on, so that later calls on the new record compare as equal. An identifier that was there before, or that
another trial of the task knows too, is never renamed: if it differs, another record was read.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from typing import Any

from trajdiff.align.language import fold
from trajdiff.align.mentions import mentions
from trajdiff.align.values import is_reference, parse_embedded


class Surrogates:
    """Names of the identifiers that one trial created so far; steps are shown to it in order.

    ``elsewhere`` holds, for each other trial of the task, all text that it got back, folded.
    """

    def __init__(self, elsewhere: Sequence[Container[str]] = ()) -> None:
        self._elsewhere = elsewhere
        self._names: dict[str, str] = {}
        self._seen: set[str] = set()
        self._later: list[Collection[str] | str] = []
        self._made: dict[str, int] = {}

    @property
    def names(self) -> Collection[str]:
        """The identifiers that have names, as they stand in canonical values."""
        return self._names.keys()

    def see_text(self, text: str) -> None:
        """Takes note of what a message states: it was there before any later write."""
        self._later.append(text)

    def see_values(self, found: Collection[str]) -> None:
        """Takes note of every scalar of an argument or result."""
        self._later.append(found)

    def create(self, label: str, found: Sequence[tuple[str, str]]) -> None:
        """Names the references among a write's (path, scalar) results that were never seen before."""
        for path, leaf in found:
            if not is_reference(path, leaf) or leaf in self._names or self._was_seen(leaf):
                continue
            if not any(leaf in text for text in self._elsewhere):
                place = f"{label}.{path}"
                self._made[place] = number = self._made.get(place, 0) + 1
                self._names[leaf] = f"new {place} {number}"

    def _was_seen(self, leaf: str) -> bool:
        # Many trials write nothing, so that nobody asks.
        for one in self._later:
            if isinstance(one, str):
                found = mentions(one)
                self._seen |= found.tokens
                self._seen |= found.values
            else:
                self._seen.update(one)
        self._later.clear()
        return leaf in self._seen

    def rename(self, value: Any) -> Any:
        """The value with created identifiers replaced by their names."""
        if not self._names:
            return value
        value = parse_embedded(value)
        if isinstance(value, dict):
            return {self.rename(key): self.rename(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.rename(inner) for inner in value]
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            return self._names.get(fold(str(value)), value)
        return value
