"""Writes scenarios in the shape of a τ²-bench results file, one message a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.samples.notation import Line, Task, Trial, compact

STARTED = "2025-03-03T09:00:00"
STOPS = {"user_done": "user_stop", "agent_done": "agent_stop", "max_steps": "max_steps"}
INFO = {
    "git_commit": "5a0b7c1",
    "num_trials": 4,
    "max_steps": 12,
    "max_errors": 10,
    "user_info": {"implementation": "user_simulator", "llm": "demo-user-1", "llm_args": {"temperature": 0.0}},
    "agent_info": {"implementation": "llm_agent", "llm": "demo-agent-1", "llm_args": {"temperature": 0.0}},
    "environment_info": {"domain_name": "shop", "policy": "Verify the customer before anything is changed."},
    "seed": None,
}


def tau2(tasks: tuple[Task, ...]) -> str:
    """All tasks and trials as one results file."""
    simulations = [_simulation(task, number, trial) for task in tasks for number, trial in task.recorded]
    definitions = [compact(_task(task)) for task in tasks]
    between = ",\n  "
    return (
        f'{{"timestamp": "{STARTED}",\n "info": {compact(INFO)},\n'
        f' "tasks": [\n  {between.join(definitions)}\n ],\n'
        f' "simulations": [\n  {between.join(simulations)}\n ]}}\n'
    )


def _actions(task: Task) -> list[dict[str, Any]]:
    return [
        {
            "action_id": f"{task.task_id}_{at}",
            "requestor": "assistant",
            "name": action["name"],
            "arguments": action["arguments"],
            "info": None,
            "compare_args": None,
        }
        for at, action in enumerate(task.expected_actions or ())
    ]


def _task(task: Task) -> dict[str, Any]:
    instructions = {
        "domain": "shop",
        "reason_for_call": task.script,
        "known_info": None,
        "unknown_info": None,
        "task_instructions": "Answer shortly. Say what you want once, details when asked.",
    }
    return {
        "id": task.task_id,
        "description": {"purpose": task.title, "relevant_policies": None, "notes": None},
        "user_scenario": {"persona": None, "instructions": instructions},
        "initial_state": None,
        "evaluation_criteria": {
            "actions": _actions(task),
            "env_assertions": None,
            "communicate_info": list(task.expected_outputs or ()),
            "nl_assertions": None,
            "reward_basis": ["DB", "COMMUNICATE"],
        },
    }


def _simulation(task: Task, number: int, trial: Trial) -> str:
    head = {
        "id": f"sim-{task.task_id}-{number}",
        "task_id": task.task_id,
        "timestamp": STARTED,
        "start_time": STARTED,
        "end_time": STARTED,
        "duration": 2.0 * len(trial.lines),
        "termination_reason": STOPS[trial.termination],
        "agent_cost": round(0.0004 * len(trial.lines), 4),
        "user_cost": 0.0002,
        "reward_info": _reward(task, trial),
        "trial": number,
        "seed": None,
    }
    rows = ",\n    ".join(compact(message) for message in _messages(trial))
    return f'{compact(head)[:-1]},\n   "messages": [\n    {rows}\n   ]}}'


def _reward(task: Task, trial: Trial) -> dict[str, Any]:
    reward = 1.0 if trial.state == "pass" else 0.0
    made = {_asked(line.name, line.arguments) for line in trial.lines if line.is_call}
    checks = [
        {
            "action": action,
            "action_match": (hit := _asked(action["name"], action["arguments"]) in made),
            "action_reward": float(hit),
        }
        for action in _actions(task)
    ]
    database = trial.scores.get("DB", reward)
    return {
        "reward": reward,
        "db_check": {"db_match": database == 1.0, "db_reward": database},
        "env_assertions": [],
        "action_checks": checks,
        "nl_assertions": None,
        "communicate_checks": None,
        "reward_basis": ["DB", "COMMUNICATE"],
        "reward_breakdown": {"DB": database, "COMMUNICATE": trial.scores.get("COMMUNICATE", 1.0)},
    }


def _asked(name: str | None, arguments: Mapping[str, Any]) -> str:
    # The order of ids in a list is no difference to the shop.
    sets = {key: sorted(value) if isinstance(value, list) else value for key, value in arguments.items()}
    return f"{name} {json.dumps(sets, sort_keys=True)}"


def _messages(trial: Trial) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    lines = trial.lines
    at = calls = 0
    while at < len(lines):
        end = at + 1
        while lines[at].group is not None and end < len(lines) and lines[end].group == lines[at].group:
            end += 1
        if not lines[at].is_call:
            messages.append(_said(lines[at], last=end == len(lines) and trial.termination == "user_done"))
        else:
            ids = [f"call_{calls + offset}" for offset in range(end - at)]
            calls += len(ids)
            pairs = list(zip(ids, lines[at:end], strict=True))
            requests = [
                {"id": uid, "name": line.name, "arguments": line.arguments, "requestor": "assistant"}
                for uid, line in pairs
            ]
            messages.append({"role": "assistant", "content": None, "tool_calls": requests})
            messages.extend(_answer(uid, line) for uid, line in pairs if line.is_answered)
        at = end
    return [{**message, "turn_idx": turn} for turn, message in enumerate(messages)]


def _said(line: Line, *, last: bool) -> dict[str, Any]:
    role = "user" if line.actor == "user" else "assistant"
    return {"role": role, "content": f"{line.text} ###STOP###" if last else line.text, "tool_calls": None}


def _answer(uid: str, line: Line) -> dict[str, Any]:
    content = line.result if isinstance(line.result, str) else compact(line.result)
    return {"id": uid, "role": "tool", "content": content, "requestor": "assistant", "error": line.is_error}
