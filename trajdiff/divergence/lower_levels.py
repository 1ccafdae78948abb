"""Levels below writes: answers and endings of its own, results that differ, reads and facts that passes share.

They separate less well than writes, so the report uses each only where held-out passes do not trip over it.
What passes have in common takes two of them at least: one shows no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from trajdiff.align.memo import once
from trajdiff.align.mentions import mentions
from trajdiff.align.order import changes, entities
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.divergence.answers import other_answer
from trajdiff.divergence.case import Case, Suspect
from trajdiff.divergence.common_answers import LEVEL as COMMON
from trajdiff.divergence.common_answers import without_the_common_answer
from trajdiff.divergence.endings import own_ending
from trajdiff.divergence.finding import Blame, Kind
from trajdiff.divergence.ledger import effective_writes, key, standing
from trajdiff.divergence.places import place_of_call, reads, required_read
from trajdiff.model import Effect

#: Passes that must agree before a level below writes says anything.
AGREEING = 2


def lower_levels(case: Case) -> Suspect | None:
    """The first level below writes that separates the trial from all passes, or None."""
    rules: list[tuple[str, Callable[[Case], Suspect | None]]] = [
        ("endings", own_ending), (COMMON, without_the_common_answer),
    ]  # fmt: skip
    if case.witnesses >= AGREEING:
        rules += [("answers", other_answer), ("results", other_result), ("facts", _fact), ("reads", _read)]
    found = []
    for level, rule in rules:
        suspect = rule(case) if case.may_use(level) else None
        if suspect is not None:
            case.relies_on(level)
            found.append(suspect)
    return min(found, key=lambda s: (s.root, s.manifest, s.kind), default=None)


@once
def told(trial: PreparedTrial) -> frozenset[str]:
    """Values that the agent states in its messages and that the user did not bring up."""
    own: set[str] = set()
    given: set[str] = set()
    for step in trial.steps:
        if step.is_message:
            (own if step.by_agent else given).update(step.commitments - (set() if step.by_user else given))
    return frozenset(own - given)


def other_result(case: Case) -> Suspect | None:
    """The same call with another result than in every pass, with no write of the trial's own before it that
    touches the same entity; where there is one that the trial tried twice, the second try."""
    answers = [_answers(trial) for trial in case.passes]
    # A write answers with new ids of its own; what it did shows in later reads.
    for step in reads(case.failing):
        if step.folded:
            continue
        theirs = [known.get(step.call_key, frozenset()) for known in answers]
        if any(step.result_text in known for known in theirs):
            continue
        shared = frozenset.intersection(*theirs)
        if not shared or _later_answers(case.failing, step) & shared:
            continue
        before = [s for s in case.failing.calls if s.position < step.position]
        own = [s for s in before if _touches(s, step)]
        if not own and any(changes(s) and s.effect is Effect.WRITE for s in before):
            # A write may change more than the entity it names: the environment is not accused.
            return None
        expected = next(s for s in case.passes[0].calls if s.call_key == step.call_key)
        if not own:
            return Suspect(
                kind=Kind.RESULT_DIFFERENCE, actor=Blame.ENVIRONMENT, root=step.position,
                manifest=step.position, level="results", tool=step.step.name, expected=expected,
                reference=case.passes[0],
            )  # fmt: skip
        twice = next((s for s in own if any(o.call_key == s.call_key for o in own if o is not s)), None)
        if twice is None:
            return None
        again = [s for s in own if s.call_key == twice.call_key][1]
        return Suspect(
            kind=Kind.DUPLICATE_WRITE, actor=Blame.AGENT, root=again.position, manifest=step.position,
            level="results", tool=again.step.name, expected=expected, reference=case.passes[0],
        )  # fmt: skip
    return None


@once
def _answers(trial: PreparedTrial) -> Mapping[str, frozenset[str]]:
    """All results that a trial got for each of its calls, by their identity."""
    return {
        key: frozenset([step.result_text for step in same if not step.failed])
        for key, same in trial.calls_by_key.items()
    }


def _later_answers(trial: PreparedTrial, call: PreparedStep) -> frozenset[str]:
    """All results that a trial got for a call of its own when it made it again."""
    same = trial.calls_by_key.get(call.call_key, ())
    return frozenset([s.result_text for s in same if s.position > call.position and not s.failed])


def _touches(write: PreparedStep, read: PreparedStep) -> bool:
    # A refused write may have taken effect all the same (a time-out): it counts as a touch.
    return write.effect in (Effect.WRITE, Effect.UNKNOWN) and bool(entities(write) & entities(read))


def _fact(case: Case) -> Suspect | None:
    """A value that every pass tells the user and the trial never does, where it tells one instead that no
    pass has: its place is the message that stands where the passes tell theirs."""
    shared = frozenset.intersection(*(told(trial) for trial in case.passes))
    missing = sorted(shared - _stated(case.failing)) if shared else ()
    if not missing:
        return None
    talk = [s for s in case.steps if s.is_message and s.by_agent and _tells_otherwise(case, s)]
    if not talk:
        return None
    teller = _teller(case.passes[0], missing[0])
    column = case.column_of(case.passes[0], teller) if teller is not None else None
    there = (s for s in talk if column is not None and case.column_at.get(s.position) == column)
    place = next(there, talk[-1])
    return Suspect(
        kind=Kind.WRONG_ANSWER, actor=Blame.AGENT, root=place.position, manifest=place.position, level="facts",
        expected=teller, reference=case.passes[0], expected_value=missing[0],
    )  # fmt: skip


def _tells_otherwise(case: Case, message: PreparedStep) -> bool:
    """Whether a message states a value that no pass has anywhere in its messages: saying less than the passes
    is no other answer."""
    return bool(mentions(message.text).values.difference(*map(_stated, case.passes)))


@once
def _stated(trial: PreparedTrial) -> frozenset[str]:
    """All values that stand in the messages of a trial."""
    return frozenset[str]().union(*(mentions(step.text).values for step in trial.messages))


def _teller(trial: PreparedTrial, value: str) -> PreparedStep | None:
    return next(
        (s for s in reversed(trial.steps) if s.is_message and s.by_agent and value in s.commitments), None
    )


def _read(case: Case) -> Suspect | None:
    """A look that every pass takes and the trial does not: at what it is about to write, before the write; or
    a read with the same arguments everywhere, of a tool that the trial never calls."""
    skipped = skipped_guard(case)
    if skipped is not None:
        return skipped
    read = required_read(case, case.passes[0], None)
    if read is None:
        return None
    place = place_of_call(case, case.passes[0], read)
    if place is None:
        return None
    return Suspect(
        kind=Kind.MISSING_STEP, actor=Blame.AGENT, root=place.position, manifest=place.position, level="reads",
        tool=read.step.name, expected=read, reference=case.passes[0],
    )  # fmt: skip


def skipped_guard(case: Case) -> Suspect | None:
    """A read of a write's entity that stands before that write in every pass and not in the trial: once the
    write is done the look comes too late, even where the write is right."""
    reference = case.passes[0]
    for write in effective_writes(case.failing):
        others = [(trial, standing(trial).get(key(write))) for trial in case.passes]
        places = [(trial, other.position) for trial, other in others if other is not None]
        if len(places) < len(others):
            continue
        for read in reads(reference):
            if entities(read).isdisjoint(entities(write)):
                continue
            if not _looked(case.failing, read, write.position) and all(
                _looked(t, read, at) for t, at in places
            ):
                place = place_of_call(case, reference, read)
                root = min(place.position, write.position) if place is not None else write.position
                return Suspect(
                    kind=Kind.MISSING_STEP, actor=Blame.AGENT, root=root, manifest=write.position,
                    level="reads", tool=read.step.name, expected=read, reference=reference,
                )  # fmt: skip
    return None


def _looked(trial: PreparedTrial, read: PreparedStep, before: int) -> bool:
    """Whether a trial makes a read with success before a position."""
    same = trial.calls_by_key.get(read.call_key, ())
    return any(step.position < before and not step.failed for step in same)
