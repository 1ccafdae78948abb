"""Lines of styled text: the only thing terminal renderers build, turned into a string at the very end.

A line is a tuple of spans. Styles are names of ours, mapped to named ANSI colours in one place, so that the
user's theme decides how they look and no escape byte exists where colour is off.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from trajdiff.render.safety import cells, cut

#: Cyan and yellow instead of green and red: they stay apart for red-green blindness. Yellow is taken by
#: "failed", so the divergence has no hue of its own.
STYLES = {
    "passed": "cyan",
    "failed": "yellow",
    "equal": "dim",
    "muted": "dim",
    "divergence": "bold reverse",
    "heading": "bold",
    "changed": "bold underline",
}


class Span(Struct, frozen=True):
    """A piece of text in one style (a key of ``STYLES``, or empty)."""

    text: str
    style: str = ""


Line = tuple[Span, ...]


def line(*parts: str | Span | Line) -> Line:
    """Joins strings, spans and lines into one line."""
    spans: list[Span] = []
    for part in parts:
        if isinstance(part, str):
            spans.append(Span(part))
        elif isinstance(part, Span):
            spans.append(part)
        else:
            spans.extend(part)
    return tuple(span for span in spans if span.text)


def plain(content: Line) -> str:
    """The characters of a line."""
    return "".join(span.text for span in content)


def width_of(content: Line) -> int:
    """Width of a line in cells."""
    return sum(cells(span.text) for span in content)


def fit(content: Line, width: int, ellipsis: str) -> Line:
    """A line of at most ``width`` cells, cut with a mark if it was longer."""
    if width_of(content) <= width:
        return content
    room = width - cells(ellipsis)
    kept: list[Span] = []
    for span in content:
        if cells(span.text) >= room:
            return line(*kept, Span(cut(span.text, room, "").rstrip(), span.style), Span(ellipsis, span.style))
        kept.append(span)
        room -= cells(span.text)
    return tuple(kept)


def pad(content: Line, width: int, *, right: bool = False) -> Line:
    """A line filled with blanks to ``width`` cells, the text at the left or at the right end."""
    blanks = " " * max(width - width_of(content), 0)
    return line(blanks, content) if right else line(content, blanks)


def wrap(text: str, width: int, *, first: str = "", rest: str = "") -> list[str]:
    """Breaks text at blanks, or inside a word that is too long, into lines of at most ``width`` cells."""
    lines: list[str] = []
    current, empty = first, True
    for word in text.split(" "):
        gap = "" if empty else " "
        if cells(current) + cells(gap) + cells(word) <= width:
            current, empty = current + gap + word, False
            continue
        if not empty:
            lines.append(current)
            current, empty = rest, True
        while cells(current) + cells(word) > width:
            room = max(width - cells(current), 1)
            head = cut(word, room, "") or word[0]
            lines.append(current + head)
            current, word = rest, word[len(head) :]
        current, empty = current + word, False
    return [*lines, current]


def paint(lines: Iterable[Line], *, color: bool) -> str:
    """The finished text, one line feed after each line; blanks at line ends are dropped."""
    if color:
        return "".join(_painted(content) + "\n" for content in lines)
    return "".join(plain(content).rstrip() + "\n" for content in lines)


def _painted(content: Line) -> str:
    """A line with the escape codes of its styles."""
    from rich.color import ColorSystem
    from rich.style import Style

    spans = list(content)
    while spans and not spans[-1].text.rstrip():
        spans.pop()
    if spans:
        spans[-1] = Span(spans[-1].text.rstrip(), spans[-1].style)
    return "".join(
        Style.parse(STYLES[span.style]).render(span.text, color_system=ColorSystem.STANDARD)
        if span.style
        else span.text
        for span in spans
    )
