"""The words of a divergence: one phrase for a table cell, one sentence for people.

Divergences separate outcomes and are places to look; nothing here claims more.
"""

from __future__ import annotations

from trajdiff.align.rows import argument_texts
from trajdiff.divergence.case import Case, Suspect
from trajdiff.divergence.finding import Kind
from trajdiff.divergence.support import makes_expected
from trajdiff.model import TerminationReason

#: Endings of which nobody knows who brought them about.
OPEN = frozenset({TerminationReason.INCOMPLETE, TerminationReason.UNKNOWN})
#: Longer arguments are left to the table below the sentence.
MAX_SHOWN = 60


def headline(suspect: Suspect) -> str:
    """A phrase for a table cell, without the actor."""
    if suspect.said is not None:
        return suspect.said[0]
    tool = suspect.tool or "message"
    argument = _argument(suspect)
    return {
        Kind.MISSING_STEP: f"{tool} missing",
        Kind.WRONG_ARGUMENT: f"{tool} with another {argument}",
        Kind.WRONG_TOOL: f"{tool} instead of {suspect.instead}",
        Kind.EXTRA_WRITE: f"extra {tool}",
        Kind.INEFFECTIVE_WRITE: f"{tool} had no effect",
        Kind.DUPLICATE_WRITE: f"{tool} done twice",
        Kind.WRONG_ORDER: f"{tool} out of order",
        Kind.RESULT_DIFFERENCE: f"{tool}: same call, other result",
        Kind.MISREAD_RESULT: f"result of {tool} told as {suspect.value} instead of {suspect.expected_value}",
        Kind.WRONG_ANSWER: _told(suspect),
        Kind.UNRECOVERED_ERROR: f"{tool} failed and was not repaired",
        Kind.EARLY_STOP: f"stopped before {tool}" if suspect.expected is not None else "stopped early",
        Kind.LOOP: f"{tool} repeated",
        Kind.INFRASTRUCTURE: "ended by the harness",
        Kind.USER_DEVIATION: _user(suspect),
    }.get(suspect.kind, suspect.kind.value.replace("_", " "))


def sentence(case: Case, suspect: Suspect) -> str:
    """One sentence that says what the failed trial does and what the passed ones do."""
    if suspect.said is not None:
        return suspect.said[1]
    tool = suspect.tool or "a message"
    passed = _passed(case, suspect)
    gave_up = "the expected actions have it" if case.borrowed else f"{passed} it with success"
    unlike = "the recorded script does not ask for" if case.borrowed else "no passed trial's user says"
    others = "the expected actions have" if case.borrowed else "passed trials do"
    no_other = (
        "which the expected actions do not have" if case.borrowed else "which no passed trial does like this"
    )
    argument = _argument(suspect)
    refused = any(s.failed and s.step.name == suspect.tool for s in case.failing.calls)
    tried = "a successful " if refused else ""
    manifest = case.steps[suspect.manifest]
    calls_other = manifest.is_call and manifest.step.name != suspect.tool
    goes_on = f"calls {manifest.step.name}" if calls_other else "goes on"
    return {
        Kind.MISSING_STEP: f"The failed trial {goes_on} without {tried}{tool}{_which(suspect)}; {passed} it.",
        Kind.WRONG_ARGUMENT: f"The failed trial calls {tool} with another {argument} than {others}.",
        Kind.WRONG_TOOL: f"The failed trial calls {tool} where {passed} {suspect.instead}.",
        Kind.EXTRA_WRITE: f"The failed trial calls {tool}, {no_other}.",
        Kind.INEFFECTIVE_WRITE: f"{tool} changed nothing and was not repaired; {passed} it with effect.",
        Kind.DUPLICATE_WRITE: f"The failed trial does {tool} twice; {passed} it once.",
        Kind.WRONG_ORDER: f"The failed trial calls {tool} before a call that {passed} first.",
        Kind.RESULT_DIFFERENCE: f"{tool}: the same call gives another result than in passed trials.",
        Kind.WRONG_ANSWER: (
            f"No message states {suspect.expected_value}, which every passed trial states."
            if suspect.value is None
            else f"A message says {suspect.value} where {_says(case)} {suspect.expected_value}."
        ),
        Kind.MISREAD_RESULT: (
            f"A message says {suspect.value} where {_says(case)} {suspect.expected_value}, "
            f"as the result of {tool} does."
        ),
        Kind.UNRECOVERED_ERROR: f"{tool} failed and the failed trial gave up; {gave_up}.",
        Kind.EARLY_STOP: f"The failed trial ends without {tried}{tool}; {passed} it."
        if suspect.expected is not None
        else "The failed trial was stopped by its own limit before it was done.",
        Kind.INFRASTRUCTURE: "The harness ended the failed trial before the agent was done.",
        Kind.LOOP: f"The failed trial repeats {tool} with the same arguments and result.",
        Kind.USER_DEVIATION: _user_sentence(case, suspect, unlike, passed),
    }.get(suspect.kind, headline(suspect))


def _which(suspect: Suspect) -> str:
    """The arguments of a missing call, where the pass makes several calls of that tool."""
    expected, reference = suspect.expected, suspect.reference
    if expected is None or reference is None or not expected.is_call:
        return ""
    if sum(1 for step in reference.calls if step.label == expected.label) < 2:
        return ""
    shown = ", ".join(f"{name}={value}" for name, value in argument_texts(expected)[:2])
    return f"({shown})" if len(shown) <= MAX_SHOWN else ""


def _passed(case: Case, suspect: Suspect) -> str:
    """Who makes the passes' call, counted: "both passed trials call", "2 of 3 passed trials call"."""
    if case.borrowed:
        return "the expected actions have"
    total, made = len(case.passes), makes_expected(suspect, case.passes)
    if suspect.expected is None or made == 0:
        return "passed trials call"
    if made < total:
        return f"{made} of {total} passed trials call"
    return {1: "the passed trial calls", 2: "both passed trials call"}.get(
        total, f"all {total} passed trials call"
    )


def _user_sentence(case: Case, suspect: Suspect, unlike: str, passed: str) -> str:
    if suspect.denied is not None:
        return f"The user says not to have {suspect.denied}, which the recorded script states."
    if _leaves_no_turn(suspect) and case.failing.trial.termination.reason in OPEN:
        return f"The record ends with no turn for {suspect.tool} after the user's message; {passed} it."
    if _leaves_no_turn(suspect):
        return f"The user ends the trial and leaves no turn for {suspect.tool}; {passed} it."
    return f"The user says something that {unlike}: {_user(suspect)}."


def _told(suspect: Suspect) -> str:
    if suspect.value is None:
        return f"message leaves out {suspect.expected_value}"
    return f"message says {suspect.value} instead of {suspect.expected_value}"


def _says(case: Case) -> str:
    return "the passed trial says" if len(case.passes) == 1 else "every passed trial says"


def _argument(suspect: Suspect) -> str:
    return (suspect.path or "argument").split("[")[0].rsplit(".", 1)[-1] or "argument"


def _user(suspect: Suspect) -> str:
    if suspect.value is not None:
        return f"another {_argument(suspect)}"
    if suspect.denied is not None:
        return f"denied to have {suspect.denied}"
    if _leaves_no_turn(suspect):
        return f"ended before {suspect.tool}"
    return f"another wish, met by {suspect.tool}"


def _leaves_no_turn(suspect: Suspect) -> bool:
    """Whether a user's message stands for a call that is missing, not for one that followed."""
    return suspect.value is None and suspect.expected is not None and suspect.root == suspect.manifest
