"""Pins that a user asks for: a step by its reference, a kind of pin, a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from trajdiff.errors import UsageError
from trajdiff.intervention.pinning import (
    Book,
    Pinned,
    argument,
    arguments_of,
    block,
    from_row,
    message,
    pin_divergence,
    place_of,
    replace,
    result,
    same_call,
    shown,
    words,
)
from trajdiff.model import Actor, Step, StepKind, Trial
from trajdiff.record import Pin


def pin_step(
    book: Book, trial_id: str, number: int, *, kind: str | None = None, value: Any = None, given: bool = False
) -> Pinned:
    """The pin for a step that the user names, by the recorded message it stands in.

    Without ``kind`` it is what the divergence at this step asks for, else what the reference did in the same
    row. ``kind`` and ``value`` (where ``given``) say otherwise. Raises ``UsageError``.
    """
    trial = book.trials.get(trial_id)
    step = None if trial is None else _at_message(trial, number)
    if trial is None or step is None:
        raise UsageError(f"no step {book.task.task_id}/{trial_id}@{number}")
    ref = book.ref(trial_id, step)
    if kind is None and not given:
        for one in book.finding.divergences:
            if (
                not one.abstained
                and one.root is not None
                and (one.root.trial_id, one.root.step)
                == (
                    trial_id,
                    step.index,
                )
            ):
                return pin_divergence(book, one)
    if kind is not None:
        return _asked(_Asked(book=book, trial=trial, step=step, ref=ref, value=value, given=given), kind)
    made = from_row(book, trial, step, ref, None)
    if made is None:
        raise UsageError(
            f"{ref}: no passing step to hold it to", "say what to hold fixed: --as KIND --value JSON"
        )
    return made


def _at_message(trial: Trial, number: int) -> Step | None:
    """The step that a message stands for: a call of it before its text, its own before a result."""
    found = [
        one
        for one in trial.steps
        if one.source.message_index == number and one.kind is not StepKind.TERMINATION
    ]
    calls = [one for one in found if one.is_call]
    if found:
        return (calls or found)[0]
    return next((s for s in trial.steps if s.result_source and s.result_source.message_index == number), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A step of a trial, and the value that the user gave (where ``given``)."""

    book: Book
    trial: Trial
    step: Step
    ref: str
    value: Any
    given: bool

    @property
    def place(self) -> dict[str, Any]:
        return place_of(self.trial, self.step)

    @property
    def other(self) -> Step:
        """The step of the reference in the same row, else the step itself."""
        return self.book.counterpart(self.trial.trial_id, self.step.index) or self.step

    def call(self) -> tuple[str, Mapping[str, Any]]:
        said = _object(self.value)
        name, arguments = said.get("name"), said.get("arguments") or {}
        if not isinstance(name, str) or not isinstance(arguments, Mapping):
            raise UsageError('--value must be {"name": TOOL, "arguments": {…}} here')
        return name, arguments


def _asked(asked: _Asked, kind: str) -> Pinned:
    """A pin of the kind that the user asks for."""
    make = _KINDS.get(kind)
    made = None if make is None else make(asked)
    if made is None:
        hint = "give the value with --value, or another kind with --as"
        raise UsageError(f"{asked.ref}: cannot be pinned as {kind}", hint)
    return made


def _block(asked: _Asked) -> Pinned | None:
    return block(asked.trial, asked.step, asked.ref) if asked.step.is_call else None


def _note(asked: _Asked) -> Pinned | None:
    if not asked.given:
        return None
    pin = Pin(kind="note", value=asked.value, **_place_before(asked.trial, asked.step))
    text = f"a note is put behind {words(pin, '')}"
    return Pinned(pins=(pin,), label="a note", text=text, ref=asked.ref)


def _result(asked: _Asked) -> Pinned | None:
    if not asked.step.is_call:
        return None
    if not asked.given:
        return result(asked.trial, asked.step, asked.other, asked.ref)
    pin = Pin(kind="result", value=asked.value, **asked.place)
    return Pinned(pins=(pin,), label=str(pin.tool), text=f"the result of {words(pin, '')}", ref=asked.ref)


def _argument(asked: _Asked) -> Pinned | None:
    if not asked.step.is_call:
        return None
    if not asked.given:
        return argument(asked.trial, asked.step, asked.other, asked.ref, None)
    pin = Pin(kind="argument", value=_object(asked.value), **asked.place)
    return Pinned(pins=(pin,), label=str(pin.tool), text=f"the arguments of {words(pin, '')}", ref=asked.ref)


def _said(asked: _Asked) -> Pinned | None:
    if asked.step.kind is not StepKind.MESSAGE:
        return None
    text = str(asked.value) if asked.given else asked.other.text or ""
    return message(asked.trial, asked.step, text, asked.ref)


def _call(asked: _Asked) -> Pinned | None:
    if not asked.given:
        return _call_before_next(asked.trial, asked.step, asked.ref) if asked.step.is_call else None
    name, arguments = asked.call()
    pin = Pin(kind="call", name=name, arguments=arguments, **asked.place)
    return Pinned(pins=(pin,), label=name, text=f"{name} is made {words(pin)}", ref=asked.ref)


def _replace(asked: _Asked) -> Pinned | None:
    if not asked.step.is_call:
        return None
    if not asked.given:
        other = asked.other
        return replace(asked.trial, asked.step, other, asked.ref) if other.name != asked.step.name else None
    name, arguments = asked.call()
    pin = Pin(kind="replace", name=name, arguments=arguments, **asked.place)
    label = f"{name} for {asked.step.name}"
    return Pinned(pins=(pin,), label=label, text=f"{name} is made instead of {words(pin, '')}", ref=asked.ref)


_KINDS: dict[str, Callable[[_Asked], Pinned | None]] = {
    "block": _block,
    "note": _note,
    "result": _result,
    "argument": _argument,
    "user_message": _said,
    "agent_message": _said,
    "call": _call,
    "replace": _replace,
}


def _call_before_next(trial: Trial, step: Step, ref: str) -> Pinned | None:
    """A call of a trial, made before whatever came after it."""
    arguments = arguments_of(step)
    after = next(
        (one for one in trial.steps[step.index + 1 :] if one.kind in (StepKind.TOOL_CALL, StepKind.MESSAGE)),
        None,
    )
    if arguments is None or step.name is None:
        return None
    before: dict[str, Any] = {"at": "end"} if after is None else place_of(trial, after)
    equal = sum(1 for one in trial.steps[: step.index + 1] if same_call(one, step))
    pin = Pin(kind="call", name=step.name, arguments=arguments, already=equal, **before)
    return Pinned(
        pins=(pin,), label=step.name, text=f"{shown(step)} is made {words(pin)}, where it is missing", ref=ref
    )


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UsageError("--value must be a JSON object here")
    return value


def _place_before(trial: Trial, step: Step) -> dict[str, Any]:
    """The place that the agent reads last before a step: a result or a message of the user."""
    for one in reversed(trial.steps[: step.index]):
        if one.is_call or (one.kind is StepKind.MESSAGE and one.actor == Actor.USER):
            return place_of(trial, one)
    raise UsageError("nothing comes before this step that could carry a note")
