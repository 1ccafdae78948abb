"""Mappings that come with the package, one TOML file each, under ``mappings``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).resolve().parent / "mappings"


@cache
def shipped_names() -> tuple[str, ...]:
    """Names of all shipped mappings."""
    return tuple(sorted(file.stem for file in _FOLDER.glob("*.toml")))


def shipped_text(name: str) -> str:
    """The file of a shipped mapping, as an example to start from."""
    return (_FOLDER / f"{name}.toml").read_text(encoding="utf-8")


@cache
def shipped_table(name: str) -> Mapping[str, Any]:
    """The table ``[map.NAME]`` of a shipped mapping."""
    table: Mapping[str, Any] = tomllib.loads(shipped_text(name))["map"][name]
    return table
