"""The notation that the sample scenarios are written in.

A scenario is a task with its trials, a trial a few lines of dialogue and tool calls. The known answer of a
failed trial is written where it belongs, on the step itself (``.root()``, ``.near()``), so that no message
index is ever counted by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from trajdiff.frozen import replace

NOT_ANSWERED: Any = object()
"""The result of a call that the log breaks off after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One step of a trial with the marks of the known answer."""

    actor: str
    text: str | None = None
    name: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    as_text: bool = False
    result: Any = NOT_ANSWERED
    is_error: bool = False
    group: int | None = None
    mark: str = ""
    result_mark: str = ""

    @property
    def is_call(self) -> bool:
        """Whether the step is a tool call."""
        return self.name is not None

    @property
    def is_answered(self) -> bool:
        """Whether the step is a tool call with a recorded result."""
        return self.is_call and self.result is not NOT_ANSWERED

    def root(self) -> Line:
        """Mark the step as the root of the failure."""
        return replace(self, mark="root")

    def near(self) -> Line:
        """Mark the step as a place that a reader would accept as well."""
        return replace(self, mark="near")

    def near_result(self) -> Line:
        """Mark the message with the result as a place that a reader would accept as well."""
        return replace(self, result_mark="near")

    def stringified(self) -> Line:
        """Record the arguments as JSON text, as many producers do."""
        return replace(self, as_text=True)

    def beside(self, group: int) -> Line:
        """Put the call into a parallel group: calls of one message."""
        return replace(self, group=group)


Lines: TypeAlias = "Line | Iterable[Lines]"


def user(text: str) -> Line:
    """Write what the simulated user says."""
    return Line(actor="user", text=text)


def agent(text: str) -> Line:
    """Write what the agent says."""
    return Line(actor="agent", text=text)


def call(name: str, result: Any = NOT_ANSWERED, /, **arguments: Any) -> Line:
    """Write a tool call of the agent and what came back."""
    return Line(actor="agent", name=name, arguments=arguments, result=result)


def broken(name: str, error: str, /, **arguments: Any) -> Line:
    """Write a tool call that the tool answers with an error."""
    return Line(actor="agent", name=name, arguments=arguments, result=error, is_error=True)


def think(thought: str) -> Line:
    """Write a call of the scratchpad tool."""
    return call("think", "", thought=thought)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One recorded attempt. ``kinds``, ``actor`` and ``why`` are the known answer of a failure."""

    state: str
    lines: tuple[Line, ...]
    termination: str
    kinds: tuple[str, ...] = ()
    actor: str = ""
    why: str = ""
    tags: tuple[str, ...] = ()
    error: str | None = None
    scores: Mapping[str, float] = field(default_factory=dict)


def _flat(lines: Lines) -> tuple[Line, ...]:
    if isinstance(lines, Line):
        return (lines,)
    return tuple(line for part in lines for line in _flat(part))


def _ending(lines: tuple[Line, ...], given: str | None) -> str:
    if given is not None:
        return given
    return "user_done" if lines[-1].actor == "user" else "agent_done"


def passed(*lines: Lines, end: str | None = None, tags: str = "") -> Trial:
    """Write a trial that passed. ``tags`` names the benign variation in it, for the inventory."""
    flat = _flat(lines)
    return Trial(state="pass", lines=flat, termination=_ending(flat, end), tags=tuple(tags.split()))


def unscored(*lines: Lines, end: str | None = None) -> Trial:
    """Write a trial that nobody judged."""
    flat = _flat(lines)
    return Trial(state="unscored", lines=flat, termination=_ending(flat, end))


def failed(
    *lines: Lines,
    kinds: str,
    why: str,
    actor: str = "agent",
    end: str | None = None,
    tags: str = "",
    scores: Mapping[str, float] | None = None,
) -> Trial:
    """Write a trial that failed: ``kinds`` best first, ``tags`` names what goes wrong, for the inventory."""
    flat = _flat(lines)
    return Trial(
        state="fail",
        lines=flat,
        termination=_ending(flat, end),
        kinds=tuple(kinds.split()),
        actor=actor,
        why=why,
        tags=tuple(tags.split()),
        scores=scores or {},
    )


def crashed(*lines: Lines, error: str, why: str) -> Trial:
    """Write a trial that the infrastructure ended; its root is the last recorded message."""
    flat = _flat(lines)
    last = flat[-1].root()
    return Trial(
        state="infra",
        lines=(*flat[:-1], last),
        termination="infra_error",
        kinds=("infrastructure",),
        actor="infrastructure",
        why=why,
        tags=("infra",),
        error=error,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One problem and its recorded trials, numbered from 0; None stands for a trial that is missing.

    ``style`` says how the verdict is recorded (``reward``, ``verdict`` or ``both``), ``metered`` whether
    tokens, cost and duration are, ``checks`` names the sub-scores.
    """

    task_id: str
    title: str
    script: str
    trials: tuple[Trial | None, ...]
    expected_actions: tuple[Mapping[str, Any], ...] | None = None
    expected_outputs: tuple[str, ...] | None = None
    style: str = "reward"
    metered: bool = False
    checks: tuple[str, ...] = ()

    @property
    def recorded(self) -> tuple[tuple[int, Trial], ...]:
        """The trials that were recorded, with their numbers."""
        return tuple((number, trial) for number, trial in enumerate(self.trials) if trial is not None)


def expected(name: str, **arguments: Any) -> Mapping[str, Any]:
    """Write a reference call of a task."""
    return {"name": name, "arguments": arguments}


def compact(value: Any) -> str:
    """JSON text in the given key order, non-ASCII text as it is."""
    return json.dumps(value, ensure_ascii=False)


def messages_of(lines: tuple[Line, ...]) -> tuple[tuple[int, int | None], ...]:
    """Message index of each step and of its result (None where there is none), as the format numbers them.

    A message is one message, a call is one and its result the next; calls of one parallel group share a
    message and their results follow it in order.
    """
    places: list[tuple[int, int | None]] = []
    following = 0
    at = 0
    while at < len(lines):
        end = at + 1
        while lines[at].group is not None and end < len(lines) and lines[end].group == lines[at].group:
            end += 1
        here, following = following, following + 1
        for line in lines[at:end]:
            places.append((here, following if line.is_answered else None))
            following += 1 if line.is_answered else 0
        at = end
    return tuple(places)
