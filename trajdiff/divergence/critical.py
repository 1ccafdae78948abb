"""The rule for "critical": the earliest debt that is open at the end and reaches the difference in outcome.

Read top to bottom: infrastructure first, then what the trial left behind (writes), then how it ended, then the
levels below writes, which are used only where held-out passes do not trip over them.
"""

from __future__ import annotations

from collections.abc import Iterator

from trajdiff.align.mentions import mentions
from trajdiff.align.prepared import PreparedStep
from trajdiff.align.values import changed_paths, words
from trajdiff.divergence.case import Case, Suspect
from trajdiff.divergence.finding import Blame, Kind
from trajdiff.divergence.ledger import Debt, DebtKind, Difference, closest, effective_writes, is_write
from trajdiff.divergence.lower_levels import lower_levels
from trajdiff.divergence.places import place_of_call, required_read
from trajdiff.divergence.provenance import Commitment, commitment
from trajdiff.model import LIMITS, Effect, Verdict

#: The same call with the same result this often is a loop.
LOOP = 3


def earliest(case: Case) -> Suspect | None:
    """The earliest critical divergence of a failing trial, or None where nothing separates it."""
    if case.failing.trial.verdict is Verdict.INFRA:
        return None
    debts = closest(case.failing, case.passes)
    done = [suspect for debt in debts.debts for suspect in _done(case, debts, debt)]
    if done:
        return min(done, key=_order)
    owed = [suspect for debt in debts.debts for suspect in _owed(case, debts, debt)]
    cut = _cut_off(case)
    if cut is not None and not any(s.kind is Kind.UNRECOVERED_ERROR for s in owed):
        return cut
    if owed:
        return min(owed, key=_order)
    return lower_levels(case)


def loop(steps: tuple[PreparedStep, ...]) -> PreparedStep | None:
    """The first repetition of a call that was made with the same result three times or more."""
    seen: dict[str, list[PreparedStep]] = {}
    for step in steps:
        if step.is_call and step.by_agent:
            seen.setdefault(step.full_key, []).append(step)
    loops = [found[1] for found in seen.values() if len(found) >= LOOP]
    return min(loops, key=lambda s: s.position, default=None)


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
    skipped = _skipped_guard(case, difference, call) if debt.kind is DebtKind.EXTRA else None
    theirs = {leaf for trial in case.passes for w in effective_writes(trial) for leaf in w.argument_leaves}
    differing = [leaf for leaf in call.argument_leaves if leaf not in theirs]
    expected = debt.expected.argument_leaves if debt.expected is not None else ()
    own = set(call.argument_leaves)
    if debt.kind is DebtKind.EXTRA:
        # Nothing of an unwanted write is in the passes' place: only values that the trial did not merely read
        # can announce it.
        read = {v for s in case.steps[: call.position] if s.is_call for _, v in s.result_leaves}
        differing = [leaf for leaf in differing if leaf[1] not in read]
    found = commitment(case, call, differing, [leaf for leaf in expected if leaf not in own])
    if debt.kind is DebtKind.EXTRA and found.by in ("call", "consent"):
        found = _new_wish(case, found) or found
    kind = {DebtKind.CHANGED: Kind.WRONG_ARGUMENT, DebtKind.OTHER_TOOL: Kind.WRONG_TOOL}.get(
        debt.kind, Kind.EXTRA_WRITE
    )
    suspect = _suspect(case, difference, debt, kind, found)
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


def _skipped_guard(case: Case, difference: Difference, call: PreparedStep) -> Suspect | None:
    """A read that every pass makes and that takes an identifier of the write, never made before it."""
    read = required_read(case, difference.reference, None)
    if read is None:
        return None
    wanted = {value for _, value in call.argument_leaves}
    if not any(value in wanted for _, value in read.argument_leaves):
        return None
    place = place_of_call(case, difference.reference, read)
    if place is None or place.position > call.position:
        return None
    return Suspect(
        kind=Kind.MISSING_STEP, actor=Blame.AGENT, root=place.position, manifest=call.position, level="read",
        tool=read.step.name, expected=read, reference=difference.reference,
    )  # fmt: skip


