"""Where a value came from, and who first committed to it.

The slice runs backwards from a write that differs: to the message that first states the differing value and
nothing of the pass's, to the read that alone brought it or the search that was restricted to it, to a refused
attempt that had it already, to the offer that the user's consent answers; else the call itself is the root.
Values are the language layer: wording decides nothing here.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from trajdiff.align.mentions import states
from trajdiff.align.order import entities
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.align.values import leaf_name, number, words
from trajdiff.divergence.case import Case
from trajdiff.divergence.finding import ValueOrigin
from trajdiff.divergence.offers import Leaf, consented_offer, offers, shared_offer
from trajdiff.model import Effect

#: How far the slice goes back through reads that were made with other arguments.
MAX_DEPTH = 4
#: Characters from which a word or a value singles something out and is no coincidence.
SINGLE = 4


class Commitment(Struct, frozen=True, kw_only=True):
    """The step that first commits to a value: ``by`` is announcement, user, read, result, consent or call."""

    position: int
    by: str
    path: str | None = None
    value: str | None = None


def origin(trial: PreparedTrial, value: str, path: str, before: int) -> ValueOrigin:
    """Where a value is first seen in a trial before a position: user message, tool result, or nowhere."""
    for step in trial.steps[:before]:
        if step.is_message and step.by_user and states(step.text, value, path):
            return ValueOrigin(value=value, origin="user_message", message=step.step.source.message_index)
        if step.is_call and not step.failed:
            at = next((p for p, v in step.result_leaves if v == value and _same_thing(p, path, v)), None)
            if at is not None:
                message = step.step.result_source.message_index if step.step.result_source else None
                return ValueOrigin(
                    value=value, origin="tool_result", tool=step.step.name, message=message, path=at or None
                )
    for recorded in trial.trial.steps:
        if recorded.actor == "system" and recorded.text and states(recorded.text, value, path):
            message = recorded.source.message_index
            return ValueOrigin(value=value, origin="system_message", message=message)
    return ValueOrigin(value=value, origin="nowhere")


def _same_thing(found: str, wanted: str, value: str) -> bool:
    """Whether a value in a result is likely the one of an argument: a value that singles something out always,
    a small number or a short word only under a name that shares a word."""
    if len(value) > 3 and (number(value) is None or "." in value or len(value) > 4):
        return True
    names = (words(leaf_name(path)) for path in (found, wanted))
    return bool(frozenset.intersection(*(frozenset(name) for name in names)))


def commitment(
    case: Case, call: PreparedStep, differing: Sequence[Leaf], expected: Sequence[Leaf], depth: int = 0
) -> Commitment:
    """The earliest step that commits the trial to a call that differs from the passes'.

    ``differing`` are the call's values that passes do not use there, ``expected`` the values they use instead
    (none where passes do not make the call at all).
    """
    own = tuple(leaf for leaf in differing if leaf[1] not in ("true", "false", ""))
    rules = [_read(case, call, own, depth), _announcement(case, call, own, expected)]
    if expected:
        rules += [_attempt(case, call, own), _search(case, call, own, expected)]
    found = [c for c in rules if c is not None]
    offer = consented_offer(case.failing, call.position)
    first = None
    if found and (expected or found[0].by == "user"):
        return min(found, key=lambda c: c.position)
    while offer is not None and offers(case, offer, call, own, expected) and not shared_offer(case, offer):
        first, offer = offer, consented_offer(case.failing, offer.position)
    if first is not None:
        return Commitment(position=first.position, by="consent")
    if found:
        return min(found, key=lambda c: c.position)
    return Commitment(position=call.position, by="call")


def _announcement(
    case: Case, call: PreparedStep, differing: Sequence[Leaf], expected: Sequence[Leaf]
) -> Commitment | None:
    """The first message that states a differing value which no pass states, and no value of the pass; what the
    user put right since is closed."""
    there = _as_it_was(case, call)
    own = [(p, v) for p, v in differing if v not in there and not case.stated_in_passes(v, p)]
    closed = {path: _put_right(case, call, path, expected) for path in {p for p, _ in own}} if expected else {}
    for step in case.steps[: call.position]:
        if not step.is_message:
            continue
        still = ((p, v) for p, v in own if step.position >= closed.get(p, 0))
        hit = next(((p, v) for p, v in still if states(step.text, v, p)), None)
        if hit is None:
            continue
        if step.by_user:
            # A borrowed reference says nothing about users: only a recorded script shows that one left it.
            if case.borrowed and not case.task.script:
                continue
            if case.task.script and states(case.task.script, hit[1], hit[0]):
                continue
            return Commitment(position=step.position, by="user", path=hit[0], value=hit[1])
        if step.by_agent and not any(
            states(step.text, v, p) for p, v in expected if number(v) is None or len(v) > 2
        ):
            return Commitment(position=step.position, by="announcement", path=hit[0], value=hit[1])
    return None


def _put_right(case: Case, call: PreparedStep, path: str, expected: Sequence[Leaf]) -> int:
    """Position of the user's last message before a call that states what passes use at a path, or 0."""
    right = [(p, v) for p, v in expected if p == path and (number(v) is None or len(v) > 2)]
    said = (s for s in reversed(case.steps[: call.position]) if s.is_message and s.by_user)
    return next((s.position for s in said if any(states(s.text, v, p) for p, v in right)), 0)


