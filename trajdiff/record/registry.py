"""The decorated tools of this process by name: their functions, effects and what they say they return."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A tool: the function as written, its effect, its signature and whether it is a method."""

    name: str
    function: Callable[..., Any]
    effect: str | None
    signature: inspect.Signature
    method: bool

    @property
    def owner(self) -> str:
        """The class a method belongs to, by its qualified name."""
        return f"{self.function.__module__}.{self.function.__qualname__}".rpartition(".")[0]


_tools: dict[str, Registered] = {}
_instances: dict[str, Any] = {}
_lock = threading.Lock()


def register(function: Callable[..., Any], name: str, effect: str | None) -> Registered:
    """Note a tool; a later one of the same name takes its place."""
    signature = inspect.signature(function)
    first = next(iter(signature.parameters), None)
    made = Registered(
        name=name,
        function=function,
        effect=effect,
        signature=signature,
        method=first in ("self", "cls") and "." in function.__qualname__,
    )
    with _lock:
        _tools[name] = made
    return made


def seen(tool: Registered, instance: Any) -> None:
    """Note the object whose method was called, so that a pin can call its neighbours."""
    with _lock:
        _instances[tool.owner] = instance


def find(name: str) -> Callable[..., Any] | None:
    """The function to call a tool with named arguments; None where there is none, or no object for a method."""
    with _lock:
        tool = _tools.get(name)
        if tool is None:
            return None
        if not tool.method:
            return tool.function
        instance = _instances.get(tool.owner)
    return None if instance is None else partial(tool.function, instance)


def functions() -> dict[str, Callable[..., Any]]:
    """All tools as they were written."""
    with _lock:
        return {name: tool.function for name, tool in _tools.items()}


def effect(name: str) -> str | None:
    """What the decorator said that the tool does: read, write, control, or None."""
    tool = _tools.get(name)
    return None if tool is None else tool.effect


def returns(name: str) -> Any:
    """The annotation of the tool's result, None where there is none."""
    tool = _tools.get(name)
    if tool is None or tool.signature.return_annotation is inspect.Signature.empty:
        return None
    return tool.signature.return_annotation


def is_async(function: Callable[..., Any]) -> bool:
    """Whether a call of the function must be awaited."""
    return inspect.iscoroutinefunction(function.func if isinstance(function, partial) else function)
