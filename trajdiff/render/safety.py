"""Makes recorded text harmless before it is shown: logs are hostile input.

Nothing here shortens silently: a preview carries an explicit mark and the full length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Terminal sequences: CSI (also as one C1 byte), OSC and the other string kinds, two-byte escapes.
_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
#: C0 without tab and line feed, DEL, C1.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
#: Characters that reorder or hide text: bidi marks, embeddings, overrides, isolates, tag letters.
_REORDERING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029]")
_SPACES = re.compile(r"\s+")


def clean(text: str) -> str:
    """Text without control characters and escape sequences; line feeds and tabs stay.

    Direction overrides are shown as ``<U+202E>``, lone surrogates as ``\\ud83d``.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _LINE_ENDS.sub("\n", text)
    text = _SEQUENCES.sub("", text)
    text = _CONTROLS.sub("", text)
    text = _REORDERING.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)
    return _SURROGATES.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def one_line(text: str) -> str:
    """Clean text on one line: every run of white space becomes one space."""
    return _SPACES.sub(" ", clean(text)).strip()


def shortlist(names: Sequence[str], limit: int = 5) -> str:
    """The first names, then how many more there are."""
    shown = ", ".join(one_line(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def cells(text: str) -> int:
    """Width of a text in terminal cells; wide East Asian characters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut(text: str, width: int, ellipsis: str = "…") -> str:
    """Text of at most ``width`` cells; what is cut is marked with the ellipsis."""
    if cells(text) <= width:
        return text
    room = width - cells(ellipsis)
    if room <= 0:
        return _head(text, width)
    return _head(text, room).rstrip() + ellipsis


def cut_middle(text: str, width: int, ellipsis: str = "…") -> str:
    """Like ``cut``, but keeps both ends: ids often differ at the end only."""
    room = width - cells(ellipsis)
    if cells(text) <= width or room < 4:
        return cut(text, width, ellipsis)
    start = len(text) - room // 2
    while cells(text[start:]) > room // 2:
        start += 1
    tail = text[start:]
    return _head(text, room - cells(tail)) + ellipsis + tail


def _head(text: str, width: int) -> str:
    """The longest beginning of a text that takes at most ``width`` cells."""
    if text.isascii():
        return text[:width]
    used = 0
    for position, character in enumerate(text):
        used += cells(character)
        if used > width:
            return text[:position]
    return text


def preview(text: str, width: int, ellipsis: str = "…") -> str:
    """One quoted line of at most ``width`` cells; a cut one ends with the full length in characters.

    ``"I have refunded 49.90 …" (142 characters)``
    """
    return _shorten(text, width, ellipsis, '"')


def shortened(text: str, width: int, ellipsis: str = "…") -> str:
    """Like ``preview`` without the quotation marks: for results and values of arguments."""
    return _shorten(text, width, ellipsis, "")


def _shorten(text: str, width: int, ellipsis: str, quote: str) -> str:
    line = one_line(text)
    whole = f"{quote}{line}{quote}"
    if cells(whole) <= width:
        return whole
    length = f" ({len(text)} characters)"
    room = width - cells(length) - 2 * len(quote) - 1 - cells(ellipsis)
    if room < 8:
        return cut(whole, width, ellipsis)
    return f"{quote}{_head(line, room).rstrip()} {ellipsis}{quote}{length}"
