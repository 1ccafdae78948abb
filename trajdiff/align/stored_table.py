"""The aligned table of a task whose steps stay in their file: packed, without texts, until somebody looks.

Tables of a large log would hold all of its text; most of them are never shown step by step.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import msgspec

from trajdiff.align.rows import texts_of
from trajdiff.align.table import AlignedTable, Cell, Row
from trajdiff.frozen import replace
from trajdiff.model import Step, TaskTrials

#: Tables that are kept unpacked: reports look at one task after the other, each several times.
_UNPACKED = 2

_decoder = msgspec.msgpack.Decoder(tuple[Row, ...])


class StoredTable(AlignedTable):
    """An aligned table that is put together again from its packed cells and the steps of the trials."""

    __slots__ = ("_packed", "_steps")

    _packed: bytes
    _steps: Mapping[str, Sequence[Step]]

    def __new__(cls, **fields: Any) -> Any:
        """A changed copy (``replace``) is a table like any other."""
        return AlignedTable(**fields)

    @property
    def skeleton(self) -> tuple[Row, ...]:
        """The rows without the texts of their cells."""
        known = _BARE.get(id(self))
        if known is None or known[0] is not self:
            known = _BARE[id(self)] = self, _decoder.decode(zlib.decompress(self._packed))
            while len(_BARE) > _UNPACKED:
                _BARE.popitem(last=False)
        return known[1]

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows; their texts are read when the rows are asked for."""
        known = _LAST.get(id(self))
        if known is None or known[0] is not self:
            rows = _with_texts(self.skeleton, self._steps)
            known = _LAST[id(self)] = self, rows
            while len(_LAST) > _UNPACKED:
                _LAST.popitem(last=False)
        return known[1]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlignedTable):
            return NotImplemented
        mine, theirs = (self.columns, self.reference), (other.columns, other.reference)
        return mine == theirs and self.rows == other.rows

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.columns, self.reference, self._packed, self._steps)


_BARE: OrderedDict[int, tuple[StoredTable, tuple[Row, ...]]] = OrderedDict()
_LAST: OrderedDict[int, tuple[StoredTable, tuple[Row, ...]]] = OrderedDict()


def stored_table(table: AlignedTable, task: TaskTrials) -> AlignedTable:
    """The table, packed where the steps of the task's trials stay in their file."""
    if isinstance(table, StoredTable) or not stays_in_files(task, table.columns):
        return table
    steps = {trial.trial_id: trial.steps for trial in task.trials}
    rows = tuple(row if all(map(_is_bare, row.cells)) else _without_texts(row) for row in table.rows)
    try:
        packed = zlib.compress(msgspec.msgpack.encode(rows), 1)
    except (ValueError, TypeError):  # a lone surrogate in a name
        return replace(table, rows=_with_texts(rows, steps))
    return _restored(table.columns, table.reference, packed, steps)


def stays_in_files(task: TaskTrials, trials: Collection[str]) -> bool:
    """Whether the steps of all of these trials of the task stay in their file."""
    steps = {trial.trial_id: trial.steps for trial in task.trials}
    return not any(isinstance(steps.get(trial, ()), tuple) for trial in trials)


def _is_bare(cell: Cell) -> bool:
    return not cell.arguments and cell.result is None and cell.text is None


def _without_texts(row: Row) -> Row:
    cells = (replace(cell, arguments=(), result=None, text=None) for cell in row.cells)
    return Row(number=row.number, label=row.label, cells=tuple(cells))


def _with_texts(rows: Sequence[Row], steps: Mapping[str, Sequence[Step]]) -> tuple[Row, ...]:
    shown = {cell.trial_id for row in rows for cell in row.cells if cell.step is not None}
    recorded = {trial: tuple(steps[trial]) for trial in shown}
    return tuple(
        Row(number=row.number, label=row.label, cells=tuple([_told(cell, recorded) for cell in row.cells]))
        for row in rows
    )


def _told(cell: Cell, steps: Mapping[str, Sequence[Step]]) -> Cell:
    """A cell with the texts of its step."""
    if cell.step is None:
        return cell
    step = steps[cell.trial_id][cell.step]
    result = None if step.result is None else step.result.text
    return replace(cell, arguments=texts_of(step), result=result, text=step.text)


def _restored(
    columns: tuple[str, ...], reference: str | None, packed: bytes, steps: Mapping[str, Sequence[Step]]
) -> StoredTable:
    made: StoredTable = object.__new__(StoredTable)
    for name, value in (("columns", columns), ("reference", reference), ("_packed", packed), ("_steps", steps)):
        object.__setattr__(made, name, value)
    return made
