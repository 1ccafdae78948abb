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
    return digest("\n".join(f"{name}\n{_source(functions[name])}" for name in sorted(functions)))


def _source(function: Callable[..., Any]) -> str:
    """The source of a function, else its compiled code, else its name: whatever can be had without failing."""
    try:
        return inspect.getsource(function)
    except Exception:  # no file, another file of that name, or half a function in it: all end up here
        code = getattr(function, "__code__", None)
        return repr(function).split(" at 0x")[0] if code is None else f"{code.co_code.hex()}{code.co_names}"
