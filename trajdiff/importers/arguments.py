"""The arguments of a call as recorded: raw text, parsed value and state (ok, empty, invalid, absent)."""

from __future__ import annotations

import ast
import warnings
from typing import Any

from msgspec import Struct

from trajdiff.importers.jsontext import (
    BadJsonError,
    Doubles,
    bytes_to_text,
    compact,
    quick_object,
    tolerant,
    too_deep,
)
from trajdiff.importers.texts import clean, clean_value
from trajdiff.model import Arguments, ArgumentState

#: What a producer that records no arguments leaves behind; different from recording none.
NOT_RECORDED = object()
#: Python's literal parser is tried on texts up to this length only; it is slow and recursive.
_LITERAL_LIMIT = 100_000


class ReadArguments(Struct, frozen=True, kw_only=True):
    """Arguments with what is odd about them: keys that occurred twice."""

    arguments: Arguments
    doubled: tuple[str, ...] = ()


ABSENT = ReadArguments(arguments=Arguments(raw=None, parsed=None, state=ArgumentState.ABSENT))
_NULL = ReadArguments(arguments=Arguments(raw=None, parsed={}, state=ArgumentState.EMPTY))


def read_arguments(value: Any) -> ReadArguments:
    """Read arguments that are an object, a JSON text, null, or ``NOT_RECORDED``."""
    if value is NOT_RECORDED:
        return ABSENT
    if value is None:
        return _NULL
    if isinstance(value, str):
        return _from_text(value)
    if isinstance(value, dict) and not too_deep(value):
        return ReadArguments(arguments=Arguments(raw=None, parsed=clean_value(value), state=ArgumentState.OK))
    return _invalid(compact(value))


def read_encoded_object(encoded: bytes) -> ReadArguments:
    """Read arguments recorded as a JSON value, from the bytes of that value; notices doubled keys."""
    value = quick_object(encoded, encoded.count(b":"))
    if value is not None:
        return read_arguments(value)
    doubles = Doubles()
    text = bytes_to_text(encoded)[0]
    try:
        value = tolerant(text, doubles)
    except BadJsonError:
        return _invalid(text)
    read = read_arguments(value)
    return ReadArguments(arguments=read.arguments, doubled=read.doubled + tuple(doubles.keys))


def _from_text(raw: str) -> ReadArguments:
    if not raw.strip():
        return ReadArguments(arguments=Arguments(raw=raw, parsed={}, state=ArgumentState.EMPTY))
    doubles = Doubles()
    decoded_by = None
    value: Any = quick_object(raw, raw.count(":"))
    try:
        if value is None:
            value = tolerant(raw, doubles)
        if isinstance(value, str):
            value = tolerant(value, doubles)
            decoded_by = "json twice"
    except BadJsonError:
        value = _python_literal(raw)
        decoded_by = "python literal"
    if value is None and decoded_by is None:
        return ReadArguments(arguments=Arguments(raw=raw, parsed={}, state=ArgumentState.EMPTY))
    if not isinstance(value, dict) or too_deep(value):
        return _invalid(raw)
    arguments = Arguments(
        raw=clean(raw), parsed=clean_value(value), state=ArgumentState.OK, decoded_by=decoded_by
    )
    return ReadArguments(arguments=arguments, doubled=tuple(doubles.keys))


def _invalid(raw: str) -> ReadArguments:
    return ReadArguments(arguments=Arguments(raw=clean(raw), parsed=None, state=ArgumentState.INVALID))


def _python_literal(raw: str) -> Any:
    """The value of a Python dict written with ``repr``, without evaluating anything; None if it is not one."""
    text = raw.strip()
    if not text.startswith("{") or len(text) > _LITERAL_LIMIT:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _as_json(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _as_json(value: Any) -> Any:
    """Lists for tuples; raises ``ValueError`` for what JSON cannot hold."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_as_json(one) for one in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _as_json(one) for key, one in value.items()}
    raise ValueError(type(value).__name__)
