"""The counted trials of a task as outcomes in trial order, the same for every figure that needs the order."""

from __future__ import annotations

from trajdiff.model import TaskTrials, Trial, Verdict
from trajdiff.reliability.counting import count_task


def counted_trials(task: TaskTrials, *, infra: str = "fail", unscored: str = "exclude") -> tuple[Trial, ...]:
    """The trials that enter the figures under the two counting rules, in trial order."""
    counts = count_task(task)
    ids = {*counts.passed, *counts.failed, *counts.limit_unscored}
    ids |= set(counts.infra) if infra == "fail" else set()
    ids |= set(counts.unscored) if unscored == "fail" else set()
    return tuple(trial for trial in task.trials if trial.trial_id in ids)


def outcomes_of(task: TaskTrials, *, infra: str = "fail", unscored: str = "exclude") -> dict[int, bool]:
    """Whether each counted trial was accepted, by its ordinal."""
    trials = counted_trials(task, infra=infra, unscored=unscored)
    return {trial.ordinal: trial.verdict is Verdict.PASS for trial in trials}
