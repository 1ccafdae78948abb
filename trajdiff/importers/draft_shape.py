"""Finds the lists of objects in an unknown JSON layout, and which of them may be trajectories and steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

#: How deep objects are looked into for lists, and how many lists inside lists are followed.
_DEPTH, _NESTED = 3, 4
_SAMPLES = 200
# fmt: off
_STEP_KEYS = frozenset((
    "role", "content", "kind", "type", "tool", "tool_name", "fn", "function", "name", "action", "args",
    "arguments", "input", "action_input", "output", "observation", "result", "text", "message", "parts",
    "tool_calls", "step", "step_number", "thought", "who", "event", "call",
))
_TRIAL_KEYS = frozenset((
    "trial", "trial_id", "attempt", "attempt_no", "run", "run_id", "repeat", "epoch", "no", "verdict",
    "passed", "ok", "reward", "score", "grade", "outcome", "evaluation", "success", "task", "task_id",
    "case_id", "id",
))
# fmt: on


class Level(Struct, frozen=True, kw_only=True):
    """A list of objects: the keys that lead to it from the entry above, and some of its entries."""

    path: tuple[str, ...]
    entries: tuple[dict[str, Any], ...]


class Layout(Struct, frozen=True, kw_only=True):
    """The lists that enclose one another, the outermost first; the last may be the steps.

    ``root`` is the document, or a list of its ``lines``; a list at the root has an empty path.
    """

    root: Any
    levels: tuple[Level, ...]
    has_steps: bool
    lines: bool = False

    @property
    def trajectories(self) -> tuple[Level, ...]:
        """The levels down to the trajectories."""
        return self.levels[:-1] if self.has_steps else self.levels


def layout_of(root: Any, *, lines: bool = False) -> Layout:
    """The most likely lists of trajectories and steps in a document."""
    if isinstance(root, list):
        top = Level(path=(), entries=tuple(one for one in root if isinstance(one, dict))[:_SAMPLES])
        chains = [(top,), *_below((top,))] if top.entries else []
    else:
        chains = list(_below((), root if isinstance(root, dict) else {}))
    if not chains:
        return Layout(root=root, levels=(), has_steps=False, lines=lines)
    best = max(enumerate(chains), key=lambda one: (_score(one[1]), len(one[1]), -one[0]))[1]
    return Layout(root=root, levels=best, has_steps=_are_steps(best), lines=lines)


def _are_steps(chain: Sequence[Level]) -> bool:
    """Whether the last list holds steps: by its keys, or as the innermost list if no key says anything."""
    if _step_like(chain[-1]) >= 1:
        return True
    named = any(_share(chain[-1].entries, key) for key in _TRIAL_KEYS)
    return len(chain) > 1 and not named and len(chain[-1].entries) > len(chain[-2].entries)


def _below(chain: tuple[Level, ...], start: dict[str, Any] | None = None) -> Iterator[tuple[Level, ...]]:
    if len(chain) > _NESTED or (chain and _are_messages(chain[-1])):
        return
    parents = [start] if start is not None else list(chain[-1].entries)
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for parent in parents:
        for path, entries in _lists(parent, ()):
            found.setdefault(path, []).extend(entries)
    for path, entries in found.items():
        longer = (*chain, Level(path=path, entries=tuple(entries[:_SAMPLES])))
        yield longer
        yield from _below(longer)


def _are_messages(level: Level) -> bool:
    """Whether the entries are messages of a dialect, whose lists are parts of a message and no steps."""
    return bool(level.path) and all("role" in one or "tool_calls" in one for one in level.entries)


def _lists(value: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    for key, child in value.items():
        if isinstance(child, list) and child and all(isinstance(one, dict) for one in child):
            yield (*path, key), child
        elif isinstance(child, dict) and len(path) < _DEPTH:
            yield from _lists(child, (*path, key))


def _score(chain: Sequence[Level]) -> float:
    steps = _step_like(chain[-1])
    above = chain[-2].entries if len(chain) > 1 else ()
    return steps + sum(min(_share(above, key), 1.0) for key in _TRIAL_KEYS) / 2


def _step_like(level: Level) -> float:
    return sum(_share(level.entries, key) for key in _STEP_KEYS)


def _share(entries: Sequence[dict[str, Any]], key: str) -> float:
    return sum(key in one for one in entries) / len(entries) if entries else 0.0
