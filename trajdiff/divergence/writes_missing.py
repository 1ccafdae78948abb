"""Suspects for writes that passes made and the trial does not have at the end: where it went on without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from trajdiff.align.language import acts, clauses, declines
from trajdiff.align.mentions import states
from trajdiff.align.order import changes, entities
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.align.values import words
from trajdiff.divergence.case import Case, Suspect
from trajdiff.divergence.finding import Blame, Kind
from trajdiff.divergence.ledger import Debt, DebtKind, Difference, subject
from trajdiff.divergence.lower_levels import AGREEING, other_result
from trajdiff.divergence.no_effect import had_no_effect
from trajdiff.divergence.places import (
    agreed_offer,
    claimed_done,
    first_seen,
    offers_missing,
    place_of_call,
    required_read,
    went_on,
)
from trajdiff.divergence.provenance import commitment, consents, shared_offer
from trajdiff.divergence.writes_made import suspect_for


def missing_suspects(case: Case, difference: Difference, debt: Debt) -> Iterator[Suspect]:
    """Suspects for a write that passes made and the trial does not have at the end."""
    if debt.kind is not DebtKind.MISSING or debt.expected is None:
        return
    write, reference = debt.expected, difference.reference
    read = required_read(case, reference, write)
    missing = read if read is not None else write
    place = place_of_call(case, reference, missing)
    if place is None:
        return
    denied = _denied(case, missing, write, reference)
    if denied is not None:
        yield denied
        return
    declined = _declined(case, place)
    if declined is not None:
        found = _missing(Kind.USER_DEVIATION, Blame.USER, declined.position, missing, reference)
        yield replace(found, said=_declined_words(missing))
        return
    usable = case.may_use("results") and case.witnesses >= AGREEING
    other = other_result(case) if usable else None
    if other is not None and other.root < place.position:
        case.relies_on("results")
        yield replace(other, manifest=place.position)
        return
    left = _user_left(case, write)
    if read is None and left is not None:
        yield _missing(Kind.USER_DEVIATION, Blame.USER, left, missing, reference)
        return
    idle = next((s for s in case.failing.calls if s.label == write.label and had_no_effect(s)), None)
    if read is None and idle is not None and subject(write) in (None, subject(idle)):
        yield _missing(Kind.INEFFECTIVE_WRITE, Blame.AGENT, idle.position, write, reference)
        return
    refused = _refused_attempt(case, write)
    told = claimed_done(case, write)
    if refused is not None and told is not None and told.position > refused.position:
        yield _missing(Kind.MISSING_STEP, Blame.AGENT, told.position, write, reference)
        return
    gave_up = next(case.agent_steps(refused.position), refused) if refused is not None else None
    last = case.last_agent_step
    if read is None and refused is not None and gave_up is not None and gave_up.position >= place.position:
        yield _never_repaired(case, difference, write, refused, gave_up)
    elif last is not None and place.position >= last.position:
        yield _missing(Kind.EARLY_STOP, Blame.AGENT, place.position, write, reference)
    else:
        sure = read is None and _is_sure(case, write, place)
        yield replace(_missing(Kind.MISSING_STEP, Blame.AGENT, place.position, missing, reference), sure=sure)


def _is_sure(case: Case, write: PreparedStep, place: PreparedStep) -> bool:
    """Whether the place of a missing write is more than a guess of the alignment: the user had agreed to the
    trial's own offer of it, or it is reported as done there."""
    told = claimed_done(case, write)
    if told is not None and told.position == place.position:
        return True
    agreed = agreed_offer(case, write)
    if agreed is None:
        return False
    behind = (step for step in case.agent_steps(agreed) if not step.is_call or changes(step))
    return next(behind, None) is place


def _never_repaired(
    case: Case, difference: Difference, write: PreparedStep, refused: PreparedStep, gave_up: PreparedStep
) -> Suspect:
    """A refused attempt that the trial left at that: its arguments where no pass tries such a call, else the
    step that gave up."""
    if any(step.call_key == refused.call_key for trial in case.passes for step in trial.calls):
        return _missing(Kind.UNRECOVERED_ERROR, Blame.AGENT, gave_up.position, write, difference.reference)
    theirs, own = set(write.argument_leaves), set(refused.argument_leaves)
    differing = [leaf for leaf in refused.argument_leaves if leaf not in theirs]
    expected = [leaf for leaf in write.argument_leaves if leaf not in own]
    if not differing:
        return _missing(Kind.UNRECOVERED_ERROR, Blame.AGENT, gave_up.position, write, difference.reference)
    debt = Debt(kind=DebtKind.CHANGED, expected=write, found=refused)
    found = commitment(case, refused, differing, expected)
    return suspect_for(case, difference, debt, Kind.WRONG_ARGUMENT, found)


