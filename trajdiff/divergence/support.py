"""Which trials show the deviation that a suspect names: one test for failed and passed trials alike."""

from __future__ import annotations

from collections.abc import Sequence

from trajdiff.align.mentions import mentions
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.align.similarity import SAME_OFFER, SHARED
from trajdiff.divergence.case import Case, Suspect
from trajdiff.divergence.common_answers import LEVEL as COMMON
from trajdiff.divergence.common_answers import answer, has_answer
from trajdiff.divergence.endings import LOOP
from trajdiff.divergence.finding import Kind
from trajdiff.divergence.ledger import difference, effective_writes, is_write, key, subject
from trajdiff.divergence.required_outputs import LEVEL as OUTPUTS
from trajdiff.divergence.required_outputs import tells
from trajdiff.divergence.work.claims import CHECKS, LEVELS, has_mark
from trajdiff.model import LIMITS
from trajdiff.reliability.association import perfect_split_p

#: Levels of trials that work by commands.
WORK_LEVELS = frozenset({CHECKS, *(name for name, _ in LEVELS)})
#: Kinds that say that something is not there.
ABSENT = frozenset({Kind.MISSING_STEP, Kind.EARLY_STOP, Kind.UNRECOVERED_ERROR})


def showing(case: Case, suspect: Suspect, trials: Sequence[PreparedTrial]) -> int:
    """How many of the trials show the deviation; the failing trial does, since it was found there."""
    own = case.failing.trial_id
    return sum(trial.trial_id == own or shows(case, suspect, trial) for trial in trials)


def shows(case: Case, suspect: Suspect, trial: PreparedTrial) -> bool:
    """Whether a trial, failed or passed, shows the deviation that the suspect names."""
    root, manifest = case.steps[suspect.root], case.steps[suspect.manifest]
    if suspect.level in WORK_LEVELS:
        return has_mark(case, suspect, trial)
    if suspect.kind is Kind.USER_DEVIATION:
        return _user_shows(case, suspect, trial)
    if suspect.kind in ABSENT:
        if suspect.expected is None:
            return trial.trial.termination.reason in LIMITS
        return not _has(trial, suspect.expected, _guarded(case, suspect, trial))
    if suspect.kind is Kind.INEFFECTIVE_WRITE and suspect.expected is not None:
        return all(key(step) != key(suspect.expected) for step in effective_writes(trial))
    if suspect.kind is Kind.RESULT_DIFFERENCE:
        return any(step.full_key == root.full_key for step in trial.calls)
    if suspect.kind is Kind.WRONG_ANSWER or (suspect.level == "answers" and suspect.value is not None):
        return _tells(suspect, trial)
    if suspect.kind is Kind.INFRASTRUCTURE:
        return trial.trial.termination.reason is case.failing.trial.termination.reason
    if suspect.kind is Kind.LOOP:
        return sum(step.full_key == root.full_key for step in trial.calls) >= LOOP
    if suspect.kind is Kind.WRONG_ORDER:
        return not difference(case.failing, trial).debts
    return _writes(case, suspect, trial, manifest)


def _tells(suspect: Suspect, trial: PreparedTrial) -> bool:
    """Whether a trial tells what the suspect's trial tells, or leaves out what that leaves out."""
    told = [step for step in trial.steps if step.is_message and step.by_agent]
    if suspect.level == "answers" and suspect.value is not None:
        said = frozenset[str]().union(*(mentions(step.text).values for step in told))
        return suspect.value in said and suspect.expected_value not in said
    if suspect.level == OUTPUTS:
        return not tells(trial, suspect.expected_value or "")
    if suspect.level == COMMON:
        own = answer(trial)
        return own is not None and not has_answer(own, suspect.expected_value or "")
    return all(suspect.expected_value not in step.commitments for step in told)


def makes_expected(suspect: Suspect, trials: Sequence[PreparedTrial]) -> int:
    """How many of the trials make the call that the passes' side of the suspect names."""
    expected = suspect.expected
    return 0 if expected is None else sum(_has(trial, expected, None) for trial in trials)


