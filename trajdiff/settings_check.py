"""Checks the content of a settings file against ``schemas/settings.schema.json``.

Reads the part of JSON Schema that this one schema uses, in a few milliseconds: ordinary commands stay free
of the full validator, and the messages can name the key, what was expected and a near name. A test holds it
to the answers of the full validator.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from trajdiff.errors import UsageError
from trajdiff.schema import load_schema

_NAMES = {
    "string": ("a text", "texts"),
    "integer": ("a whole number", "whole numbers"),
    "number": ("a number", "numbers"),
    "boolean": ("true or false", "truth values"),
    "array": ("a list", "lists"),
    "object": ("a table", "tables"),
}


def check(document: Mapping[str, Any], *, where: str) -> None:
    """Raises ``UsageError`` for the first thing in ``document`` that the schema does not allow.

    ``where`` names the file (and table) in the message.
    """
    _check_value(document, load_schema("settings"), (), where)


def key_path(keys: Iterable[str]) -> str:
    """Keys as TOML writes them: bare where possible, quoted otherwise."""
    return ".".join(
        key if key and all(c.isascii() and (c.isalnum() or c in "_-") for c in key) else quote(key)
        for key in keys
    )


def quote(value: Any, *, limit: int | None = 60) -> str:
    """A value for a message: on one line, control characters escaped, cut to ``limit`` characters."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except ValueError:  # Python refuses to print integers of some thousand digits
        return "a very large number"
    return text if limit is None or len(text) <= limit else text[: limit - 1] + "…"


def _check_value(value: Any, schema: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    if "anyOf" in schema:
        branches = schema["anyOf"]
        schema = next((branch for branch in branches if _is_a(value, branch["type"])), {"anyOf": branches})
    if not _fits(value, schema):
        raise _wrong(value, schema, keys, where)
    if isinstance(value, dict):
        _check_table(value, schema, keys, where)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if not _fits(item, schema["items"]):
                raise _wrong(item, schema, keys, where, index=index)
            if isinstance(item, dict):
                _check_table(item, schema["items"], (*keys, str(index)), where)


def _check_table(
    table: Mapping[str, Any], schema: Mapping[str, Any], keys: tuple[str, ...], where: str
) -> None:
    known = schema.get("properties", {})
    others = schema.get("additionalProperties")
    for key, value in table.items():
        path = (*keys, key)
        if key in known:
            _check_value(value, known[key], path, where)
        elif others is True:  # checked by who reads it
            continue
        elif others:
            _check_value(value, others, path, where)
        else:
            raise UsageError(
                f"{where}: unknown key {quote(key)}",
                f"at {key_path(path)}",
                near(key, known) or f"known here: {', '.join(sorted(known))}",
            )
    for key in schema.get("required", ()):
        if key not in table:
            raise UsageError(
                f"{where}: {key_path(keys)} has no {key}", f"at {key_path((*keys, key))} (missing)"
            )


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    if "anyOf" in schema:
        return False
    if "enum" in schema:
        return isinstance(value, str) and value in schema["enum"]
    if not _is_a(value, schema["type"]):
        return False
    return (not isinstance(value, str) or len(value) >= schema.get("minLength", 0)) and (
        "minimum" not in schema or value >= schema["minimum"]
    )


def _is_a(value: Any, kind: str) -> bool:
    """Whether a TOML value is of a JSON Schema type. A truth value is no number, nor is nan or inf."""
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            largest = sys.float_info.max
            return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= largest
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case _:
            return isinstance(value, dict)


def _wrong(
    value: Any, schema: Mapping[str, Any], keys: tuple[str, ...], where: str, *, index: int | None = None
) -> UsageError:
    place = key_path(keys) if index is None else f"{key_path(keys)}[{index}]"
    details = [f"at {place} (found {quote(value)})"]
    if isinstance(value, str) and (suggestion := near(value, schema.get("enum", ()))):
        details.append(suggestion)
    return UsageError(f"{where}: {key_path(keys)} must be {_expected(schema)}", *details)


def _expected(schema: Mapping[str, Any]) -> str:
    """What a schema asks for, in words: ``a list of whole numbers, 1 or more``."""
    if "anyOf" in schema:
        return " or ".join(_expected(branch) for branch in schema["anyOf"])
    if "enum" in schema:
        *first, last = schema["enum"]
        return f"{', '.join(first)} or {last}"
    words = _NAMES[schema["type"]][0]
    limits = schema
    if schema["type"] == "array":
        limits = schema["items"]
        words += f" of {_NAMES[limits['type']][1]}"
    if limits.get("minLength"):
        words += " that is not empty" if limits is schema else ", none empty"
    return words + (f", {limits['minimum']} or more" if "minimum" in limits else "")


def near(name: str, known: Iterable[str]) -> str | None:
    """``did you mean traces?`` where one of the known names is like this one, else None."""
    from rapidfuzz import fuzz, process

    match = process.extractOne(name.lower(), sorted(known), scorer=fuzz.ratio, score_cutoff=65)
    return f"did you mean {match[0]}?" if match else None
