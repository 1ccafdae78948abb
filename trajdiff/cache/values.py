"""Values as bytes, for whoever keeps them: where bytes go, and which values come back the same."""

from __future__ import annotations

from typing import Protocol, TypeVar

import msgspec

Value = TypeVar("Value")

#: What bytes raise that are none of a value, and values that have no bytes (a lone surrogate, a long integer).
NOT_WRITTEN = (ValueError, TypeError, OverflowError, msgspec.MsgspecError)


class Bytes(Protocol):
    """Where bytes are kept by kind and key."""

    def get(self, kind: str, key: str) -> bytes | None:
        """The value, or None."""

    def put(self, kind: str, key: str, value: bytes) -> None:
        """Keep a value."""


def written(value: Value, decoder: msgspec.msgpack.Decoder[Value]) -> bytes | None:
    """The bytes of a value, None where it would not come back the same from them."""
    try:
        found = msgspec.msgpack.encode(value)
        return found if decoder.decode(found) == value else None
    except NOT_WRITTEN:
        return None
