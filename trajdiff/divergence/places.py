"""Where a step that passes make is missing in a trial: the agent step that went on without it.

The place is where the step should have been made at the latest: behind everything that the trial still shares
with the passes before it, and not before its inputs were there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trajdiff.align.graph import Match
from trajdiff.align.memo import once
from trajdiff.align.mentions import states
from trajdiff.align.order import changes, entities
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.align.similarity import SHARED
from trajdiff.divergence.case import Case
from trajdiff.divergence.offers import REFUSE, agreed_offer, claimed_done, consented_offer
from trajdiff.model import Effect


def place_of_column(case: Case, column: int) -> PreparedStep | None:
    """The agent step of the failing trial that stands where a column of the passes is missing."""
    last = -1
    for match in case.matches:
        if match.column is not None and match.column > column:
            break
        if match.position is not None and not match.moved and is_shared(case, match):
            last = max(last, match.position)
        if match.column == column:
            break
    return went_on(case, last)


def went_on(case: Case, after: int) -> PreparedStep | None:
    """The agent's next step that goes on: a message, a write, a hand-over. A look at something is still in
    time for what is missing; where the agent only looks on, its last step."""
    found = (step for step in case.agent_steps(after) if not _stays(case, step))
    return next(found, None) or case.last_agent_step


def _stays(case: Case, step: PreparedStep) -> bool:
    if not step.is_call:
        return False
    if step.effect is Effect.READ or step.thinks:
        return True
    # Expected actions are a set: doing another one of them first is no departure.
    return case.borrowed and any(step.call_key == s.call_key for trial in case.passes for s in trial.calls)


def is_shared(case: Case, match: Match) -> bool:
    """Whether an agent step of the failing trial is still on the way of the passes: the same kind of call, or
    a message that says about the same and does not refuse where the passes' does not."""
    if match.column is None or match.position is None:
        return False
    step = case.steps[match.position]
    if step.is_call:
        return True
    return step.by_agent and any(
        case.graph.costs.likeness(step, other) >= SHARED and (REFUSE in step.acts) == (REFUSE in other.acts)
        for other in case.graph.steps(match.column)
    )


def place_of_call(case: Case, reference: PreparedTrial, call: PreparedStep) -> PreparedStep | None:
    """The place of a missing call: behind its inputs, and behind what the trial shares with the passes on the
    way there. A write is not missing before the user agreed to the trial's own offer of it, nor before the
    writes on the same record that stand first; a look not before the user asked as in the passes, nor while the
    trial still looks at things of its kind."""
    known = _inputs_known(case, call)
    agreed = agreed_offer(case, call) if changes(call) else None
    anchor = call if agreed is not None else _lead_in(reference, call, asks=known is None)
    column = case.column_of(reference, anchor)
    by_alignment = place_of_column(case, column) if column is not None else case.last_agent_step
    if changes(call):
        floors = (known, agreed, before_it(case, reference, call))
    else:
        floors = (known, _asked_for(case, reference, call), _last_look(case, call))
    floor = max((p for p in floors if p is not None), default=None)
    behind = went_on(case, floor) if floor is not None and by_alignment is not None else None
    found = max((s for s in (by_alignment, behind) if s is not None), key=lambda s: s.position, default=None)
    told = claimed_done(case, call) if changes(call) else None
    return min((s for s in (found, told) if s is not None), key=lambda s: s.position, default=None)


def _asked_for(case: Case, reference: PreparedTrial, call: PreparedStep) -> int | None:
    """Position of the user's message that the reference's call follows, where the trial's user says about the
    same: before that nobody asked for it."""
    user = next((s for s in reversed(reference.steps[: call.position]) if s.is_message and s.by_user), None)
    column = case.column_of(reference, user) if user is not None else None
    if user is None or column is None:
        return None
    for match in case.matches:
        if match.column == column and match.position is not None and not match.moved:
            own = case.steps[match.position]
            if own.is_message and own.by_user and case.graph.costs.likeness(own, user) >= SHARED:
                return own.position
    return None


