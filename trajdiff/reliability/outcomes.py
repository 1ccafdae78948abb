"""The counted trials of a task as outcomes in trial order, the same for every figure that needs the order."""

from __future__ import annotations

from trajdiff.model import TaskTrials, Trial, Verdict
from trajdiff.reliability.counting import states_of


def counted_trials(task: TaskTrials, *, infra: str = "fail", unscored: str = "exclude") -> tuple[Trial, ...]:
    """The trials that enter the figures under the two counting rules, in trial order."""
    entering = {"passed", "failed", "limit_unscored"}
    entering |= {"infra"} if infra == "fail" else set()
    entering |= {"unscored"} if unscored == "fail" else set()
    states = states_of(task)
    return tuple(trial for trial in task.trials if states.get(trial.trial_id) in entering)


def outcomes_of(task: TaskTrials, *, infra: str = "fail", unscored: str = "exclude") -> dict[int, bool]:
    """Whether each counted trial was accepted, by its ordinal."""
    trials = counted_trials(task, infra=infra, unscored=unscored)
    return {trial.ordinal: trial.verdict is Verdict.PASS for trial in trials}
