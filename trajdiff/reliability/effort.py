"""Cost, time, tokens and people's minutes of recorded trials, scope and remedy."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from trajdiff.errors import InputError
from trajdiff.model import TaskTrials, TerminationReason, Trial, Verdict
from trajdiff.reliability.bootstrap import SEED, bootstrap_ratio
from trajdiff.reliability.cost import Cost, Latency, delivery_cost, latency
from trajdiff.reliability.outcomes import counted_trials
from trajdiff.reliability.scope import Coverage, coverage, out_of_scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """What the recorded trials took. Tokens are input plus output over the trials that record them.

    ``cost_interval`` is that of cost per accepted delivery over resampled tasks, as (low, high, share of
    resamples without a delivery); ``high`` is None where that share is not 0. None where it was not asked for,
    where a trial has no cost, and for one task.
    """

    cost: Cost
    latency: Latency | None
    tokens: int | None
    trials_with_tokens: int
    trials: int
    coverage: Coverage
    cost_interval: tuple[float, float | None, float] | None = None


def effort(
    tasks: Sequence[TaskTrials],
    *,
    infra: str = "fail",
    unscored: str = "exclude",
    detailed: bool = False,
    seed: int = SEED,
) -> Effort:
    """Effort of all recorded trials, latency over the counted ones; ``InputError`` for impossible amounts."""
    everything = [trial for task in tasks for trial in task.trials]
    for trial in everything:
        _check_amounts(trial)
    counted = [
        trial
        for task in tasks
        if not out_of_scope(task)
        for trial in counted_trials(task, infra=infra, unscored=unscored)
    ]
    accepted = sum(trial.verdict is Verdict.PASS for trial in counted)
    known = [tokens for tokens in map(_tokens, everything) if tokens is not None]
    return Effort(
        cost=delivery_cost([trial.cost_usd for trial in everything], accepted),
        latency=latency(
            [trial.duration_s for trial in counted],
            [trial.termination.reason is TerminationReason.TIME_LIMIT for trial in counted],
        ),
        tokens=sum(known) if known else None,
        trials_with_tokens=len(known),
        trials=len(everything),
        coverage=_coverage(tasks, everything, counted),
        cost_interval=_cost_interval(tasks, counted, seed) if detailed else None,
    )


def _cost_interval(
    tasks: Sequence[TaskTrials], counted: Sequence[Trial], seed: int
) -> tuple[float, float | None, float] | None:
    """Tasks drawn with everything that their trials cost and every delivery of theirs."""
    accepted = Counter(trial.task_id for trial in counted if trial.verdict is Verdict.PASS)
    costs = [[trial.cost_usd for trial in task.trials] for task in tasks]
    known = [[cost for cost in row if cost is not None] for row in costs]
    if known != costs or not any(known) or not accepted:
        return None
    return bootstrap_ratio(
        [math.fsum(row) for row in known], [accepted[task.task_id] for task in tasks], seed=seed
    )


def _check_amounts(trial: Trial) -> None:
    """Raises ``InputError`` for a negative or non-finite cost, duration or time of a person, with its place."""
    amounts = (("cost", trial.cost_usd), ("duration", trial.duration_s), ("minutes", trial.human.minutes))
    for what, value in amounts:
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise InputError(
                f'{trial.source.path}: trial {trial.trial_id} of task "{trial.task_id}": {what} is {value},'
                " not a finite amount from 0",
                f"at {trial.source.pointer}",
                "correct the record, or leave the field out where it is not known",
            )


def _coverage(tasks: Sequence[TaskTrials], everything: Sequence[Trial], counted: Sequence[Trial]) -> Coverage:
    """Rates that the records allow: a field that no trial has gives no rate."""
    scoped = any(trial.human.in_scope is not None for trial in everything)
    passed = [trial for trial in counted if trial.verdict is Verdict.PASS]
    helped = any(trial.human.assisted is not None for trial in everything)
    corrected = sum(trial.human.assisted is True for trial in passed)
    minutes = [trial.human.minutes for trial in everything if trial.human.minutes is not None]
    return coverage(
        tasks_received=len(tasks),
        out_of_scope=sum(map(out_of_scope, tasks)) if scoped else None,
        counted=len(counted),
        unassisted=len(passed) - corrected if helped else None,
        corrected=corrected if helped else None,
        human_minutes=sum(minutes) if minutes else None,
    )


def _tokens(trial: Trial) -> int | None:
    parts = [part for part in (trial.usage.input, trial.usage.output) if part is not None]
    return sum(parts) if parts else None