def put_back(case: Case, suspect: Suspect, trials: Sequence[PreparedTrial]) -> int:
    """How many of the trials made the suspect's write too and had undone or replaced it by their end."""
    manifest = case.steps[suspect.manifest]
    if not is_write(manifest) or suspect.kind in ABSENT:
        return 0
    made = [t for t in trials if any(map(is_write, t.calls_by_key.get(key(manifest), ())))]
    return sum(all(key(s) != key(manifest) for s in effective_writes(trial)) for trial in made)


def smallest_p(failed: int, passed: int) -> float | None:
    """The smallest two-sided p (Fisher) that any split of these trials could reach; None without both sides."""
    return float(perfect_split_p(passed, failed)) if failed and passed else None


def _has(trial: PreparedTrial, expected: PreparedStep, before: PreparedStep | None) -> bool:
    """Whether a trial makes a call and it is not refused, before a step of its own where one is given. A write
    counts by what it is about: with other values it is another deviation, not a missing step."""
    about = subject(expected) if is_write(expected) else None
    return any(
        not step.failed
        and step.label == expected.label
        and (step.call_key == expected.call_key or (about is not None and subject(step) == about))
        for step in trial.calls
        if before is None or step.position < before.position
    )


def _guarded(case: Case, suspect: Suspect, trial: PreparedTrial) -> PreparedStep | None:
    """The trial's own write that a missing look belongs before: the one that the suspect's trial makes."""
    manifest = case.steps[suspect.manifest]
    if suspect.kind is not Kind.MISSING_STEP or not is_write(manifest):
        return None
    if suspect.expected is not None and is_write(suspect.expected):
        return None  # a missing change is missing wherever the passes make it
    return next((step for step in trial.calls if is_write(step) and step.label == manifest.label), None)


def _user_shows(case: Case, suspect: Suspect, trial: PreparedTrial) -> bool:
    users = [step for step in trial.steps if step.is_message and step.by_user]
    root = case.steps[suspect.root]
    value, path = suspect.value, suspect.path or ""
    if value is not None and case.states(root.text, value, path):
        return any(case.states(step.text, value, path) for step in users)
    if value is not None:
        # The value is told in other words than it is written: the message itself is what is counted.
        return any(case.graph.costs.likeness(step, root) >= SAME_OFFER for step in users)
    manifest = case.steps[suspect.manifest]
    if suspect.expected is not None and not manifest.is_call:
        return not _has(trial, suspect.expected, None)
    if not any(case.graph.costs.likeness(step, root) >= SHARED for step in users):
        return False
    # Words alone are often alike: what came of them counts too.
    return not is_write(manifest) or any(
        step.label == manifest.label and subject(step) == subject(manifest) for step in effective_writes(trial)
    )


def _writes(case: Case, suspect: Suspect, trial: PreparedTrial, manifest: PreparedStep) -> bool:
    written = effective_writes(trial)
    if suspect.kind is Kind.DUPLICATE_WRITE:
        return _times(case, suspect, trial) > 1
    if suspect.kind is Kind.WRONG_ARGUMENT and suspect.path is not None:
        wrong = _values(manifest, suspect.path)
        same = (step for step in written if step.label == manifest.label)
        return any(
            (_values(step, suspect.path) == wrong if wrong else key(step) == key(manifest)) for step in same
        )
    return any(key(step) == key(manifest) for step in written)


def _values(step: PreparedStep, path: str) -> list[str]:
    return sorted(value for at, value in step.argument_leaves if path in (at, at.split("[")[0]))


def _times(case: Case, suspect: Suspect, trial: PreparedTrial) -> int:
    """How often a trial makes the doubled call. Refused attempts count only where the suspect's own trial needs
    them to make two: a time-out that took effect all the same."""
    again = case.steps[suspect.root].call_key
    done = sum(step.call_key == again for step in case.failing.calls if not step.failed)
    return sum(step.call_key == again for step in trial.calls if done < 2 or not step.failed)
