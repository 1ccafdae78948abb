"""What a trial left behind: its effective writes, and how they differ from a pass's.

A write counts when the tool did not refuse it and nothing later undid it: a state that was set again is the
last one set, a booking that was cancelled is none. Every entry of the difference is a debt that was still
open at the end of the trial.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from trajdiff.align.memo import once
from trajdiff.align.order import entities
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.align.similarity import FULL, argument_likeness, weight
from trajdiff.divergence.no_effect import had_no_effect
from trajdiff.divergence.settling import SNAPSHOT_VALUES, Settled, settle_writes, snapshots
from trajdiff.divergence.settling import subject as subject
from trajdiff.model import Effect

#: Of more writes that differ than this, the earliest on either side speak for all: each pair is weighed.
MOST_DEBTS = 30


class DebtKind(StrEnum):
    """What is owed at the end."""

    MISSING = "missing"
    EXTRA = "extra"
    CHANGED = "changed"
    DUPLICATE = "duplicate"
    OTHER_TOOL = "other_tool"
    ORDER = "order"


class Debt(Struct, frozen=True, kw_only=True):
    """One difference between the writes of a trial and those of a pass, open at the end.

    ``expected`` is the pass's write, ``found`` the trial's; one of them is None for missing and extra writes.
    """

    kind: DebtKind
    expected: PreparedStep | None = None
    found: PreparedStep | None = None


class Difference(Struct, frozen=True, kw_only=True):
    """All debts of a trial against one pass; ``cost`` says how far apart the two are."""

    reference: PreparedTrial
    debts: tuple[Debt, ...]
    cost: int


def is_write(step: PreparedStep) -> bool:
    """Whether a call may have changed something: not refused, not known to be harmless, and its own result does
    not say that nothing changed."""
    return (
        step.is_call
        and step.by_agent
        and not step.failed
        and step.step.result is not None
        and step.effect in (Effect.WRITE, Effect.UNKNOWN)
        and not had_no_effect(step)
    )


def key(step: PreparedStep) -> str:
    """Identity of a write: semantic step and canonical arguments (all are the agent's)."""
    return step.call_key


def effective_writes(trial: PreparedTrial) -> tuple[PreparedStep, ...]:
    """The writes that still stand at the end of the trial, in order."""
    return settle(trial).standing


@once
def standing(trial: PreparedTrial) -> Mapping[str, PreparedStep]:
    """The first of the writes that still stand at the end of the trial, by ``key``."""
    return {key(step): step for step in reversed(effective_writes(trial))}


@once
def written(trial: PreparedTrial) -> frozenset[tuple[str, str]]:
    """Paths and values of the arguments of the writes that still stand at the end of the trial."""
    return frozenset([leaf for step in effective_writes(trial) for leaf in step.argument_leaves])


@once
def settle(trial: PreparedTrial) -> Settled:
    """Follows the writes of a trial to its end: what was set again, undone or put back does not stand."""
    return settle_writes(trial, filter(is_write, trial.calls), key)


def difference(trial: PreparedTrial, reference: PreparedTrial) -> Difference:
    """What the trial's effective writes owe against the reference's, worked out once."""
    known: dict[int, Difference] = trial.memo.setdefault("differences", {})
    found = known.get(id(reference))
    if found is None:  # which holds the reference, so that its id stays its own
        found = known[id(reference)] = _difference(trial, reference)
    return found


def _difference(trial: PreparedTrial, reference: PreparedTrial) -> Difference:
    found, expected = effective_writes(trial), effective_writes(reference)
    if _same_end_state(found, expected):
        return Difference(reference=reference, debts=(), cost=0)
    shared = set(map(key, expected))
    rest = _multiset_rest(_in_order(found, expected), expected)
    extra = [w for w in rest if key(w) in shared or not _leaves_as(reference, w)]
    missing = [w for w in _multiset_rest(expected, found) if not _leaves_as(trial, w)]
    extra, missing = _without_the_same(extra, missing)
    if not extra and not missing:
        debts = _order_debts(found, expected)
        return Difference(reference=reference, debts=debts, cost=len(debts))
    debts, cost = _pair_up(missing, extra, found)
    return Difference(reference=reference, debts=debts, cost=cost)


def _without_the_same(
    extra: Sequence[PreparedStep], missing: Sequence[PreparedStep]
) -> tuple[list[PreparedStep], list[PreparedStep]]:
    """What is left of both where calls that say the same are taken out, one for one."""
    open_debts: dict[tuple[str, str | None], list[PreparedStep]] = {}
    for step in missing:
        open_debts.setdefault((step.label, subject(step)), []).append(step)
    closed: set[int] = set()
    kept = []
    for step in extra:
        alike = open_debts.get((step.label, subject(step)), [])
        same = next((at for at, other in enumerate(alike[:MOST_DEBTS]) if _says_the_same(other, step)), None)
        if same is None:
            kept.append(step)
        else:
            closed.add(alike.pop(same).position)
    return kept, [step for step in missing if step.position not in closed]


def _says_the_same(expected: PreparedStep, step: PreparedStep) -> bool:
    """Whether two calls of a tool differ in nothing but arguments that one of them leaves out and the result of
    that one has all the same, under the same name and with the same value."""
    shorter, longer = sorted((expected, step), key=lambda s: len(s.argument_leaves))
    if len(shorter.argument_leaves) == len(longer.argument_leaves):
        return False  # the same values in another pairing are another call
    rest = Counter(longer.argument_leaves)
    rest.subtract(shorter.argument_leaves)
    if any(count < 0 for count in rest.values()):
        return False
    answered = Counter(shorter.result_leaves)
    return all(answered[leaf] >= count for leaf, count in rest.items())


def closest(trial: PreparedTrial, passes: Sequence[PreparedTrial]) -> Difference:
    """The difference to the pass whose writes are nearest; the first of equals."""
    return min((difference(trial, reference) for reference in passes), key=lambda d: d.cost)


def _leaves_as(other: PreparedTrial, write: PreparedStep) -> bool:
    """Whether a write leaves its entity in the very state in which the other trial last saw or left it."""
    about = subject(write)
    if about is None or len(write.result_leaves) < SNAPSHOT_VALUES:
        return False
    seen = snapshots(other).get(about)
    return seen is not None and seen[-1].result_text == write.result_text


def _same_end_state(found: Sequence[PreparedStep], expected: Sequence[PreparedStep]) -> bool:
    """Whether the results of the last writes describe the same entities in the same state."""
    left, right = _snapshots(found), _snapshots(expected)
    return left is not None and left == right


def _snapshots(writes: Sequence[PreparedStep]) -> dict[str, str] | None:
    states: dict[str, str] = {}
    for step in writes:
        about = subject(step)
        if about is None or len(step.result_leaves) < SNAPSHOT_VALUES:
            return None
        if about not in step.result_values:
            return None
        states[about] = step.result_text
    return states or None


def _multiset_rest(left: Sequence[PreparedStep], right: Sequence[PreparedStep]) -> list[PreparedStep]:
    spare = Counter(map(key, right))
    rest = []
    for step in left:
        if spare[key(step)]:
            spare[key(step)] -= 1
        else:
            rest.append(step)
    return rest


def _in_order(found: Sequence[PreparedStep], expected: Sequence[PreparedStep]) -> list[PreparedStep]:
    """The writes, first those that stand in the order of the expected ones: where the trial has a write more
    often than the reference, the one out of that order is too many."""
    if len(set(map(key, found))) == len(found):
        return list(found)
    from rapidfuzz.distance import Levenshtein

    own = [key(step) for step in found]
    places: dict[str, set[int]] = {"equal": set(), "delete": set(), "replace": set()}
    for move in Levenshtein.opcodes(own, [key(step) for step in expected]):
        places.setdefault(move.tag, set()).update(range(move.src_start, move.src_end))
    kept = places["equal"]
    # Of equal writes with nothing of the order between them, the first is meant.
    following: int | None = None
    for at in reversed(range(len(own))):
        if at in places["delete"] and following is not None and own[following] == own[at]:
            kept.remove(following)
            kept.add(at)
        following = at if at in kept else following
    return [found[at] for at in (*sorted(kept), *sorted(set(range(len(found))) - kept))]


def _pair_up(
    missing: Sequence[PreparedStep], extra: Sequence[PreparedStep], found: Sequence[PreparedStep]
) -> tuple[tuple[Debt, ...], int]:
    debts: list[Debt] = []
    cost = 0
    pairs = sorted(
        (
            (FULL - _kinship(m, e), m.position, e.position, m, e)
            for m in missing[:MOST_DEBTS]
            for e in extra[:MOST_DEBTS]
        ),
        key=lambda row: row[:3],
    )
    taken: tuple[set[int], set[int]] = (set(), set())
    for far, place, at, expected, step in pairs:
        if place not in taken[0] and at not in taken[1] and far < FULL:
            taken[0].add(place)
            taken[1].add(at)
            same = expected.label == step.label
            kind = DebtKind.CHANGED if same else DebtKind.OTHER_TOOL
            debts.append(Debt(kind=kind, expected=expected, found=step))
            cost += weight(step) * far // FULL
    surplus = {step.position for step in extra}
    made = {key(other) for other in found if other.position not in surplus}
    first = {key(other): other.position for other in reversed(found)}
    for step in (step for step in extra if step.position not in taken[1]):
        twice = key(step) in made or first[key(step)] < step.position
        debts.append(Debt(kind=DebtKind.DUPLICATE if twice else DebtKind.EXTRA, found=step))
        cost += weight(step)
    for step in (step for step in missing if step.position not in taken[0]):
        debts.append(Debt(kind=DebtKind.MISSING, expected=step))
        cost += weight(step)
    return tuple(_earliest(debts)), cost


def _earliest(debts: Sequence[Debt]) -> list[Debt]:
    """The debts of the earliest writes that were made, and of the earliest that are missing."""
    if len(debts) <= MOST_DEBTS:
        return list(debts)
    made = sorted(debt.found.position for debt in debts if debt.found is not None)[:MOST_DEBTS]
    owed = [d.expected.position for d in debts if d.found is None and d.expected is not None]
    kept, missed = set(made), set(sorted(owed)[:MOST_DEBTS])
    return [
        debt
        for debt in debts
        if (debt.found is not None and debt.found.position in kept)
        or (debt.found is None and debt.expected is not None and debt.expected.position in missed)
    ]


def _kinship(expected: PreparedStep, step: PreparedStep) -> int:
    """How likely the trial's write stands in the place of the pass's: the same tool, or the same entity."""
    alike = argument_likeness(expected, step)
    if expected.label == step.label:
        return 500 + alike * 450 // FULL
    return 300 if entities(expected) & entities(step) else 0


def _order_debts(found: Sequence[PreparedStep], expected: Sequence[PreparedStep]) -> tuple[Debt, ...]:
    """Equal writes in another order, where two of them touch the same entity."""
    place = {key(step): number for number, step in enumerate(expected)}
    both = [step for step in found if key(step) in place]
    # For each entity the earliest place that a later write on it has: read from the end.
    least: dict[str, int] = {}
    swapped: PreparedStep | None = None
    for step in reversed(both):
        here, about = place[key(step)], entities(step)
        if any(least.get(entity, here) < here for entity in about):
            swapped = step
        for entity in about:
            least[entity] = min(here, least.get(entity, here))
    if swapped is None:
        return ()
    return (Debt(kind=DebtKind.ORDER, expected=expected[place[key(swapped)]], found=swapped),)
