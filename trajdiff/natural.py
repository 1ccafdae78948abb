"""Names and numbers the way people write them: ``t2`` before ``t10``, and ``2 tasks``."""

from __future__ import annotations

import re
from collections.abc import Iterable

NaturalKey = tuple[tuple[int, int, str], ...]
_DIGITS = re.compile(r"([0-9]+)")


def natural_key(name: str) -> NaturalKey:
    """Sort key with numbers as numbers: ``t2``, ``t2a``, ``t10``. Different names have different keys."""
    key: list[tuple[int, int, str]] = []
    for position, part in enumerate(_DIGITS.split(name)):
        if position % 2:  # a run of digits, compared by length and text: no limit on how long it is
            digits = part.lstrip("0")
            key.append((0, len(digits), digits))
        elif part:
            key.append((1, 0, part))
    return (*key, (-1, 0, name))


def natural(names: Iterable[str]) -> tuple[str, ...]:
    """Names in natural order."""
    return tuple(sorted(names, key=natural_key))


def plural(count: int, one: str, many: str | None = None) -> str:
    """``1 task``, ``2 tasks``."""
    return f"{count} {one if count == 1 else many or one + 's'}"
