"""Reads the committed sample files as plain JSON, with message numbering and pairing done again.

Nothing of the generator is used here, so that a mistake of the generator does not check itself.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TRACES = ROOT / "sample_traces"
Key = tuple[str, str]
Message = tuple[str, str | None, Any]  # who, tool name of a call, text or arguments or result


def own_messages(record: dict[str, Any]) -> list[Message]:
    messages: list[Message] = []
    waiting: list[Message] = []
    group = None
    for step in record["steps"]:
        if "name" not in step:
            messages += [*waiting, (step["actor"], None, step["text"])]
            waiting, group = [], None
            continue
        if step.get("parallel_group") is None or step["parallel_group"] != group:
            messages += [*waiting, (step["actor"], step["name"], step["arguments"])]
            waiting = []
        group = step.get("parallel_group")
        if "result" in step:
            waiting.append(("tool", step["name"], step["result"]))
    return messages + waiting


def own_calls(record: dict[str, Any]) -> list[Message]:
    def decoded(arguments: Any) -> Any:
        return json.loads(arguments) if isinstance(arguments, str) else arguments

    return [
        (step["name"], json.dumps(decoded(step["arguments"]), sort_keys=True), step.get("result"))
        for step in record["steps"]
        if "name" in step
    ]


def tau2_messages(simulation: dict[str, Any]) -> list[Message]:
    who = {"assistant": "agent", "user": "user", "tool": "tool"}
    return [
        (who[message["role"]], calls[0]["name"], calls[0]["arguments"])
        if (calls := message.get("tool_calls"))
        else (who[message["role"]], None, message["content"])
        for message in simulation["messages"]
    ]


def tau2_calls(simulation: dict[str, Any]) -> list[Message]:
    results: dict[str, Any] = {
        message["id"]: message["content"] for message in simulation["messages"] if "id" in message
    }
    return [
        (call["name"], json.dumps(call["arguments"], sort_keys=True), results.get(call["id"]))
        for message in simulation["messages"]
        for call in message.get("tool_calls") or ()
    ]


def _read() -> dict[Key, dict[str, Any]]:
    trials: dict[Key, dict[str, Any]] = {}

    def add(key: Key, **found: Any) -> None:
        assert key not in trials, f"{key} is recorded twice"
        trials[key] = found

    for name in ("shop.jsonl", "shop-zh.jsonl"):
        for line in (TRACES / name).read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            verdict = record.get("verdict")
            state = verdict["state"] if isinstance(verdict, dict) else verdict
            reward = record.get("reward")
            add(
                (record["task_id"], record["trial_id"]),
                file=name,
                state=state or {1.0: "pass", 0.0: "fail"}[reward],
                reward=reward,
                end=record["termination"],
                messages=own_messages(record),
                calls=own_calls(record),
                record=record,
            )
    document = json.loads((TRACES / "shop-tau2.json").read_text(encoding="utf-8"))
    for simulation in document["simulations"]:
        reward = simulation["reward_info"]["reward"]
        add(
            (simulation["task_id"], str(simulation["trial"])),
            file="shop-tau2.json",
            state={1.0: "pass", 0.0: "fail"}[reward],
            reward=reward,
            end=simulation["termination_reason"],
            messages=tau2_messages(simulation),
            calls=tau2_calls(simulation),
            record=simulation,
        )
    return trials


TRIALS = _read()
ROOTS: dict[Key, dict[str, Any]] = {
    (row["task_id"], row["trial_id"]): row
    for row in json.loads((ROOT / "tests/samples/known_roots.json").read_text(encoding="utf-8"))
}
