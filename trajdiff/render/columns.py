"""Tables with a row per line: columns are left out in a stated order, then the last text is cut; where too
little of it would be left, it goes on lines of its own below the row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trajdiff.render.lines import Line, Span, fit, line, pad, plain, width_of, wrap
from trajdiff.render.safety import cells

#: Cells that a text needs to say something.
_LEAST = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column. ``drop`` says when it goes (1 first, None never); ``wants`` is the width a text column
    asks for before others have to go; columns without it are never cut. A text column that would be left with
    less than ``_LEAST`` cells goes below its row."""

    header: str
    right: bool = False
    drop: int | None = None
    wants: int | None = None


def layout(
    columns: Sequence[Column], rows: Sequence[Sequence[Line]], *, width: int, ellipsis: str
) -> list[Line]:
    """Lines of a table with its header, none wider than ``width`` cells."""
    kept = _kept(columns, rows, width)
    below = _below(columns, rows, kept, width)
    kept = [at for at in kept if at not in below]
    sizes = {at: _natural(columns[at], [row[at] for row in rows]) for at in kept}
    elastic = [at for at in kept if columns[at].wants is not None]
    excess = sum(sizes.values()) + 2 * (len(kept) - 1) - width
    for at in reversed(elastic):
        cut_by = min(max(excess, 0), max(sizes[at] - 8, 0))
        sizes[at] -= cut_by
        excess -= cut_by
    header = [line(Span(column.header, "heading")) for column in columns]
    lines: list[Line] = []
    for cell_row in (header, *rows):
        cells_kept = [cell_row[at] for at in kept]
        lines.append(
            fit(_joined(cells_kept, [columns[at] for at in kept], sizes, kept, ellipsis), width, ellipsis)
        )
        for at in below:
            lines += _indented(cell_row[at], width)
    return lines


def _below(columns: Sequence[Column], rows: Sequence[Sequence[Line]], kept: list[int], width: int) -> list[int]:
    """Text columns that nothing would be left of beside the others: they go below their row."""
    natural = {at: _natural(columns[at], [row[at] for row in rows]) for at in kept}
    excess = sum(natural.values()) + 2 * (len(kept) - 1) - width
    found: list[int] = []
    for at in reversed(kept):
        if columns[at].wants is None or excess <= 0 or len(found) == len(kept) - 1:
            continue
        if natural[at] - excess >= min(_LEAST, natural[at]):
            break  # cut a little, it still says something
        found.insert(0, at)
        excess -= natural[at] + 2
    return found


def _indented(content: Line, width: int) -> list[Line]:
    """A cell below its row, wrapped where it is wider; its styles are kept where it is not."""
    if width_of(content) + 2 <= width:
        return [line("  ", content)] if content else []
    return [line(part) for part in wrap(plain(content), width, first="  ", rest="    ")]


def _joined(
    row: list[Line], columns: list[Column], sizes: dict[int, int], kept: list[int], ellipsis: str
) -> Line:
    """One row, cells padded to the width of their column and two blanks apart."""
    parts: list[Line] = []
    for cell, column, at in zip(row, columns, kept, strict=True):
        shown = fit(cell, sizes[at], ellipsis)
        # Blanks at the end of a row would be cut off with a mark where the screen is narrow.
        parts.append(
            shown if at == kept[-1] and not column.right else pad(shown, sizes[at], right=column.right)
        )
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
