"""The decorator for tools."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from trajdiff.record import registry
from trajdiff.record.registry import Registered
from trajdiff.record.trial import current

P = ParamSpec("P")
R = TypeVar("R")


@overload
def tool(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def tool(
    *, name: str | None = None, effect: str | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def tool(
    function: Callable[..., Any] | None = None, /, *, name: str | None = None, effect: str | None = None
) -> Any:
    """Records the calls of a function or method, synchronous or not; outside a trial it runs as it is.

    ``name`` is the tool's name (default: the function's), ``effect`` what it does: read, write or control.
    """
    if function is None:
        return functools.partial(tool, name=name, effect=effect)
    known = registry.register(function, name or function.__name__, effect)
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*given: Any, **named: Any) -> Any:
            trial = current()
            if trial is None:
                return await function(*given, **named)
            bound = _bound(known, given, named)
            return await trial.acall(known.name, _arguments(known, bound), lambda a: _run(known, bound, a))

        return awaited

    @functools.wraps(function)
    def called(*given: Any, **named: Any) -> Any:
        trial = current()
        if trial is None:
            return function(*given, **named)
        bound = _bound(known, given, named)
        return trial.call(known.name, _arguments(known, bound), lambda a: _run(known, bound, a))

    return called


def _bound(known: Registered, given: tuple[Any, ...], named: dict[str, Any]) -> inspect.BoundArguments:
    """The arguments by name. A call that does not fit raises what the function itself would raise."""
    bound = known.signature.bind(*given, **named)
    if known.method:
        registry.seen(known, given[0] if given else next(iter(bound.arguments.values())))
    return bound


def _parameters(known: Registered) -> list[inspect.Parameter]:
    found = list(known.signature.parameters.values())
    return found[1:] if known.method else found


def _arguments(known: Registered, bound: inspect.BoundArguments) -> dict[str, Any]:
    """The arguments as they are recorded: those that were given, without the object of a method."""
    said: dict[str, Any] = {}
    for parameter in _parameters(known):
        if parameter.name in bound.arguments:
            value = bound.arguments[parameter.name]
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                said.update(value)
            else:
                said[parameter.name] = list(value) if isinstance(value, tuple) else value
    return said


def _run(known: Registered, bound: inspect.BoundArguments, arguments: dict[str, Any]) -> Any:
    """Calls the function with these arguments, each in the way its parameter asks for."""
    positional = list(bound.args[:1]) if known.method else []
    named = dict(arguments)
    by_place: set[Any] = {inspect.Parameter.POSITIONAL_ONLY}
    if any(one.kind is inspect.Parameter.VAR_POSITIONAL for one in known.signature.parameters.values()):
        by_place.add(inspect.Parameter.POSITIONAL_OR_KEYWORD)
    inside = True
    for parameter in _parameters(known):
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            positional += list(named.pop(parameter.name, ()))
        elif parameter.kind in by_place:
            inside = inside and parameter.name in named
            if inside:
                positional.append(named.pop(parameter.name))
    return known.function(*positional, **named)
