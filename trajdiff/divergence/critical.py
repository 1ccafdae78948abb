"""The rule for "critical": the earliest debt that is open at the end and reaches the difference in outcome.

Read top to bottom: what the trial did that no pass did, then how it ended and what it owes, then the levels
below writes, which are used only where held-out passes do not trip over them. A write that was made stands
before one that is missing, whatever their order: the place of a missing step is the weakest of all answers.

Tried on labelled runs and left out, since they cost as much as they brought or more: the first refusal, a
hand-over or an item left out of a joint plan as the place of a missing write; a choice of that place scored
over thirty features; a list of options as no announcement; values that the user makes up, or chooses among
what was offered; any request of the user's that is unlike the passes', where the agent had not said the
same before.
"""

from __future__ import annotations

from trajdiff.divergence.case import Case, Suspect
from trajdiff.divergence.endings import ending
from trajdiff.divergence.finding import Kind
from trajdiff.divergence.ledger import closest
from trajdiff.divergence.lower_levels import lower_levels
from trajdiff.divergence.required_outputs import untold_output
from trajdiff.divergence.work.claims import by_commands, work_claim
from trajdiff.divergence.writes_made import made_suspects
from trajdiff.divergence.writes_missing import missing_suspects
from trajdiff.model import LIMITS, Verdict


def earliest(case: Case) -> Suspect | None:
    """The earliest critical divergence of a failing trial, or None where nothing separates it."""
    if case.failing.trial.verdict is Verdict.INFRA or not case.common_ground:
        return None
    if by_commands(case):
        cut = any(trial.trial.termination.reason in LIMITS for trial in case.passes)
        return work_claim(case) or (None if cut else ending(case, owes=False))
    debts = closest(case.failing, case.passes)
    done = [suspect for debt in debts.debts for suspect in made_suspects(case, debts, debt)]
    owed = [suspect for debt in debts.debts for suspect in missing_suspects(case, debts, debt)]
    if done:
        return min((*done, *(s for s in owed if s.sure)), key=_order)
    end = ending(case, bool(owed))
    if end is not None and not any(_before(suspect, end) for suspect in owed):
        return end
    if owed:
        return min(owed, key=_order)
    return untold_output(case) or lower_levels(case)


def _before(suspect: Suspect, end: Suspect) -> bool:
    """Whether something was missing before the trial's ending explains it; where the harness ended the trial,
    only what the agent had gone past already."""
    if end.kind is Kind.INFRASTRUCTURE:
        return suspect.kind is not Kind.EARLY_STOP
    if end.kind is Kind.LOOP and suspect.kind is Kind.MISSING_STEP and not suspect.sure:
        return False
    return suspect.root < end.root


def _order(suspect: Suspect) -> tuple[int, int, str]:
    return suspect.root, suspect.manifest, suspect.kind
