"""Answers of tasks in which nothing is changed: what all passes' answers have in common.

An answer differs where it has none of the telling words that every pass's answer has. That takes several
passes: with one reference an answer in other words looks like another answer. Where a document that every pass
retrieved was never read, the place is where it should have been.
"""

from __future__ import annotations

from trajdiff.align.language import is_unspaced
from trajdiff.align.memo import once
from trajdiff.align.mentions import mentions
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.divergence.case import Case, Suspect
from trajdiff.divergence.finding import Blame, Kind
from trajdiff.divergence.ledger import effective_writes
from trajdiff.divergence.places import place_of_call, unmade_reads
from trajdiff.model import StepKind

#: The level below writes at which answers of tasks without writes are compared.
LEVEL = "common answers"
#: Passes whose answers must have something in common before another answer means anything.
SEVERAL = 3
#: Shorter words are grammar.
TELLING = 4


def without_the_common_answer(case: Case) -> Suspect | None:
    """An answer that has nothing of what all passes' answers share, at the read it lacks where there is one."""
    trials = (case.failing, *case.passes)
    if len(case.passes) < SEVERAL or case.borrowed or any(map(effective_writes, trials)):
        return None
    own = answer(case.failing)
    theirs = [answer(trial) for trial in case.passes]
    if own is None or any(step is None for step in theirs):
        return None
    asked = frozenset[str]().union(*map(_asked, trials))
    said = [_telling(step) - asked for step in theirs if step is not None]
    # What the others share must hold for each pass as well, or answers vary too much to say anything.
    for number, words in enumerate(said):
        rest = [other for at, other in enumerate(said) if at != number]
        if not frozenset.intersection(*rest) & words:
            return None
    core = frozenset.intersection(*said)
    numbers = frozenset(word for word in core if any(map(str.isdigit, word)))
    core = numbers or core
    if not core or core & _tokens(_text(own)):
        return None
    read = next(unmade_reads(case, case.passes[0]), None)
    place = place_of_call(case, case.passes[0], read) if read is not None else None
    shown = ", ".join(sorted(core)[:3])
    if read is not None and place is not None and place.position <= own.position:
        return Suspect(
            kind=Kind.MISSING_STEP, actor=Blame.AGENT, root=place.position, manifest=own.position,
            level=LEVEL, tool=read.step.name, expected=read, reference=case.passes[0],
        )  # fmt: skip
    return Suspect(
        kind=Kind.WRONG_ANSWER, actor=Blame.AGENT, root=own.position, manifest=own.position, level=LEVEL,
        expected=theirs[0], reference=case.passes[0], expected_value=sorted(core)[0],
        said=(
            f"answer leaves out {shown}",
            f"The answer has none of what the answers of all {len(said)} passed trials share: {shown}.",
        ),
    )  # fmt: skip


@once
def _asked(trial: PreparedTrial) -> frozenset[str]:
    """Words and values of all that the user of a trial says."""
    return frozenset[str]().union(*(_tokens(step.text) for step in trial.steps if step.by_user))


def answer(trial: PreparedTrial) -> PreparedStep | None:
    """The last message of the agent, or its last call where that hands in a text and gets nothing back."""
    for step in reversed(trial.steps):
        if step.step.kind is StepKind.TERMINATION or not step.by_agent:
            continue
        if step.is_message and step.text.strip():
            return step
        if step.is_call:
            return step if step.argument_leaves and not step.result_leaves else None
    return None


def has_answer(step: PreparedStep, word: str) -> bool:
    """Whether an answer has a telling word."""
    return word in _tokens(_text(step))


def _text(step: PreparedStep) -> str:
    return step.text if step.is_message else "\n".join(value for _, value in step.argument_leaves)


def _telling(step: PreparedStep) -> frozenset[str]:
    return frozenset(
        word for word in _tokens(_text(step)) if len(word) >= TELLING or any(map(str.isdigit, word))
    )


def _tokens(text: str) -> frozenset[str]:
    """Words and values of a text; pairs of characters where there are no spaces between words."""
    found = mentions(text)
    if not is_unspaced(text):
        return found.tokens | found.values
    joined = "".join(found.folded.split())
    return found.values | {joined[at : at + TELLING] for at in range(len(joined) - TELLING + 1)}
