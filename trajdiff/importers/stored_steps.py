"""Steps that stay in their file: read again where they are needed, so that logs of any size fit into memory.

Only trials of large plain files are kept this way. What is asked about all trials (how many calls, which tools)
is known without reading them again. Every trial is looked at several times, in the order of the files: steps
of those read first are held, as many as fit, until their task is done with; beside them those looked at last
are kept. (Keeping only the last ones would leave none of a larger log when its first trial is asked for again.)
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

from msgspec import Struct, field

from trajdiff.frozen import replace
from trajdiff.importers.file_places import Span
from trajdiff.model import Effect, Step, Tally, tally_of

#: Bytes in memory of the steps that are held from their first reading on, and of those looked at last.
HELD_BYTES, RECENT_BYTES = 40_000_000, 8_000_000
#: What a step takes beside its texts, with its place in the log; a value inside its arguments.
_STEP_BYTES, _VALUE_BYTES = 700, 100


class Recipe(Struct, frozen=True, kw_only=True):
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
        _KEPT.hold(self, steps)

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
            _KEPT.put(self, known)
        return known

    def release(self) -> None:
        """Its task is done with: the steps need not be held any longer."""
        _KEPT.release(self)

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


class _Entry(Struct):
    """The steps of one trial in memory: how many bytes they take, which reading of files they are of, and what
    the whole file said about its tools, None where they do not have that yet."""

    steps: tuple[Step, ...]
    size: int
    reading: int
    effects: Mapping[str, Effect] | None = None


class _Kept:
    """Steps in memory: those held until they are done with, and those looked at last."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, int], _Entry] = {}
        self._recent: OrderedDict[tuple[str, int], _Entry] = OrderedDict()
        self._held_size = self._recent_size = self._reading = 0

    def begin(self) -> None:
        """Files are read anew: what is held of earlier ones gives way to theirs."""
        self._reading += 1

    def get(self, stored: StoredSteps) -> tuple[Step, ...] | None:
        """The steps, if they are here."""
        key = self._key(stored)
        found = self._held.get(key)
        if found is None:
            found = self._recent.get(key)
            if found is None:
                return None
            self._recent.move_to_end(key)
        effects = stored.recipe.effects
        if found.effects is None:
            found.steps, found.effects = _with_hints(found.steps, effects), effects
        elif found.effects != effects:  # as another reading had them
            self._drop(key)
            return None
        return found.steps

    def hold(self, stored: StoredSteps, steps: tuple[Step, ...]) -> None:
        """Hold steps that were read for the first time, where there is room."""
        key, size = self._key(stored), _bytes_of(steps)
        self._drop(key)
        while self._held_size + size > HELD_BYTES and self._held:
            oldest = next(iter(self._held))
            if self._held[oldest].reading == self._reading:
                return
            self._held_size -= self._held.pop(oldest).size
        if self._held_size + size <= HELD_BYTES:
            self._held[key] = _Entry(steps, size, self._reading)
            self._held_size += size

    def put(self, stored: StoredSteps, steps: tuple[Step, ...]) -> None:
        """Keep these steps instead of those not looked at for longest."""
        entry = _Entry(steps, _bytes_of(steps), self._reading, stored.recipe.effects)
        self._note(self._key(stored), entry)

    def release(self, stored: StoredSteps) -> None:
        """Keep these steps as long as others that were looked at last, and no longer."""
        key = self._key(stored)
        entry = self._held.pop(key, None)
        if entry is not None:
            self._held_size -= entry.size
            self._note(key, entry)

    def _note(self, key: tuple[str, int], entry: _Entry) -> None:
        if key in self._recent:
            return
        self._recent[key] = entry
        self._recent_size += entry.size
        while self._recent_size > RECENT_BYTES and len(self._recent) > 1:
            self._recent_size -= self._recent.popitem(last=False)[1].size

    def _drop(self, key: tuple[str, int]) -> None:
        held, recent = self._held.pop(key, None), self._recent.pop(key, None)
        self._held_size -= held.size if held is not None else 0
        self._recent_size -= recent.size if recent is not None else 0

    def clear(self) -> None:
        """Forget all."""
        self._held.clear()
        self._recent.clear()
        self._held_size = self._recent_size = 0

    @staticmethod
    def _key(stored: StoredSteps) -> tuple[str, int]:
        span = stored._recipe.span
        return f"{span.path}\0{span.stamp.size}\0{span.stamp.changed}", span.start


_KEPT = _Kept()


def begin_reading() -> None:
    """Files are about to be read: steps held of files read before give way to theirs."""
    _KEPT.begin()


def release_steps(steps: Sequence[Step]) -> None:
    """The steps of a trial whose task is done with: where they stay in their file, they leave the memory."""
    if isinstance(steps, StoredSteps):
        steps.release()


def _with_hints(steps: tuple[Step, ...], effects: Mapping[str, Effect]) -> tuple[Step, ...]:
    """Steps read before the whole file was: with what it says about the effects of tools."""
    if not effects:
        return steps
    return tuple(
        replace(step, effect_hint=effects[step.name])
        if step.is_call and step.name is not None and step.name in effects
        else step
        for step in steps
    )


def _bytes_of(steps: Sequence[Step]) -> int:
    """About how much memory steps take."""
    total = _STEP_BYTES * len(steps)
    for step in steps:
        total += _bytes_of_value(step.text)
        if step.result is not None:
            total += _bytes_of_value(step.result.text)
        if step.arguments is not None:
            total += _bytes_of_value(step.arguments.raw) + _bytes_of_value(step.arguments.parsed)
    return total


def _bytes_of_value(value: Any) -> int:
    if isinstance(value, str):
        return value.__sizeof__()
    if isinstance(value, dict):
        return _VALUE_BYTES + sum(_VALUE_BYTES + _bytes_of_value(inner) for inner in value.values())
    if isinstance(value, list):
        return _VALUE_BYTES + sum(map(_bytes_of_value, value))
    return 0 if value is None else _VALUE_BYTES
