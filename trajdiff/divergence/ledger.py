"""What a trial left behind: its effective writes, and how they differ from a pass's.

A write counts when the tool did not refuse it and nothing later undid it: a state that was set again is the
last one set, a booking that was cancelled is none. Every entry of the difference is a debt that was still
open at the end of the trial.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from trajdiff.align.language import opposed
from trajdiff.align.order import conflict, entities
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.align.similarity import FULL, argument_likeness, weight
from trajdiff.align.values import is_reference, words
from trajdiff.divergence.effects import sets_state
from trajdiff.model import Effect

#: An entity counts as described by a write's result when it holds at least this many values: a bare "ok" says
#: nothing about the state.
SNAPSHOT_VALUES = 5


class DebtKind(StrEnum):
    """What is owed at the end."""

    MISSING = "missing"
    EXTRA = "extra"
    CHANGED = "changed"
    DUPLICATE = "duplicate"
    OTHER_TOOL = "other_tool"
    ORDER = "order"


@dataclass(frozen=True, kw_only=True)
class Debt:
    """One difference between the writes of a trial and those of a pass, open at the end.

    ``expected`` is the pass's write, ``found`` the trial's; one of them is None for missing and extra writes.
    """

    kind: DebtKind
    expected: PreparedStep | None = None
    found: PreparedStep | None = None


@dataclass(frozen=True, kw_only=True)
class Difference:
    """All debts of a trial against one pass; ``cost`` says how far apart the two are."""

    reference: PreparedTrial
    debts: tuple[Debt, ...]
    cost: int


def is_write(step: PreparedStep) -> bool:
    """Whether a call may have changed something: not refused, and not known to be harmless."""
    return (
        step.is_call
        and step.by_agent
        and not step.failed
        and step.step.result is not None
        and step.effect in (Effect.WRITE, Effect.UNKNOWN)
    )


def key(step: PreparedStep) -> str:
    """Identity of a write: semantic step and canonical arguments."""
    return f"{step.label}\0{step.argument_text}"


def subject(step: PreparedStep) -> str | None:
    """What a call is about: the reference among its arguments that its result names in the same way, else the
    first one in order of names (the order in which arguments were written means nothing)."""
    references = [(path, value) for path, value in step.argument_leaves if is_reference(path, value)]
    answered = set(step.result_leaves)
    return next((value for path, value in references if (path, value) in answered), None) or next(
        (value for _, value in references), None
    )


@dataclass(frozen=True, kw_only=True)
class Settled:
    """A trial's writes: those that still stand at the end, and (earlier, later) where one repaired another."""

    standing: tuple[PreparedStep, ...]
    repaired: tuple[tuple[PreparedStep, PreparedStep], ...]


def effective_writes(trial: PreparedTrial) -> tuple[PreparedStep, ...]:
    """The writes that still stand at the end of the trial, in order."""
    return settle(trial).standing


def settle(trial: PreparedTrial) -> Settled:
    """Follows the writes of a trial to its end: what was set again, undone or put back does not stand."""
    standing: list[PreparedStep] = []
    repaired: list[tuple[PreparedStep, PreparedStep]] = []
    first: dict[int, PreparedStep] = {}
    for step in trial.steps:
        if not is_write(step):
            continue
        undone = next((w for w in reversed(standing) if _undoes(step, w)), None)
        if undone is not None:
            standing.remove(undone)
            repaired.append((undone, step))
            continue
        replaced = [w for w in standing if _overwrites(step, w)]
        repaired += [(w, step) for w in replaced if key(w) != key(step)]
        first[step.position] = first[replaced[0].position] if replaced else step
        standing = [w for w in standing if w not in replaced]
        standing.append(step)
    kept = tuple(w for w in standing if not _restores(trial, first[w.position], w))
    return Settled(standing=kept, repaired=tuple(repaired))


def difference(trial: PreparedTrial, reference: PreparedTrial) -> Difference:
    """What the trial's effective writes owe against the reference's."""
    found, expected = effective_writes(trial), effective_writes(reference)
    if _same_end_state(found, expected):
        return Difference(reference=reference, debts=(), cost=0)
    extra = [w for w in _multiset_rest(found, expected) if not _leaves_as(reference, w)]
    missing = [w for w in _multiset_rest(expected, found) if not _leaves_as(trial, w)]
    if not extra and not missing:
        debts = _order_debts(found, expected)
        return Difference(reference=reference, debts=debts, cost=len(debts))
    debts, cost = _pair_up(missing, extra, found)
    return Difference(reference=reference, debts=debts, cost=cost)


