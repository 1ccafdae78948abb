"""Tables whose rows never wrap: columns are left out in a stated order, then the last text is cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trajdiff.render.lines import Line, Span, fit, line, pad, width_of
from trajdiff.render.safety import cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column. ``drop`` says when it goes (1 first, None never); ``wants`` is the width a text column
    asks for before others have to go; columns without it are never cut."""

    header: str
    right: bool = False
    drop: int | None = None
    wants: int | None = None


def layout(
    columns: Sequence[Column], rows: Sequence[Sequence[Line]], *, width: int, ellipsis: str
) -> list[Line]:
    """Lines of a table with its header, none wider than ``width`` cells."""
    kept = _kept(columns, rows, width)
    sizes = {at: _natural(columns[at], [row[at] for row in rows]) for at in kept}
    elastic = [at for at in kept if columns[at].wants is not None]
    excess = sum(sizes.values()) + 2 * (len(kept) - 1) - width
    for at in reversed(elastic):
        cut_by = min(max(excess, 0), max(sizes[at] - 8, 0))
        sizes[at] -= cut_by
        excess -= cut_by
    header = [line(Span(column.header, "heading")) for column in columns]
    return [
        fit(
            _joined([cell_row[at] for at in kept], [columns[at] for at in kept], sizes, kept, ellipsis),
            width,
            ellipsis,
        )
        for cell_row in (header, *rows)
    ]


def _joined(
    row: list[Line], columns: list[Column], sizes: dict[int, int], kept: list[int], ellipsis: str
) -> Line:
    """One row, cells padded to the width of their column and two blanks apart."""
    parts: list[Line] = []
    for cell, column, at in zip(row, columns, kept, strict=True):
        parts.append(pad(fit(cell, sizes[at], ellipsis), sizes[at], right=column.right))
        parts.append(line("  "))
    return line(*parts[:-1])


def _natural(column: Column, cells_of_column: list[Line]) -> int:
    """Width of the widest cell of a column."""
    return max([cells(column.header), *(width_of(cell) for cell in cells_of_column)])


def _kept(columns: Sequence[Column], rows: Sequence[Sequence[Line]], width: int) -> list[int]:
    """Indices of the columns that stay at this width."""
    kept = list(range(len(columns)))
    going = sorted((at for at in kept if columns[at].drop is not None), key=lambda at: (columns[at].drop, at))
    while going and _wanted(columns, rows, kept) > width:
        kept.remove(going.pop(0))
    return kept


def _wanted(columns: Sequence[Column], rows: Sequence[Sequence[Line]], kept: list[int]) -> int:
    """Width the columns ask for, with two blanks between them."""
    total = 2 * (len(kept) - 1)
    for at in kept:
        natural = _natural(columns[at], [row[at] for row in rows])
        wants = columns[at].wants
        total += natural if wants is None else min(natural, wants)
    return total
