"""Suspects for writes that passes made and the trial does not have at the end: where it went on without."""

from __future__ import annotations

from collections.abc import Iterator

from trajdiff.align.order import changes
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.divergence.case import Case, Suspect
from trajdiff.divergence.finding import Blame, Kind
from trajdiff.divergence.ledger import Debt, DebtKind, Difference, subject
from trajdiff.divergence.lower_levels import AGREEING, other_result
from trajdiff.divergence.no_effect import had_no_effect
from trajdiff.divergence.offers import agreed_offer, claimed_done
from trajdiff.divergence.places import before_it, place_of_call, required_read, went_on
from trajdiff.divergence.provenance import commitment
from trajdiff.divergence.users import declined, kept_back, left_no_turn
from trajdiff.divergence.writes_made import suspect_for
from trajdiff.frozen import replace


def missing_suspects(case: Case, difference: Difference, debt: Debt) -> Iterator[Suspect]:
    """Suspects for a write that passes made and the trial does not have at the end."""
    if debt.kind is not DebtKind.MISSING or debt.expected is None:
        return
    write, reference = debt.expected, difference.reference
    read = required_read(case, reference, write)
    missing = read if read is not None else write
    place = place_of_call(case, reference, missing)
    if place is not None:
        yield (
            _by_user(case, place, missing, write, reference)
            or _by_another_result(case, place)
            or _by_attempts(case, difference, place, missing, write)
            or _by_agent(case, place, missing, write, reference)
        )


def _by_user(
    case: Case, place: PreparedStep, missing: PreparedStep, write: PreparedStep, reference: PreparedTrial
) -> Suspect | None:
    """Where the user kept an input back, said no, or left no turn for the call."""
    kept = kept_back(case, missing, write)
    if kept is not None and kept.known is not None:
        found = _missing(Kind.USER_DEVIATION, Blame.USER, kept.answer.position, missing, reference)
        return replace(found, denied=kept.known)
    after = went_on(case, kept.answer.position) if kept is not None else None
    if after is not None:
        return _missing(Kind.MISSING_STEP, Blame.AGENT, after.position, missing, reference)
    no = declined(case, place)
    if no is not None:
        found = _missing(Kind.USER_DEVIATION, Blame.USER, no.position, missing, reference)
        return replace(found, said=_declined_words(missing))
    left = left_no_turn(case, write)
    return _missing(Kind.USER_DEVIATION, Blame.USER, left.position, missing, reference) if left else None


def _by_another_result(case: Case, place: PreparedStep) -> Suspect | None:
    """Where the environment had answered otherwise before."""
    usable = case.may_use("results") and case.witnesses >= AGREEING
    other = other_result(case) if usable else None
    if other is None or other.root >= place.position:
        return None
    case.relies_on("results")
    return replace(other, manifest=place.position)


def _by_attempts(
    case: Case, difference: Difference, place: PreparedStep, missing: PreparedStep, write: PreparedStep
) -> Suspect | None:
    """Where the write was tried: without effect, or refused and left at that or reported as done."""
    reference = difference.reference
    idle = next((s for s in case.failing.calls if s.label == write.label and had_no_effect(s)), None)
    if missing is write and idle is not None and subject(write) in (None, subject(idle)):
        return _missing(Kind.INEFFECTIVE_WRITE, Blame.AGENT, idle.position, write, reference)
    refused = _refused_attempt(case, write)
    if refused is None:
        return None
    told = claimed_done(case, write)
    if told is not None and told.position > refused.position and refused.call_key in case.calls_of_passes:
        found = _missing(Kind.MISSING_STEP, Blame.AGENT, told.position, write, reference)
        return replace(found, sure=True)
    gave_up = next(case.agent_steps(refused.position), refused)
    if missing is write and gave_up.position >= place.position:
        found = _never_repaired(case, difference, write, refused, gave_up)
        return replace(found, sure=told is not None and told.position > refused.position)
    return None


def _by_agent(
    case: Case, place: PreparedStep, missing: PreparedStep, write: PreparedStep, reference: PreparedTrial
) -> Suspect:
    """Where the agent went on without the call, or ended."""
    last = case.last_agent_step
    if last is not None and place.position >= last.position:
        return _missing(Kind.EARLY_STOP, Blame.AGENT, place.position, write, reference)
    found = _missing(Kind.MISSING_STEP, Blame.AGENT, place.position, missing, reference)
    return replace(found, sure=missing is write and _is_sure(case, reference, write, place))


def _is_sure(case: Case, reference: PreparedTrial, write: PreparedStep, place: PreparedStep) -> bool:
    """Whether the place of a missing write is more than a guess of the alignment: the user had agreed to the
    trial's own offer of it, which was not even tried, or it is reported as done there."""
    told = claimed_done(case, write)
    if told is not None and told.position == place.position:
        return True
    agreed = agreed_offer(case, write)
    refused = _refused_attempt(case, write)
    if agreed is None or (refused is not None and refused.position > agreed):
        return False
    start = max(agreed, before_it(case, reference, write) or 0)
    return next((s for s in case.agent_steps(start) if not s.is_call or changes(s)), None) is place


def _never_repaired(
    case: Case, difference: Difference, write: PreparedStep, refused: PreparedStep, gave_up: PreparedStep
) -> Suspect:
    """A refused attempt that the trial left at that: its arguments where no pass tries such a call, else the
    step that gave up."""
    if refused.call_key in case.calls_of_passes:
        return _missing(Kind.UNRECOVERED_ERROR, Blame.AGENT, gave_up.position, write, difference.reference)
    theirs, own = set(write.argument_leaves), set(refused.argument_leaves)
    differing = [leaf for leaf in refused.argument_leaves if leaf not in theirs]
    expected = [leaf for leaf in write.argument_leaves if leaf not in own]
    if not differing:
        return _missing(Kind.UNRECOVERED_ERROR, Blame.AGENT, gave_up.position, write, difference.reference)
    debt = Debt(kind=DebtKind.CHANGED, expected=write, found=refused)
    found = commitment(case, refused, differing, expected)
    return suspect_for(case, difference, debt, Kind.WRONG_ARGUMENT, found)


def _declined_words(missing: PreparedStep) -> tuple[str, str]:
    """Headline and sentence for a user who says no where every pass's user says yes."""
    return (
        "says no where passed trials say yes",
        f"The user says no to what every passed trial's user says yes to; {missing.step.name} is missing.",
    )


def _missing(
    kind: Kind, actor: Blame, position: int, missing: PreparedStep, reference: PreparedTrial
) -> Suspect:
    return Suspect(
        kind=kind, actor=actor, root=position, manifest=position, level="write", tool=missing.step.name,
        expected=missing, reference=reference,
    )  # fmt: skip


def _refused_attempt(case: Case, write: PreparedStep) -> PreparedStep | None:
    """The last refused attempt at a missing write, when the trial never got it done."""
    attempts = [s for s in case.failing.calls if s.failed and s.label == write.label]
    return attempts[-1] if attempts else None
