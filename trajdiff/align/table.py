"""The aligned table of one task: rows of semantic steps, one cell per trial. Pure values, no layout.

An alignment keeps the trials as they are plus an index trace; this table is that trace turned into rows.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from msgspec import Struct

from trajdiff.frozen import replace


class Op(StrEnum):
    """How a trial's step compares with the reference column in this row."""

    REFERENCE = "reference"
    SAME = "same"
    CHANGED = "changed"
    OTHER_RESULT = "other_result"
    EXTRA = "extra"
    MISSING = "missing"
    MOVED = "moved"


class Cell(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """One trial in one row. ``step`` indexes ``Trial.steps`` (None where the trial has no such step).

    ``arguments`` and ``result`` are full texts; ``changed`` lists the argument paths that differ from the
    reference. Renderers shorten.
    """

    trial_id: str
    op: Op
    step: int | None = None
    actor: str = ""
    kind: str = ""
    tool: str | None = None
    effect: str = ""
    arguments: tuple[tuple[str, str], ...] = ()
    changed: tuple[str, ...] = ()
    result: str | None = None
    is_error: bool | None = None
    text: str | None = None
    message_index: int | None = None
    pointer: str = ""
    line: int | None = None


class Row(Struct, frozen=True, kw_only=True, gc=False):
    """One semantic step. ``number`` counts from 1 and is the same for all trials of the task."""

    number: int
    label: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedTable:
    """Columns are trial ids: the reference first, then passed, then failed trials in order."""

    columns: tuple[str, ...]
    reference: str | None
    rows: tuple[Row, ...]

    @property
    def skeleton(self) -> tuple[Row, ...]:
        """The rows for who needs no texts of their cells, which may be left out here."""
        return self.rows

    def showing(self, steps: Collection[tuple[str, int]]) -> AlignedTable:
        """The table with these (trial id, step) cells never folded away as equal: a reader must see the place
        that a divergence names."""

        def equal(cell: Cell) -> bool:
            named = cell.kind == "message" and (cell.trial_id, cell.step) in steps
            return named and cell.op in (Op.SAME, Op.MOVED)

        def shown(row: Row) -> Row:
            if not any(map(equal, row.cells)):
                return row
            cells = (replace(cell, op=Op.CHANGED) if equal(cell) else cell for cell in row.cells)
            return replace(row, cells=tuple(cells))

        return replace(self, rows=tuple(map(shown, self.rows))) if steps else self

    def row_of(self, trial_id: str, step: int) -> int | None:
        """Row number that holds this step of this trial, or None."""
        for row in self.skeleton:
            for cell in row.cells:
                if cell.trial_id == trial_id and cell.step == step:
                    return row.number
        return None
