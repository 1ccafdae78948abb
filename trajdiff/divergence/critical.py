"""The rule for "critical": the earliest debt that is open at the end and reaches the difference in outcome.

Read top to bottom: what the trial did that no pass did, then how it ended and what it owes, then the levels
below writes, which are used only where held-out passes do not trip over them. A write that was made stands
before one that is missing, whatever their order: the place of a missing step is the weakest of all answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from trajdiff.align.language import acts, clauses
from trajdiff.align.mentions import states
from trajdiff.align.order import changes, entities
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.align.similarity import UNLIKE
from trajdiff.align.values import changed_paths, words
from trajdiff.divergence.case import Case, Suspect
from trajdiff.divergence.endings import ending
from trajdiff.divergence.finding import Blame, Kind
from trajdiff.divergence.ledger import Debt, DebtKind, Difference, closest, effective_writes, subject
from trajdiff.divergence.lower_levels import AGREEING, lower_levels, other_result
from trajdiff.divergence.places import (
    agreed_offer,
    claimed_done,
    first_seen,
    offers_missing,
    place_of_call,
    required_read,
    unmade_reads,
    went_on,
)
from trajdiff.divergence.provenance import Commitment, commitment, consents
from trajdiff.model import Verdict


def earliest(case: Case) -> Suspect | None:
    """The earliest critical divergence of a failing trial, or None where nothing separates it."""
    if case.failing.trial.verdict is Verdict.INFRA or not case.common_ground:
        return None
    debts = closest(case.failing, case.passes)
    done = [suspect for debt in debts.debts for suspect in _done(case, debts, debt)]
    owed = [suspect for debt in debts.debts for suspect in _owed(case, debts, debt)]
    if done:
        return min((*done, *(s for s in owed if s.sure)), key=_order)
    end = ending(case, bool(owed))
    if end is not None and not any(_before(suspect, end) for suspect in owed):
        return end
    if owed:
        return min(owed, key=_order)
    return lower_levels(case)


def _before(suspect: Suspect, end: Suspect) -> bool:
    """Whether something was missing before the trial's ending explains it; where the harness ended the trial,
    only what the agent had gone past already."""
    if end.kind is Kind.INFRASTRUCTURE:
        return suspect.kind is not Kind.EARLY_STOP
    return suspect.root < end.root


def _order(suspect: Suspect) -> tuple[int, int, str]:
    return suspect.root, suspect.manifest, suspect.kind


def _done(case: Case, difference: Difference, debt: Debt) -> Iterator[Suspect]:
    """Suspects for a write that the trial made and no pass did."""
    if debt.found is None:
        return
    call = debt.found
    if debt.kind in (DebtKind.DUPLICATE, DebtKind.ORDER):
        kind = Kind.DUPLICATE_WRITE if debt.kind is DebtKind.DUPLICATE else Kind.WRONG_ORDER
        yield _suspect(case, difference, debt, kind, Commitment(position=call.position, by="call"))
        return
    theirs = {leaf for trial in case.passes for w in effective_writes(trial) for leaf in w.argument_leaves}
    differing = [leaf for leaf in call.argument_leaves if leaf not in theirs]
    own = set(call.argument_leaves)
    expected = [leaf for leaf in debt.expected.argument_leaves if leaf not in own] if debt.expected else []
    if debt.kind is DebtKind.CHANGED:
        kind = Kind.WRONG_ARGUMENT
    else:
        kind = Kind.EXTRA_WRITE if debt.kind is DebtKind.EXTRA else Kind.WRONG_TOOL
        # Passes make no such call: values that the trial merely read (what is there already) announce nothing.
        read = {v for s in case.steps[: call.position] if s.is_call for _, v in s.result_leaves}
        differing, expected = [leaf for leaf in differing if leaf[1] not in read], []
    found = commitment(case, call, differing, expected)
    if debt.kind is not DebtKind.CHANGED and found.by in ("call", "consent"):
        other = _unlike_any_pass(case, found) if debt.kind is DebtKind.OTHER_TOOL else None
        found = _wish(case, call) or other or found
    suspect = _suspect(case, difference, debt, kind, found)
    known = debt.expected is not None or len(case.passes) >= AGREEING
    skipped = _skipped_read(case, difference, call, expected) if known else None
    yield skipped if skipped is not None and skipped.root <= suspect.root else suspect


def _suspect(case: Case, difference: Difference, debt: Debt, kind: Kind, found: Commitment) -> Suspect:
    call = debt.found
    assert call is not None
    actor, level = Blame.AGENT, "write"
    tool = call.step.name
    if found.by == "user":
        kind, actor = Kind.USER_DEVIATION, Blame.USER
    elif found.by == "result":
        kind, actor = Kind.RESULT_DIFFERENCE, Blame.ENVIRONMENT
        tool = case.steps[found.position].step.name
    expected = debt.expected
    path, value, theirs = found.path, found.value, None
    if expected is not None and debt.kind is DebtKind.CHANGED:
        changed = changed_paths(expected.arguments, call.arguments)
        path = path if path and path.split("[")[0] in changed else next(iter(changed), path)
        theirs = _at(expected, path)
        value = _at(call, path) or value
    return Suspect(
        kind=kind, actor=actor, root=found.position, manifest=call.position, level=level, tool=tool,
        expected=expected, reference=difference.reference, path=path, value=value, expected_value=theirs,
        instead=expected.step.name if expected is not None and kind is Kind.WRONG_TOOL else None,
        announced=found.by in ("announcement", "consent"),
    )  # fmt: skip


def _at(step: PreparedStep, path: str | None) -> str | None:
    found = [value for at, value in step.argument_leaves if at == path or at.split("[")[0] == path]
    return ", ".join(found) if found else None


def _skipped_read(
    case: Case, difference: Difference, call: PreparedStep, expected: Sequence[tuple[str, str]]
) -> Suspect | None:
    """A read that every pass makes and the trial never does before its write: it looks at the entity that is
    written, or brings a value that the passes' write has and the trial's lacks."""
    values = {value for _, value in expected}
    if len(case.passes) < AGREEING:
        # What one pass reads may be by the way: only a value that the trial never read needs it.
        values -= {value for s in case.steps[: call.position] if s.is_call for _, value in s.result_leaves}
    about = subject(call)
    for read in unmade_reads(case, difference.reference):
        looks = about is not None and subject(read) == about
        if not looks and not any(value in values for _, value in read.result_leaves):
            continue
        place = place_of_call(case, difference.reference, read)
        if place is not None and place.position <= call.position:
            return Suspect(
                kind=Kind.MISSING_STEP, actor=Blame.AGENT, root=place.position, manifest=call.position,
                level="write", tool=read.step.name, expected=read, reference=difference.reference,
            )  # fmt: skip
    return None


def _wish(case: Case, call: PreparedStep) -> Commitment | None:
    """The user's own wish for a call that no pass makes: the first user message that names the act, when no
    pass's user names it and the idea is not the agent's."""
    scripted = case.task.script is not None and case.names_act(case.task.script, call)
    if case.borrowed or scripted or any(_names(case, t.steps, call, by_user=True) for t in case.passes):
        return None
    before = case.steps[: call.position]
    wish = _names(case, before, call, by_user=True)
    idea = _names(case, before, call, by_user=False)
    shared = any(_names(case, trial.steps, call, by_user=False) for trial in case.passes)
    if wish is None or consents(wish) or (idea is not None and idea.position < wish.position and not shared):
        return None
    return Commitment(position=wish.position, by="user")


def _unlike_any_pass(case: Case, found: Commitment) -> Commitment | None:
    """The user's message that a call answers directly, when no pass's user says anything like it. Only used
    where passes make another call in this one's place, so that somebody must have changed the subject."""
    if case.borrowed:
        return None
    before = [s for s in case.steps[: found.position] if s.is_message]
    if not before or not before[-1].by_user or consents(before[-1]):
        return None
    theirs = [s for trial in case.passes for s in trial.steps if s.is_message and s.by_user]
    alike = max((case.graph.costs.likeness(before[-1], other) for other in theirs), default=1000)
    return Commitment(position=before[-1].position, by="user") if alike < UNLIKE else None


