"""What the card asks of every trial, worked out while the steps of a trial are at hand.

Steps of large logs stay in their files; without this, every figure would read them again.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any

from trajdiff.model import TaskTrials, Trial
from trajdiff.reliability.behaviour import answer_of, calls_of, writes_of
from trajdiff.reliability.hard_gates import breach
from trajdiff.settings import GateRule

Memo = Mapping[Hashable, Any]


def work_out(task: TaskTrials, write_tools: Collection[str], rules: Sequence[GateRule]) -> tuple[Memo, ...]:
    """What is remembered of each trial of the task; nothing of those whose steps are in memory."""
    return tuple(_of_trial(trial, task, write_tools, rules) for trial in task.trials)


def take_over(task: TaskTrials, memos: Sequence[Memo]) -> None:
    """Remembers what a worker worked out for each trial of the task."""
    for trial, memo in zip(task.trials, memos, strict=False):
        own = getattr(trial.steps, "memo", None)
        if own is not None and own is not memo:
            own.update(memo)


def _of_trial(trial: Trial, task: TaskTrials, write_tools: Collection[str], rules: Sequence[GateRule]) -> Memo:
    memo: Memo | None = getattr(trial.steps, "memo", None)
    if memo is None:
        return {}
    writes_of(trial, write_tools)
    answer_of(trial)
    if task.task.expected_actions:
        calls_of(trial)
    for rule in rules:
        breach(rule, trial)
    return memo
