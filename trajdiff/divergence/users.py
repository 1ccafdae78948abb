"""What the user did: a wish of its own, another turn than the passes' users, an input kept back, a no, an end.

A user is blamed only where every pass's user does otherwise at the same point, or where its recorded script
says so. A borrowed reference says nothing about users.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from msgspec import Struct

from trajdiff.align.language import acts, asserted, clauses, cue_words, declines
from trajdiff.align.mentions import sentences, states
from trajdiff.align.order import entities
from trajdiff.align.prepared import PreparedStep
from trajdiff.align.similarity import FULL, SAME_OFFER, UNLIKE
from trajdiff.align.values import is_reference, leaf_name, words
from trajdiff.divergence.case import Case
from trajdiff.divergence.lower_levels import AGREEING
from trajdiff.divergence.offers import Leaf, agreed_offer, consents, offers_missing, shared_offer
from trajdiff.divergence.places import first_seen
from trajdiff.divergence.provenance import SINGLE, Commitment


def wish(case: Case, call: PreparedStep) -> Commitment | None:
    """The user's own wish for a call that no pass makes: the first user message that names the act and does not
    say no to it, when no pass's user names it and the idea is not the agent's."""
    if case.borrowed or _scripted(case, call):
        return None
    if any(_names(case, trial.steps, call, by_user=True) for trial in case.passes):
        return None
    before = case.steps[: call.position]
    said = (s for s in before if s.is_message and s.by_user)
    wished = next((s for s in said if case.names_act(asserted(s.text), call)), None)
    idea = _names(case, before, call, by_user=False)
    shared = any(_names(case, trial.steps, call, by_user=False) for trial in case.passes)
    if wished is None or consents(wished):
        return None
    # Who has a script and follows an idea of the agent's that is not in it leaves the script.
    followed = idea is not None and idea.position < wished.position and not shared
    if followed and case.task.script is None:
        return None
    return Commitment(position=wished.position, by="user")


def _scripted(case: Case, call: PreparedStep) -> bool:
    """Whether the recorded script names an act: a user who wishes it stays with the script."""
    return case.task.script is not None and case.names_act(case.task.script, call)


def turned(case: Case, call: PreparedStep) -> Commitment | None:
    """The user's message that turns to something else where the passes' users, told the very same by the agent,
    do not: the last one that leads to a call which no pass makes. The same message in a pass, if elsewhere, is
    no turn, nor is one that brings what the script states; that one other user says something else is chance.
    """
    if case.borrowed or case.witnesses < AGREEING:
        return None
    last = None
    for asked, answer in pairwise(s for s in case.steps[: call.position] if s.is_message):
        if asked.by_agent and answer.by_user and not consents(answer) and _leads_to(case, answer, call):
            replies = [_reply(case, asked, number) for number in range(len(case.passes))]
            unlike = all(r is not None and case.graph.costs.likeness(answer, r) < UNLIKE for r in replies)
            if unlike and _alike(case, answer) < SAME_OFFER and not _brings_scripted(case, answer, call):
                last = answer
    return Commitment(position=last.position, by="user") if last is not None else None


def _leads_to(case: Case, answer: PreparedStep, call: PreparedStep) -> bool:
    """Whether a message names the act of a later call, or the call has a value that came up since."""
    if case.names_act(asserted(answer.text), call):
        return True
    told = [
        first_seen(case.failing, value, path) for path, value in call.argument_leaves if len(value) >= SINGLE
    ]
    return any(at is not None and at >= answer.position for at in told)


def _brings_scripted(case: Case, answer: PreparedStep, call: PreparedStep) -> bool:
    """Whether a message is the first to state a value of a call that the recorded script states too."""
    leaves = ((p, v) for p, v in call.argument_leaves if len(v) >= SINGLE and _in_script(case, (p, v)))
    return any(first_seen(case.failing, value, path) == answer.position for path, value in leaves)


def _reply(case: Case, asked: PreparedStep, number: int) -> PreparedStep | None:
    """What a pass's user answers to the same message of the agent."""
    column = case.column_at.get(asked.position)
    position = case.graph.columns[column].position(number) if column is not None else None
    if position is None:
        return None
    if case.graph.costs.likeness(case.passes[number].steps[position], asked) < SAME_OFFER:
        return None
    return _answer(case, number, position)


def _answer(case: Case, number: int, position: int) -> PreparedStep | None:
    """The message of a pass behind a position, where it is the user's."""
    reply = next((s for s in case.passes[number].steps[position + 1 :] if s.is_message), None)
    return reply if reply is not None and reply.by_user else None


def changed_the_subject(case: Case, found: Commitment) -> Commitment | None:
    """The user's message that a call answers directly, when no pass's user says anything like it. Only used
    where passes make another call in this one's place, so that somebody must have changed the subject."""
    if case.borrowed:
        return None
    said = next((s for s in reversed(case.steps[: found.position]) if s.is_message), None)
    if said is None or not said.by_user or consents(said) or _alike(case, said) >= UNLIKE:
        return None
    if _brings_scripted(case, said, case.steps[found.position]):
        return None
    return Commitment(position=said.position, by="user")


def _alike(case: Case, message: PreparedStep) -> int:
    """How alike a message is to what the passes' users say anywhere, of 1000 (1000 where they say nothing)."""
    theirs = (s for trial in case.passes for s in trial.steps if s.is_message and s.by_user)
    return max((case.graph.costs.likeness(message, other) for other in theirs), default=FULL)