def _names(
    case: Case, steps: Sequence[PreparedStep], call: PreparedStep, *, by_user: bool
) -> PreparedStep | None:
    told = (s for s in steps if s.is_message and s.by_user == by_user)
    return next((s for s in told if case.names_act(s.text, call)), None)


def _owed(case: Case, difference: Difference, debt: Debt) -> Iterator[Suspect]:
    """Suspects for a write that passes made and the trial does not have at the end."""
    if debt.kind is not DebtKind.MISSING or debt.expected is None:
        return
    write, reference = debt.expected, difference.reference
    read = required_read(case, reference, write)
    missing = read if read is not None else write
    place = place_of_call(case, reference, missing)
    if place is None:
        return
    denied = _denied(case, (missing, write))
    if denied is not None:
        position, by_user = denied
        kind, actor = (Kind.USER_DEVIATION, Blame.USER) if by_user else (Kind.MISSING_STEP, Blame.AGENT)
        yield _missing(kind, actor, position, missing, reference)
        return
    usable = case.may_use("results") and len(case.passes) >= AGREEING
    other = other_result(case) if usable else None
    if other is not None and other.root < place.position:
        case.relies_on("results")
        yield replace(other, manifest=place.position)
        return
    left = _user_left(case, write)
    if read is None and left is not None:
        yield _missing(Kind.USER_DEVIATION, Blame.USER, left, missing, reference)
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
    return _suspect(case, difference, debt, Kind.WRONG_ARGUMENT, found)


def _denied(case: Case, missing: Sequence[PreparedStep]) -> tuple[int, bool] | None:
    """Where the inputs of a missing call never came up because the user said not to know them when asked: the
    user's message where the script has them, else the agent step that took no for an answer."""
    needed = [(p, v) for call in missing for p, v in call.argument_leaves if v in entities(call)]
    unseen = [(p, v) for p, v in needed if first_seen(case.failing, v) is None]
    if not unseen:
        return None
    for step, answer in pairwise(s for s in case.steps if s.is_message):
        if not (step.by_agent and "ask" in step.acts and answer.by_user and "deny" in answer.acts):
            continue
        for path, value in unseen:
            name = set(words(path.replace("[]", "").rsplit(".", 1)[-1]))
            if not any("deny" in acts(c) and name <= set(words(c)) for c in clauses(answer.text)):
                continue
            if case.task.script and states(case.task.script, value, path):
                return answer.position, True
            after = went_on(case, answer.position)
            return (after.position, False) if after is not None else None
    return None


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
