"""Ids and paths as text, and the order a person expects of them."""

from __future__ import annotations

from typing import Any


def id_text(value: Any) -> str | None:
    """An id as text: ``3``, ``3.0`` and ``"3"`` are the same id. None where there is no id."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return None


def whole_number(value: Any) -> int | None:
    """A trial number or count as recorded: an integer, or a float or text that is one; never negative."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value) if str(int(value)) == value else None
    return value if isinstance(value, int) and value >= 0 else None


def shortened(text: str, limit: int = 60) -> str:
    """The text on one line, cut to ``limit`` characters with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def place_of(pointer: str, line: int | None) -> str:
    """A JSON path with the line it counts from: ``line 3 $.steps[2]``."""
    if line is None:
        return pointer
    return f"line {line}" if pointer == "$" else f"line {line} {pointer}"


def as_text(value: Any) -> str | None:
    """A text that is not empty, or None."""
    return value if isinstance(value, str) and value else None
