"""Follows the writes of one trial to its end: what was set again, undone or put back does not stand.

Standing writes are indexed by what they are about, so that the time grows with the number of writes and not
with its square.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct, field

from trajdiff.align.language import opposed, opposites
from trajdiff.align.memo import once
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.align.values import words
from trajdiff.divergence.effects import sets_state

#: An entity counts as described by a call's result when it holds at least this many values: a bare "ok" says
#: nothing about the state.
SNAPSHOT_VALUES = 5


class Settled(Struct, frozen=True, kw_only=True):
    """A trial's writes: those that still stand at the end, and (earlier, later) where one repaired another."""

    standing: tuple[PreparedStep, ...]
    repaired: tuple[tuple[PreparedStep, PreparedStep], ...]


def subject(step: PreparedStep) -> str | None:
    """The one record that a call is about, None where it names none."""
    return step.about


def settle_writes(
    trial: PreparedTrial, writes: Iterable[PreparedStep], key: Callable[[PreparedStep], str]
) -> Settled:
    """Which of the writes (in order) still stand at the end of the trial; ``key`` says which are equal."""
    standing = _Standing()
    repaired: list[tuple[PreparedStep, PreparedStep]] = []
    first: dict[int, PreparedStep] = {}
    for step in writes:
        about = subject(step)
        undone = standing.undone_by(step, about)
        if undone is not None:
            standing.remove(undone)
            repaired.append((undone, step))
            continue
        replaced = standing.overwritten_by(step, about)
        repaired += [(w, step) for w in replaced if key(w) != key(step)]
        first[step.position] = first[replaced[0].position] if replaced else step
        for write in replaced:
            standing.remove(write)
        standing.add(step, about)
    kept = tuple(w for w in standing.in_order() if not _restores(trial, first[w.position], w))
    return Settled(standing=kept, repaired=tuple(repaired))


@once
def snapshots(trial: PreparedTrial) -> Mapping[str, Sequence[PreparedStep]]:
    """For each entity the calls whose results describe it, in order."""
    found: dict[str, list[PreparedStep]] = {}
    for step in trial.steps:
        if step.is_call and not step.failed and len(step.result_leaves) >= SNAPSHOT_VALUES:
            about = subject(step)
            if about is not None:
                found.setdefault(about, []).append(step)
    return found


class _Standing(Struct):
    """Writes that stand so far, by position, and by what a later write can reach them: what they are about,
    what they made, what they set."""

    writes: dict[int, PreparedStep] = field(default_factory=dict)
    subjects: dict[int, str | None] = field(default_factory=dict)
    #: Value to tool name to positions, in order: an undoing write reaches them by the entity it names.
    reached: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    #: (label, what is about or all arguments) to positions of writes that set a state.
    settings: dict[tuple[str, str], dict[int, None]] = field(default_factory=dict)

    def add(self, step: PreparedStep, about: str | None) -> None:
        self.writes[step.position] = step
        self.subjects[step.position] = about
        name = step.step.name or ""
        if _has_opposites(name):
            made = dict.fromkeys([value for _, value in step.result_leaves])
            if about is not None:
                made[about] = None
            for value in made:
                self.reached.setdefault(value, {}).setdefault(name, []).append(step.position)
        for place in _settings(step, about):
            self.settings.setdefault(place, {})[step.position] = None

    def remove(self, step: PreparedStep) -> None:
        # The entries by value go when they are looked at next.
        del self.writes[step.position]
        for place in _settings(step, self.subjects.pop(step.position)):
            self.settings[place].pop(step.position, None)

    def in_order(self) -> Iterator[PreparedStep]:
        return (self.writes[position] for position in sorted(self.writes))

    def undone_by(self, step: PreparedStep, about: str | None) -> PreparedStep | None:
        """The last standing write that a step undoes: one of opposite name, on the same entity or on one that
        the write made."""
        if about is None:
            return None
        found = -1
        for name, positions in self.reached.get(about, {}).items():
            if _opposed(step.step.name or "", name):
                while positions and positions[-1] not in self.writes:
                    positions.pop()
                if positions:
                    found = max(found, positions[-1])
        return self.writes.get(found)

    def overwritten_by(self, step: PreparedStep, about: str | None) -> list[PreparedStep]:
        """Standing writes whose state a step sets again, with at least as much said."""
        if not sets_state(step.step.name or ""):
            return []
        paths = {path for path, _ in step.argument_leaves}
        found: dict[int, PreparedStep] = {}
        for place in _settings(step, about):
            for position in self.settings.get(place, ()):
                earlier = self.writes[position]
                if earlier.argument_text == step.argument_text or (
                    about is not None
                    and self.subjects[position] == about
                    and {path for path, _ in earlier.argument_leaves} <= paths
                ):
                    found[position] = earlier
        return [found[position] for position in sorted(found)]


def _settings(step: PreparedStep, about: str | None) -> tuple[tuple[str, str], ...]:
    """The places under which a write is found by a later one of the same step that sets a state."""
    whole = (step.label, f"\0{step.argument_text}")
    return (whole,) if about is None else (whole, (step.label, about))


@lru_cache(maxsize=4096)
def _has_opposites(name: str) -> bool:
    """Whether a write of this name can be undone by one of opposite name at all."""
    return not opposites().keys().isdisjoint(words(name))


@lru_cache(maxsize=4096)
def _opposed(later: str, earlier: str) -> bool:
    return opposed(words(later), words(earlier))


def _restores(trial: PreparedTrial, first: PreparedStep, last: PreparedStep) -> bool:
    """Whether a run of settings ends where it began: what the last one set is what was read before the first,
    so that nothing has changed."""
    about = subject(last)
    if about is None or not sets_state(last.step.name or ""):
        return False
    seen = snapshots(trial).get(about, ())
    earlier = bisect_left(seen, first.position, key=lambda step: step.position)
    if not earlier:
        return False
    before = seen[earlier - 1]
    if before.result_text == last.result_text:
        return True
    if first is last:
        return False
    state = [(path.rsplit(".", 1)[-1], value) for path, value in before.result_leaves]
    return all(
        value == about or _holds(state, path.rsplit(".", 1)[-1], value) for path, value in last.argument_leaves
    )


def _holds(known: Sequence[tuple[str, str]], name: str, value: str) -> bool:
    """Whether a state has the value: under the argument's name where the state has that name at all."""
    named = [found for at, found in known if at == name]
    return value in named if named else any(found == value for _, found in known)
