"""The entries of ``tool_calls``: objects as a rule, JSON text with some producers, anything in damaged files.

A call that cannot be read is a call all the same: it is kept without a name, its text as its arguments.
"""

from __future__ import annotations

from typing import Any

import msgspec

from trajdiff.importers.jsontext import BadJsonError, compact, tolerant

#: A tuple, because a union is built anew at every test.
_OBJECTS = (dict, msgspec.Struct)


def call_entries(recorded: Any, at: str = ".tool_calls") -> list[tuple[str, Any]]:
    """The calls of a message, each with its place; ``at`` is the place of ``recorded``.

    A call is an object (a dict, or a typed record). Null entries are no calls: some producers fill
    whole sets of keys with null.
    """
    if recorded is None:
        return []
    if not isinstance(recorded, list):
        return [(at, _call(recorded))]
    return [(f"{at}[{place}]", _call(one)) for place, one in enumerate(recorded) if one is not None]


def _call(entry: Any) -> Any:
    if isinstance(entry, _OBJECTS):
        return entry
    if isinstance(entry, str):
        try:
            value = tolerant(entry)
        except BadJsonError:
            value = None
        if isinstance(value, dict):
            return value
        return {"name": None, "arguments": entry}
    return {"name": None, "arguments": compact(entry)}
