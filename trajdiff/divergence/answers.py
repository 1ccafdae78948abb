"""What the trial told in another way than the passes: the same sentence with another number.

Telling less than the passes, or in other words, is no other answer; nor is a number that stands in a result.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from trajdiff.align.language import fold
from trajdiff.align.mentions import mentions, sentences
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.align.values import number
from trajdiff.divergence.case import Case, Suspect
from trajdiff.divergence.finding import Blame, Kind

_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
#: Characters from which a sentence says something, and how alike (of 100) two must be to say the same.
FRAME, SAME_FRAME = 20, 85


def other_answer(case: Case) -> Suspect | None:
    """A sentence of the agent that says what a sentence of every pass says, with a number of its own in the
    place of one that the trial never states. What a tool result says is no answer of the agent's."""
    read = {value for value in case.failing.result_values if len(value) > 1}
    own = _numbered(case.failing)
    theirs = [_numbered(trial) for trial in case.passes]
    # A number told in words is told.
    talk = [step for step in case.steps if step.is_message and step.by_agent]
    said = frozenset[str]().union(*(mentions(step.text).values for step in talk), *(v for _, v, _ in own))
    known = frozenset[str]().union(*(values for rows in theirs for _, values, _ in rows))
    for frame, values, step in own:
        if not values - known - read:
            continue
        found = [_framed(frame, rows) for rows in theirs]
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
                value=min(values - known - read), expected_value=instead,
            )  # fmt: skip
    return None


def _brings(step: PreparedStep, value: str) -> bool:
    """Whether a call answered with a number that is long enough to be no coincidence."""
    return len(value) > 2 and not step.failed and value in step.result_values


def _numbered(trial: PreparedTrial) -> list[tuple[str, frozenset[str], PreparedStep]]:
    """The agent's sentences that hold numbers: the sentence without them, the numbers, the message."""
    known: list[tuple[str, frozenset[str], PreparedStep]] | None = trial.memo.get("numbered")
    if known is not None:
        return known
    rows: list[tuple[str, frozenset[str], PreparedStep]] = []
    for step in trial.steps:
        if step.is_message and step.by_agent:
            for sentence in sentences(step.text):
                folded = fold(sentence)
                values = frozenset(number(v.replace(",", "")) or v for v in _DIGITS.findall(folded))
                frame = _DIGITS.sub("#", folded)
                if values and len(frame) >= FRAME:
                    rows.append((frame, values, step))
    trial.memo["numbered"] = rows
    return rows


def _framed(
    frame: str, rows: Sequence[tuple[str, frozenset[str], PreparedStep]]
) -> list[tuple[frozenset[str], PreparedStep]]:
    """The numbers of the sentences that say the same but for them."""
    from rapidfuzz import fuzz

    return [(values, step) for other, values, step in rows if fuzz.token_sort_ratio(frame, other) >= SAME_FRAME]
