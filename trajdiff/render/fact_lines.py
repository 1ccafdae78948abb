"""Facts about a finding: a muted label and, beside it, a text on as many lines as it may have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trajdiff.render.lines import Line, Span, line, wrap
from trajdiff.render.safety import cells

if TYPE_CHECKING:
    from trajdiff.render.view import View

_LABEL = 21
#: Cells that a fact may take before it is cut, and the lines that it may take at least.
_ROOM = 160
_LEAST_LINES = 3


def width_of_fact(view: View) -> int:
    """Cells of one line beside the label."""
    return max(view.width - _LABEL - 2, 1)


def lines_of_fact(view: View) -> int:
    """Most lines of a fact: three on a screen of usual width, more where lines are short."""
    return max(_LEAST_LINES, -(-_ROOM // width_of_fact(view)))


def fact_lines(label: str, text: str, view: View, most: int | None = None) -> list[Line]:
    """``label   text``, the text wrapped beside the label; all of it only with ``--full``, otherwise ``most``
    lines (those of a fact if None)."""
    width, most = width_of_fact(view), lines_of_fact(view) if most is None else most
    parts = wrap(text, width)
    if not view.full and len(parts) > most:
        parts = [*parts[: most - 1], f"{parts[most - 1]} {view.marks.ellipsis}"]
        if cells(parts[-1]) > width:
            parts[-1] = parts[-1][: width - cells(view.marks.ellipsis) - 1].rstrip() + " " + view.marks.ellipsis
    return [
        line("  ", Span(f"{label if at == 0 else '':<{_LABEL}}", "muted"), part)
        for at, part in enumerate(parts)
    ]
