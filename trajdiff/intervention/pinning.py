"""Makes a pin from a recorded step: what the passing reference did where the failed trial parted from it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trajdiff.divergence.finding import Divergence, Kind, TaskFinding
from trajdiff.errors import UsageError
from trajdiff.importers.jsontext import canonical
from trajdiff.model import Actor, ArgumentState, Step, StepKind, TaskTrials, Trial
from trajdiff.record import Pin


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """Pins with their words: ``label`` names them in a line, ``text`` says what is held fixed.

    ``ref`` is the recorded step, ``TASK/TRIAL@MESSAGE``; ``divergence`` the identity of the one it tests.
    """

    pins: tuple[Pin, ...]
    label: str
    text: str
    ref: str
    divergence: str | None = None


#: The call of the passing reference is made where the failed trial went on without it.
_MISSING = (Kind.MISSING_STEP, Kind.WRONG_ORDER, Kind.UNRECOVERED_ERROR, Kind.EARLY_STOP)
#: Characters of a pinned value that are told.
_LONGEST = 80
_SURPLUS = (Kind.EXTRA_WRITE, Kind.DUPLICATE_WRITE, Kind.LOOP)


class Book:
    """The trials of a task with their aligned table, to look up steps and their counterparts."""

    def __init__(self, task: TaskTrials, finding: TaskFinding) -> None:
        self.task, self.finding = task, finding
        self.trials = {trial.trial_id: trial for trial in task.trials}

    @property
    def reference(self) -> Trial | None:
        """The passed trial that stands for the others."""
        return self.trials.get(self.finding.reference or "")

    def counterpart(self, trial: str, step: int) -> Step | None:
        """The step of the reference in the same row."""
        table, reference = self.finding.table, self.reference
        if table is None or reference is None:
            return None
        number = table.row_of(trial, step)
        row = next((row for row in table.rows if row.number == number), None)
        if row is None:
            return None
        for cell in row.cells:
            if cell.trial_id == reference.trial_id and cell.step is not None:
                return reference.steps[cell.step]
        return None

    def ref(self, trial: str, step: Step) -> str:
        """The step as a reference a user can write."""
        at = step.source.message_index
        return f"{self.task.task_id}/{trial}" + ("" if at is None else f"@{at}")


def pin_divergence(book: Book, divergence: Divergence | None) -> Pinned:
    """The pin that a divergence asks for. Raises ``UsageError`` where none follows from it."""
    if divergence is None or divergence.abstained or divergence.root is None or divergence.kind is None:
        reason = book.finding.text if divergence is None else f"abstained: {divergence.reason}"
        raise UsageError(
            f'no divergence to pin in task "{book.task.task_id}": {reason}',
            "name a step with --pin TASK/TRIAL@MESSAGE",
        )
    failed, root = book.trials[divergence.root.trial_id], divergence.root.step
    step, ref = failed.steps[root], book.ref(failed.trial_id, failed.steps[root])
    made: Pinned | None = None
    if divergence.kind in _MISSING:
        made = _missing(book, divergence, failed, step, ref)
    elif divergence.kind in _SURPLUS and step.is_call:
        made = block(failed, step, ref)
    if made is None:
        made = from_row(book, failed, step, ref, divergence)
    if made is None:
        raise UsageError(
            f'no pin follows from "{divergence.headline}"',
            "name a step and what to hold fixed with --pin TASK/TRIAL@MESSAGE --as KIND --value JSON",
        )
    return Pinned(
        pins=made.pins, label=made.label, text=made.text, ref=ref, divergence=divergence.identity or None
    )


def _missing(book: Book, divergence: Divergence, failed: Trial, step: Step, ref: str) -> Pinned | None:
    """The call that the reference made and the failed trial did not, before the step that went on."""
    reference, place = book.reference, divergence.passed_root
    if reference is None or place is None or place.trial_id != reference.trial_id:
        return None
    wanted = reference.steps[place.step]
    arguments = arguments_of(wanted)
    if not wanted.is_call or wanted.name is None or arguments is None:
        return None
    before: dict[str, Any] = {"at": "end"} if divergence.kind is Kind.EARLY_STOP else place_of(failed, step)
    equal = sum(1 for one in reference.steps[: wanted.index + 1] if same_call(one, wanted))
    pin = Pin(kind="call", name=wanted.name, arguments=arguments, already=equal, **before)
    return Pinned(
        pins=(pin,),
        label=wanted.name,
        text=f"{shown(wanted)} is made {words(pin)}, where it is missing",
        ref=ref,
    )


def block(failed: Trial, step: Step, ref: str) -> Pinned:
    """The call is not run; the agent gets the answer that was recorded, so that only the effect is gone."""
    answer = step.result.text if step.result is not None else None
    pin = Pin(kind="block", value=answer, decode=True, **place_of(failed, step))
    return Pinned(pins=(pin,), label=f"no {_nth(pin)}{step.name}", text=f"{words(pin, '')} is not run", ref=ref)


def from_row(book: Book, trial: Trial, step: Step, ref: str, divergence: Divergence | None) -> Pinned | None:
    """What the reference did in the same row of the aligned table."""
    other = book.counterpart(trial.trial_id, step.index)
    if step.is_call:
        if other is None or not other.is_call:
            return block(trial, step, ref) if trial is not book.reference else None
        if other.name != step.name:
            return replace(trial, step, other, ref)
        changed = argument(trial, step, other, ref, divergence)
        return changed if changed is not None else result(trial, step, other, ref)
    if other is None or other.kind is not StepKind.MESSAGE or step.kind is not StepKind.MESSAGE:
        return None
    return message(trial, step, other.text or "", ref)


def result(trial: Trial, step: Step, other: Step, ref: str) -> Pinned | None:
    """The call gives the result that the reference got; None where that was an error."""
    if other.result is None or other.result.is_error:
        return None
    given = arguments_of(step)
    place = place_of(trial, step, given=given)
    pin = Pin(kind="result", value=other.result.text, decode=True, **place)
    text = f"the result of {words(pin, '')} is {_begin(other.result.text)}"
    return Pinned(pins=(pin,), label=str(step.name), text=text, ref=ref)


def argument(trial: Trial, step: Step, other: Step, ref: str, divergence: Divergence | None) -> Pinned | None:
    """The call gets the arguments of the reference: the one that differs, or all of them."""
    mine, theirs = arguments_of(step), arguments_of(other)
    if theirs is None or canonical(mine) == canonical(theirs):
        return None
    path = divergence.argument if divergence is not None else None
    if path is None or "." in path or "[" in path or path not in theirs:
        changed = [
            name for name in theirs if mine is None or canonical(mine.get(name)) != canonical(theirs[name])
        ]
        only = len(changed) == 1 and mine is not None and mine.keys() <= theirs.keys()
        path = changed[0] if only and changed[0].isidentifier() else None
    value = theirs if path is None else theirs[path]
    pin = Pin(kind="argument", path=path or "", value=value, **place_of(trial, step))
    what = f"{path} of " if path else "the arguments of "
    text = f"{what}{words(pin, '')} is {_begin(json.dumps(value, ensure_ascii=False))}"
    return Pinned(pins=(pin,), label=f"{step.name} {path}" if path else str(step.name), text=text, ref=ref)


def replace(trial: Trial, step: Step, other: Step, ref: str) -> Pinned | None:
    """The call of the reference is made instead."""
    arguments = arguments_of(other)
    if arguments is None or other.name is None:
        return None
    pin = Pin(kind="replace", name=other.name, arguments=arguments, **place_of(trial, step))
    text = f"{shown(other)} is made instead of {words(pin, '')}"
    return Pinned(pins=(pin,), label=f"{other.name} for {step.name}", text=text, ref=ref)


def message(trial: Trial, step: Step, text: str, ref: str) -> Pinned | None:
    """The message says what the given text says."""
    if step.actor not in (Actor.USER, Actor.AGENT):
        return None
    pin = Pin(kind=f"{step.actor}_message", value=text, **place_of(trial, step))
    return Pinned(
        pins=(pin,), label=f"{step.actor} message", text=f"{words(pin, '')} is {_begin(text)!r}", ref=ref
    )


def _begin(text: str) -> str:
    """A text of at most ``_LONGEST`` characters; one that was longer ends with a mark."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


