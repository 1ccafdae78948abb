"""Packs the data of the tasks: JSON, gzip, base64, one chunk per task, equal bytes for equal data.

Texts are stored once: those of one task in a list of the task, long ones that several tasks have in a list of
the file. Cells hold numbers: ``n >= 0`` is entry n of the task, ``n < 0`` entry ``-n - 1`` of the file.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trajdiff.render.safety import clean

if TYPE_CHECKING:
    from trajdiff.report import TaskReport

#: Characters from which a text that several tasks have is worth a place of its own.
_LONG = 400


@dataclass(frozen=True, slots=True)
class SharedTexts:
    """Long texts that more than one task has, in the order in which they first occur."""

    places: Mapping[str, int]

    @property
    def texts(self) -> list[str]:
        """The texts by place."""
        return list(self.places)


@dataclass(slots=True)
class Texts:
    """The texts of one task: gives each a number, the same one for equal texts."""

    shared: SharedTexts
    _places: dict[str, int] = field(default_factory=dict)

    def number(self, text: str | None) -> int | None:
        """The number of a text, None for none."""
        if text is None:
            return None
        common = self.shared.places.get(text)
        if common is not None:
            return -common - 1
        return self._places.setdefault(text, len(self._places))

    @property
    def texts(self) -> list[str]:
        """The own texts of the task by number."""
        return list(self._places)


def shared_texts(tasks: Iterable[TaskReport]) -> SharedTexts:
    """Long texts of results, messages and arguments that occur in two tasks or more, cleaned."""
    tasks_with: Counter[str] = Counter()
    for task in tasks:
        table = task.finding.table
        if table is None:
            continue
        found: dict[str, None] = {}
        for row in table.rows:
            for cell in row.cells:
                values = (cell.result, cell.text, *(value for _, value in cell.arguments))
                found.update((clean(text), None) for text in values if text and len(text) >= _LONG)
        tasks_with.update(found.keys())
    common = [text for text, count in tasks_with.items() if count > 1]
    return SharedTexts({text: place for place, text in enumerate(common)})


def packed(value: Any) -> str:
    """A value as base64 of gzip of JSON; the same value gives the same characters."""
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    held = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=held, mtime=0) as file:
        file.write(data.encode("utf-8", "backslashreplace"))
    return base64.b64encode(held.getvalue()).decode("ascii")
