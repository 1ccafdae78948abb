"""The fixed list of transforms of a mapping: how a recorded value becomes the value that is meant.

No code is evaluated and nothing can be added from outside. A value that a transform does not fit gives
``BadValueError``; null stays null.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from trajdiff.errors import UsageError
from trajdiff.importers.jsontext import BadJsonError, tolerant
from trajdiff.importers.naming import shortened
from trajdiff.importers.texts import content_text

#: Hand a list of messages to a built-in reader; they stand alone and only at ``steps``.
READERS = ("openai_messages", "anthropic_blocks", "gemini_parts", "langchain_messages")
_CALL = re.compile(r"^(?P<name>[a-z0-9_-]+)(?:\((?P<argument>.*)\))?$", re.DOTALL)
#: Seconds since 1970 beyond this are milliseconds by mistake, or nonsense.
_LATEST_S = 253402300800


class BadValueError(Exception):
    """A value that a transform does not fit; the message says what was expected."""


class Transform(Struct, frozen=True, kw_only=True):
    """One step of ``decode``: its name and what it does to a value that is not null."""

    name: str
    apply: Callable[[Any], Any]


def transforms_of(table: Mapping[str, Any], where: str) -> tuple[Transform, ...]:
    """The transforms named by ``decode`` of a table, in order. Raises ``UsageError``."""
    named = table.get("decode", ())
    names = [named] if isinstance(named, str) else list(named)
    return tuple(_transform(name, table, where) for name in names)


def apply_all(transforms: Sequence[Transform], value: Any) -> Any:
    """The value after all transforms; None stays None. Raises ``BadValueError``."""
    for one in transforms:
        if value is None:
            return None
        value = one.apply(value)
    return value


def _transform(name: Any, table: Mapping[str, Any], where: str) -> Transform:
    match = _CALL.match(name) if isinstance(name, str) else None
    word = match["name"] if match else str(name)
    argument = match["argument"] if match else None
    if word == "strip_prefix":
        prefix = argument if argument is not None else table.get("prefix")
        if not isinstance(prefix, str) or not prefix:
            raise UsageError(f"{where}: strip_prefix needs a prefix", 'write prefix = "call_" beside it')
        return Transform(name=word, apply=lambda value: _text(value, word).removeprefix(prefix))
    if word == "regex":
        return _regex(argument, table, where)
    if word in READERS:
        return Transform(name=word, apply=lambda value: value)
    if word not in _PLAIN or argument is not None:
        known = ", ".join(sorted((*_PLAIN, "strip_prefix", "regex", *READERS)))
        raise UsageError(f'{where}: no transform "{shortened(str(name), 40)}"', f"known: {known}")
    return Transform(name=word, apply=_PLAIN[word])


def _regex(argument: str | None, table: Mapping[str, Any], where: str) -> Transform:
    written = table.get("pattern")
    if not isinstance(written, str):
        raise UsageError(f"{where}: regex needs a pattern", "write pattern = 'run_([0-9]+)' beside it")
    try:
        pattern = re.compile(written)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"{where}: the pattern is not a regular expression: {error}") from None
    asked = argument if argument is not None else table.get("group", 1 if pattern.groups else 0)
    group = int(asked) if isinstance(asked, int) or str(asked).isdecimal() else -1
    if not 0 <= group <= pattern.groups:
        raise UsageError(f"{where}: the pattern has no group {asked}", f"it has {pattern.groups}")

    def apply(value: Any) -> str | None:
        found = pattern.search(_text(value, "regex"))
        if found is None:
            raise BadValueError(f"a text with {written}")
        return found[group]

    return Transform(name="regex", apply=apply)


def _text(value: Any, name: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise BadValueError(f"a text for {name}")


def _json(value: Any) -> Any:
    """A JSON text decoded; what is no text has been decoded already."""
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    try:
        json.loads(value, parse_constant=_refuse)
        return tolerant(value)
    except (BadJsonError, ValueError, RecursionError):
        raise BadValueError("a JSON text") from None


def _refuse(word: str) -> Any:
    raise ValueError(word)


def _json_nan(value: Any) -> Any:
    """The same where NaN and infinities may stand for numbers."""
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    try:
        return tolerant(value)
    except BadJsonError:
        raise BadValueError("a JSON text, NaN and Infinity allowed") from None


def _int(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise BadValueError("a whole number")
    try:
        number = int(value) if not isinstance(value, str) else int(value.strip())
    except (ValueError, OverflowError):
        raise BadValueError("a whole number") from None
    if isinstance(value, float) and number != value:
        raise BadValueError("a whole number")
    return number


def _float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise BadValueError("a number")
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise BadValueError("a number") from None


def _iso8601(value: Any) -> str:
    try:
        return datetime.fromisoformat(_text(value, "iso8601").strip()).isoformat()
    except ValueError:
        raise BadValueError("a time such as 2026-03-04T05:06:07Z") from None


def _unix(divisor: int) -> Callable[[Any], str]:
    def apply(value: Any) -> str:
        number = _int(value) if isinstance(value, int | str) and str(value).strip().isdigit() else _float(value)
        seconds, rest = divmod(number, divisor)
        if not 0 <= seconds < _LATEST_S:
            raise BadValueError("a time since 1970")
        micro = int(rest * 1_000_000 / divisor)
        return datetime.fromtimestamp(int(seconds), UTC).replace(microsecond=micro).isoformat()

    return apply


def _base64hex(value: Any) -> str:
    try:
        return base64.b64decode(_text(value, "base64hex"), validate=True).hex()
    except (binascii.Error, ValueError):
        raise BadValueError("a base64 text") from None


def _join_text(value: Any) -> str:
    return content_text(value) or ""


_PLAIN: dict[str, Callable[[Any], Any]] = {
    "json": _json,
    "json5-nan": _json_nan,
    "int": _int,
    "float": _float,
    "iso8601": _iso8601,
    "unix_s": _unix(1),
    "unix_ms": _unix(1_000),
    "unix_ns": _unix(1_000_000_000),
    "base64hex": _base64hex,
    "join_text": _join_text,
}
