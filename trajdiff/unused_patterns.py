"""Settings that match nothing in the traces at hand, so that a slip in a pattern is seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from trajdiff.align.prepared import argument_value, matches, scoped
from trajdiff.align.values import ignored, parse_embedded
from trajdiff.model import Corpus, Diagnostic, Severity, Step
from trajdiff.natural import natural
from trajdiff.settings import Settings

_MAX_DEPTH = 20
_SHOWN = 8

Paths = Mapping[str, frozenset[str]]


def unused_patterns(corpus: Corpus, settings: Settings) -> tuple[Diagnostic, ...]:
    """One note that lists the patterns of ``settings`` which fit no tool, argument or result of ``corpus``.

    Nothing is said where no tool is called at all. Every pattern is looked up in all trials, whatever is shown.
    """
    calls = [step for trial in corpus.trials for step in trial.steps if step.is_call and step.name]
    tools = natural({step.name for step in calls if step.name})
    if not tools:
        return ()
    found = [*_of_tools(settings, tools), *_of_steps(settings, calls, tools), *_of_values(settings, calls)]
    if not found:
        return ()
    count = "1 pattern" if len(found) == 1 else f"{len(found)} patterns"
    verb = "matches" if len(found) == 1 else "match"
    more = (f"and {len(found) - _SHOWN} more",) if len(found) > _SHOWN else ()
    return (
        Diagnostic(
            severity=Severity.NOTE,
            slug="unused_pattern",
            message=f"{count} of the settings {verb} nothing in these traces",
            path=settings.origin,
            details=(*found[:_SHOWN], *more),
        ),
    )


def _of_tools(settings: Settings, tools: Sequence[str]) -> Iterator[str]:
    named = [("tools", pattern) for pattern in settings.tools]
    named += [("ignore.tools", pattern) for pattern in settings.ignore.tools]
    for gate in settings.gate:
        named += [(f"gate {gate.name}", one) for one in (gate.tool, gate.needs) if one is not None]
    for where, pattern in named:
        if not _fits(pattern, tools):
            yield f'{where}: no tool "{pattern}"{_near(pattern, tools)}'


def _of_steps(settings: Settings, calls: Sequence[Step], tools: Sequence[str]) -> Iterator[str]:
    for rule in settings.steps:
        if not _fits(rule.tool, tools):
            yield f'steps "{rule.label}": no tool "{rule.tool}"{_near(rule.tool, tools)}'
        elif rule.arguments and not any(
            fnmatchcase(step.name or "", rule.tool) and matches(argument_value(step), rule.arguments)
            for step in calls
        ):
            yield f'steps "{rule.label}": no call of {rule.tool} has these arguments'


def _of_values(settings: Settings, calls: Sequence[Step]) -> Iterator[str]:
    rules = settings.ignore
    for where, patterns, of in (
        ("ignore.arguments", rules.arguments, argument_value),
        ("ignore.results", rules.results, lambda step: step.result.text if step.result is not None else None),
    ):
        paths = _paths(calls, of) if patterns else {}
        for pattern in patterns:
            if not any(_hides(pattern, tool, known) for tool, known in paths.items()):
                yield f'{where}: nothing at "{pattern}"'


def _hides(pattern: str, tool: str, paths: frozenset[str]) -> bool:
    here = scoped((pattern,), tool)
    return any(ignored(path, here) for path in paths)


def _paths(calls: Sequence[Step], of: Any) -> Paths:
    """All paths of keys in the values of each tool, written as the settings write them."""
    found: dict[str, set[str]] = {}
    for step in calls:
        _collect(of(step), "", found.setdefault(step.name or "", set()), 0)
    return {tool: frozenset(paths) for tool, paths in sorted(found.items())}


def _collect(value: Any, path: str, into: set[str], depth: int) -> None:
    value = parse_embedded(value)
    if depth >= _MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            here = f"{path}.{key}" if path else str(key)
            into.add(here)
            _collect(inner, here, into, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _collect(inner, f"{path}[]", into, depth + 1)


def _fits(pattern: str, tools: Sequence[str]) -> bool:
    return any(fnmatchcase(tool, pattern) for tool in tools)


def _near(pattern: str, tools: Sequence[str]) -> str:
    near = get_close_matches(pattern, tools, n=1)
    return f"; near: {near[0]}" if near else ""
