"""Pieces of Markdown that are safe to post: text from logs mentions nobody, breaks no table, holds no HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from trajdiff.render.safety import one_line

_ACTIVE = re.compile(r"([\\`*_\[\]<>&#~$!])")
#: What GitHub links or mentions after it has decoded entities: a space of no width in between stops it.
_LINKED = re.compile(r"@|(?<=#)(?=[0-9])|(?<=\bGH)(?=-[0-9])|(?<=[A-Za-z]:)(?=//)|(?<=\bwww)(?=\.)", re.I)
_APART = "&#8203;"
_TICKS = re.compile(r"`+")


def cell(text: str) -> str:
    """Text for a table cell or a sentence: everything that Markdown or GitHub would act on is defused."""
    escaped = _ACTIVE.sub(
        lambda match: f"\\{match[1]}" if match[1] not in "<>&" else _ENTITIES[match[1]], one_line(text)
    )
    return _LINKED.sub(lambda match: match[0] + _APART, escaped).replace("|", "\\|")


_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def code(text: str) -> str:
    """A code span with enough backquotes; a pipe is escaped as tables need it."""
    line = one_line(text).replace("|", "\\|")
    if not line:
        return ""
    longest = max((len(run) for run in _TICKS.findall(line)), default=0)
    fence = "`" * (longest + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}"


def fence(lines: Iterable[str], language: str = "") -> str:
    """A fenced block whose fence is longer than any run of backquotes inside."""
    body = "\n".join(lines)
    longest = max((len(run) for run in _TICKS.findall(body)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{body}\n{ticks}"


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> str:
    """A table; cells are used as given, so make them with ``cell`` or ``code``. Ends with a line feed."""
    rule = ["---:" if at in right else "---" for at in range(len(headers))]
    lines = [headers, rule, *rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in lines)
