"""Of two recordings of one trial, which one counts; never by the order in which they were read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from msgspec import Struct

from trajdiff.frozen import field_names
from trajdiff.importers.sameness import content_of, is_retry
from trajdiff.model import Trial, Verdict


class Entry(Struct, frozen=True, kw_only=True):
    """A trial with the number of its file and its place in it."""

    trial: Trial
    unit: int
    place: int


_SCORED = (Verdict.PASS, Verdict.FAIL)


def again(one: Trial, other: Trial) -> bool:
    """Whether one is a second attempt at the other: the producer says so, or only one of them was scored."""
    return is_retry(one, other) or (one.verdict in _SCORED) is not (other.verdict in _SCORED)


def age(one: Entry, other: Entry, on_duplicate: str | None) -> Callable[[Entry], tuple[object, ...]]:
    """What orders two recordings: the time; of an attempt and its retries the last one that was scored."""
    retried = again(one.trial, other.trial)
    return lambda entry: (
        retried and entry.trial.verdict in _SCORED,
        _time(entry),
        *_place(entry, on_duplicate),
    )


def _place(entry: Entry, on_duplicate: str | None) -> tuple[object, ...]:
    """What decides between equal times: the place only where the user asked for the first or the latest.

    The order of files and records has no meaning by itself, so that shuffled records must give the same trial.
    """
    if on_duplicate is not None:
        return entry.unit, entry.place
    return len(entry.trial.steps), content_of(entry.trial), entry.unit, entry.place


def rule_of(chosen: Entry, left: Entry, on_duplicate: str | None) -> str:
    """Why the one counts and not the other, in words."""
    if on_duplicate == "first":
        return "the first one counts"
    if on_duplicate is not None or _time(chosen) != _time(left):
        return "the latest one counts"
    if again(chosen.trial, left.trial) and left.trial.verdict not in _SCORED:
        return "the one with a verdict counts"
    if len(chosen.trial.steps) != len(left.trial.steps):
        return "no time says which is later: the longer one counts"
    return "no time says which is later: one of them counts, the same in any order of the records"


def _time(entry: Entry) -> float:
    """When the trial ended, as far as it is recorded; else 0."""
    for recorded in (entry.trial.ended_at, entry.trial.started_at):
        try:
            moment = datetime.fromisoformat(recorded or "")
        except ValueError:
            continue
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp()
    return 0.0


def fuller(one: Entry, other: Entry) -> tuple[Entry, Entry]:
    """Of two recordings with the same content first the one that says more about its making."""
    if one.trial.provenance == other.trial.provenance:
        return one, other

    def order(entry: Entry) -> tuple[int, str]:
        made = entry.trial.provenance
        values = [getattr(made, name) for name in field_names(made)]
        return sum(value in (None, {}) for value in values), repr(values)

    first, second = sorted((one, other), key=order)
    return first, second