def _names(
    case: Case, steps: Sequence[PreparedStep], call: PreparedStep, *, by_user: bool
) -> PreparedStep | None:
    told = (s for s in steps if s.is_message and s.by_user == by_user)
    return next((s for s in told if case.names_act(s.text, call)), None)


class KeptBack(Struct, frozen=True, kw_only=True):
    """An answer that denies an input; ``known`` is what the input is called where the script has it."""

    answer: PreparedStep
    known: str | None


def kept_back(case: Case, missing: PreparedStep, write: PreparedStep) -> KeptBack | None:
    """Where the inputs of a missing call never came up because the user said not to know them when asked; who
    says so in a pass too leaves no script."""
    asked = _denials(case.steps)
    if not asked:
        return None
    theirs = [pair for trial in case.passes for pair in _denials(trial.steps)]
    in_script = partial(_in_script, case)
    # What a missing look is asked with may be a name or a number of any kind; of a write only what it is about.
    looked = missing.argument_leaves if missing is not write else ()
    needed = [*looked, *((p, v) for p, v in write.argument_leaves if v in entities(write))]
    # What the script has and other trials of the task pass on is an input, whatever the missing call takes.
    needed += [leaf for leaf in sorted(case.argument_leaves) if is_reference(*leaf) and in_script(leaf)]
    unseen = [(p, v) for p, v in needed if first_seen(case.failing, v) is None]
    for step, answer in asked:
        denied = [(p, v) for p, v in unseen if _denies(case, step, answer, p)]
        if denied:
            told = (p for p, v in denied if in_script((p, v)))
            known = next(
                (leaf_name(p) for p in told if not any(_denies(case, *one, p) for one in theirs)), None
            )
            return KeptBack(answer=answer, known=known)
    return None


def _denials(steps: Sequence[PreparedStep]) -> list[tuple[PreparedStep, PreparedStep]]:
    """The agent's questions to which the user answers not to have or know something, each with its answer."""
    return [
        (step, answer)
        for step, answer in pairwise(s for s in steps if s.is_message)
        if step.by_agent and "ask" in step.acts and answer.by_user and "deny" in answer.acts
    ]


def _in_script(case: Case, leaf: Leaf) -> bool:
    return case.task.script is not None and states(case.task.script, leaf[1], leaf[0])


def _denies(case: Case, asked: PreparedStep, answer: PreparedStep, path: str) -> bool:
    """Whether an answer says not to have what an argument is called by, or (naming no argument at all: "I don't
    have those") what it was asked for."""
    name = words(leaf_name(path))
    denying = [clause for clause in clauses(answer.text) if "deny" in acts(clause)]
    if any(_has_words(clause, name) for clause in denying):
        return True
    if not any(_has_words(clause, name) for clause in clauses(asked.text)):
        return False
    bare = [clause for clause in denying if not any(_has_words(clause, one) for one in case.argument_names)]
    return any(not _repeats(clause, asked.text) for clause in bare)


def _repeats(clause: str, question: str) -> bool:
    """Whether a denial names one of several things that were asked for: it has a word of the question besides
    those that deny."""
    told = {word for word in words(clause) if len(word) > SINGLE} - cue_words("deny")  # no "with", no "from"
    return any(told & set(words(one)) for one in sentences(question) if "ask" in acts(one))


def _has_words(clause: str, name: Sequence[str]) -> bool:
    """Whether a clause has all words of a name; in text without spaces a word may stand anywhere."""
    said = set(words(clause))
    return all(word in said or (not word.isascii() and word in clause) for word in name)


def declined(case: Case, place: PreparedStep) -> PreparedStep | None:
    """The user's no before the place of a missing call, to the very question to which every pass's user
    says yes."""
    talk = [s for s in case.steps[: place.position] if s.is_message]
    if case.borrowed or len(talk) < 2 or not (talk[-1].by_user and talk[-2].by_agent):
        return None
    asked, answer = talk[-2:]
    column = case.column_at.get(asked.position)
    if column is None or not declines(answer.text) or not shared_offer(case, asked):
        return None
    for number in range(len(case.passes)):
        position = case.graph.columns[column].position(number)
        reply = _answer(case, number, position) if position is not None else None
        if reply is None or not consents(reply):
            return None
    return answer


def left_no_turn(case: Case, write: PreparedStep) -> PreparedStep | None:
    """The user's message that leaves no turn for a missing write: the user speaks again right after having
    agreed to it and no more is said or done but farewells, or ends the trial on the agent's offer of it."""
    agreed = agreed_offer(case, write)
    if agreed is not None:
        behind = (s for s in case.steps[agreed + 1 :] if not s.folded)
        again = next((s for s in behind if s.by_agent or s.is_message), None)
        if again is not None and again.by_user and not _had_a_turn(case, again):
            return again
    last = case.last_agent_step
    if last is None or not last.is_message or not offers_missing(case, last, write):
        return None
    answer = next((s for s in case.steps[last.position + 1 :] if s.is_message and s.by_user), None)
    if answer is None or "ask" in last.acts:
        return answer
    return answer if consents(answer) and case.names_act(last.text, write) else None


def _had_a_turn(case: Case, message: PreparedStep) -> bool:
    """Whether the trial went on behind a message of the user: the agent calls something, or speaks more than
    once."""
    behind = list(case.agent_steps(message.position))
    return len(behind) > 1 or any(step.is_call for step in behind)
