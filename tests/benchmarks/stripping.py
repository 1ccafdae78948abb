"""Copies of recorded runs without what their benchmark knows: a place to look must not rest on it.

Where a task has a passed trial, its expected actions and required outputs and the details of all rewards are
taken out; the reward itself and the script of the simulated user stay. Tasks that never pass keep theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: Fields of a task that say what the right answer is, in the two formats.
ANSWERS = ("actions", "outputs", "evaluation_criteria")


def without_gold(data: Any) -> Any:
    """A tau-bench list of results or a tau2-bench object, without the answers of tasks that have a pass."""
    if isinstance(data, list):
        passed = _passed((row["task_id"], row["reward"]) for row in data)
        return [_bare_result(row) if str(row["task_id"]) in passed else row for row in data]
    simulations: Sequence[dict[str, Any]] = data["simulations"]
    passed = _passed((s["task_id"], (s.get("reward_info") or {}).get("reward")) for s in simulations)
    return data | {
        "tasks": [_bare_task(task) if str(task["id"]) in passed else task for task in data["tasks"]],
        "simulations": [_bare_simulation(s) if str(s["task_id"]) in passed else s for s in simulations],
    }


def _passed(rewards: Any) -> frozenset[str]:
    return frozenset(str(task) for task, reward in rewards if reward is not None and abs(reward - 1) < 1e-6)


def _bare_task(task: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in task.items() if name not in ANSWERS}


def _bare_result(row: dict[str, Any]) -> dict[str, Any]:
    info = dict(row.get("info") or {})
    # A null stays: it is no detail of a reward, it says that the harness cut the trial and never scored it.
    if isinstance(info.get("reward_info"), dict):
        info["reward_info"] = {}
    if isinstance(info.get("task"), dict):
        info["task"] = _bare_task(info["task"])
    return row | {"info": info}


def _bare_simulation(simulation: dict[str, Any]) -> dict[str, Any]:
    reward = (simulation.get("reward_info") or {}).get("reward")
    return simulation | {"reward_info": None if reward is None else {"reward": reward}}
