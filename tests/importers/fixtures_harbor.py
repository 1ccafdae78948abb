"""Made-up ATIF trajectories and Harbor folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.importers.fixtures import put


def atif_call(name: str, arguments: Any, call_id: str = "a1", **more: Any) -> dict[str, Any]:
    return {"tool_call_id": call_id, "function_name": name, "arguments": arguments} | more


def atif_step(source: str = "agent", message: Any = "", *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    step: dict[str, Any] = {"step_id": 1, "source": source, "message": message}
    return step | ({"tool_calls": list(calls)} if calls else {}) | more


def observed(*results: Any) -> dict[str, Any]:
    """Results as (call id, content) or (call id, content, extra)."""
    made = [
        {"source_call_id": one[0], "content": one[1]} | ({"extra": one[2]} if len(one) > 2 else {})
        for one in results
    ]
    return {"results": made}


SHELL = (
    atif_step("system", "You may use the shell."),
    atif_step("user", "Fix the lamp."),
    atif_step(
        "agent",
        "",
        atif_call("sh", {"cmd": "ls"}),
        reasoning_content="Look first.",
        observation=observed(("a1", "lamp.py")),
        metrics={"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 4, "cost_usd": 0.5},
    ),
    atif_step("agent", "Fixed."),
)


def atif(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "schema_version": "ATIF-v1.6",
        "session_id": "z",
        "agent": {"name": "demo", "version": "0.1", "model_name": "m-1"},
        "steps": list(steps or SHELL),
    } | more


def trial_result(
    name: str = "lamp__Ab12345",
    task: str = "lamp",
    rewards: Any = None,
    exception: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    return {
        "id": f"id-{name}",
        "task_name": task,
        "trial_name": name,
        "source": "lamps",
        "task_checksum": "c0ffee",
        "config": {"agent": {"kwargs": {"temperature": 0}}},
        "agent_info": {"name": "demo", "version": "0.1", "model_info": {"name": "m-1", "provider": "p"}},
        "agent_result": {"n_input_tokens": 90, "n_cache_tokens": 60, "n_output_tokens": 7, "cost_usd": 0.25},
        "verifier_result": {"rewards": {"reward": 1.0} if rewards is None else rewards},
        "exception_info": None
        if exception is None
        else {"exception_type": exception, "exception_message": "x"},
        "started_at": "2026-01-01T00:00:00Z",
        "finished_at": "2026-01-01T00:01:30Z",
    } | more


def put_trial(job: Path, name: str, result: Any = None, trajectory: Any = None, **files: Any) -> Path:
    """A trial folder; ``files`` maps paths with ``__`` for the slash to contents."""
    folder = job / name
    if result is not None:
        put(folder, "result.json", result)
    put(folder, "config.json", {"task": {"path": "tasks/lamp"}})
    if trajectory is not None:
        put(folder, "agent/trajectory.json", trajectory)
    for path, content in files.items():
        put(folder, path.replace("__", "/").replace("_txt", ".txt").replace("_json", ".json"), content)
    return folder


def put_job(job: Path, *results: dict[str, Any], n_attempts: int | None = 2, total: int | None = None) -> Path:
    """A job of whole trials."""
    for one in results:
        put_trial(job, one["trial_name"], one, atif(), agent__raw_json={"messages": [{"role": "user"}]})
    put(job, "result.json", {"id": "J", "n_total_trials": total or len(results), "stats": {}})
    put(job, "config.json", {} if n_attempts is None else {"n_attempts": n_attempts})
    return job
