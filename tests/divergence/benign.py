"""Benign changes to recorded trials: none of them changes what a trial does, so none may change an answer.

Each takes the steps of a trajdiff/1 record and a number that chooses the place, and returns new steps, or None
where the trial has no such place.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any, TypeAlias

Steps: TypeAlias = list[dict[str, Any]]
Change: TypeAlias = Callable[[Steps, int], Steps | None]

#: Tools of the samples that only look, by name; everything else may write.
READS = ("get_", "list_", "find_", "search_", "check_", "parse_", "validate_", "verify_", "look")


def _reads(step: dict[str, Any]) -> bool:
    return step.get("name", "").startswith(READS) and "is_error" not in json.dumps(step.get("result"))


def _one_of(places: list[int], number: int) -> int | None:
    return places[number % len(places)] if places else None


def _may_insert(steps: Steps) -> list[int]:
    """Places between two steps of which the agent acts in the second, outside parallel groups."""
    group = [step.get("parallel_group") for step in steps]
    return [
        at
        for at in range(1, len(steps))
        if steps[at].get("actor", "agent") == "agent" and (group[at] is None or group[at] != group[at - 1])
    ]


def swap_reads(steps: Steps, number: int) -> Steps | None:
    """Two neighbouring reads of which the second uses nothing that the first brought."""

    def independent(first: dict[str, Any], second: dict[str, Any]) -> bool:
        used = [str(value) for value in _given(second).values() if len(str(value)) > 2]
        known = json.dumps(_given(first), ensure_ascii=False)
        brought = json.dumps(first.get("result"), ensure_ascii=False)
        return not any(value in brought and value not in known for value in used)

    places = [
        at
        for at in range(len(steps) - 1)
        if _reads(steps[at]) and _reads(steps[at + 1]) and independent(steps[at], steps[at + 1])
    ]
    at = _one_of(places, number)
    if at is None:
        return None
    return [*steps[:at], steps[at + 1], steps[at], *steps[at + 2 :]]


def _given(step: dict[str, Any]) -> dict[str, Any]:
    arguments = step.get("arguments")
    given = json.loads(arguments) if isinstance(arguments, str) else arguments
    return dict(given) if isinstance(given, dict) else {}


def rename_ids(steps: Steps, number: int) -> Steps | None:
    """Other ids of the tool calls, one of them used twice."""
    return [
        {**step, "call_id": f"toolu_{number}_{at % 3}"} if "name" in step else step
        for at, step in enumerate(steps)
    ]


def stringify(steps: Steps, number: int) -> Steps | None:
    """Arguments as JSON text, or as objects where they were text; odd numbers turn every second call."""
    out = []
    for at, step in enumerate(steps):
        if isinstance(step.get("arguments"), (dict, str)) and (number + at) % 2 == 0:
            given = step["arguments"]
            step = {**step, "arguments": json.dumps(given) if isinstance(given, dict) else json.loads(given)}
        out.append(step)
    return out


def extra_read(steps: Steps, number: int) -> Steps | None:
    """A look at something that has nothing to do with the task."""
    look = {"name": "get_weather", "arguments": {"city": "Oslo"}, "result": '{"sky": "clear"}'}
    return _insert(steps, number, look)


def extra_thought(steps: Steps, number: int) -> Steps | None:
    """A call of the scratchpad."""
    return _insert(steps, number, {"name": "think", "arguments": {"thought": "step by step"}, "result": ""})


def _insert(steps: Steps, number: int, step: dict[str, Any]) -> Steps | None:
    at = _one_of(_may_insert(steps), number)
    return None if at is None else [*steps[:at], {"actor": "agent", **step}, *steps[at:]]


def retry(steps: Steps, number: int) -> Steps | None:
    """A read that first fails for a moment."""
    places = [at for at in _may_insert(steps) if _reads(steps[at]) and steps[at].get("parallel_group") is None]
    at = _one_of(places, number)
    if at is None:
        return None
    failed = copy.deepcopy(steps[at])
    failed["result"] = {"text": "Error: service unavailable, try again", "is_error": True}
    return [*steps[:at], failed, *steps[at:]]


CHANGES: dict[str, Change] = {
    "two reads swapped": swap_reads,
    "call ids renamed": rename_ids,
    "arguments as text": stringify,
    "an extra read": extra_read,
    "an extra thought": extra_thought,
    "a retry after an error": retry,
}