def _denied(case: Case, missing: PreparedStep, write: PreparedStep, reference: PreparedTrial) -> Suspect | None:
    """Where the inputs of a missing call never came up because the user said not to know them when asked: the
    user's message where the script has them, else the agent step that took no for an answer."""
    # What a missing look is asked with may be a name or a number of any kind; of a write only what it is about.
    looked = missing.argument_leaves if missing is not write else ()
    needed = [*looked, *((p, v) for p, v in write.argument_leaves if v in entities(write))]
    unseen = [(p, v) for p, v in needed if first_seen(case.failing, v) is None]
    if not unseen:
        return None
    for step, answer in pairwise(s for s in case.steps if s.is_message):
        if not (step.by_agent and "ask" in step.acts and answer.by_user and "deny" in answer.acts):
            continue
        denied = [(p, v) for p, v in unseen if _denies(answer, p)]
        known = [(p, v) for p, v in denied if case.task.script and states(case.task.script, v, p)]
        if known:
            found = _missing(Kind.USER_DEVIATION, Blame.USER, answer.position, missing, reference)
            return replace(found, denied=_name(known[0][0]))
        after = went_on(case, answer.position) if denied else None
        if after is not None:
            return _missing(Kind.MISSING_STEP, Blame.AGENT, after.position, missing, reference)
    return None


def _declined_words(missing: PreparedStep) -> tuple[str, str]:
    """Headline and sentence for a user who says no where every pass's user says yes."""
    return (
        "says no where passed trials say yes",
        f"The user says no to what every passed trial's user says yes to; {missing.step.name} is missing.",
    )


def _declined(case: Case, place: PreparedStep) -> PreparedStep | None:
    """The user's no before the place of a missing call, to the very question to which every pass's user
    says yes."""
    talk = [s for s in case.steps[: place.position] if s.is_message]
    if case.borrowed or len(talk) < 2 or not (talk[-1].by_user and talk[-2].by_agent):
        return None
    asked, answer = talk[-2:]
    column = case.column_at.get(asked.position)
    if column is None or not declines(answer.text) or not shared_offer(case, asked):
        return None
    for number, trial in enumerate(case.passes):
        position = case.graph.columns[column].position(number)
        theirs = trial.steps[position + 1 :] if position is not None else ()
        reply = next((s for s in theirs if s.is_message), None)
        if reply is None or not reply.by_user or not consents(reply):
            return None
    return answer


def _name(path: str) -> str:
    return path.replace("[]", "").rsplit(".", 1)[-1]


def _denies(answer: PreparedStep, path: str) -> bool:
    """Whether a message says not to have what an argument is called by."""
    name = words(_name(path))
    return any("deny" in acts(clause) and _has_words(clause, name) for clause in clauses(answer.text))


def _has_words(clause: str, name: Sequence[str]) -> bool:
    """Whether a clause has all words of a name; in text without spaces a word may stand anywhere."""
    said = set(words(clause))
    return all(word in said or (not word.isascii() and word in clause) for word in name)


def _missing(
    kind: Kind, actor: Blame, position: int, missing: PreparedStep, reference: PreparedTrial
) -> Suspect:
    return Suspect(
        kind=kind, actor=actor, root=position, manifest=position, level="write", tool=missing.step.name,
        expected=missing, reference=reference,
    )  # fmt: skip


def _user_left(case: Case, write: PreparedStep) -> int | None:
    """Position of the user's message behind the agent's last one, when that offers the missing write: the user
    ended the trial and left no turn for it."""
    last = case.last_agent_step
    if last is None or not last.is_message or not offers_missing(case, last, write):
        return None
    answer = next((s for s in case.steps[last.position + 1 :] if s.is_message and s.by_user), None)
    agreed = answer is not None and consents(answer)
    return answer.position if answer is not None and (agreed or "ask" in last.acts) else None


def _refused_attempt(case: Case, write: PreparedStep) -> PreparedStep | None:
    """The last refused attempt at a missing write, when the trial never got it done."""
    attempts = [s for s in case.failing.calls if s.failed and s.label == write.label]
    return attempts[-1] if attempts else None
