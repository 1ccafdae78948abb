"""What happened in an inspect_ai sample by its events: model outputs and tools, with the actor of each.

Model calls of scorers, and graders among the models, are no part of the trial.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from trajdiff.importers.naming import as_text, id_text
from trajdiff.model import Actor

_SCORING = frozenset({"scorer", "scorers"})
_GRADERS = frozenset({"grader", "judge", "scorer"})


class Act(Struct, frozen=True, kw_only=True):
    """A model event with the messages it saw and gave, or a tool event; ``at`` is its JSON path."""

    at: str
    actor: str
    messages: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    tool: Mapping[str, Any] | None = None


class Acts(Struct, frozen=True, kw_only=True):
    """The acts of a sample, in order."""

    acts: tuple[Act, ...]


def acts_of(events: list[Any], pool: list[Any]) -> Acts:
    """Model and tool events outside scorers, in recorded order; ``pool`` holds messages named by position."""
    spans = _Spans()
    return Acts(acts=tuple(_walk(events, ".events", spans, pool, Actor.AGENT, 0)))


class _Spans(Struct):
    """Open spans by id, with their types, and the older steps that open and close one inside the other."""

    types: dict[str, tuple[str, str]] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    steps: list[str] = field(default_factory=list)

    def note(self, event: Mapping[str, Any]) -> None:
        """Take over a span or step event."""
        kind = event.get("event")
        if kind == "span_begin":
            own = id_text(event.get("id")) or ""
            self.types[own] = (as_text(event.get("type")) or "", as_text(event.get("name")) or "")
            self.parents[own] = id_text(event.get("parent_id")) or ""
        elif kind == "step" and event.get("action") == "begin":
            self.steps.append(as_text(event.get("type")) or "")
        elif kind == "step" and self.steps:
            self.steps.pop()

    def above(self, event: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Type and name of the spans around an event, the innermost first."""
        current, seen = id_text(event.get("span_id")) or "", set()
        while current and current not in seen:
            seen.add(current)
            if current in self.types:
                yield self.types[current]
            current = self.parents.get(current, "")


def _walk(events: list[Any], at: str, spans: _Spans, pool: list[Any], actor: str, depth: int) -> Iterator[Act]:
    for position, event in enumerate(events):
        if not isinstance(event, dict):
            continue
        spans.note(event)
        kind = event.get("event")
        if kind not in ("model", "tool"):
            continue
        around = list(spans.above(event))
        if _SCORING & {one for one, _ in around} or _SCORING & set(spans.steps):
            continue
        who = actor if depth else _actor(around, event)
        place = f"{at}[{position}]"
        if kind == "model" and as_text(event.get("role")) not in _GRADERS:
            yield Act(at=place, actor=who, messages=tuple(_messages(event, place, pool)))
        elif kind == "tool":
            inner = event.get("events")
            if isinstance(inner, list) and inner and depth < 8:
                sub = f"subagent:{as_text(event.get('function')) or 'tool'}"
                yield from _walk(inner, f"{place}.events", spans, pool, sub, depth + 1)
            yield Act(at=place, actor=who, tool=event)


def _actor(around: list[tuple[str, str]], event: Mapping[str, Any]) -> str:
    """The agent, or the sub-agent: an agent span inside another one or inside a tool."""
    role = as_text(event.get("role"))
    if role is not None and event.get("event") == "model":
        return Actor.USER if "user" in role or "simul" in role else f"subagent:{role}"
    agents = [position for position, (kind, _) in enumerate(around) if kind == "agent"]
    if not agents:
        return Actor.AGENT
    outer = {kind for kind, _ in around[agents[0] + 1 :]}
    return f"subagent:{around[agents[0]][1] or 'agent'}" if outer & {"agent", "tool"} else Actor.AGENT


def _messages(event: Mapping[str, Any], place: str, pool: list[Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What a model event saw, then what it said."""
    seen = event.get("input")
    for position, message in enumerate(seen if isinstance(seen, list) else ()):
        if isinstance(message, dict):
            yield f"{place}.input[{position}]", message
    refs = event.get("input_refs")
    for pair in refs if isinstance(refs, list) else ():
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(one, int) for one in pair):
            for message in pool[max(pair[0], 0) : max(pair[1], 0)]:
                if isinstance(message, dict):
                    yield place, message
    output = event.get("output")
    choices = output.get("choices") if isinstance(output, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if isinstance(message, dict) and not (event.get("error") and not _says(message)):
        yield f"{place}.output.choices[0].message", message


def _says(message: Mapping[str, Any]) -> bool:
    """Whether there is anything in a message; a model call that failed leaves an empty one behind."""
    return bool(message.get("content") or message.get("tool_calls"))
