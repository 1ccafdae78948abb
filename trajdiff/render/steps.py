"""One step of a trial as text: a call with its arguments and result, a message, or the end."""

from __future__ import annotations

from dataclasses import dataclass

from trajdiff.align.table import AlignedTable, Cell, Op, Row
from trajdiff.model import StepKind
from trajdiff.render.lines import Line, Span, line, width_of, wrap
from trajdiff.render.marks import Marks
from trajdiff.render.safety import cells, clean, one_line, preview, shortened

NO_STEP = "no such step"

#: Longest value of an argument in a shortened call, in cells; a longer one shows its length.
_LONGEST_VALUE = 48
#: Most lines of a shortened call.
_MOST_LINES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How steps are written: width in cells, marks, and whether texts are shown in full."""

    width: int
    marks: Marks
    full: bool = False


def cell_of(row: Row, trial_id: str) -> Cell | None:
    """The cell of a trial in a row, None where the trial has no step there."""
    for cell in row.cells:
        if cell.trial_id == trial_id:
            return None if cell.step is None else cell
    return None


def op_of(row: Row, trial_id: str) -> Op:
    """How a trial compares with the reference in a row."""
    return next((cell.op for cell in row.cells if cell.trial_id == trial_id), Op.MISSING)


def rows_with(table: AlignedTable, trials: tuple[str, ...]) -> tuple[Row, ...]:
    """Rows in which at least one of these trials has a step."""
    return tuple(row for row in table.rows if any(cell_of(row, trial) is not None for trial in trials))


def step_name(row: Row, cell: Cell | None) -> str:
    """A few words for a step in a fold line: ``user message``, ``get_order``, ``end: user_done``."""
    if cell is None:
        return one_line(row.label)
    if cell.kind == StepKind.TERMINATION:
        return f"end: {one_line(cell.text or row.label)}"
    if cell.kind == StepKind.MESSAGE:
        return f"{one_line(cell.actor)} message"
    return one_line(cell.tool or row.label)


def step_lines(cell: Cell | None, look: Look) -> list[Line]:
    """A step on as many lines as it needs; a shortened one says how much was cut."""
    if cell is None:
        return [line(Span(NO_STEP, "muted"))]
    if cell.kind == StepKind.TERMINATION:
        return [line(f"{look.marks.end} end: {one_line(cell.text or 'unknown')}")]
    if cell.tool is not None:
        lines = _call(cell, look)
        return [*lines, *_result(cell, look)] if cell.result is not None else lines
    return _message(cell, look)


def _message(cell: Cell, look: Look) -> list[Line]:
    who = one_line(cell.actor if cell.kind == StepKind.MESSAGE else cell.kind)
    text = cell.text or ""
    if look.full:
        return _whole(text, f"{who}: ", look)
    return [line(f"{who}: ", preview(text, max(look.width - cells(who) - 2, 12), look.marks.ellipsis))]


def _call(cell: Cell, look: Look) -> list[Line]:
    """``name(a=1, b="x")``; changed arguments stand out."""
    changed = set(cell.changed)
    tokens = [Span(f"{one_line(cell.tool or '')}(")]
    for position, (path, value) in enumerate(cell.arguments):
        comma = "" if position == len(cell.arguments) - 1 else ", "
        style = "changed" if path in changed else ""
        tokens.append(Span(f"{one_line(path)}={argument_text(value, look)}", style))
        if comma:
            tokens.append(Span(comma))
    tokens.append(Span(")"))
    lines = _flow(tokens, look.width)
    if look.full or len(lines) <= _MOST_LINES:
        return lines
    left = len(cell.arguments)
    return [*lines[: _MOST_LINES - 1], line(f"  {look.marks.ellipsis} ({left} arguments, --full shows all)")]


def argument_text(value: str, look: Look) -> str:
    """The value of an argument on one line, shortened with its full length unless all is asked for."""
    return one_line(value) if look.full else shortened(value, _LONGEST_VALUE, look.marks.ellipsis)


def _result(cell: Cell, look: Look) -> list[Line]:
    arrow = f"  {look.marks.arrow} "
    if cell.is_error:
        arrow += f"{look.marks.error} "
    text = cell.result or ""
    if look.full:
        return _whole(text, arrow, look)
    room = max(look.width - cells(arrow), 12)
    return [line(arrow, shortened(text, room, look.marks.ellipsis) or "(empty)")]


def _whole(text: str, first: str, look: Look) -> list[Line]:
    """A text in full, its own line breaks kept, wrapped at the width."""
    lines: list[Line] = []
    for position, part in enumerate(clean(text).expandtabs(4).split("\n")):
        begin = first if position == 0 else "  "
        lines += [line(piece) for piece in wrap(part, look.width, first=begin, rest="  ")]
    return lines


def _flow(tokens: list[Span], width: int) -> list[Line]:
    """Spans one after the other, broken between them, or inside one that is wider than a line."""
    lines: list[Line] = []
    current: Line = ()
    for token in tokens:
        glued = token.text in (", ", ")")
        size = cells(token.text.rstrip())
        if current and not glued and width_of(current) + size + 1 > width and width_of(current) > 2:
            lines.append(current)
            current = line("  ")
        while width_of(current) + cells(token.text.rstrip()) > width:
            room = max(width - width_of(current), 1)
            head = _take(token.text, room)
            lines.append(line(current, Span(head, token.style)))
            current, token = line("  "), Span(token.text[len(head) :], token.style)
        current = line(current, token)
    return [*lines, current] if current else lines


def _take(text: str, room: int) -> str:
    """The longest beginning of a text that fits, at least one character."""
    end = min(len(text), room)
    while end > 1 and cells(text[:end]) > room:
        end -= 1
    return text[:end]
