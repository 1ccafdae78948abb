"""Typed differences between a failing trial and the passes, and which of them were repaired.

The first difference is usually harmless and is shown as such; what was repaired is shown with the step that
closed it, so that the reader sees why it is not the answer.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from trajdiff.align.memo import once
from trajdiff.align.prepared import PreparedStep, argument_value
from trajdiff.align.similarity import SHARED, argument_likeness
from trajdiff.align.values import changed_paths
from trajdiff.divergence.case import Case
from trajdiff.divergence.ledger import is_write, settle

#: What is said of a write that a later one replaced or undid.
UNDONE = "written, then replaced or undone"
#: A refused call that is done again is done within this many calls of the agent.
SOON = 200


class Difference(StrEnum):
    """What differs at one place of the alignment."""

    MISSING = "missing"
    EXTRA = "extra"
    CHANGED = "changed"
    OTHER_RESULT = "other_result"


class Deviation(Struct, frozen=True, kw_only=True):
    """One difference in calls. ``step`` is the failing trial's, ``expected`` the passes'; ``place`` is the
    position in the failing trial (for a missing step that of the next one)."""

    kind: Difference
    place: int
    step: PreparedStep | None
    expected: PreparedStep | None
    paths: tuple[str, ...] = ()


class Repair(Struct, frozen=True, kw_only=True):
    """A deviation of the failing trial that a later step of it closed."""

    deviation: str
    opened: PreparedStep
    closed: PreparedStep


@once
def find(case: Case) -> tuple[Deviation, ...]:
    """All differences in calls, in the order of the failing trial."""
    # A missing step stands before the step that went on without it; of several the passes' order holds.
    found = reversed(tuple(_find(case)))
    return tuple(sorted(found, key=lambda d: (d.place, d.kind is not Difference.MISSING)))


def _find(case: Case) -> Iterator[Deviation]:
    place = len(case.steps)
    for match in reversed(case.matches):
        if match.position is not None and not match.moved:
            place = match.position
        step = case.steps[match.position] if match.position is not None else None
        members = case.graph.steps(match.column) if match.column is not None else ()
        if step is not None and (not step.is_call or not step.by_agent or step.folded or step.thinks):
            continue
        if step is None:
            first = members[0] if members else None
            shared = first is not None and first.is_call and first.by_agent and len(members) == len(case.passes)
            if shared and not members[0].thinks:
                yield Deviation(kind=Difference.MISSING, place=place, step=None, expected=members[0])
        elif not members:
            yield Deviation(kind=Difference.EXTRA, place=place, step=step, expected=None)
        elif match.split is None and all(step.call_key != other.call_key for other in members):
            paths = changed_paths(members[0].arguments, step.arguments)
            yield Deviation(kind=Difference.CHANGED, place=place, step=step, expected=members[0], paths=paths)
        elif match.split is None and all(step.full_key != other.full_key for other in members):
            yield Deviation(kind=Difference.OTHER_RESULT, place=place, step=step, expected=members[0])


@once
def repairs(case: Case) -> tuple[Repair, ...]:
    """What the failing trial repaired itself: refused calls repeated with success, reads of another record
    followed by the passes' read, writes that were set again or undone."""
    return tuple(sorted(_repairs(case), key=lambda r: r.opened.position))


def _repairs(case: Case) -> Iterator[Repair]:
    calls = case.failing.calls
    for number, step in enumerate(calls):
        if step.failed:
            rest = calls[number + 1 : number + 1 + SOON]
            again = next((later for later in rest if _retries(case, later, step)), None)
            if again is not None:
                yield Repair(deviation="refused, then done", opened=step, closed=again)
    alike: dict[str, list[PreparedStep]] = {}
    for step in calls:
        alike.setdefault(step.label, []).append(step)
    for deviation in find(case):
        wrong = deviation.step
        if wrong is None or wrong.failed or is_write(wrong) or deviation.kind is Difference.OTHER_RESULT:
            continue
        right = _next_alike(alike, wrong)
        if right is not None and in_passes(case, right) and not in_passes(case, wrong):
            yield Repair(deviation="another record read first", opened=wrong, closed=right)
    yield from undone(case)


def undone(case: Case) -> Iterator[Repair]:
    """The writes that no pass makes and that the failing trial itself set again or undid."""
    for earlier, later in settle(case.failing).repaired:
        if not in_passes(case, earlier):
            yield Repair(deviation=UNDONE, opened=earlier, closed=later)


def _next_alike(calls: Mapping[str, Sequence[PreparedStep]], step: PreparedStep) -> PreparedStep | None:
    """The trial's next call of the same semantic step."""
    same = calls.get(step.label, ())
    at = bisect_right(same, step.position, key=lambda call: call.position)
    return same[at] if at < len(same) else None


def in_passes(case: Case, call: PreparedStep) -> bool:
    """Whether any pass makes this very call."""
    return call.call_key in case.calls_of_passes


def _retries(case: Case, later: PreparedStep, refused: PreparedStep) -> bool:
    """Whether a later call does what a refused one tried: nearly the same call, or the passes' one."""
    if later.label != refused.label or later.failed:
        return False
    return argument_likeness(later, refused) >= SHARED or in_passes(case, later)


def hidden(case: Case) -> int:
    """How many argument differences between matched calls the ignore rules hid."""
    total = 0
    for match in case.matches:
        if match.column is not None and match.position is not None:
            step, other = case.steps[match.position], case.graph.steps(match.column)[0]
            if step.is_call and (step.hides or other.hides):
                recorded = changed_paths(argument_value(other.step), argument_value(step.step))
                total += len(recorded) - len(changed_paths(other.arguments, step.arguments))
    return total
