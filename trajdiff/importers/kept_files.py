"""What was read from a file before, kept as bytes: its trials, and their steps for when they are asked for.

A file is known by its content. While its path, size, times and place on the disk are the same, the content is
taken to be the same too; a change within the last moments is never trusted to have moved the clock.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from typing import Any, overload

import msgspec

from trajdiff.cache.values import NOT_WRITTEN, Bytes
from trajdiff.frozen import replace
from trajdiff.importers.folders import Piece
from trajdiff.importers.grouping import Unit
from trajdiff.importers.protocol import Imported, ReadOptions
from trajdiff.importers.stored_steps import Recipe, StoredSteps
from trajdiff.model import Step, Tally

#: What kinds of values these are, where they are kept among others.
TRIALS, STAMP = "trials", "stamp"
#: A file that changed less than this many seconds ago may change again without a new time.
SETTLED = 2.0
#: More than this is quicker to read from the log than to keep.
MOST_BYTES = 64_000_000


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    """One file: how it was recognised, its hash, its trials without steps, and for each of them the steps as
    bytes or the recipe that reads them from the log again."""

    importer: str
    title: str
    rule: str
    sha256: str
    imported: Imported
    steps: list[bytes | None]
    tallies: list[Tally]
    recipes: list[Recipe | None]


_files = msgspec.msgpack.Decoder(_Kept)
_steps = msgspec.msgpack.Decoder(tuple[Step, ...])


class PackedSteps(Sequence[Step]):
    """The steps of one trial as bytes, unpacked at the first look."""

    __slots__ = ("_count", "_packed", "_steps", "memo", "tally")

    def __init__(self, packed: bytes, tally: Tally, count: int) -> None:
        self._packed = packed
        self._steps: tuple[Step, ...] | None = None
        self._count = count
        self.tally = tally
        self.memo: dict[Any, Any] = {}

    def all(self) -> tuple[Step, ...]:
        """The steps."""
        if self._steps is None:
            self._steps = _steps.decode(self._packed)
        return self._steps

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

    def __reduce__(self) -> tuple[Any, ...]:
        return PackedSteps, (self._packed, self.tally, self._count)


class KeptFiles:
    """Files as they were read before. ``code`` is the program that reads."""

    def __init__(self, store: Bytes, code: str) -> None:
        self._store, self._code = store, code
        self._before: dict[str, str | None] = {}

    def find(self, piece: Piece, options: ReadOptions) -> Unit | None:
        """What was read from these files under these options; None where it is not known or they changed."""
        stamp = self._before[piece.given.path] = _stamp(piece)
        digest = self._store.get(STAMP, stamp) if stamp is not None else None
        value = self._store.get(TRIALS, self._key(piece, options, digest.decode())) if digest else None
        if value is None:
            return None
        try:
            kept = _files.decode(value)
        except NOT_WRITTEN:
            return None
        parts = zip(kept.imported.trials, kept.steps, kept.tallies, kept.recipes, strict=True)
        trials = tuple(
            replace(trial, steps=_steps_of(packed, tally, recipe)) for trial, packed, tally, recipe in parts
        )
        return Unit(
            path=piece.given.path,
            importer=kept.importer,
            title=kept.title,
            rule=kept.rule,
            sha256=kept.sha256,
            imported=replace(kept.imported, trials=trials),
        )

    def keep(self, piece: Piece, options: ReadOptions, unit: Unit) -> None:
        """Keep what was read since ``find`` did not know it; nothing that would not come back the same."""
        stamp = _stamp(piece)
        if stamp is None or stamp != self._before.get(piece.given.path):
            return
        value = _packed(unit)
        if value is not None and len(value) <= MOST_BYTES:
            self._store.put(TRIALS, self._key(piece, options, unit.sha256), value)
            self._store.put(STAMP, stamp, unit.sha256.encode())

    def _key(self, piece: Piece, options: ReadOptions, digest: str) -> str:
        parts = (self._code, repr(options), piece.given.path, piece.given.named, piece.members, digest)
        return hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).hexdigest()


def _steps_of(packed: bytes | None, tally: Tally, recipe: Recipe | None) -> Sequence[Step]:
    if recipe is not None:
        return StoredSteps.known(tally, recipe)
    return () if packed is None else PackedSteps(packed, tally, tally.steps + tally.ends)


def _packed(unit: Unit) -> bytes | None:
    """The file as bytes, None where something in it has no bytes that read back the same."""
    steps: list[bytes | None] = []
    recipes: list[Recipe | None] = []
    shells = []
    try:
        for trial in unit.imported.trials:
            recipe = trial.steps.recipe if isinstance(trial.steps, StoredSteps) else None
            packed = None
            if recipe is None:
                packed = msgspec.msgpack.encode(tuple(trial.steps))
                if _steps.decode(packed) != tuple(trial.steps):
                    return None
            steps.append(packed)
            recipes.append(recipe)
            shells.append(replace(trial, steps=()))
        kept = _Kept(
            importer=unit.importer,
            title=unit.title,
            rule=unit.rule,
            sha256=unit.sha256,
            imported=replace(unit.imported, trials=tuple(shells)),
            steps=steps,
            tallies=[trial.tally for trial in unit.imported.trials],
            recipes=recipes,
        )
        value = msgspec.msgpack.encode(kept)
        again = _files.decode(value)
    except NOT_WRITTEN:
        return None
    same = replace(again.imported, trials=tuple(replace(one, steps=()) for one in again.imported.trials))
    return value if same == kept.imported and again.recipes == recipes else None


def _stamp(piece: Piece) -> str | None:
    """The files by path, size, times and place on the disk; None where one is gone or has just changed."""
    parts = []
    for path in (piece.given.path, *piece.members):
        try:
            status = os.stat(path)  # noqa: PTH116 - the path is text as the user gave it
        except OSError:
            return None
        if time.time() - max(status.st_mtime, status.st_ctime) < SETTLED:
            return None
        place = (os.path.abspath(path), status.st_size, status.st_dev, status.st_ino)  # noqa: PTH100
        parts.append((*place, status.st_mtime_ns, status.st_ctime_ns))
    return hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).hexdigest()