def _as_it_was(case: Case, call: PreparedStep) -> frozenset[str]:
    """What looks before a call said about its records: who tells how a record is changes nothing to it."""
    about = entities(call)
    looks = (s for s in case.steps[: call.position] if s.is_call and s.effect is Effect.READ)
    return frozenset[str]().union(*(s.result_values for s in looks if entities(s) & about))


def _attempt(case: Case, call: PreparedStep, differing: Sequence[Leaf]) -> Commitment | None:
    """The first refused attempt at the same call, on the same record, that has a differing value already, and
    that no pass makes."""
    for step in case.steps[: call.position]:
        if (
            step.is_call
            and step.failed
            and step.label == call.label
            and (call.about is None or call.about in step.argument_values)
            and step.call_key not in case.calls_of_passes
        ):
            hit = next((leaf for leaf in differing if leaf in step.argument_leaves), None)
            if hit is not None:
                return Commitment(position=step.position, by="call", path=hit[0], value=hit[1])
    return None


def _search(
    case: Case, call: PreparedStep, differing: Sequence[Leaf], expected: Sequence[Leaf]
) -> Commitment | None:
    """The first look that is restricted to a differing value by which no pass looks, with no look behind it by
    what passes use; a look at another record restricts nothing."""
    known = entities(call) | {value for _, value in case.arguments_of_passes}
    own = [
        (p, v) for p, v in differing if len(v) >= SINGLE and v not in known and not case.stated_in_passes(v, p)
    ]
    first = None
    for step in case.steps[: call.position] if own else ():
        if not step.is_call or step.failed or step.effect is not Effect.READ:
            continue
        hit = next(((p, v) for p, v in own if v in step.argument_values), None)
        if any(v in step.argument_values for p, v in expected if any(p == path for path, _ in own)):
            first = None
        elif hit is not None and first is None:
            first = Commitment(position=step.position, by="read", path=hit[0], value=hit[1])
    return first


def _read(case: Case, call: PreparedStep, differing: Sequence[Leaf], depth: int) -> Commitment | None:
    """The call that alone brought a differing value: the same call with another result, or a read of another
    record in the place of the passes' read."""
    for path, value in differing:
        if depth >= MAX_DEPTH or _in_pass_results(case, value):
            continue
        for step in case.steps[: call.position]:
            if step.is_call and not step.failed and value in step.result_values:
                found = _blame_read(case, step, depth)
                if found is not None:
                    return Commitment(position=found.position, by=found.by, path=path, value=value)
                break
    return None


def _blame_read(case: Case, step: PreparedStep, depth: int) -> Commitment | None:
    if step.call_key in case.calls_of_passes:
        own_write = any(
            w.effect is Effect.WRITE and not w.failed and w.is_call for w in case.steps[: step.position]
        )
        return None if own_write else Commitment(position=step.position, by="result")
    column = case.column_at.get(step.position)
    members = case.graph.steps(column) if column is not None else ()
    if not members or any(s.call_key == members[0].call_key for s in case.failing.calls):
        return None
    theirs = {leaf for member in members for leaf in member.argument_leaves}
    differing = [leaf for leaf in step.argument_leaves if leaf not in theirs]
    expected = [leaf for leaf in members[0].argument_leaves if leaf not in set(step.argument_leaves)]
    deeper = commitment(case, step, differing, expected, depth + 1)
    return Commitment(position=deeper.position, by="user" if deeper.by == "user" else "read")


def _in_pass_results(case: Case, value: str) -> bool:
    return any(value in trial.result_values for trial in case.passes)
