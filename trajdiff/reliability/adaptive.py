"""Whether the number of trials was decided by their outcomes: then no mean over tasks is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: So many tasks must be shorter than the longest before a pattern is looked for.
SHORT_NEEDED = 5

SCREENING = "screening"
STOP_AT_PASS = "stop_at_first_pass"
STOP_AT_FAILURE = "stop_at_first_failure"

WORDS = {
    SCREENING: "every shorter task has only passes: repeated only where a first trial failed?",
    STOP_AT_PASS: "every shorter task ends with its only pass: stopped at the first pass?",
    STOP_AT_FAILURE: "every shorter task ends with its only failure: stopped at the first failure?",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveDesign:
    """A pattern that was found. ``certain`` is False where the order of trials was not known."""

    pattern: str
    short_tasks: int
    certain: bool

    @property
    def text(self) -> str:
        """What the report says instead of a curve."""
        verb = "depends" if self.certain else "may depend"
        return f"number of trials {verb} on outcomes"


def adaptive_design(outcomes: Sequence[Sequence[bool]], *, ordered: bool = True) -> AdaptiveDesign | None:
    """The pattern in the outcomes of each task's counted trials, in trial order; None where there is none."""
    used = [tuple(task) for task in outcomes if task]
    longest = max((len(task) for task in used), default=0)
    short = [task for task in used if len(task) < longest]
    if len(short) < SHORT_NEEDED:
        return None
    full = [task for task in used if len(task) == longest]
    pattern = None
    if all(all(task) for task in short) and (not ordered or all(not task[0] for task in full)):
        pattern = SCREENING
    elif ordered and all(sum(task) == 1 and task[-1] for task in short):
        pattern = STOP_AT_PASS
    elif ordered and all(sum(task) == len(task) - 1 and not task[-1] for task in short):
        pattern = STOP_AT_FAILURE
    return AdaptiveDesign(pattern=pattern, short_tasks=len(short), certain=ordered) if pattern else None
