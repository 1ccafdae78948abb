"""trajdiff/1 as event lines: a recorder writes each step as it happens, and a trial may lack its end.

The lines of one recording become one record, which is read like any other; steps keep the line they stand in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from trajdiff.frozen import replace
from trajdiff.importers.document import Record
from trajdiff.importers.naming import id_text, whole_number
from trajdiff.importers.notices import Notices
from trajdiff.model import Severity, SourceRef, Step, TerminationReason

EVENTS = ("start", "step", "result", "pin", "set", "end")
#: Keys of a line that say what it is; the rest of a start or end belongs to the trial.
_LINE_KEYS = frozenset({"schema", "event", "recording", "n", "step", "result", "set"})


class Assembled(Struct, kw_only=True):
    """A recording as one record. ``lines`` has the line of every step, ``answers`` that of its result.

    ``ended`` says whether the recording has an end; ``record`` is the place of its first line.
    """

    record: Record
    value: dict[str, Any] = field(default_factory=dict)
    steps: dict[int, dict[str, Any]] = field(default_factory=dict)
    step_lines: dict[int, int | None] = field(default_factory=dict)
    answers: dict[int, int | None] = field(default_factory=dict)
    started: bool = False
    ended: bool = False
    pins: list[dict[str, Any]] = field(default_factory=list)
    open: list[int] = field(default_factory=list)
    stray: int = 0

    def lines(self) -> list[int | None]:
        """The line of every step, in the order of the steps."""
        return [self.step_lines[number] for number in sorted(self.steps)]

    def answer_lines(self) -> list[int | None]:
        """The line of the result of every step, None where there is none."""
        return [self.answers.get(number) for number in sorted(self.steps)]


def is_event(value: object) -> bool:
    """Whether a decoded record is one line of a recording."""
    return isinstance(value, Mapping) and isinstance(value.get("event"), str)


class Recordings:
    """Collects event lines by recording, in the order in which recordings begin."""

    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._found: dict[tuple[str, str, str], Assembled] = {}

    def add(self, value: Mapping[str, Any], record: Record) -> None:
        """One event line; its task is known to be named."""
        key = (
            str(value.get("recording")),
            id_text(value.get("task_id")) or "",
            id_text(value.get("trial_id")) or "",
        )
        made = self._found.setdefault(key, Assembled(record=record))
        if made.ended and value["event"] != "set":
            made.stray += 1
            return
        _EVENT.get(value["event"], _unknown)(made, value, record)

    def finished(self) -> list[Assembled]:
        """All recordings as records; what is odd about them is told."""
        for (_, task, trial), made in self._found.items():
            _finish(made, task, trial)
            who = f'trial {trial or "?"} of task "{task}"'
            if made.stray:
                self._notices.add(
                    Severity.WARNING,
                    "stray_event",
                    f"{who}: {made.stray} lines do not belong to its recording",
                    "they are not read",
                    pointer=made.record.place,
                )
            if not made.ended:
                self._notices.add(
                    Severity.WARNING,
                    "cut_trial",
                    f"{who} has no end: it crashed, was stopped, or is still running",
                    "its steps are read; without a verdict it counts as missing",
                    pointer=made.record.place,
                )
        return list(self._found.values())


def _start(made: Assembled, value: Mapping[str, Any], record: Record) -> None:
    made.started = True
    made.value.update(_content(value))


def _content(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: one for key, one in value.items() if key not in _LINE_KEYS and one is not None}


def _step(made: Assembled, value: Mapping[str, Any], record: Record) -> None:
    number, step = whole_number(value.get("n")), value.get("step")
    if number is None or number in made.steps or not isinstance(step, Mapping):
        made.stray += 1
        return
    made.steps[number] = dict(step)
    made.step_lines[number] = record.line
    if step.get("name") is not None and step.get("kind") in (None, "tool_call"):
        if made.open:
            _join(made, number)
        made.open.append(number)


def _join(made: Assembled, number: int) -> None:
    """Calls that are open at the same time are one group of parallel calls."""
    group = next((g for n in made.open if (g := made.steps[n].get("parallel_group")) is not None), made.open[0])
    for one in (*made.open, number):
        made.steps[one].setdefault("parallel_group", group)


def _result(made: Assembled, value: Mapping[str, Any], record: Record) -> None:
    number = whole_number(value.get("n"))
    if number is None or number not in made.steps or number in made.answers:
        made.stray += 1
        return
    made.steps[number]["result"] = value.get("result")
    if value.get("ended_at") is not None:
        made.steps[number]["ended_at"] = value["ended_at"]
    made.answers[number] = record.line
    made.open = [one for one in made.open if one != number]


def _pin(made: Assembled, value: Mapping[str, Any], record: Record) -> None:
    names = ("kind", "fired", "reason")
    made.pins.append({name: value[name] for name in names if value.get(name) is not None})


def _set(made: Assembled, value: Mapping[str, Any], record: Record) -> None:
    said = value.get("set")
    if isinstance(said, Mapping):
        made.value.update({key: one for key, one in said.items() if key not in _LINE_KEYS and one is not None})
    else:
        made.stray += 1


def _end(made: Assembled, value: Mapping[str, Any], record: Record) -> None:
    made.ended = True
    made.value.update(_content(value))


def _unknown(made: Assembled, value: Mapping[str, Any], record: Record) -> None:
    made.stray += 1


_EVENT = {"start": _start, "step": _step, "result": _result, "pin": _pin, "set": _set, "end": _end}


def _finish(made: Assembled, task: str, trial: str) -> None:
    value = made.value
    value.setdefault("schema", "trajdiff/1")
    value["task_id"], value["trial_id"] = task, trial or None
    value["steps"] = [made.steps[number] for number in sorted(made.steps)]
    metadata = value.get("metadata")
    if made.pins:
        value["metadata"] = {**(metadata if isinstance(metadata, Mapping) else {}), "pins": made.pins}
    if not made.ended and value.get("termination") is None:
        value["termination"] = {
            "reason": TerminationReason.INCOMPLETE.value,
            "rule": "the recording has no end",
        }


_STEP_POINTER = re.compile(r"^\$\.steps\[(\d+)\](\.result)?(.*)$", re.DOTALL)


def with_lines(steps: Sequence[Step], made: Assembled) -> tuple[Step, ...]:
    """The steps of a recording, each pointing to the line it stands in."""
    lines, answers = made.lines(), made.answer_lines()

    def moved(source: SourceRef | None) -> SourceRef | None:
        found = None if source is None else _STEP_POINTER.match(source.pointer)
        if source is None or found is None:
            return source
        number, result = int(found[1]), found[2] is not None and answers[int(found[1])] is not None
        line = answers[number] if result else lines[number]
        return replace(source, pointer=f"$.{'result' if result else 'step'}{found[3]}", line=line)

    return tuple(
        replace(step, source=moved(step.source) or step.source, result_source=moved(step.result_source))
        for step in steps
    )
