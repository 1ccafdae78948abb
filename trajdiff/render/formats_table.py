"""Formats read and written, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from trajdiff.render.columns import Column, layout
from trajdiff.render.json_text import to_json
from trajdiff.render.lines import line, paint
from trajdiff.render.registry import renderers
from trajdiff.render.safety import one_line


class Format(Protocol):
    """A format that can be read."""

    @property
    def name(self) -> str:
        """Name for ``--from``."""

    @property
    def title(self) -> str:
        """Name as shown."""

    @property
    def recognised_by(self) -> str:
        """How a file of it is told apart."""


def written() -> list[str]:
    """Suffixes that some command writes, without the dot."""
    return sorted({suffix.lstrip(".") for renderer in renderers() for suffix in renderer.suffixes})


def formats_text(known: Sequence[Format], width: int) -> str:
    """A table of the formats read, then the suffixes written."""
    columns = [
        Column(header="read", wants=28),
        Column(header="--from"),
        Column(header="recognised by", wants=30),
    ]
    cells = [[line(one_line(text)) for text in (one.title, one.name, one.recognised_by)] for one in known]
    lines = [*layout(columns, cells, width=width, ellipsis="..."), (), line(f"write   {' '.join(written())}")]
    lines.append(line("other   JSON layouts through a mapping: trajdiff map draft FILE"))
    return paint(lines, color=False)


def formats_json(known: Sequence[Format]) -> str:
    """The same as JSON, schema ``trajdiff.formats/1``."""
    read = [{"name": one.name, "title": one.title, "recognised_by": one.recognised_by} for one in known]
    return to_json({"schema": "trajdiff.formats/1", "read": read, "write": written()})
