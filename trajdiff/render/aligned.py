"""The aligned table of two trials, side by side or one below the other, equal steps folded with a count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING

from msgspec import Struct

from trajdiff.align.table import AlignedTable, Op, Row
from trajdiff.frozen import replace
from trajdiff.render.lines import Line, Span, line, pad
from trajdiff.render.safety import cells
from trajdiff.render.steps import Look, cell_of, op_of, own_label, rows_with, step_lines, step_name
from trajdiff.render.wording import plural

if TYPE_CHECKING:
    from trajdiff.render.marks import Marks

#: Narrowest screen for two columns.
SIDE_BY_SIDE = 100


class Sides(Struct, frozen=True, kw_only=True):
    """The two columns: trial ids and the headings over them. ``places`` marks rows (``◆``, ``◈``, ``◇``)."""

    left: str
    right: str
    left_title: Line
    right_title: Line
    places: dict[int, str]


class Fit(Struct, frozen=True, kw_only=True):
    """How much is shown: width in cells, marks, context rows, everything or folded, and the layout."""

    width: int
    marks: Marks
    context: int = 1
    full: bool = False
    layout: str = "auto"
    keep: tuple[int, ...] = ()

    @property
    def side_by_side(self) -> bool:
        """Whether two columns are drawn."""
        return self.layout == "side" or (self.layout == "auto" and self.width >= SIDE_BY_SIDE)


def aligned_lines(
    table: AlignedTable, sides: Sides, fit: Fit, wanted: Callable[[Row], bool] | None = None
) -> list[Line]:
    """All rows of the two trials. ``wanted`` limits the differing rows that are shown in full."""
    rows = rows_with(table, (sides.left, sides.right))
    number = max([len(str(row.number)) for row in rows] or [1])
    draw = _Drawing(sides=sides, fit=fit, number=max(number, 2))
    lines = draw.heading()
    shown = _shown(rows, sides, fit, wanted)
    for visible, group in groupby(rows, key=lambda row: row.number in shown):
        part = tuple(group)
        if visible:
            for row in part:
                lines += draw.row(row)
        else:
            lines += draw.folds(part)
    return lines


def equal(row: Row, left: str, right: str) -> bool:
    """Whether two trials have the same step in a row."""
    one, two = cell_of(row, left), cell_of(row, right)
    same = (Op.SAME, Op.REFERENCE, Op.MOVED)
    if one is None or two is None:  # a second half of a step that the reference has as one
        other = one or two
        return other is not None and other.op is Op.SAME
    return one.op in same and two.op in same


def _shown(rows: Sequence[Row], sides: Sides, fit: Fit, wanted: Callable[[Row], bool] | None) -> set[int]:
    """Numbers of the rows that are drawn: differences, marked rows, and the context around them."""
    if fit.full:
        return {row.number for row in rows}
    chosen = [
        at
        for at, row in enumerate(rows)
        if row.number in sides.places
        or row.number in fit.keep
        or (not equal(row, sides.left, sides.right) and (wanted is None or wanted(row)))
    ]
    context = min(fit.context, len(rows))
    near = {
        at for middle in chosen for at in range(max(middle - context, 0), min(middle + context + 1, len(rows)))
    }
    return {rows[at].number for at in near}


class _Drawing(Struct, frozen=True, kw_only=True):
    """Draws rows at fixed positions: the mark, the number, then one or two columns."""

    sides: Sides
    fit: Fit
    number: int

    @property
    def _margin(self) -> int:
        return self.number + 4

    @property
    def _column(self) -> int:
        return max((self.fit.width - self._margin - 2) // 2, 16)

    def heading(self) -> list[Line]:
        """The line over the columns, or the two lines that say what A and B are."""
        sides = self.sides
        if not self.fit.side_by_side:
            return []
        return [
            line(
                Span(f"{'step':<{self._margin}}", "heading"),
                pad(sides.left_title, self._column),
                "  ",
                sides.right_title,
            )
        ]

    def row(self, row: Row) -> list[Line]:
        """One row of the table."""
        same = equal(row, self.sides.left, self.sides.right)
        return self._two(row, same) if self.fit.side_by_side else self._below(row, same)

    def folds(self, rows: Sequence[Row]) -> list[Line]:
        """A line for each run of rows that match, and for each run that differs but is not in view."""
        lines = []
        for same, group in groupby(rows, key=lambda row: equal(row, self.sides.left, self.sides.right)):
            part = tuple(group)
            names = [
                step_name(row, cell_of(row, self.sides.left) or cell_of(row, self.sides.right)) for row in part
            ]
            ends = names[0] if len(part) == 1 else f"{names[0]} {self.fit.marks.ellipsis} {names[-1]}"
            text = f"{_folded(part, same)} ({ends})"
            lines.append(line(" " * self._margin, Span(text, "equal")))
        return lines

    def _start(self, row: Row, same: bool) -> Line:
        place = self.sides.places.get(row.number)
        if place is not None:
            return line(Span(place, "divergence"), f" {row.number:<{self.number}}  ")
        mark = " " if same else self._mark(row)
        return line(f"{mark} {row.number:<{self.number}}  ")

    def _mark(self, row: Row) -> str:
        left, right = (cell_of(row, trial) for trial in (self.sides.left, self.sides.right))
        marks = self.fit.marks
        if right is None:
            return marks.missing
        if left is None:
            return marks.extra
        ops = (op_of(row, self.sides.right), op_of(row, self.sides.left))
        return next((marks.step(op) for op in ops if op not in (Op.REFERENCE, Op.SAME)), " ")

    def _look(self, row: Row, width: int) -> Look:
        """Steps that matter may take more lines."""
        lines = 4 if row.number in self.sides.places else 2
        return Look(width=width, marks=self.fit.marks, lines=lines, full=self.fit.full)

    def _two(self, row: Row, same: bool) -> list[Line]:
        look = self._look(row, self._column)
        one, two = (cell_of(row, trial) for trial in (self.sides.left, self.sides.right))
        left = step_lines(one, replace(look, against=two))
        right = [line(self.fit.marks.same)] if same else step_lines(two, replace(look, against=one))
        label = own_label(row, one or two)
        if label:
            left.insert(0, line(Span(f"{label}:", "muted")))
            right.insert(0, ())
        if same:
            left, right = [_dim(part) for part in left], [_dim(part) for part in right]
        lines = []
        for at, (own, other) in enumerate(zip_longest(left, right, fillvalue=())):
            start = self._start(row, same) if at == 0 else line(" " * self._margin)
            lines.append(line(start, pad(own, self._column), "  ", other))
        return lines

    def _below(self, row: Row, same: bool) -> list[Line]:
        look = self._look(row, self.fit.width - self._margin - 3)
        if same:
            parts = [("   ", [_dim(part) for part in step_lines(cell_of(row, self.sides.left), look)])]
        else:
            one, two = (cell_of(row, trial) for trial in (self.sides.left, self.sides.right))
            parts = [
                (f"{letter}  ", step_lines(cell, replace(look, against=other)))
                for letter, cell, other in (("A", one, two), ("B", two, one))
            ]
        label = own_label(row, cell_of(row, self.sides.left) or cell_of(row, self.sides.right))
        if label:
            parts.insert(0, ("", [line(Span(f"{label}:", "muted"))]))
        lines = []
        for number, (letter, texts) in enumerate(parts):
            for at, text in enumerate(texts):
                start = self._start(row, same) if number == at == 0 else line(" " * self._margin)
                lines.append(line(start, letter if at == 0 else " " * cells(letter), text))
        return lines


def _folded(rows: Sequence[Row], same: bool) -> str:
    """``4 steps match``, or which steps differ outside the view."""
    if same:
        return f"{plural(len(rows), 'step')} {'matches' if len(rows) == 1 else 'match'}"
    if len(rows) == 1:
        return f"step {rows[0].number} differs"
    return f"{len(rows)} steps from {rows[0].number} to {rows[-1].number} differ"


def _dim(content: Line) -> Line:
    return tuple(Span(span.text, "equal") for span in content)
