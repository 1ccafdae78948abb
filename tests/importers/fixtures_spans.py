"""Made-up spans and runs."""

from __future__ import annotations

import json
from typing import Any


def pairs(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    """Attributes as OTLP writes them."""

    def value(one: Any) -> dict[str, Any]:
        if isinstance(one, bool):
            return {"boolValue": one}
        if isinstance(one, int):
            return {"intValue": str(one)}
        return {"doubleValue": one} if isinstance(one, float) else {"stringValue": one}

    return [{"key": key, "value": value(one)} for key, one in attributes.items()]


def span(
    number: int, attributes: dict[str, Any], parent: int | None = None, trace: str = "0a", **more: Any
) -> dict[str, Any]:
    made = {
        "traceId": trace,
        "spanId": f"{number:02x}",
        "name": f"span {number}",
        "startTimeUnixNano": str(1_700_000_000_000_000_000 + number),
        "endTimeUnixNano": str(1_700_000_000_000_000_000 + number + 1),
        "attributes": pairs(attributes),
    }
    return made | ({} if parent is None else {"parentSpanId": f"{parent:02x}"}) | more


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    return {
        "resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]
    }


def said_in_parts(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


ASKED = said_in_parts("user", {"type": "text", "content": "Fix the lamp."})
CALLED = said_in_parts(
    "assistant", {"type": "tool_call", "id": "c1", "name": "look", "arguments": {"at": "lamp"}}
)
ANSWERED = said_in_parts("tool", {"type": "tool_call_response", "id": "c1", "response": "broken"})
LAST = said_in_parts("assistant", {"type": "text", "content": "It is broken."})


def genai(seen: list[Any], given: list[Any], **more: Any) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m-1",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.input.messages": json.dumps(seen),
        "gen_ai.output.messages": json.dumps(given),
    } | more


def tool(call_id: str | None = "c1", **more: Any) -> dict[str, Any]:
    named = {} if call_id is None else {"gen_ai.tool.call.id": call_id}
    return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"} | named | more


def whole_trace() -> list[dict[str, Any]]:
    """Two model spans, the second repeating the history, and the tool between them."""
    return [
        span(1, genai([ASKED], [CALLED]), 9),
        span(
            2, tool(**{"gen_ai.tool.call.arguments": '{"at": "lamp"}', "gen_ai.tool.call.result": "broken"}), 9
        ),
        span(3, genai([ASKED, CALLED, ANSWERED], [LAST]), 9),
        span(0, {"gen_ai.operation.name": "invoke_agent"}) | {"spanId": "09"},
    ]


def openinference() -> list[dict[str, Any]]:
    """The same, flat, under the names of OpenInference."""
    call = "message.tool_calls.0.tool_call"
    user = {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Fix the lamp.",
    }
    out = "llm.output_messages.0"
    model = {"openinference.span.kind": "LLM", "llm.model_name": "m-1", "llm.token_count.prompt": 10}
    first = {
        f"{out}.message.role": "assistant",
        f"{out}.{call}.id": "c1",
        f"{out}.{call}.function.name": "look",
        f"{out}.{call}.function.arguments": '{"at": "lamp"}',
    }
    ran = {
        "openinference.span.kind": "TOOL",
        "tool.name": "look",
        "tool_call.id": "c1",
        "output.value": "broken",
    }
    last = {f"{out}.message.role": "assistant", f"{out}.message.content": "It is broken."}
    return [
        {"name": f"s{number}", "context": {"trace_id": "0x0a", "span_id": f"0x0{number}"},
         "attributes": attributes, "start_time": f"2026-01-01T00:00:0{number}+00:00"}
        for number, attributes in enumerate((model | user | first, ran, model | user | last))
    ]  # fmt: skip


def run(
    number: int, kind: str, inputs: Any, outputs: Any, parent: str | None = "r0", **more: Any
) -> dict[str, Any]:
    return {
        "id": f"r{number}", "trace_id": "t1", "parent_run_id": parent, "run_type": kind, "name": "look",
        "dotted_order": f"t1.{number}", "inputs": inputs, "outputs": outputs, "error": None,
        "status": "success",
        "start_time": f"2026-01-01T00:00:0{number}", "end_time": f"2026-01-01T00:00:0{number}.5",
    } | more  # fmt: skip


HUMAN = {"type": "human", "content": "Fix the lamp."}
AI_CALL = {
    "type": "ai",
    "content": "",
    "tool_calls": [{"name": "look", "args": {"at": "lamp"}, "id": "c1", "type": "tool_call"}],
}
TOOL_SAID = {"type": "tool", "content": "broken", "tool_call_id": "c1", "status": "error", "name": "look"}
AI_LAST = {"type": "ai", "content": "It is broken."}


def runs() -> list[dict[str, Any]]:
    return [
        run(0, "chain", {}, {}, None, reference_example_id="ex-1",
            feedback_stats={"correctness": {"n": 1, "avg": 1.0}},
            total_cost="0.25", prompt_tokens=30, completion_tokens=4),
        run(1, "llm", {"messages": [[HUMAN]]}, {"generations": [[{"message": AI_CALL}]]},
            extra={"metadata": {"ls_model_name": "m-1", "ls_temperature": 0.0}}),
        run(2, "tool", {"input": "{'at': 'lamp'}"}, {"output": TOOL_SAID}),
        run(3, "llm", {"messages": [[HUMAN, AI_CALL, TOOL_SAID]]}, {"generations": [[{"message": AI_LAST}]]}),
    ]  # fmt: skip
