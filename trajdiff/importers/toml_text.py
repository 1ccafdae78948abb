"""Texts of a log inside a drafted settings file: nothing that reorders, hides or ends a line is written raw."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

_WORD = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")


def toml(text: str) -> str:
    """A text as a TOML string. A lone surrogate, which TOML cannot hold, becomes the replacement character."""
    if "'" not in text and '"' in text and text.isprintable():
        return f"'{text}'"
    whole = "".join("\ufffd" if "\ud800" <= sign <= "\udfff" else sign for sign in text)
    return "".join(_escaped(sign) for sign in json.dumps(whole, ensure_ascii=False))


def _escaped(sign: str) -> str:
    if sign.isprintable():
        return sign
    return f"\\u{ord(sign):04X}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08X}"


def comment(text: str) -> str:
    """A text for a comment, on one line."""
    return "".join(sign if sign.isprintable() else f"<U+{ord(sign):04X}>" for sign in text)


def path_text(path: Sequence[str]) -> str:
    """Keys as a JMESPath expression; odd ones in double quotes."""
    return ".".join(key if _WORD.match(key) else _json(key) for key in path)


def literal(word: str) -> str:
    """A text as a JMESPath literal."""
    if word.isprintable() and "'" not in word and "\\" not in word:
        return f"'{word}'"
    return "`" + _json(word).replace("`", "\\`") + "`"


def can_be_key(word: str) -> bool:
    """Whether TOML can hold this word at all."""
    return not any("\ud800" <= sign <= "\udfff" for sign in word)


def _json(text: str) -> str:
    # The escapes of JSON hold for surrogates, too.
    return json.dumps(text, ensure_ascii=not text.isprintable())
