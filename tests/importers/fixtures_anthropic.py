"""Made-up Anthropic messages and Claude Code sessions."""

from __future__ import annotations

from typing import Any


def use(name: str, arguments: Any, call_id: str = "t1") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def answer(content: Any, call_id: str = "t1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content} | more


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def line(
    kind: str, uuid: str, parent: str | None, content: Any, message_id: str | None = None, **more: Any
) -> dict[str, Any]:
    message: dict[str, Any] = {"role": kind, "content": content}
    if message_id is not None:
        message |= {"id": message_id, "model": more.pop("model", "m-1")}
    for key in ("usage", "stop_reason"):
        if key in more:
            message[key] = more.pop(key)
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s1",
        "version": "2.1.0",
        "timestamp": f"2026-02-01T00:00:{len(uuid):02d}Z",
        "message": message,
    } | more


def tokens(fresh: int, out: int, cached: int = 0) -> dict[str, Any]:
    return {"input_tokens": fresh, "output_tokens": out, "cache_read_input_tokens": cached}


def session() -> list[dict[str, Any]]:
    """Two parallel calls over three lines, their results in the other order, and a last word."""
    return [
        {"type": "agent-setting", "sessionId": "s1"},
        {"type": "queue-operation", "sessionId": "s1"},
        line("user", "u1", None, "Fix the lamp."),
        line("assistant", "a1", "u1", [text("Looking.")], "m1", usage=tokens(3, 1, 7)),
        line("assistant", "a2", "a1", [use("Read", {"path": "a"}, "t1")], "m1", usage=tokens(3, 5, 7)),
        line("assistant", "a3", "a2", [use("Grep", {"for": "b"}, "t2")], "m1", usage=tokens(3, 9, 7)),
        line("user", "r2", "a3", [answer([text("two")], "t2")]),
        line("user", "r1", "a2", [answer("one", "t1", is_error=True)]),
        line("assistant", "a4", "r2", [text("Fixed.")], "m2", usage=tokens(4, 2), stop_reason="end_turn"),
    ]