def _last_look(case: Case, call: PreparedStep) -> int | None:
    """Position of the trial's last look of the same kind as a missing one; None where the trial takes that very
    look too late."""
    looks = [
        s for s in case.failing.calls if s.label == call.label and s.effect is Effect.READ and not s.failed
    ]
    if any(step.call_key == call.call_key for step in looks):
        return None
    return max((step.position for step in looks), default=None)


def before_it(case: Case, reference: PreparedTrial, call: PreparedStep) -> int | None:
    """Position of the last write that the trial shares with the reference and that stands there before a call
    on the same record: it comes first, so that the call is not missing yet."""
    writes = (s for s in reference.calls if s.position < call.position and changes(s))
    first = {step.call_key for step in writes if entities(step) & entities(call)}
    made = [s.position for s in case.failing.calls if s.call_key in first and not s.failed]
    return max(made, default=None)


def required_read(case: Case, reference: PreparedTrial, write: PreparedStep | None) -> PreparedStep | None:
    """The earliest read that every pass makes and the failing trial never does, and that the write rests on:
    it first brings one of its values or looks at its entity. Without a write: a read of a tool that the trial
    never calls."""
    made = {step.label for step in case.failing.calls if not step.failed}
    for step in unmade_reads(case, reference):
        if write is None:
            if step.label not in made:
                return step
        elif step.position < write.position and _rests_on(case, write, step):
            return step
    return None


def unmade_reads(case: Case, reference: PreparedTrial) -> Iterator[PreparedStep]:
    """Reads of a pass that every pass makes and the failing trial never does, in order."""
    for step in reads(reference):
        made = any(not own.failed for own in case.failing.calls_by_key.get(step.call_key, ()))
        if not made and all(step.call_key in trial.calls_by_key for trial in case.passes):
            yield step


@once
def reads(trial: PreparedTrial) -> Sequence[PreparedStep]:
    """The reads of a trial's agent that were not refused, in order."""
    return [step for step in trial.calls if step.effect is Effect.READ and not step.failed]


def _rests_on(case: Case, write: PreparedStep, read: PreparedStep) -> bool:
    """Whether the read brings an identifier of the write that the trial never has, or (where two passes or
    more agree that it is needed) looks at what is written or brings any identifier of it."""
    brought = entities(write) & read.result_values
    if any(first_seen(case.failing, value, "") is None for value in sorted(brought)):
        return True
    return case.witnesses > 1 and bool(brought or entities(write) & entities(read))


def _inputs_known(case: Case, call: PreparedStep) -> int | None:
    """Position at which the trial holds all identifiers of the call; None when it never does."""
    known = -1
    for path, value in call.argument_leaves:
        if value not in entities(call):
            continue
        at = first_seen(case.failing, value, path)
        if at is None:
            return None
        known = max(known, at)
    return known


def first_seen(trial: PreparedTrial, value: str, path: str = "") -> int | None:
    """Position of the first step of a trial that has a value, or None."""
    known: dict[tuple[str, str], int | None] = trial.memo.setdefault("first seen", {})
    if (value, path) not in known:
        known[value, path] = next((step.position for step in trial.steps if _shows(step, value, path)), None)
    return known[value, path]


def _shows(step: PreparedStep, value: str, path: str) -> bool:
    if step.is_message:
        return states(step.text, value, path)
    return step.is_call and (value in step.argument_values or value in step.result_values)


def _lead_in(reference: PreparedTrial, call: PreparedStep, *, asks: bool) -> PreparedStep:
    """The pass's step that leads to a call: the offer the user agreed to, or (``asks``) the question that the
    user's message with the inputs answers; else the call itself."""
    offer = consented_offer(reference, call.position) if changes(call) else None
    if offer is not None:
        return offer
    for step in reversed(reference.steps[: call.position]) if asks else ():
        if step.is_message and step.by_user and any(states(step.text, v, p) for p, v in call.argument_leaves):
            asked = [s for s in reference.steps[: step.position] if s.is_message and s.by_agent]
            return asked[-1] if asked else call
    return call
