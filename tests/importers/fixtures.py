"""Made-up logs of every format, small enough to read, and what is needed to load them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.importers import fixtures_anthropic as anthropic
from tests.importers import fixtures_inspect as inspect_logs
from tests.importers import fixtures_spans as spans
from tests.importers import fixtures_swe as swe
from trajdiff.importers import ReadOptions, load
from trajdiff.model import Corpus, Diagnostic, Step, StepKind, Trial

# tau-bench


def chat_call(name: str, arguments: Any, call_id: str | None = "c1", text: str | None = None) -> dict[str, Any]:
    call: dict[str, Any] = {"type": "function", "function": {"name": name, "arguments": arguments}}
    if call_id is not None:
        call["id"] = call_id
    return {"role": "assistant", "content": text, "tool_calls": [call]}


def chat_result(content: str, call_id: str | None = "c1", name: str | None = None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "tool", "content": content}
    return (
        message
        | ({} if call_id is None else {"tool_call_id": call_id})
        | ({} if name is None else {"name": name})
    )


def said(role: str, content: str | None) -> dict[str, Any]:
    return {"role": role, "content": content}


LAMP = (
    said("system", "Look lamps up before you sell them."),
    said("user", "I want the tall lamp."),
    chat_call("find_lamp", '{"size": "tall"}', text="One moment."),
    chat_result('{"lamp": 7}', name="find_lamp"),
    chat_call("sell_lamp", '{"lamp": 7, "count": 1}'),
    chat_result("Error: no stock", name="sell_lamp"),
    said("assistant", "It is sold out."),
    said("user", "Pity. ###STOP###"),
)


def tau_trial(
    task_id: Any = 4, trial: Any = 0, reward: Any = 1.0, traj: Any = LAMP, **more: Any
) -> dict[str, Any]:
    info = {
        "task": {
            "user_id": "u_9",
            "instruction": "You want the tall lamp.",
            "actions": [{"name": "sell_lamp", "kwargs": {"lamp": 7}}],
            "outputs": ["7"],
        },
        "user_cost": 0.01,
        "reward_info": {"reward": reward, "info": {"r_actions": reward, "gt_data_hash": "ab"}},
    }
    traj = list(traj) if isinstance(traj, tuple) else traj
    return {"task_id": task_id, "reward": reward, "info": info, "traj": traj, "trial": trial} | more


def tau_crash(task_id: Any = 4, trial: Any = 1) -> dict[str, Any]:
    info = {"error": "connection reset", "traceback": "Traceback ..."}
    return {"task_id": task_id, "reward": 0.0, "info": info, "traj": [], "trial": trial}


# tau2


def tau2_call(name: str, arguments: Any, call_id: str = "k1", requestor: str = "assistant") -> dict[str, Any]:
    return {"id": call_id, "name": name, "arguments": arguments, "requestor": requestor}


def tau2_result(
    content: str, call_id: str = "k1", error: bool = False, requestor: str = "assistant"
) -> dict[str, Any]:
    return {"role": "tool", "id": call_id, "content": content, "requestor": requestor, "error": error}


CART = (
    {"role": "assistant", "content": "Hello.", "tool_calls": None, "usage": None},
    {"role": "user", "content": "Empty my cart.", "tool_calls": None},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [tau2_call("get_cart", {"id": "q"}, "k1"), tau2_call("get_user", {"id": "u"}, "k2")],
        "usage": {"prompt_tokens": 100, "completion_tokens": 7, "cache_read_tokens": 60},
        "raw_data": {"big": "x"},
    },
    tau2_result("[1, 2]", "k1"),
    tau2_result("no such user", "k2", error=True),
    {
        "role": "user",
        "content": "Let me check.",
        "tool_calls": [tau2_call("look", {}, "k3", "user")],
        "usage": {"prompt_tokens": 900, "completion_tokens": 9},
    },
    tau2_result("empty", "k3", requestor="user"),
    {
        "role": "assistant",
        "content": "Done.",
        "usage": {"prompt_tokens": 120, "completion_tokens": 3, "cache_read_tokens": 80},
    },
)


def simulation(
    sim_id: str = "s1",
    task_id: Any = "t1",
    trial: Any = 0,
    reward: Any = 1.0,
    messages: Any = CART,
    **more: Any,
) -> dict[str, Any]:
    return {
        "id": sim_id,
        "task_id": task_id,
        "trial": trial,
        "seed": 5,
        "start_time": f"2025-01-0{1 + (trial or 0) % 9}T10:00:00",
        "end_time": f"2025-01-0{1 + (trial or 0) % 9}T10:01:00",
        "duration": 60.0,
        "termination_reason": "user_stop",
        "agent_cost": 0.02,
        "user_cost": 0.01,
        "reward_info": None if reward is None else {"reward": reward, "reward_breakdown": {"DB": reward}},
        "messages": list(messages) if isinstance(messages, tuple) else messages,
    } | more


def tau2_task(task_id: str = "t1") -> dict[str, Any]:
    return {
        "id": task_id,
        "description": {"purpose": "empty a cart"},
        "user_scenario": {
            "persona": None,
            "instructions": {"reason_for_call": "Empty the cart.", "known_info": "id q"},
        },
        "evaluation_criteria": {
            "actions": [
                {"action_id": "0", "requestor": "assistant", "name": "clear_cart", "arguments": {"id": "q"}},
                {"action_id": "1", "requestor": "user", "name": "look", "arguments": {}},
            ],
            "communicate_info": ["2 items"],
            "reward_basis": ["DB"],
        },
    }


def tau2_results(*simulations: dict[str, Any], num_trials: int | None = 2, **more: Any) -> dict[str, Any]:
    return {
        "timestamp": "2025-01-01T00:00:00",
        "info": {
            "git_commit": "ab12",
            "num_trials": num_trials,
            "environment_info": {"domain_name": "shop", "policy": "Be kind."},
            "agent_info": {"implementation": "llm_agent", "llm": "m-1", "llm_args": {"temperature": 0.0}},
            "user_info": {"implementation": "user_simulator", "llm": "m-2"},
        },
        "tasks": [tau2_task()],
        "simulations": list(simulations),
    } | more


# trajdiff/1


def record(task_id: Any = "L1", trial_id: Any = "0", reward: Any = 1.0, **more: Any) -> dict[str, Any]:
    return {
        "schema": "trajdiff/1",
        "task_id": task_id,
        "trial_id": trial_id,
        "reward": reward,
        "termination": "user_done",
        "steps": [
            {"actor": "user", "text": "Which lamp is tall?"},
            {"name": "find_lamp", "arguments": {"size": "tall"}, "result": {"lamp": 7}},
            {"actor": "agent", "kind": "message", "text": "Number 7."},
        ],
    } | more


# Chat messages and EvalKit


def held(**more: Any) -> dict[str, Any]:
    """A trial as an object with messages."""
    return {"task_id": "t7", "trial": 2, "reward": 1, "messages": list(LAMP)} | more


def evalkit_sample(sample_id: str, *letters: Any, **more: Any) -> dict[str, Any]:
    scores = [{"scorer": f"s{place}", "value": one} for place, one in enumerate(letters)]
    return {"sampleId": sample_id, "scores": scores, "messages": list(LAMP)} | more


# ATIF

ATIF: dict[str, Any] = {
    "schema_version": "ATIF-v1.4",
    "agent": {"name": "demo", "version": "0.1", "model_name": "m-1"},
    "steps": [
        {"step_id": 1, "source": "user", "message": "Fix the lamp."},
        {
            "step_id": 2,
            "source": "agent",
            "message": "",
            "tool_calls": [{"tool_call_id": "a", "function_name": "sh", "arguments": '{"cmd": "ls"}'}],
            "observation": {"results": [{"source_call_id": "a", "content": "lamp.py"}]},
        },
        {"step_id": 3, "source": "agent", "message": "Fixed."},
    ],
}


def jsonl(*records: Any) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in records)


def rollout(number: int = 0, reward: float = 1.0) -> dict[str, Any]:
    """A line of verifiers: calls are JSON texts, and their arguments are JSON texts again."""
    call = {"id": "c1", "type": "function", "function": {"name": "find_lamp", "arguments": '{"size": "tall"}'}}
    return {
        "id": number,
        "task": "shop",
        "prompt": [said("system", "Look lamps up."), said("user", "The tall lamp.")],
        "completion": [
            {"role": "assistant", "content": "", "tool_calls": [json.dumps(call)]},
            {"role": "tool", "content": '{"lamp": 7}', "tool_calls": None},
            said("assistant", "It is lamp 7."),
        ],
        "reward": reward,
        "answer": "7",
    }


#: Files of every format by the importer's name; a new importer needs a line here.
SAMPLES: dict[str, tuple[bytes, ...]] = {
    "spans": (json.dumps(spans.openinference()).encode(), jsonl(*spans.openinference())),
    "langsmith": (json.dumps(spans.runs()).encode(), jsonl(*spans.runs())),
    "swe-agent": (json.dumps(swe.traj()).encode(), json.dumps({"history": swe.structured()}).encode()),
    "mini-swe-agent": (json.dumps(swe.mini()).encode(),),
    "openhands": (jsonl(swe.row("i1"), swe.row("i2", history=swe.v0_events())), jsonl(*swe.v0_events())),
    "claude-code": (jsonl(*anthropic.session()), json.dumps(anthropic.session()).encode()),
    "chat": (
        jsonl(*(held(trial=trial, reward=1 - trial) for trial in (0, 1))),
        json.dumps(list(LAMP)).encode(),
        jsonl(*LAMP),
        json.dumps(held(), indent=1).encode(),
    ),
    "evalkit": (jsonl(evalkit_sample("q1", "C", "C"), evalkit_sample("q2", "C", "I")),),
    "atif": (json.dumps(ATIF).encode(), json.dumps(ATIF | {"schema_version": "ATIF-v1.8"}, indent=1).encode()),
    "inspect": (
        json.dumps(
            inspect_logs.header()
            | {"samples": [inspect_logs.sample(), inspect_logs.sample(epoch=2, scores={"m": {"value": "I"}})]}
        ).encode(),
    ),
    "tau-bench": (
        json.dumps([tau_trial(), tau_trial(trial=1, reward=0.0), tau_crash(trial=2)]).encode(),
        json.dumps(tau_trial()).encode(),
        jsonl(tau_trial(), tau_trial(trial=1, reward=None)),
    ),
    "tau2": (
        json.dumps(tau2_results(simulation(), simulation("s2", trial=1, reward=0.0))).encode(),
        json.dumps(tau2_results(simulation("s3", trial=1, reward=None), num_trials=None), indent=1).encode(),
        json.dumps(simulation()).encode(),
        json.dumps(
            {
                "task_id": "t1",
                "task": tau2_task(),
                "run_info": {"simulation_id": "s1", "termination_reason": "user_stop", "duration_sec": 3.0},
                "reward_info": {"reward": 1.0},
                "messages": list(CART),
            }
        ).encode(),
    ),
    "trajdiff": (
        jsonl(record(), record(trial_id="1", reward=0.0)),
        json.dumps([record(), record(trial_id=1, verdict="unscored", reward=None)]).encode(),
        json.dumps(record(), indent=2).encode(),
    ),
    "verifiers": (jsonl(rollout(), rollout(reward=0.0), rollout(1)),),
}


# Loading


def read(content: Any, **options: Any) -> Corpus:
    """Load one document from standard input; what is not bytes is written as JSON."""
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return load(["-"], ReadOptions(stdin=data, **options))


def only_trial(content: Any, **options: Any) -> Trial:
    (trial,) = read(content, **options).trials
    return trial


def put(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def calls(trial: Trial) -> list[Step]:
    return [step for step in trial.steps if step.kind is StepKind.TOOL_CALL]


def results(trial: Trial) -> list[str | None]:
    return [None if step.result is None else step.result.text for step in calls(trial)]


def slugs(corpus: Corpus) -> list[str]:
    return [one.slug for one in corpus.diagnostics]


def told(corpus: Corpus, slug: str) -> Diagnostic:
    """The one diagnostic with this slug."""
    (found,) = (one for one in corpus.diagnostics if one.slug == slug)
    return found


def names(corpus: Corpus) -> list[str]:
    return [f"{task.task_id}/{trial.trial_id}" for task in corpus.tasks for trial in task.trials]
