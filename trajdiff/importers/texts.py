"""Message and result contents as text: parts joined, media replaced, split characters put together."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Any

from trajdiff.importers.jsontext import compact

#: Shorter base64 is left alone: ids and hashes look like it too.
_LONG = 2048
#: No text shorter than this is a data URI.
_SHORTEST_MEDIA = 64
_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w.+=-]+)*;base64,([A-Za-z0-9+/_-]+={0,2})")
# The look-behind makes every run count once: without it a run is tried again from each of its characters.
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{2048,}={0,2}")


def media_mark(mime: str | None, encoded: str) -> str:
    """What stands for embedded media: type, size in bytes and hash, so that equal media stay equal."""
    try:
        padded = encoded.translate(_URL_SAFE) + "=" * (-len(encoded) % 4)
        data = base64.b64decode(padded)
    except (binascii.Error, ValueError):
        data = encoded.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(data).hexdigest()
    return f"[media {mime or 'base64'} {len(data)} bytes sha256:{digest[:16]}]"


_URL_SAFE = str.maketrans("-_", "+/")


def without_media(text: str) -> str:
    """Replace data URIs and base64 of more than 2 kB by their type, size and hash."""
    if len(text) < _SHORTEST_MEDIA:
        return text
    if ";base64," in text:
        text = _DATA_URI.sub(lambda found: media_mark(found.group(1), found.group(2)), text)
    if len(text) >= _LONG and _may_hold_a_run(text):
        text = _BASE64.sub(_mark_if_base64, text)
    return text


def _may_hold_a_run(text: str) -> bool:
    """Whether some stretch of the text has neither space nor quote; the search for runs is ten times slower.

    A run as long as ``_LONG`` covers at least one whole block of half its length.
    """
    half = _LONG // 2
    for start in range(0, len(text) - half + 1, half):
        block = text[start : start + half]
        if " " not in block and '"' not in block:
            return True
    return False


def _mark_if_base64(found: re.Match[str]) -> str:
    run = found.group()
    # Padded lines, hex dumps and repeated letters use few kinds of characters; encoded data uses all.
    head = run[:_LONG]
    mixed = any(c.isdigit() for c in head) and any(c.islower() for c in head) and any(c.isupper() for c in head)
    return media_mark(None, run) if mixed else run


def clean(text: str) -> str:
    """Text as it is compared and shown: without embedded media, surrogate pairs joined."""
    if len(text) >= _SHORTEST_MEDIA:
        text = without_media(text)
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def clean_value(value: Any) -> Any:
    """``clean`` for every text inside a JSON value; the value itself is left as it was."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(key) if isinstance(key, str) else key: clean_value(one) for key, one in value.items()}
    if isinstance(value, list):
        return [clean_value(one) for one in value]
    return value


def content_text(content: Any) -> str | None:
    """The text of a message or result: a string, a list of parts, or any JSON value. None stays None."""
    if content is None:
        return None
    if isinstance(content, str):
        return clean(content)
    if isinstance(content, list):
        return clean(_joined([_part_text(part) for part in content]))
    return clean(_part_text(content))


def _joined(parts: list[str]) -> str:
    text = ""
    for part in parts:
        if not part:
            continue
        split_character = "\ud800" <= text[-1:] <= "\udbff" and "\udc00" <= part[0] <= "\udfff"
        text += part if not text or split_character else "\n" + part
    return text


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        for key in ("text", "content"):
            if isinstance(part.get(key), str):
                return str(part[key])
        url = part.get("image_url")
        if isinstance(url, dict) and isinstance(url.get("url"), str):
            return str(url["url"])
    return compact(part)
