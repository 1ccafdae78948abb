"""What the text of a result, or the arguments of a call, say: read once, however many steps have them.

Trials of one task get mostly the same answers. What is derived from a value alone is kept here by its text, as
long as not too much of it was seen.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable
from typing import Any

from trajdiff.align.language import fold
from trajdiff.align.values import canonical, canonical_and_leaves, parse_embedded

#: Results above this many characters are compared by hash only.
RESULT_CAP = 100_000
#: Characters of texts that are remembered before all are forgotten: those of a task fit, those of a log do not.
REMEMBERED = 8_000_000


class Reading:
    """One value. ``text`` is what it was read from, None for arguments; ``memo`` is for who derives more."""

    __slots__ = ("_canonical", "_folded", "_leaves", "_values", "memo", "text", "value")

    def __init__(self, value: Any, text: str | None = None) -> None:
        self.value = value
        self.text = text
        self.memo: dict[Any, Any] = {}
        self._leaves: tuple[tuple[str, str], ...] | None = None
        self._values: frozenset[str] | None = None
        self._canonical: dict[tuple[str, ...], str] = {}
        self._folded: str | None = None

    @property
    def leaves(self) -> tuple[tuple[str, str], ...]:
        """(path, canonical scalar) of every scalar in the value."""
        if self._leaves is None:
            self._canonical[()], self._leaves = canonical_and_leaves(self.value)
        return self._leaves

    @property
    def values(self) -> frozenset[str]:
        """The canonical scalars in the value, wherever they stand."""
        if self._values is None:
            self._values = frozenset([value for _, value in self.leaves])
        return self._values

    @property
    def folded(self) -> str:
        """The text as it is compared."""
        if self._folded is None:
            self._folded = fold(self.text or "")
        return self._folded

    def canonical(self, ignore: tuple[str, ...] = ()) -> str:
        """The canonical string of the value without what the patterns leave out."""
        found = self._canonical.get(ignore)
        if found is None and not ignore:
            self._canonical[()], self._leaves = canonical_and_leaves(self.value)
            return self._canonical[()]
        if found is None:
            found = self._canonical[ignore] = canonical(self.value, ignore)
        return found

    def holds_none_of(self, names: Iterable[str]) -> bool:
        """Whether surely no scalar of a result is one of these folded texts; False where it is not known.

        In plain text without escapes every scalar and every key stands as it is.
        """
        if self.text is None or not self.text.isascii() or "\\" in self.text:
            return False
        return not any(name in self.folded for name in names)


class Readings:
    """The readings of one task, or of several one after the other. ``steps`` are for who makes more of them."""

    def __init__(self) -> None:
        self.steps: dict[Hashable, Any] = {}
        self._results: dict[str, Reading] = {}
        self._arguments: dict[str, Reading] = {}
        self._size = 0

    def of_result(self, text: str) -> Reading:
        """What a result says: parsed where it is JSON or a literal, else its text; None above the cap."""
        found = self._results.get(text)
        if found is None:
            self._make_room(len(text))
            found = self._results[text] = Reading(_value(text), text)
        return found

    def of_arguments(self, value: Any) -> Reading:
        """What the arguments of a call say."""
        # Not as JSON: 1, 1.0 and true must stay apart, and NaN must stay.
        text = repr(value)
        found = self._arguments.get(text)
        if found is None:
            self._make_room(len(text))
            found = self._arguments[text] = Reading(value)
        return found

    def _make_room(self, size: int) -> None:
        self._size += size
        if self._size > REMEMBERED:
            self._results.clear()
            self._arguments.clear()
            self.steps.clear()
            self._size = size


def _value(text: str) -> Any:
    if len(text) > RESULT_CAP:
        return None
    value = parse_embedded(text)
    if value is text:
        try:
            scalar = json.loads(text)
        except (ValueError, RecursionError):
            return text
        return text if isinstance(scalar, (dict, list)) else scalar
    return value