def place_of(trial: Trial, step: Step, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The place of a step: the n-th call of its tool, the n-th message of its side, or the end."""
    before = trial.steps[: step.index]
    if step.is_call and step.name is not None:
        same = [one for one in before if one.is_call and one.name == step.name]
        if given is not None:
            same = [one for one in same if canonical(arguments_of(one)) == canonical(given)]
        return {"at": "call", "tool": step.name, "occurrence": len(same), "given": given}
    if step.kind is StepKind.MESSAGE and step.actor in (Actor.USER, Actor.AGENT):
        same = [one for one in before if one.kind is StepKind.MESSAGE and one.actor == step.actor]
        return {"at": str(step.actor), "occurrence": len(same)}
    return {"at": "end"}


def arguments_of(step: Step) -> dict[str, Any] | None:
    """The arguments of a call by name; None where they are not recorded or cannot be read."""
    found = step.arguments
    if found is None or found.state is ArgumentState.ABSENT or found.state is ArgumentState.INVALID:
        return None
    return dict(found.parsed) if isinstance(found.parsed, Mapping) else {}


def same_call(one: Step, other: Step) -> bool:
    """Whether two steps are calls of the same tool with the same arguments."""
    return (
        one.is_call
        and one.name == other.name
        and canonical(arguments_of(one)) == canonical(arguments_of(other))
    )


def shown(step: Step) -> str:
    """A call as a person would write it."""
    arguments: Mapping[str, Any] = arguments_of(step) or {}
    said = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
    return f"{step.name}({said})"


_ORDINALS: Sequence[str] = ("first", "second", "third", "fourth", "fifth")


def _nth(pin: Pin) -> str:
    if pin.occurrence is None:
        return "every "
    return f"{_ORDINALS[pin.occurrence]} " if pin.occurrence < len(_ORDINALS) else f"{pin.occurrence + 1}th "


def words(pin: Pin, before: str = "before ") -> str:
    """The place of a pin in words."""
    if pin.at == "end":
        return f"{before}the end"
    what = f"call of {pin.tool}" if pin.at == "call" else f"message of the {pin.at}"
    if pin.given is not None and pin.given:
        what += " with these arguments"
    return f"{before}the {_nth(pin)}{what}"
