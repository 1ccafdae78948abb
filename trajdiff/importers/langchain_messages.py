"""LangChain messages as chat messages: with data, with kwargs, or flat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajdiff.importers.call_entries import call_entries
from trajdiff.importers.lenient import as_list, as_object
from trajdiff.importers.naming import as_text

_ROLES = {
    "ai": "assistant",
    "AIMessage": "assistant",
    "AIMessageChunk": "assistant",
    "human": "user",
    "HumanMessage": "user",
    "HumanMessageChunk": "user",
    "system": "system",
    "SystemMessage": "system",
    "tool": "tool",
    "ToolMessage": "tool",
    "function": "function",
    "FunctionMessage": "function",
}


def as_chat(message: Any) -> dict[str, Any] | None:
    """The message in the way of chat completions; None if it is not one of LangChain."""
    if not isinstance(message, dict) or message.get("role") is not None:
        return None
    held, role = _held(message)
    if role is None:
        return None
    made: dict[str, Any] = {"role": role, "content": _content(held.get("content"))}
    for key in ("tool_call_id", "name", "status"):
        if held.get(key) is not None:
            made[key] = held[key]
    calls = [_call(one) for _, one in call_entries(held.get("tool_calls"))]
    # Calls that could not be parsed are kept apart by the producer; they are calls all the same.
    calls += [_call(one) for _, one in call_entries(held.get("invalid_tool_calls"))]
    calls = calls or as_list(as_object(held.get("additional_kwargs")).get("tool_calls"))
    return made | ({"tool_calls": calls} if calls else {})


def _held(message: Mapping[str, Any]) -> tuple[Mapping[str, Any], str | None]:
    """What a message holds, and its role."""
    kwargs = message.get("kwargs")
    if message.get("lc") is not None and isinstance(kwargs, dict):
        names = as_list(message.get("id"))
        return kwargs, _ROLES.get(as_text(names[-1]) or "") if names else None
    role = _ROLES.get(as_text(message.get("type")) or "")
    data = message.get("data")
    if isinstance(data, dict):
        return data, role
    return message, role if "content" in message else None


def _content(content: Any) -> Any:
    """The content without the parts that repeat its calls."""
    if not isinstance(content, list):
        return content
    kept = [one for one in content if as_object(one).get("type") not in ("tool_use", "input_json_delta")]
    return kept or None


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function: dict[str, Any] = {"name": call.get("name")}
    if "args" in call or "arguments" in call:
        function["arguments"] = call.get("args", call.get("arguments"))
    return {"id": call.get("id"), "function": function}
