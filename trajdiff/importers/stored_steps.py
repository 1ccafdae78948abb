"""Steps that stay in their file: read again where they are needed, so that logs of any size fit into memory.

Only trials of large plain files are kept this way. What is asked about all trials (how many calls, which tools)
is known without reading them again, and the trials looked at last are kept as they are.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from trajdiff.importers.file_places import Span
from trajdiff.model import Effect, Step, Tally, tally_of

#: Bytes of records whose steps are kept in memory; their steps take about half of that.
KEPT_BYTES = 64_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How the steps of one trial are read again: by which importer, from which record. ``effects`` is what the
    whole file says about its tools, filled in while the file is read."""

    importer: str
    span: Span
    pointer: str
    line: int | None
    effects: Mapping[str, Effect] = field(default_factory=dict)

    def steps(self) -> tuple[Step, ...]:
        """The steps, as they were when the file was read."""
        from trajdiff.importers.record import Record
        from trajdiff.importers.registry import importer_named

        record = Record(pointer=self.pointer, line=self.line, raw=self.span.read())
        again: Any = importer_named(self.importer)
        found: tuple[Step, ...] = again.steps_again(record, self.span.path, self.effects)
        return found


class StoredSteps(Sequence[Step]):
    """The steps of one trial, in its file. ``tally`` and ``memo`` (what was worked out from them) stay."""

    __slots__ = ("_count", "_recipe", "_tally", "memo")

    def __init__(self, steps: tuple[Step, ...], recipe: Recipe) -> None:
        self._count = len(steps)
        self._tally = tally_of(steps)
        self._recipe = recipe
        self.memo: dict[Any, Any] = {}
        if not recipe.effects:
            _KEPT.put(self, steps, recipe.span.length)

    @classmethod
    def known(cls, tally: Tally, recipe: Recipe) -> StoredSteps:
        """Steps that were counted before and are not in memory."""
        made = cls.__new__(cls)
        made.__setstate__((tally.steps + tally.ends, tally, recipe, {}))
        return made

    @property
    def recipe(self) -> Recipe:
        """How they are read again."""
        return self._recipe

    @property
    def tally(self) -> Tally:
        """Counts over the steps."""
        return self._tally.hinted(self._recipe.effects)

    def all(self) -> tuple[Step, ...]:
        """The steps, read again where they are not in memory."""
        known = _KEPT.get(self)
        if known is None:
            known = self._recipe.steps()
            _KEPT.put(self, known, self._recipe.span.length)
        return known

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Step]:
        return iter(self.all())

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Step, ...]: ...
    def __getitem__(self, index: int | slice) -> Step | tuple[Step, ...]:
        return self.all()[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and not isinstance(other, str) and self.all() == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.all())

    def __getstate__(self) -> tuple[int, Tally, Recipe, dict[Any, Any]]:
        return self._count, self._tally, self._recipe, self.memo

    def __setstate__(self, state: tuple[int, Tally, Recipe, dict[Any, Any]]) -> None:
        self._count, self._tally, self._recipe, self.memo = state


class _Kept:
    """The steps looked at last, up to a number of bytes of their records."""

    def __init__(self) -> None:
        self._steps: OrderedDict[tuple[str, int], tuple[tuple[Step, ...], int]] = OrderedDict()
        self._size = 0

    def get(self, stored: StoredSteps) -> tuple[Step, ...] | None:
        """The steps, if they are here."""
        key = self._key(stored)
        found = self._steps.get(key)
        if found is None:
            return None
        self._steps.move_to_end(key)
        return found[0]

    def put(self, stored: StoredSteps, steps: tuple[Step, ...], size: int) -> None:
        """Keep these steps instead of those not looked at for longest."""
        key = self._key(stored)
        if key in self._steps:
            return
        self._steps[key] = steps, size
        self._size += size
        while self._size > KEPT_BYTES and len(self._steps) > 1:
            _, (_, old) = self._steps.popitem(last=False)
            self._size -= old

    def clear(self) -> None:
        """Forget all: the effects of tools are known now."""
        self._steps.clear()
        self._size = 0

    @staticmethod
    def _key(stored: StoredSteps) -> tuple[str, int]:
        span = stored._recipe.span
        return f"{span.path}\0{span.stamp.size}\0{span.stamp.changed}", span.start


_KEPT = _Kept()


def forget_steps() -> None:
    """Forget steps that were kept in memory: they are read again when they are needed."""
    _KEPT.clear()
