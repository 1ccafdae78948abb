"""Runs the arms of an intervention with the same seeds, from the same start as the plan's own trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from trajdiff.errors import UsageError
from trajdiff.importers import ReadOptions, load
from trajdiff.intervention.evaluation import CONTROL, PINNED, PLACEBO, by_arm, evaluate
from trajdiff.intervention.outcome import Outcome
from trajdiff.intervention.pinning import Pinned
from trajdiff.running import Arm, Plan, RunResult, Slot, run_plan, seed_of


def intervene(
    plan: Plan,
    task_id: str,
    pinned: Pinned,
    placebo: Pinned | None,
    environment: Mapping[str, str],
    *,
    trials: int,
    out: Path,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Outcome, RunResult]:
    """Run control, pinned and placebo, ``trials`` of each, and compare them.

    The seeds are the same in all arms and other ones than those of the plan's own trials: the step was found in
    these, and testing it on them again would favour it. Raises as ``run_plan`` does.
    """
    task = next((task for task in plan.tasks if task.id == task_id), None)
    if task is None:
        known = ", ".join(task.id for task in plan.tasks[:20])
        raise UsageError(f'the plan {plan.path} has no task "{task_id}"', f"its tasks: {known}")
    arms = [Arm(name=CONTROL), Arm(name=PINNED, pins=pinned.pins)]
    if placebo is not None:
        arms.append(Arm(name=PLACEBO, pins=placebo.pins))
    slots = [
        Slot(task=task, number=number, seed=seed_of(plan.seed, f"intervene:{task.id}", number), arm=arm)
        for number in range(trials)
        for arm in arms
    ]
    about = {"pins": {arm.name: [asdict(pin) for pin in arm.pins] for arm in arms}, "arms": task_id}
    ran = run_plan(plan, environment, slots=slots, jobs=jobs, out=out, about=about, progress=progress)
    corpus = load([str(out)], ReadOptions(group_by=()))
    wanted = {slot.trial_id for slot in slots}
    found = by_arm(trial for trial in corpus.trials if trial.trial_id in wanted)
    outcome = evaluate(
        found,
        label=pinned.label,
        text=pinned.text,
        ref=pinned.ref,
        divergence=pinned.divergence,
        placebo=None if placebo is None else placebo.text,
        seed=plan.seed,
        source=str(out),
    )
    return outcome, ran
