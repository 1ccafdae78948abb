"""Where a step that passes make is missing in a trial: the agent step that went on without it.

The place is where the step should have been made at the latest: behind everything that the trial still shares
with the passes before it, and not before its inputs were there.
"""

from __future__ import annotations

from trajdiff.align.graph import Match
from trajdiff.align.mentions import states
from trajdiff.align.order import entities
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.divergence.case import Case
from trajdiff.divergence.provenance import consented_offer
from trajdiff.model import Effect

#: Likeness (of 1000) from which two messages say about the same.
SHARED = 600
REFUSE = "refuse"


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
    return next(case.agent_steps(last), None) or case.last_agent_step


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
    """The place of a missing call: where its inputs were there, else where passes ask for them."""
    known = _inputs_known(case, call)
    anchor = _lead_in(reference, call)
    column = case.column_of(reference, anchor if known is None else call)
    by_alignment = place_of_column(case, column) if column is not None else case.last_agent_step
    if known is None or by_alignment is None:
        return by_alignment
    after_inputs = next(case.agent_steps(known), None) or case.last_agent_step
    return max((s for s in (by_alignment, after_inputs) if s is not None), key=lambda s: s.position)


def required_read(case: Case, reference: PreparedTrial, write: PreparedStep | None) -> PreparedStep | None:
    """The earliest read that every pass makes and the failing trial never does, and that the write rests on:
    it first brings one of its values or takes one of its identifiers. Without a write: any such read."""
    made = {step.label for step in case.failing.calls if not step.failed}
    keys = {step.call_key for step in case.failing.calls if not step.failed}
    for step in reference.calls:
        if write is not None and step.position >= write.position:
            break
        if step.effect is not Effect.READ or step.failed or step.call_key in keys:
            continue
        if not all(any(s.call_key == step.call_key for s in trial.calls) for trial in case.passes):
            continue
        if write is None:
            if step.label not in made:
                return step
        elif _rests_on(write, step):
            return step
    return None


def _rests_on(write: PreparedStep, read: PreparedStep) -> bool:
    wanted = entities(write)
    return bool(wanted & entities(read)) or any(value in wanted for _, value in read.result_leaves)


def _inputs_known(case: Case, call: PreparedStep) -> int | None:
    """Position at which the trial holds all identifiers of the call; None when it never does."""
    known = -1
    for path, value in call.argument_leaves:
        if value not in entities(call):
            continue
        at = _first_seen(case.failing, value, path)
        if at is None:
            return None
        known = max(known, at)
    return known


def _first_seen(trial: PreparedTrial, value: str, path: str) -> int | None:
    for step in trial.steps:
        if step.is_message and states(step.text, value, path):
            return step.position
        if step.is_call and any(v == value for _, v in (*step.argument_leaves, *step.result_leaves)):
            return step.position
    return None


def _lead_in(reference: PreparedTrial, call: PreparedStep) -> PreparedStep:
    """The pass's step that leads to a call: the offer the user agreed to, or the question that the user's
    message with the inputs answers; else the call itself."""
    offer = consented_offer(reference, call.position)
    if offer is not None:
        return offer
    for step in reversed(reference.steps[: call.position]):
        if step.is_message and step.by_user and any(states(step.text, v, p) for p, v in call.argument_leaves):
            asked = [s for s in reference.steps[: step.position] if s.is_message and s.by_agent]
            return asked[-1] if asked else call
    return call
