"""Runs the user's own agent: tasks × trials from the same start, recorded, judged and resumable.

``load_plan`` reads a plan, ``run_plan`` runs what of it is not done yet. Imported when it is first needed.
"""

from __future__ import annotations

from trajdiff.running.plan import Plan, PlannedTask, load_plan
from trajdiff.running.runner import RunResult, run_plan
from trajdiff.running.slots import Arm, Slot, seed_of, slots_of

__all__ = [
    "Arm",
    "Plan",
    "PlannedTask",
    "RunResult",
    "Slot",
    "load_plan",
    "run_plan",
    "seed_of",
    "slots_of",
]
