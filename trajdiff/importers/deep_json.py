"""Takes JSON apart that is nested too deeply for every decoder: its parts, without going into them.

One record of thousands of nested levels must not cost the others of its file.
"""

from __future__ import annotations

import json
import re

import msgspec
from msgspec import Struct

from trajdiff.importers.jsontext import BadJsonError

#: A text (escapes and all), or one character that opens, closes or separates.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},:]', re.DOTALL)


class Part(Struct, frozen=True, kw_only=True):
    """One item of a list, or one value of an object with its key."""

    key: str | None
    raw: msgspec.Raw


def parts_of(data: bytes) -> list[Part]:
    """The parts of the list or object that ``data`` holds. Raises ``BadJsonError`` where it does not end.

    Only brackets and texts are looked at; whether a part is JSON is found when it is decoded.
    """
    parts: list[Part] = []
    depth, start, key = 0, 0, None
    for token in _TOKEN.finditer(data):
        sign = token.group()
        if sign in (b"[", b"{"):
            depth += 1
            if depth == 1:
                start = token.end()
        elif depth == 1 and sign in (b",", b"]", b"}"):
            _add(parts, key, data[start : token.start()])
            start, key = token.end(), None
            if sign != b",":
                return parts
        elif sign in (b"]", b"}"):
            depth -= 1
        elif depth == 1 and sign == b":" and key is None:
            key = _key(data[start : token.start()])
            start = token.end()
    raise BadJsonError("the text ends early", cut=True)


def _add(parts: list[Part], key: str | None, raw: bytes) -> None:
    if raw.strip():
        parts.append(Part(key=key, raw=msgspec.Raw(raw.strip())))


def _key(raw: bytes) -> str:
    try:
        key = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise BadJsonError("a key in double quotes is expected here") from None
    return str(key)
