"""What the trial told in another way than the passes: the same sentence with another number.

Telling less than the passes, or in other words, is no other answer; nor is a number that stands in a result.
"""

from __future__ import annotations

import re

from trajdiff.align.language import fold
from trajdiff.align.memo import once
from trajdiff.align.mentions import mentions, sentences
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.align.values import number
from trajdiff.divergence.case import Case, Suspect
from trajdiff.divergence.finding import Blame, Kind

#: A sentence without its numbers, the numbers, the message that it stands in.
Told = tuple[str, frozenset[str], PreparedStep]

_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
#: Characters from which a sentence says something, and how alike (of 100) two must be to say the same.
FRAME, SAME_FRAME = 20, 85


def other_answer(case: Case) -> Suspect | None:
    """A sentence of the agent that says what a sentence of every pass says, with a number of its own in the
    place of one that the trial never states. What a tool result says is no answer of the agent's."""
    read, said = case.failing.result_values, _said(case.failing)
    theirs = [_numbers(trial) for trial in case.passes]
    for frame, values, step in _numbered(case.failing):
        new = [value for value in values.difference(*theirs) if len(value) < 2 or value not in read]
        if not new:
            continue
        found = [_framed(frame, trial) for trial in case.passes]
        # A number in which passes differ is none that the trial had to tell.
        shared = frozenset.intersection(*(frozenset().union(*(v for v, _ in rows)) for rows in found))
        if shared - said and all(v - said for rows in found for v, _ in rows):
            instead = min(shared - said)
            teller = next(step for v, step in found[0] if instead in v)
            source = next((s for s in case.failing.calls if _brings(s, instead)), None)
            return Suspect(
                kind=Kind.WRONG_ANSWER if source is None else Kind.MISREAD_RESULT, actor=Blame.AGENT,
                root=step.position, manifest=step.position, level="answers", expected=teller,
                reference=case.passes[0], tool=None if source is None else source.step.name,
                value=min(new), expected_value=instead,
            )  # fmt: skip
    return None


def _brings(step: PreparedStep, value: str) -> bool:
    """Whether a call answered with a number that is long enough to be no coincidence."""
    return len(value) > 2 and not step.failed and value in step.result_values


@once
def _numbered(trial: PreparedTrial) -> list[Told]:
    """The agent's sentences that hold numbers: the sentence without them, the numbers, the message."""
    rows: list[Told] = []
    for step in trial.steps:
        if step.is_message and step.by_agent:
            for sentence in sentences(step.text):
                folded = fold(sentence)
                values = frozenset(number(v.replace(",", "")) or v for v in _DIGITS.findall(folded))
                frame = _DIGITS.sub("#", folded)
                if values and len(frame) >= FRAME:
                    rows.append((frame, values, step))
    return rows


@once
def _numbers(trial: PreparedTrial) -> frozenset[str]:
    """All numbers of those sentences."""
    return frozenset[str]().union(*(values for _, values, _ in _numbered(trial)))


@once
def _said(trial: PreparedTrial) -> frozenset[str]:
    """All values that the agent says; a number told in words is told."""
    talk = (mentions(step.text).values for step in trial.messages if step.by_agent)
    return _numbers(trial).union(*talk)


def _framed(frame: str, trial: PreparedTrial) -> list[tuple[frozenset[str], PreparedStep]]:
    """The numbers of a trial's sentences that say the same but for them; every case of a task asks for the same
    ones."""
    known: dict[str, list[tuple[frozenset[str], PreparedStep]]] = trial.memo.setdefault("framed", {})
    found = known.get(frame)
    if found is None:
        from rapidfuzz import fuzz

        found = known[frame] = [
            (values, step)
            for other, values, step in _numbered(trial)
            if fuzz.token_sort_ratio(frame, other) >= SAME_FRAME
        ]
    return found
