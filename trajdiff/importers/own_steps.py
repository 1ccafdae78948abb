"""The steps of a trajdiff/1 record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trajdiff.importers.arguments import NOT_RECORDED, ReadArguments, read_arguments
from trajdiff.importers.jsontext import compact, plain_number
from trajdiff.importers.naming import as_text, id_text, shortened, whole_number
from trajdiff.importers.notices import Notices
from trajdiff.importers.steps import StepBuilder
from trajdiff.importers.texts import content_text
from trajdiff.model import Actor, Arguments, ArgumentState, Candidate, Effect, Result, Severity, StepKind

SCHEMA_NAME = "trajdiff/1"

# fmt: off
STEP_KEYS = frozenset((
    "actor", "kind", "text", "name", "arguments", "arguments_state", "result", "error", "message",
    "result_message", "call_id", "call_uid", "parallel_group", "effect_hint", "candidates", "choice_reason",
    "model", "started_at", "ended_at",
))
# fmt: on
_RESULT_KEYS = frozenset({"text", "is_error", "error_rule", "error_type", "truncated"})
_ACTORS = {"assistant": Actor.AGENT, "tool": Actor.ENVIRONMENT}


def default_kind(step: Mapping[str, Any]) -> StepKind:
    """The kind of a step that records none: with a name it is a tool call."""
    return StepKind.TOOL_CALL if step.get("name") is not None else StepKind.MESSAGE


def default_actor(kind: StepKind) -> Actor:
    """The actor of a step that records none."""
    return (
        Actor.AGENT if kind in (StepKind.TOOL_CALL, StepKind.MESSAGE, StepKind.REASONING) else Actor.ENVIRONMENT
    )


def add_steps(builder: StepBuilder, steps: Sequence[Any], notices: Notices) -> int:
    """Add all steps; returns how many recorded messages they amount to."""
    numbers = _Numbers(steps)
    for place, step in enumerate(steps):
        at = f".steps[{place}]"
        message, answer = numbers.of(place)
        if not isinstance(step, dict):
            where = f"at {builder.place(at)}"
            notices.once(Severity.WARNING, "unknown_step", builder.pointer, "a step is not an object", where)
            builder.entry(actor=Actor.ENVIRONMENT, text=content_text(compact(step)), message=message, at=at)
            continue
        _tell_unknown(step, notices)
        kind = _kind(step, builder, at, notices)
        if kind is StepKind.TERMINATION:
            where = f"at {builder.place(at)}"
            notices.once(
                Severity.NOTE, "termination_step", "", 'the end of a trial belongs into "termination"', where
            )
        elif kind is StepKind.TOOL_CALL:
            _add_call(builder, step, message, answer, numbers.place(place), at)
        elif kind is StepKind.ORPHAN_RESULT:
            source = builder.source(at, message)
            call_id, name = id_text(step.get("call_id")), as_text(step.get("name"))
            builder.orphan(_result(step), source=source, message=message, call_id=call_id, name=name)
        else:
            more = {"name": as_text(step.get("name")), **times_and_model(step)}
            text = content_text(step.get("text"))
            builder.entry(actor=_actor(step, kind), kind=kind, text=text, message=message, at=at, **more)
    return numbers.total


class _Numbers:
    """The message index of every step and of its result, recorded or counted.

    A message is one message; a call is one and its result the next. Calls of one ``parallel_group`` share one,
    their results follow in order.
    """

    def __init__(self, steps: Sequence[Any]) -> None:
        self._pairs: list[tuple[int, int]] = []
        self._places: list[int] = []
        self.total = 0
        start = 0
        while start < len(steps):
            end = self._end_of_group(steps, start)
            self._count(steps[start:end])
            start = end

    def of(self, place: int) -> tuple[int, int]:
        """Message index of a step, and of its result."""
        return self._pairs[place]

    def place(self, place: int) -> int:
        """Which call of its message a step is."""
        return self._places[place]

    @staticmethod
    def _end_of_group(steps: Sequence[Any], start: int) -> int:
        group = _group(steps[start])
        end = start + 1
        while group is not None and end < len(steps) and _group(steps[end]) == group:
            end += 1
        return end

    def _count(self, steps: Sequence[Any]) -> None:
        shared = self.total
        answers = 0
        for position, step in enumerate(steps):
            recorded = whole_number(step.get("message")) if isinstance(step, dict) else None
            message = shared if recorded is None else recorded
            answered = isinstance(step, dict) and _is_call(step) and _answered(step)
            result = whole_number(step.get("result_message")) if isinstance(step, dict) else None
            answer = message + 1 + answers if result is None else result
            answers += answered
            self._pairs.append((message, answer))
            self._places.append(position)
            self.total = max(self.total, message + 1, answer + 1 if answered else 0)


def _group(step: Any) -> int | None:
    return whole_number(step.get("parallel_group")) if isinstance(step, dict) else None


def _is_call(step: Mapping[str, Any]) -> bool:
    return (step.get("kind") or default_kind(step)) == StepKind.TOOL_CALL


def _answered(step: Mapping[str, Any]) -> bool:
    return step.get("result") is not None or step.get("error") not in (None, False)


def _add_call(
    builder: StepBuilder, step: Mapping[str, Any], message: int, answer: int, place: int, at: str
) -> None:
    group = whole_number(step.get("parallel_group"))
    draft = builder.call(
        actor=_actor(step, StepKind.TOOL_CALL),
        name=as_text(step.get("name")),
        arguments=recorded_arguments(step),
        message=message,
        place=place,
        at=at,
        call_id=id_text(step.get("call_id")),
        group=group,
        **beside_call(step),
    )
    if as_text(step.get("call_uid")):
        draft["call_uid"] = step["call_uid"]
    if _answered(step):
        draft["result"] = _result(step)
        draft["result_source"] = builder.source(f"{at}.result", answer)


def recorded_arguments(step: Mapping[str, Any]) -> ReadArguments:
    """The arguments of a call; such as its producer refused stay refused, whatever their text."""
    read = read_arguments(step.get("arguments", NOT_RECORDED))
    if step.get("arguments_state") != ArgumentState.INVALID:
        return read
    raw = read.arguments.raw if read.arguments.raw is not None else compact(read.arguments.parsed)
    return ReadArguments(arguments=Arguments(raw=raw, parsed=None, state=ArgumentState.INVALID))


def beside_call(step: Mapping[str, Any]) -> dict[str, Any]:
    """What a call may record beside its name, arguments and ids."""
    return {
        "text": content_text(step.get("text")),
        "effect_hint": _effect(step.get("effect_hint")),
        "candidates": _candidates(step.get("candidates")),
        "choice_reason": content_text(step.get("choice_reason")),
        **times_and_model(step),
    }


def times_and_model(step: Mapping[str, Any]) -> dict[str, Any]:
    """What entries of every kind may record."""
    return {
        "model": as_text(step.get("model")),
        "started_at": as_text(step.get("started_at")),
        "ended_at": as_text(step.get("ended_at")),
    }


def _kind(step: Mapping[str, Any], builder: StepBuilder, at: str, notices: Notices) -> StepKind:
    recorded = step.get("kind")
    if recorded is None:
        return default_kind(step)
    try:
        return StepKind(recorded)
    except ValueError:
        word = shortened(str(recorded), 30)
        where = f"at {builder.place(at)}.kind"
        notices.once(Severity.WARNING, "unknown_kind", word, f'a step has the unknown kind "{word}"', where)
        return default_kind(step)


def _actor(step: Mapping[str, Any], kind: StepKind) -> str:
    recorded = as_text(step.get("actor"))
    return _ACTORS.get(recorded, recorded) if recorded else default_actor(kind)


def _result(step: Mapping[str, Any]) -> Result:
    """The result of a step: a text, any JSON value, or an object that says more about its text."""
    value, error = step.get("result"), step.get("error")
    said: Mapping[str, Any] = {}
    if isinstance(value, dict) and "text" in value and _RESULT_KEYS.issuperset(value):
        said, value = value, value["text"]
    if value is None and isinstance(error, str):
        value = error
    flag = said.get("is_error")
    if not isinstance(flag, bool):
        flag = None if error is None else bool(error)
    text = content_text(value) if isinstance(value, str | list) and _is_parts(value) else None
    if text is None:
        text = "" if value is None else content_text(compact(value)) or ""
    rule = as_text(said.get("error_rule"))
    return Result(text=text, is_error=flag, error_rule=rule, truncated=said.get("truncated") is True)


def _is_parts(value: Any) -> bool:
    """Whether a result is a text or a list of content parts, not just any JSON list."""
    if isinstance(value, str):
        return True
    return bool(value) and all(isinstance(one, dict) and isinstance(one.get("type"), str) for one in value)


def _effect(value: Any) -> Effect | None:
    return Effect(value) if value in tuple(Effect) else None


def _candidates(value: Any) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(
            name=one["name"],
            arguments=one.get("arguments"),
            score=plain_number(one.get("score")),
            reason=content_text(one.get("reason")),
        )
        for one in (value if isinstance(value, list) else ())
        if isinstance(one, dict) and isinstance(one.get("name"), str)
    )


def _tell_unknown(step: Mapping[str, Any], notices: Notices) -> None:
    for key in step:
        if key not in STEP_KEYS:
            word = shortened(str(key), 40)
            notices.once(Severity.NOTE, "unknown_key", f"step.{key}", f'the step key "{word}" is not read')
