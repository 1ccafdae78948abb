"""Writes scenarios as trajdiff/1 records, one trial a line."""

from __future__ import annotations

from typing import Any

from tests.samples.notation import Line, Task, Trial, compact

PROVENANCE = {
    "model": "demo-agent-1",
    "agent": "shop-support",
    "sampling": {"temperature": 0.0},
    "prompt_version": "p3",
    "tool_version": "t2",
    "environment_version": "shop-2025-03",
    "fixture_version": "f1",
    "scorer_version": "s1",
}
SCORER = "shop-checker"
RULE = "final shop state and stated facts"
REWARDS = {"pass": 1.0, "fail": 0.0}


def jsonl(tasks: tuple[Task, ...]) -> str:
    """All trials of the tasks, one record a line."""
    rows = [compact(record(task, number, trial)) for task in tasks for number, trial in task.recorded]
    return "\n".join(rows) + "\n"


def record(task: Task, number: int, trial: Trial) -> dict[str, Any]:
    """One trial as a trajdiff/1 record, keys in reading order."""
    return {
        "schema": "trajdiff/1",
        "suite": "shop",
        "task_id": task.task_id,
        "trial_id": str(number),
        "task": _task(task),
        **_outcome(task, trial),
        "termination": trial.termination,
        **({"error": trial.error} if trial.error is not None else {}),
        "steps": [_step(line) for line in trial.lines],
        **(_meters(trial) if task.metered else {}),
        "provenance": PROVENANCE,
    }


def _task(task: Task) -> dict[str, Any]:
    told: dict[str, Any] = {"title": task.title, "script": task.script, "expected_trials": len(task.trials)}
    if task.expected_actions is not None:
        told["expected_actions"] = list(task.expected_actions)
    if task.expected_outputs is not None:
        told["expected_outputs"] = list(task.expected_outputs)
    return told


def _outcome(task: Task, trial: Trial) -> dict[str, Any]:
    reward = REWARDS.get(trial.state)
    if reward is None:
        return {"verdict": trial.state}
    outcome: dict[str, Any] = {}
    if task.style == "verdict":
        outcome["verdict"] = {"state": trial.state, "raw": reward, "scorer": SCORER, "rule": RULE}
    elif task.style == "both":
        outcome["verdict"] = trial.state
    if task.style != "verdict":
        outcome["reward"] = reward
    if task.checks:
        outcome["sub_scores"] = {name: trial.scores.get(name, reward) for name in task.checks}
    return outcome


def _step(line: Line) -> dict[str, Any]:
    if not line.is_call:
        return {"actor": line.actor, "kind": "message", "text": line.text}
    arguments = compact(line.arguments) if line.as_text else dict(line.arguments)
    step: dict[str, Any] = {
        "actor": line.actor,
        "kind": "tool_call",
        "name": line.name,
        "arguments": arguments,
    }
    if line.is_answered:
        step["result"] = {"text": line.result, "is_error": True} if line.is_error else line.result
    if line.group is not None:
        step["parallel_group"] = line.group
    return step


def _meters(trial: Trial) -> dict[str, Any]:
    # Made-up but plausible: a turn reads what was said so far, about four characters a token.
    sizes = [len(compact(_step(line))) for line in trial.lines]
    read = sum(sum(sizes[:end]) for end, line in enumerate(trial.lines) if line.actor == "agent") // 4
    written = sum(size for size, line in zip(sizes, trial.lines, strict=True) if line.actor == "agent") // 8
    return {
        "usage": {"input": 900 + read, "output": written},
        "cost_usd": round((900 + read) * 1e-6 + written * 4e-6, 6),
        "duration_s": round(1.5 * len(trial.lines) + written / 50, 1),
    }
