"""How alike the trials of a task are, and how they compare with recorded required steps."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct

from trajdiff.model import Actor, StepKind, TaskTrials, Trial, Verdict, remembered
from trajdiff.reliability.acceptance import met
from trajdiff.reliability.consistency import Consistency, Criterion, consistency, criterion


class TaskBehaviour(Struct, frozen=True, kw_only=True):
    """One task: distinct paths, sets of writes and answers over its judged trials; how the writes read.

    ``failures_alike`` says of two or more failed trials whether all made the same writes and gave the same
    answer ("always the same wrong way"), None with fewer.
    """

    task_id: str
    trials: int
    paths: int
    writes: Consistency
    answers: int
    failures_alike: bool | None
    criteria: tuple[Criterion, ...] = ()


class Required(Struct, frozen=True, kw_only=True):
    """How one trial's calls compare with the reference's required ones: a description, never a verdict."""

    task_id: str
    trial_id: str
    passed: bool
    relation: str
    precision: float | None
    recall: float


def behaviour(task: TaskTrials, write_tools: Collection[str], paths: Mapping[str, int]) -> TaskBehaviour | None:
    """Consistency of one task; ``paths`` maps trial ids to the number of their variant. None without trials."""
    judged = [
        trial for trial in task.trials if trial.verdict in (Verdict.PASS, Verdict.FAIL) and trial.comparable
    ]
    if not judged:
        return None
    writes = [writes_of(trial, write_tools) for trial in judged]
    answers = [answer_of(trial) for trial in judged]
    failed = [(writes[at], answers[at]) for at, trial in enumerate(judged) if trial.verdict is Verdict.FAIL]
    return TaskBehaviour(
        task_id=task.task_id,
        trials=len(judged),
        paths=len({paths.get(trial.trial_id, -at) for at, trial in enumerate(judged, 1)}),
        writes=consistency(writes, [trial.verdict is Verdict.PASS for trial in judged]),
        answers=len(set(answers)),
        failures_alike=len(set(failed)) == 1 if len(failed) > 1 else None,
        criteria=criteria_of(judged),
    )


def writes_of(trial: Trial, write_tools: Collection[str]) -> tuple[str, ...]:
    """The changing calls that succeeded, in order, each as tool and canonical arguments."""

    def found() -> tuple[str, ...]:
        return tuple(
            f"{step.name} {canonical(step.arguments.parsed if step.arguments else None)}"
            for step in trial.steps
            if step.is_call and step.name in write_tools and not step.failed
        )

    return remembered(trial, ("writes", *sorted(write_tools)), found)


def answer_of(trial: Trial) -> str:
    """The last message of the agent, without case and runs of blanks; empty where there is none."""

    def found() -> str:
        said = [
            step.text for step in trial.steps if step.kind is StepKind.MESSAGE and step.actor == Actor.AGENT
        ]
        return " ".join((said[-1] or "").casefold().split()) if said else ""

    return remembered(trial, "answer", found)


def criteria_of(trials: Sequence[Trial]) -> tuple[Criterion, ...]:
    """Every recorded sub-score and every expected item, over the trials that have it, by name."""
    seen: dict[str, list[bool]] = {}
    for trial in trials:
        for name, score in trial.sub_scores.items():
            verdict = met(score)
            if verdict is not None:
                seen.setdefault(name, []).append(verdict)
        for items in trial.items:
            for item in items.expected:
                seen.setdefault(f"{items.criterion}: {item}", []).append(item in items.produced)
    return tuple(criterion(name, seen[name]) for name in sorted(seen))


def required_steps(task: TaskTrials) -> tuple[Required, ...]:
    """Compares each judged trial with the required actions of the task; empty where none are recorded."""
    gold = task.task.expected_actions
    if not gold:
        return ()
    needed = Counter(f"{action.name} {canonical(action.arguments)}" for action in gold)
    made = []
    for trial in task.trials:
        if trial.verdict not in (Verdict.PASS, Verdict.FAIL):
            continue
        done = calls_of(trial)
        shared = (needed & done).total()
        made.append(
            Required(
                task_id=task.task_id,
                trial_id=trial.trial_id,
                passed=trial.verdict is Verdict.PASS,
                relation=_relation(needed, done),
                precision=shared / done.total() if done else None,
                recall=shared / needed.total(),
            )
        )
    return tuple(made)


def calls_of(trial: Trial) -> Counter[str]:
    """All calls, each as tool and canonical arguments, with how often it was made."""

    def found() -> Counter[str]:
        return Counter(
            f"{step.name} {canonical(step.arguments.parsed if step.arguments else None)}"
            for step in trial.steps
            if step.is_call
        )

    return remembered(trial, "calls", found)


def canonical(value: Any) -> str:
    """Arguments as text that does not depend on the order of keys."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _relation(needed: Counter[str], done: Counter[str]) -> str:
    if done == needed:
        return "exact"
    if done >= needed:
        return "superset"
    return "subset" if done <= needed and done else "neither"
