"""Settings in effect with their origin, as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from trajdiff.render.columns import Column, layout
from trajdiff.render.json_text import to_json
from trajdiff.render.lines import line, paint
from trajdiff.render.safety import one_line

Rows = Sequence[tuple[str, str, str]]


def settings_text(rows: Rows, width: int) -> str:
    """Key, value, origin."""
    columns = [Column(header="setting"), Column(header="value", wants=40), Column(header="from", wants=20)]
    cells = [[line(one_line(text)) for text in row] for row in rows]
    return paint(layout(columns, cells, width=width, ellipsis="..."), color=False)


def settings_json(rows: Rows) -> str:
    """The same as JSON, schema ``trajdiff.inspect-settings/1``."""
    entries = [{"key": key, "value": value, "from": origin} for key, value, origin in rows]
    return to_json({"schema": "trajdiff.inspect-settings/1", "settings": entries})
