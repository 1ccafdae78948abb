"""What the agent offers and the user agrees to: which call an offer is about, and whose words it is in.

Offers stand before calls: who agreed to one has committed to the call that carries it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from trajdiff.align.language import acts
from trajdiff.align.memo import once
from trajdiff.align.mentions import sentences, states
from trajdiff.align.order import changes, entities
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.align.similarity import SAME_OFFER
from trajdiff.divergence.case import Case
from trajdiff.divergence.settling import subject
from trajdiff.model import Effect, StepKind

REFUSE = "refuse"
Leaf = tuple[str, str]


def offers(
    case: Case, offer: PreparedStep, call: PreparedStep, differing: Sequence[Leaf], expected: Sequence[Leaf]
) -> bool:
    """Whether the message that the user agreed to offers this call: it states what only this trial states, or
    what differs and nothing of the passes'. Where passes make no such call, it names the act, or what only this
    call has and no other act; and neither another record nor what passes do with this one."""
    if expected:
        told = [(p, v) for p, v in differing if v in offer.commitments or states(offer.text, v, p)]
        own = [(p, v) for p, v in told if not case.stated_in_passes(v, p)]
        return bool(own or (told and not any(states(offer.text, v, p) for p, v in expected)))
    if _of_another_record(case, offer, call) or _names_expected(case, offer, call):
        return False
    if case.names_act(offer.text, call):
        # Where passes make another such call, an offer of the act may be of theirs.
        same = any(w.label == call.label and not w.failed for trial in case.passes for w in trial.calls)
        its_own = any(v in offer.commitments or states(offer.text, v, p) for p, v in differing)
        return case.borrowed or not same or its_own or _of_its_own_record(case, offer, call)
    writes = (w for trial in (case.failing, *case.passes) for w in trial.calls if w.label != call.label)
    if any(case.names_act(offer.text, w) for w in writes if w.effect is not Effect.READ):
        return False
    return any(
        states(offer.text, v, p) for p, v in call.argument_leaves if (p, v) not in case.written_in_passes
    )


def _own_records(case: Case, call: PreparedStep) -> list[str]:
    """What a call is about and no write of a pass is, in order."""
    return sorted(entities(call) - {value for _, value in case.written_in_passes})


def _of_another_record(case: Case, offer: PreparedStep, call: PreparedStep) -> bool:
    """Whether a message names a record that the trial looked at or wrote, and not the one of a call."""
    about = _own_records(case, call)
    if not about or any(case.states(offer.text, one, "") for one in about):
        return False
    others = {other for s in case.failing.calls if not s.failed and (other := subject(s)) is not None}
    return any(case.states(offer.text, other, "") for other in sorted(others - entities(call)))


def _of_its_own_record(case: Case, offer: PreparedStep, call: PreparedStep) -> bool:
    """Whether a message names what a call is about, and nothing that passes' calls of its kind are about."""
    theirs = {v for trial in case.passes for w in trial.calls if w.label == call.label for v in entities(w)}
    named = any(case.states(offer.text, one, "") for one in _own_records(case, call))
    return named and not any(case.states(offer.text, one, "") for one in sorted(theirs - entities(call)))


def _names_expected(case: Case, offer: PreparedStep, call: PreparedStep) -> bool:
    """Whether a message names the act of a write that passes make on the same record and the trial never."""
    made = {step.label for step in case.failing.calls if not step.failed}
    theirs = (w for trial in case.passes for w in trial.calls if w.effect is not Effect.READ)
    owed = (w for w in theirs if w.label not in made and entities(w) & entities(call))
    return any(case.names_act(offer.text, write) for write in owed)


def consented_offer(trial: PreparedTrial, position: int) -> PreparedStep | None:
    """The agent message that the user's consent before a call answers: nothing but the agent's calls stands
    between the consent and the call."""
    user = None
    for step in reversed(trial.steps[:position]):
        if step.step.kind is StepKind.REASONING or step.folded:
            continue
        if user is None:
            if step.is_message and step.by_user:
                user = step
                if not consents(step):
                    return None
            elif not step.by_agent:
                return None
        elif step.is_message and step.by_agent:
            return step
        elif step.is_message:
            return None
    return None


def consents(step: PreparedStep) -> bool:
    """Whether a user message agrees to what was offered and asks for nothing of its own."""
    return "consent" in step.acts


def shared_offer(case: Case, offer: PreparedStep) -> bool:
    """Whether passes make the same offer: nothing in it is the trial's own."""
    column = case.column_at.get(offer.position)
    if column is None:
        return False
    return any(
        step.commitments == offer.commitments and case.graph.costs.likeness(step, offer) >= SAME_OFFER
        for step in case.graph.steps(column)
    )


def claimed_done(case: Case, call: PreparedStep) -> PreparedStep | None:
    """The first agent message that reports a call as done which the trial never makes."""
    return case.once("claimed done", call, _claimed_done)


def _claimed_done(case: Case, call: PreparedStep) -> PreparedStep | None:
    about = subject(call)
    others = [s for s in case.failing.calls if s.label == call.label and not s.failed]
    for step in case.steps:
        if not step.is_message or not step.by_agent or "done" not in step.acts:
            continue
        for sentence in sentences(step.text):
            said = acts(sentence)
            if "done" not in said or "ask" in said or REFUSE in said:
                continue
            if not case.names_act(sentence, call):
                continue
            if about is not None and case.states(step.text, about, ""):
                return step
            if not others:
                return step
    return None


def agreed_offer(case: Case, call: PreparedStep) -> int | None:
    """Position of the user's consent to the trial's last own offer of a call that it never makes."""
    return case.once("agreed offer", call, _agreed_offer)


def _agreed_offer(case: Case, call: PreparedStep) -> int | None:
    agreed = reversed(_agreed(case.failing))
    return next((answer.position for step, answer in agreed if offers_missing(case, step, call)), None)


@once
def _agreed(trial: PreparedTrial) -> Sequence[tuple[PreparedStep, PreparedStep]]:
    """The messages of the agent to which the user agrees at once, each with its answer."""
    return [
        (step, answer)
        for step, answer in pairwise(trial.messages)
        if step.by_agent and answer.by_user and consents(answer)
    ]


@once
def _changed(trial: PreparedTrial) -> Sequence[str]:
    """The records that a trial's calls may have changed, in order of their names."""
    found = {subject(step) for step in trial.calls if changes(step)}
    return sorted(one for one in found if one is not None)


def offers_missing(case: Case, message: PreparedStep, call: PreparedStep) -> bool:
    """Whether an agent message offers a call that the trial never makes, rather than refusing it or reporting
    it as done."""
    about = subject(call)
    if about is not None and not case.states(message.text, about, ""):
        others = (other for other in _changed(case.failing) if other != about)
        if any(case.states(message.text, other, "") for other in others):
            return False
    values = [(p, v) for p, v in call.argument_leaves if v != about and v not in ("true", "false")]
    text = message.text
    if REFUSE in message.acts:
        # "That cannot be done. Would you like ... instead?" refuses one thing and offers another.
        text = " ".join(x for x in sentences(text) if "ask" in acts(x) and REFUSE not in acts(x))
    told = any(case.states(text, v, p) for p, v in values) or case.names_act(text, call)
    return told and ("ask" in message.acts or "done" not in message.acts)