def _new_wish(case: Case, found: Commitment) -> Commitment | None:
    """A wish of the user, behind a refusal, that no pass's user has: the user left what passes share."""
    refused = [s for s in case.steps[: found.position] if s.is_message and s.by_agent and "refuse" in s.acts]
    if not refused:
        return None
    wish = next((s for s in case.steps[refused[-1].position + 1 :] if s.is_message and s.by_user), None)
    if wish is None or wish.position >= found.position:
        return None
    theirs = [s for trial in case.passes for s in trial.steps if s.is_message and s.by_user]
    alike = max((case.graph.costs.likeness(wish, other) for other in theirs), default=0)
    return Commitment(position=wish.position, by="user") if alike < 500 else None


def _owed(case: Case, difference: Difference, debt: Debt) -> Iterator[Suspect]:
    """Suspects for a write that passes made and the trial does not have at the end."""
    if debt.kind is not DebtKind.MISSING or debt.expected is None:
        return
    write, reference = debt.expected, difference.reference
    attempt = _failed_attempt(case, write)
    if attempt is not None:
        gave_up = next(case.agent_steps(attempt.position), attempt)
        yield Suspect(
            kind=Kind.UNRECOVERED_ERROR, actor=Blame.AGENT, root=gave_up.position, manifest=gave_up.position,
            level="write", tool=write.step.name, expected=write, reference=reference,
        )  # fmt: skip
        return
    read = required_read(case, reference, write)
    missing = read if read is not None else write
    place = place_of_call(case, reference, missing)
    if place is None:
        return
    left = _user_left(case, write)
    if left is not None and read is None:
        yield Suspect(
            kind=Kind.USER_DEVIATION, actor=Blame.USER, root=left.position, manifest=left.position,
            level="user",
            tool=write.step.name, expected=write, reference=reference,
        )  # fmt: skip
        return
    last = case.last_agent_step
    ended = last is not None and place.position >= last.position
    kind = Kind.EARLY_STOP if ended and read is None else Kind.MISSING_STEP
    yield Suspect(
        kind=kind, actor=Blame.AGENT, root=place.position, manifest=place.position, level="write",
        tool=missing.step.name, expected=missing, reference=reference,
    )  # fmt: skip


def _failed_attempt(case: Case, write: PreparedStep) -> PreparedStep | None:
    """The last refused attempt at a missing write, when the trial never got it done."""
    attempts = [s for s in case.failing.calls if s.failed and s.label == write.label]
    return attempts[-1] if attempts else None


def _user_left(case: Case, write: PreparedStep) -> PreparedStep | None:
    """The user's last message, when it ends the trial right behind the offer of the missing write."""
    talk = [s for s in case.steps if s.is_message]
    if len(talk) < 2 or not talk[-1].by_user or not talk[-2].by_agent:
        return None
    offer = talk[-2]
    if offer.position != (case.last_agent_step or offer).position or "done" in offer.acts:
        return None
    names = {word for word in words(write.step.name or "") if len(word) > 3}
    return talk[-1] if names & mentions(offer.text).tokens and "ask" in offer.acts else None


def _cut_off(case: Case) -> Suspect | None:
    """A trial stopped by its own limit: a loop where it repeats itself, else an early stop."""
    if case.failing.trial.termination.reason not in LIMITS:
        return None
    repeated = loop(case.steps)
    last = case.last_agent_step
    if last is None:
        return None
    place = repeated or last
    kind = Kind.LOOP if repeated is not None else Kind.EARLY_STOP
    return Suspect(
        kind=kind, actor=Blame.AGENT, root=place.position, manifest=last.position, level="end",
        tool=place.step.name,
    )  # fmt: skip


def wrote_nothing(case: Case) -> bool:
    """Whether neither the trial nor any pass changed anything: only what was said can differ."""
    return not any(
        is_write(s) for t in (case.failing, *case.passes) for s in t.steps if s.effect is Effect.WRITE
    )
