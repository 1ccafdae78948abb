"""One step of a trial as text: a call with its arguments and result, a message, or the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from trajdiff.align.table import AlignedTable, Cell, Op, Row
from trajdiff.model import StepKind
from trajdiff.render.lines import Line, Span, line, plain, width_of, wrap
from trajdiff.render.safety import cells, clean, cut, one_line, preview, shortened

if TYPE_CHECKING:
    from trajdiff.render.marks import Marks

NO_STEP = "no such step"

#: Longest value of an argument in a shortened call, in cells; a longer one shows its length.
_LONGEST_VALUE = 48
#: Characters of a long value that are kept before the place where it differs.
_BEFORE_DIFFERENCE = 12
#: Most lines of a shortened call.
_MOST_LINES = 6


class Look(Struct, frozen=True, kw_only=True):
    """How steps are written: width in cells, marks, the most lines of a shortened message or result, or all
    of it. ``against`` is the step beside it: a long value is then shown where the two part.
    """

    width: int
    marks: Marks
    lines: int = 2
    full: bool = False
    against: Cell | None = None


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
    return own_label(row, cell) or one_line(cell.tool or row.label)


def own_label(row: Row, cell: Cell | None) -> str:
    """The name that the settings give a step (``[steps]``); empty where it has none but its tool's."""
    if cell is None or cell.tool is None or row.label == cell.tool:
        return ""
    return one_line(row.label)


def step_lines(cell: Cell | None, look: Look) -> list[Line]:
    """A step on as many lines as it needs; a shortened one says how much was cut."""
    if cell is None:
        return [line(Span(NO_STEP, "muted"))]
    if cell.kind == StepKind.TERMINATION:
        return [line(f"{look.marks.end} end: {one_line(cell.text or 'unknown')}")]
    if cell.tool is not None:
        return [*_call(cell, look), *_result(cell, look)]
    return _message(cell, look)


def _message(cell: Cell, look: Look) -> list[Line]:
    who = one_line(cell.actor if cell.kind == StepKind.MESSAGE else cell.kind)
    text = cell.text or ""
    if look.full:
        return _whole(text, f"{who}: ", look)
    return _within(lambda room: preview(text, room, look.marks.ellipsis), f"{who}: ", look)


def _call(cell: Cell, look: Look) -> list[Line]:
    """``name(a=1, b="x")``; changed arguments stand out."""
    tokens = [line(f"{one_line(cell.tool or '')}(")]
    for position, (name, value) in enumerate(cell.arguments):
        last = position == len(cell.arguments) - 1
        style = "changed" if _is_changed(name, cell.changed) else ""
        shown = argument_text(value, look, _beside(cell, name, look))
        text = f"{one_line(name)}={shown}" if name else shown
        tokens.append(line(Span(text, style), ")" if last else ", "))
    if not cell.arguments:
        tokens = [line(tokens[0], ")")]
    lines = _flow(tokens, look.width)
    if look.full or len(lines) <= _MOST_LINES:
        return lines
    left = f"  {look.marks.ellipsis} ({len(cell.arguments)} arguments, --full shows all)"
    return [*lines[: _MOST_LINES - 1], line(left)]


def _is_changed(name: str, changed: tuple[str, ...]) -> bool:
    """Whether an argument differs from the reference, as a whole or somewhere inside."""
    return any(path == name or path.startswith((f"{name}.", f"{name}[")) for path in changed)


def _beside(cell: Cell, name: str, look: Look) -> str | None:
    """The value that the step beside this one has for an argument, if both call the same tool."""
    if look.against is None or look.against.tool != cell.tool:
        return None
    return next((value for other, value in look.against.arguments if other == name), None)


def argument_text(value: str, look: Look, beside: str | None = None) -> str:
    """The value of an argument on one line, shortened with its full length unless all is asked for.

    A long value that parts late from the one ``beside`` it is shown from shortly before that place on.
    """
    line_of = one_line(value)
    if look.full or beside is None or cells(line_of) <= _LONGEST_VALUE:
        return line_of if look.full else shortened(value, _LONGEST_VALUE, look.marks.ellipsis)
    same = alike(line_of, one_line(beside))
    if same < _LONGEST_VALUE // 3 or same >= len(line_of):
        return shortened(value, _LONGEST_VALUE, look.marks.ellipsis)
    rest = line_of[same - _BEFORE_DIFFERENCE :]
    ellipsis = look.marks.ellipsis
    if cells(rest) <= _LONGEST_VALUE:
        return f"{ellipsis} {rest} ({len(value)} characters)"
    return f"{ellipsis} {cut(rest, _LONGEST_VALUE, f' {ellipsis}')} ({len(value)} characters)"


def alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _result(cell: Cell, look: Look) -> list[Line]:
    arrow = f"  {look.marks.arrow} "
    if cell.is_error:
        arrow += f"{look.marks.error} "
    if cell.result is None:
        return [line(arrow, Span("(no result recorded)", "muted"))]
    text = cell.result
    if not one_line(text):
        return [line(arrow, Span("(empty)", "muted"))]
    if look.full:
        return _whole(text, arrow, look)
    return _within(lambda room: shortened(text, room, look.marks.ellipsis), arrow, look)


def _within(shorten: Callable[[int], str], first: str, look: Look) -> list[Line]:
    """A shortened text on at most ``look.lines`` lines, ``first`` before it, the rest indented by four."""
    room = look.width * look.lines
    while True:
        lines = wrap(shorten(room), look.width, first=first, rest="    ")
        if len(lines) <= look.lines or room <= look.width // 2:
            return [line(text) for text in lines[: look.lines]]
        room -= 4


def _whole(text: str, first: str, look: Look) -> list[Line]:
    """A text in full, its own line breaks kept, wrapped at the width."""
    lines: list[Line] = []
    for position, part in enumerate(clean(text).expandtabs(4).split("\n")):
        begin = first if position == 0 else "    "
        lines += [line(piece) for piece in wrap(part, look.width, first=begin, rest="    ")]
    return lines


def _flow(tokens: list[Line], width: int) -> list[Line]:
    """Pieces one after the other, broken between them, or inside one that is wider than a line."""
    lines: list[Line] = []
    current: Line = ()
    for token in tokens:
        size = cells(plain(token).rstrip())
        if plain(current).strip() and width_of(current) + size > width:
            lines.append(current)
            current = line("  ")
        for span in token:
            text = span.text
            while width_of(current) + cells(text.rstrip()) > width:
                head = _take(text, max(width - width_of(current), 1))
                lines.append(line(current, Span(head, span.style)))
                current, text = line("  "), text[len(head) :]
            current = line(current, Span(text, span.style))
    return [*lines, current]


def _take(text: str, room: int) -> str:
    """The longest beginning of a text that fits, at least one character, up to a blank where one is near."""
    end = min(len(text), room)
    while end > 1 and cells(text[:end]) > room:
        end -= 1
    blank = text.rfind(" ", end // 2, end) + 1
    return text[: blank if blank and end < len(text) else end]
