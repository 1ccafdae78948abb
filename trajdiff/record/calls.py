"""One tool call on its way through the recorder: what pins make of it, and what is made before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trajdiff.record.lines import RecordError
from trajdiff.record.pins import Pin, value_of, with_argument, with_note


@dataclass(slots=True, kw_only=True)
class Met:
    """A call after its pins: the calls to make ``first``, its arguments, or its answer where it is not run.

    ``instead`` is the call to make in its place. ``blocked`` calls are no step of the trial. ``fired`` and
    ``failed`` say which pins took effect, and which could not, with the reason.
    """

    name: str
    arguments: dict[str, Any]
    first: list[Pin] = field(default_factory=list)
    instead: Pin | None = None
    answered: bool = False
    blocked: bool = False
    answer: Any = None
    notes: list[str] = field(default_factory=list)
    fired: list[Pin] = field(default_factory=list)
    failed: list[tuple[Pin, str]] = field(default_factory=list)

    def noted(self, result: Any) -> Any:
        """The result with the notes that the agent shall read behind it."""
        for note in self.notes:
            result = with_note(result, note)
        return result


def meet(name: str, arguments: Mapping[str, Any], pins: Sequence[Pin], returns: Any = None) -> Met:
    """What these pins make of a call."""
    met = Met(name=name, arguments=dict(arguments))
    for pin in pins:
        if pin.kind == "call":
            met.first.append(pin)
            continue
        if pin.kind == "argument":
            try:
                met.arguments = with_argument(met.arguments, pin)
            except (RecordError, TypeError, ValueError) as error:
                met.failed.append((pin, str(error)))
                continue
        elif pin.kind == "replace":
            met.instead = pin
            continue
        elif pin.kind in ("result", "block"):
            met.answered, met.answer = True, value_of(pin, returns)
            met.blocked = pin.kind == "block"
        elif pin.kind == "note":
            met.notes.append(str(pin.value))
        else:
            met.failed.append((pin, f"a pin of kind {pin.kind} has no place at a call"))
            continue
        met.fired.append(pin)
    return met