def closest(trial: PreparedTrial, passes: Sequence[PreparedTrial]) -> Difference:
    """The difference to the pass whose writes are nearest; the first of equals."""
    return min((difference(trial, reference) for reference in passes), key=lambda d: d.cost)


def _leaves_as(other: PreparedTrial, write: PreparedStep) -> bool:
    """Whether a write leaves its entity in the very state in which the other trial last saw or left it."""
    about = subject(write)
    if about is None or len(write.result_leaves) < SNAPSHOT_VALUES:
        return False
    seen = [
        s
        for s in other.calls
        if not s.failed and subject(s) == about and len(s.result_leaves) >= SNAPSHOT_VALUES
    ]
    return bool(seen) and seen[-1].result_text == write.result_text


def _overwrites(later: PreparedStep, earlier: PreparedStep) -> bool:
    if later.label != earlier.label or not sets_state(later.step.name or ""):
        return False
    if later.argument_text == earlier.argument_text:
        return True
    about = subject(later)
    paths, old = ({path for path, _ in step.argument_leaves} for step in (later, earlier))
    return about is not None and about == subject(earlier) and old <= paths


def _restores(trial: PreparedTrial, first: PreparedStep, last: PreparedStep) -> bool:
    """Whether a run of settings ends where it began: what the last one set is what was read before the first,
    so that nothing has changed."""
    about = subject(last)
    if about is None or not sets_state(last.step.name or ""):
        return False
    before = [
        s
        for s in trial.steps[: first.position]
        if s.is_call and not s.failed and len(s.result_leaves) >= SNAPSHOT_VALUES and subject(s) == about
    ]
    if not before:
        return False
    if before[-1].result_text == last.result_text:
        return True
    known = [(path.rsplit(".", 1)[-1], value) for path, value in before[-1].result_leaves]
    return first is not last and all(
        value == about or _holds(known, path.rsplit(".", 1)[-1], value) for path, value in last.argument_leaves
    )


def _holds(known: Sequence[tuple[str, str]], name: str, value: str) -> bool:
    """Whether a state has the value: under the argument's name where the state has that name at all."""
    named = [found for at, found in known if at == name]
    return value in named if named else any(found == value for _, found in known)


def _undoes(later: PreparedStep, earlier: PreparedStep) -> bool:
    if not opposed(words(later.step.name or ""), words(earlier.step.name or "")):
        return False
    about = subject(later)
    made = {value for _, value in earlier.result_leaves}
    return about is not None and (about == subject(earlier) or about in made)


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
        if not any(value == about for _, value in step.result_leaves):
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


def _pair_up(
    missing: list[PreparedStep], extra: list[PreparedStep], found: Sequence[PreparedStep]
) -> tuple[tuple[Debt, ...], int]:
    debts: list[Debt] = []
    cost = 0
    pairs = sorted(
        ((FULL - _kinship(m, e), m.position, e.position, m, e) for m in missing for e in extra),
        key=lambda row: row[:3],
    )
    for far, _, _, expected, step in pairs:
        if expected in missing and step in extra and far < FULL:
            missing.remove(expected)
            extra.remove(step)
            same = expected.label == step.label
            kind = DebtKind.CHANGED if same else DebtKind.OTHER_TOOL
            debts.append(Debt(kind=kind, expected=expected, found=step))
            cost += weight(step) * far // FULL
    for step in extra:
        twice = any(other.position < step.position and key(other) == key(step) for other in found)
        debts.append(Debt(kind=DebtKind.DUPLICATE if twice else DebtKind.EXTRA, found=step))
        cost += weight(step)
    for step in missing:
        debts.append(Debt(kind=DebtKind.MISSING, expected=step))
        cost += weight(step)
    return tuple(debts), cost


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
    for number, step in enumerate(both):
        for later in both[number + 1 :]:
            swapped = place[key(step)] > place[key(later)]
            if swapped and (conflict(step, later) or entities(step) & entities(later)):
                return (Debt(kind=DebtKind.ORDER, expected=expected[place[key(step)]], found=step),)
    return ()
