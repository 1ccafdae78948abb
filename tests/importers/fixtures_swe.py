"""Made-up trajectories of SWE-agent, mini-swe-agent and OpenHands."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

PROMPTS = (
    {"role": "system", "content": "Use the shell.", "agent": "main"},
    {"role": "user", "content": "Fix the lamp.", "agent": "main"},
)


def traj(**more: Any) -> dict[str, Any]:
    """A SWE-agent file with actions as text."""
    history = [
        *deepcopy(PROMPTS),  # tests spoil what they are given
        {"role": "assistant", "content": "x", "thought": "Look.", "action": "ls", "agent": "main"},
    ]
    steps = [
        {"action": "ls -a", "observation": "lamp.py", "thought": "Look.", "response": "Look."},
        {"action": "submit", "observation": "", "thought": "Done.", "response": "Done."},
    ]
    stats = {"instance_cost": 0.5, "tokens_sent": 90, "tokens_received": 7}
    info = {"exit_status": "submitted", "model_stats": stats, "swe_agent_version": "1.1.0"}
    return {"environment": "main", "trajectory": steps, "history": history, "info": info} | more


def structured() -> list[dict[str, Any]]:
    """A history with calls, one of them a demonstration."""
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"for": "lamp"}'}}
    return [
        PROMPTS[0],
        PROMPTS[1],
        {"role": "assistant", "content": "Look.", "agent": "main", "tool_calls": [call]},
        {"role": "tool", "content": "lamp.py", "agent": "main", "tool_call_ids": ["c1"]},
    ]


def mini(**more: Any) -> dict[str, Any]:
    messages = [
        {"role": "system", "content": "Use the shell."},
        {"role": "user", "content": "Fix the lamp."},
        {"role": "assistant", "content": "Look.", "extra": {"actions": [{"command": "ls"}]}},
        {"role": "user", "content": "lamp.py", "extra": {"returncode": 0}},
        {"role": "assistant", "content": "Run.", "extra": {"actions": [{"command": "make"}]}},
        {"role": "user", "content": "no rule", "extra": {"returncode": 2}},
    ]
    info = {
        "exit_status": "LimitsExceeded",
        "model_stats": {"instance_cost": 0.4, "api_calls": 9},
        "mini_version": "2.4.6",
        "config": {"model": {"model_name": "m-1", "model_kwargs": {"temperature": 0}}},
    }
    return {
        "info": info,
        "messages": messages,
        "trajectory_format": "mini-swe-agent-1.1",
        "instance_id": "acme__lib-12",
    } | more


def v0_events() -> list[dict[str, Any]]:
    def asked(number: int, name: str, call_id: str, args: dict[str, Any]) -> dict[str, Any]:
        named = {"function_name": name, "tool_call_id": call_id, "model_response": {"id": "r1"}}
        return {"id": number, "source": "agent", "action": "run", "args": args, "tool_call_metadata": named}

    return [
        {"id": 0, "source": "agent", "action": "system", "args": {"content": "Use the shell."}},
        {"id": 1, "source": "user", "action": "message", "args": {"content": "Fix the lamp."}},
        asked(2, "execute_bash", "c1", {"command": "ls", "thought": "Look.", "hidden": False}),
        asked(3, "execute_bash", "c2", {"command": "make", "thought": ""}),
        {"id": 4, "source": "agent", "observation": "run", "content": "no rule", "cause": 3,
         "extras": {"metadata": {"exit_code": 2}}},
        {"id": 5, "source": "agent", "observation": "run", "content": "lamp.py", "cause": 2,
         "extras": {"metadata": {"exit_code": 0}}},
        {"id": 6, "source": "environment", "observation": "agent_state_changed", "content": ""},
    ]  # fmt: skip


def v1_events() -> list[dict[str, Any]]:
    def asked(own: str, call_id: str, arguments: str) -> dict[str, Any]:
        return {
            "kind": "ActionEvent", "id": own, "source": "agent", "tool_name": "terminal",
            "tool_call_id": call_id,
            "tool_call": {"id": call_id, "name": "terminal", "arguments": arguments},
            "llm_response_id": "r1",
            "action": {"kind": "ExecuteBashAction"}, "thought": [{"type": "text", "text": "Look."}],
        }  # fmt: skip

    return [
        {"kind": "SystemPromptEvent", "id": "s", "source": "agent",
         "system_prompt": {"text": "Use the shell."}},
        {"kind": "MessageEvent", "id": "u", "source": "user", "llm_message": {"role": "user", "content": [
            {"type": "text", "text": "Fix the lamp."}]}},
        asked("a1", "c1", '{"command": "ls"}'),
        asked("a2", "c2", '{"command": "make"}'),
        {"kind": "AgentErrorEvent", "id": "e", "source": "agent", "tool_call_id": "c2", "error": "no rule"},
        {"kind": "ObservationEvent", "id": "o", "source": "environment", "action_id": "a1",
         "tool_call_id": "c1",
         "observation": {"kind": "ExecuteBashObservation", "output": "lamp.py", "exit_code": 0}},
        {"kind": "ConversationStateUpdateEvent", "id": "x", "source": "environment"},
    ]  # fmt: skip


def row(instance: Any = "i1", **more: Any) -> dict[str, Any]:
    return {
        "instance_id": instance,
        "attempt": 1,
        "test_result": {"git_patch": ""},
        "error": None,
        "history": v1_events(),
        "metrics": {"accumulated_cost": 0.25},
        "metadata": {"llm": {"model": "m-1", "temperature": 0}, "agent_class": "CodeAct"},
    } | more
