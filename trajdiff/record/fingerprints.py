"""Short hashes of what a trial ran on: the environment, the tools, the prompt."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import platform
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

_LENGTH = 12


def digest(text: str | bytes) -> str:
    """The first characters of a SHA-256."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return hashlib.sha256(data).hexdigest()[:_LENGTH]


@cache
def environment() -> str:
    """Python, platform and every installed package with its version, as one hash behind readable parts.

    Packages are read off the names of their folders, which costs a millisecond; their metadata would cost more
    than many a trial.
    """
    packages = sorted({name for folder in sys.path for name in _packages(folder)})
    python = ".".join(str(part) for part in sys.version_info[:3])
    where = f"{platform.system()}-{platform.machine()}".lower()
    return f"python-{python}-{where}-{digest(json.dumps([python, where, packages]))}"


def _packages(folder: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith((".dist-info", ".egg-info"))]  # noqa: PTH208
    except OSError:
        return []


def tools(functions: Mapping[str, Callable[..., Any]]) -> str | None:
    """One hash over the sources of all tools; None without tools."""
    if not functions:
        return None
    parts = []
    for name in sorted(functions):
        try:
            parts.append(f"{name}\n{inspect.getsource(functions[name])}")
        except (OSError, TypeError):
            parts.append(f"{name}\n{functions[name]!r}".split(" at 0x")[0])
    return digest("\n".join(parts))
