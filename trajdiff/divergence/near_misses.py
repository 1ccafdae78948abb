"""Near misses: what a passing trial did that would be looked at had it failed.

Only deviations with a rule of their own count: a look that all other passes take before a write and this trial
does not, a write that it had to undo, a call that it repeated for nothing. Other words, other reads and another
order are variation.
"""

from __future__ import annotations

from collections.abc import Iterator

from trajdiff.divergence.case import Case
from trajdiff.divergence.deviations import undone
from trajdiff.divergence.endings import loop
from trajdiff.divergence.evidence import ref
from trajdiff.divergence.finding import NearMiss
from trajdiff.divergence.lower_levels import AGREEING, skipped_guard


def near_misses(case: Case) -> Iterator[NearMiss]:
    """Near misses of a passing trial (``case.failing``) against the other passes of its task; at least two
    others must agree on what is usual."""
    if len(case.passes) < AGREEING:
        return
    trial = case.failing
    guard = skipped_guard(case)
    if guard is not None:
        write = case.steps[guard.manifest]
        yield NearMiss(
            trial_id=trial.trial_id,
            kind="guard_skipped",
            text=f"{guard.tool} skipped before {write.step.name}",
            step=ref(trial, write),
        )
    for repair in sorted(undone(case), key=lambda repair: repair.opened.position):
        yield NearMiss(
            trial_id=trial.trial_id,
            kind="write_undone",
            text=f"{repair.opened.step.name} {repair.deviation}",
            step=ref(trial, repair.opened),
        )
    again = loop(case.steps, case.calls_of_passes)
    if again is not None:
        yield NearMiss(
            trial_id=trial.trial_id,
            kind="repeated",
            text=f"{again.step.name} repeated, same arguments and result",
            step=ref(trial, again),
        )
