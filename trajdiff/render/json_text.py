"""JSON as trajdiff writes it: sorted keys, no NaN, and nothing a terminal could act on."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

#: Characters that JSON may hold raw but that steer a terminal, reorder text or cannot be encoded: they are
#: written as escapes, so nothing is lost.
_ESCAPED = re.compile(
    "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)


def to_json(value: Any) -> str:
    """One value as indented JSON with a line feed at the end; equal values give equal text."""
    return (
        _escape(json.dumps(finite(value), ensure_ascii=False, sort_keys=True, indent=2, allow_nan=False)) + "\n"
    )


def to_jsonl(values: Iterable[Any]) -> str:
    """One compact JSON object per line."""
    return "".join(
        _escape(json.dumps(finite(value), ensure_ascii=False, sort_keys=True, allow_nan=False)) + "\n"
        for value in values
    )


def finite(value: Any) -> Any:
    """The value with NaN and infinities as null, keys as strings, tuples as lists, other objects as text."""
    if value is None or isinstance(value, bool | int | str):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return str(value)


def _escape(text: str) -> str:
    return _ESCAPED.sub(lambda match: json.dumps(match[0])[1:-1], text)
