"""JSON as it is found in logs: a fast decoder and a tolerant one that reads what the first refuses.

msgspec refuses NaN, lone surrogates, byte order marks and very long integers, all of which occur in published
logs; the standard decoder reads them, and gives the line and column of real errors.
"""

from __future__ import annotations

import codecs
import json
import math
from collections.abc import Iterator
from typing import Any

import msgspec

#: Python converts at most 4,300 digits; longer integers are kept as their text.
_MAX_DIGITS = 4000
_PIECE = 1 << 20
#: Values nested deeper than this are kept as text: later stages walk them recursively.
MAX_DEPTH = 100

FAST_ERRORS = (msgspec.DecodeError, msgspec.ValidationError, UnicodeError, RecursionError, ValueError)


class BadJsonError(Exception):
    """Text that is not JSON. ``problem`` is in plain words; line and column count from 1.

    ``cut`` says that the text ends early, ``deep`` that it is nested too deeply to be read.
    """

    def __init__(
        self, problem: str, line: int = 1, column: int = 1, *, cut: bool = False, deep: bool = False
    ) -> None:
        super().__init__(problem)
        self.deep = deep
        self.problem = problem
        self.line = line
        self.column = column
        self.cut = cut


class Doubles:
    """Notices keys that occur twice in one object, for the decoder's hook."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Build the object; the last of equal keys wins."""
        made = dict(pairs)
        if len(made) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    self.keys.append(key)
                seen.add(key)
        return made


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MAX_DIGITS else digits


def bytes_to_text(data: bytes) -> tuple[str, bool]:
    """Decode UTF-8, lone surrogates included; True if some bytes had to be replaced."""
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        pass
    try:
        return data.decode("utf-8", "surrogatepass"), False
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), True


def is_utf8(data: bytes) -> bool:
    """Whether the bytes are UTF-8, escapes of lone surrogates aside; looked at in pieces, nothing is kept."""
    if data.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    try:
        for start in range(0, len(view), _PIECE):
            decoder.decode(view[start : start + _PIECE])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def tolerant(text: str, doubles: Doubles | None = None) -> Any:
    """Decode with the standard library. Raises ``BadJsonError`` with line and column."""
    try:
        return json.loads(text, parse_int=_integer, object_pairs_hook=doubles)
    except json.JSONDecodeError as error:
        rest = text[error.pos :].strip()
        # An opened string that never ends is reported at its start; both mean that the text stops early.
        cut = not rest or error.msg.startswith("Unterminated string")
        problem = "the text ends early" if cut else _plain(error.msg)
        raise BadJsonError(problem, error.lineno, error.colno, cut=cut) from None
    except RecursionError:
        raise BadJsonError("nested too deeply", deep=True) from None


def _plain(message: str) -> str:
    known = {
        "Expecting value": "a value is expected here",
        "Extra data": "more text follows the end of the document",
        "Expecting ',' delimiter": "a comma or closing bracket is expected here",
        "Expecting ':' delimiter": "a colon is expected here",
        "Expecting property name enclosed in double quotes": "a key in double quotes is expected here",
    }
    return known.get(message, message[:1].lower() + message[1:])


def decode(data: bytes | msgspec.Raw) -> Any:
    """Decode one JSON value, fast where possible. Raises ``BadJsonError``."""
    try:
        return msgspec.json.decode(data)
    except FAST_ERRORS:
        return tolerant(bytes_to_text(bytes(data))[0])


def quick_object(encoded: bytes | str, colons: int) -> dict[str, Any] | None:
    """A flat JSON object decoded fast, if it surely has no doubled key; None if it needs a closer look.

    ``colons`` counts the colons in the text: where there are as many as keys, no key was lost.
    """
    try:
        value = msgspec.json.decode(encoded)
    except FAST_ERRORS:
        return None
    return value if isinstance(value, dict) and len(value) == colons else None


def several(text: str, doubles: Doubles | None = None) -> Iterator[tuple[Any, int]]:
    """Decode values glued together or separated by white space, each with its offset in ``text``.

    Raises ``BadJsonError`` at the first that is not JSON, after the good ones before it.
    """
    decoder = json.JSONDecoder(parse_int=_integer, object_pairs_hook=doubles)
    position, end = 0, len(text)
    while True:
        while position < end and text[position] in " \t\r\n":
            position += 1
        if position >= end:
            return
        try:
            value, stop = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            raise BadJsonError(_plain(error.msg), error.lineno, error.colno) from None
        except RecursionError:
            raise BadJsonError("nested too deeply", deep=True) from None
        yield value, position
        position = stop


def compact(value: Any) -> str:
    """The value as JSON on one line, keys in recorded order; never raises for what JSON decoding gives."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    except (RecursionError, ValueError):
        return "[nested too deeply]"


def canonical(value: Any) -> str:
    """The value as JSON with sorted keys, for comparing and hashing. ``1`` and ``1.0`` stay different."""
    try:
        return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"), default=str)
    except (RecursionError, ValueError, TypeError):
        return compact(value)


#: A tuple, because a union is built anew at every test.
_NESTING = (dict, list)


def too_deep(value: Any, limit: int = MAX_DEPTH) -> bool:
    """Whether objects and arrays are nested deeper than ``limit``."""
    layer = [value] if isinstance(value, _NESTING) else []
    for _ in range(limit):
        layer = [
            child
            for one in layer
            for child in (one.values() if isinstance(one, dict) else one)
            if isinstance(child, _NESTING)
        ]
        if not layer:
            return False
    return True


def not_deep(value: Any) -> Any:
    """The value. Raises ``BadJsonError`` if it is nested deeper than ``MAX_DEPTH``."""
    if too_deep(value):
        raise BadJsonError("nested too deeply", deep=True)
    return value


def plain_number(value: Any) -> float | None:
    """A finite number that is not a bool, as float; else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
