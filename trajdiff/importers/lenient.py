"""Fields of recorded JSON as what they should be; what is anything else counts as empty."""

from __future__ import annotations

from typing import Any


def as_object(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_flag(value: Any) -> bool | None:
    """The value if it is true or false, else None."""
    return value if isinstance(value, bool) else None
