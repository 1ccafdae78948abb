"""Messages of model spans in every attribute dialect, as chat messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trajdiff.importers.jsontext import BadJsonError, compact, tolerant
from trajdiff.importers.lenient import as_list, as_object
from trajdiff.importers.naming import as_text
from trajdiff.importers.span_values import Span

_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_MAX_MESSAGES = 20_000


def seen_messages(span: Span) -> list[dict[str, Any]]:
    """What a model was given: the first dialect that has something."""
    attributes = span.attributes
    system = [{"role": "system", "content": text} for text in _instructions(attributes)]
    for found in (
        _listed(attributes.get("gen_ai.input.messages")),
        list(_indexed(attributes, "llm.input_messages", "message.")),
        list(_indexed(attributes, "gen_ai.prompt", "")),
        _listed(attributes.get("gen_ai.prompt")),
        [one for name, event in span.events if name in _EVENTS for one in _from_event(_EVENTS[name], event)],
        _listed(attributes.get("ai.prompt.messages")),
        _listed(attributes.get("input.value")),
        _listed(attributes.get("input")),
    ):
        if found:
            return system + found
    return system


def given_messages(span: Span) -> list[dict[str, Any]]:
    """What a model said: the first dialect that has something."""
    attributes = span.attributes
    for found in (
        _listed(attributes.get("gen_ai.output.messages")),
        list(_indexed(attributes, "llm.output_messages", "message.")),
        list(_indexed(attributes, "gen_ai.completion", "")),
        [one for name, event in span.events if name == "gen_ai.choice" for one in _choice(event)],
        _sdk_answer(attributes),
        _answer(attributes.get("gen_ai.completion")),
        _answer(attributes.get("output.value")),
        _answer(attributes.get("output")),
    ):
        if found:
            return [one | {"role": one.get("role") or "assistant"} for one in found]
    return []


def decoded(value: Any) -> Any:
    """The value, read as JSON where it is JSON text."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return tolerant(value)
        except BadJsonError:
            return value
    return value


def _instructions(attributes: Mapping[str, Any]) -> Iterator[str]:
    value = decoded(attributes.get("gen_ai.system_instructions"))
    for part in value if isinstance(value, list) else [value]:
        text = part if isinstance(part, str) else as_text(as_object(part).get("content"))
        if text:
            yield text


def _listed(value: Any) -> list[dict[str, Any]]:
    """A JSON list of messages, or an object that holds one under ``messages``."""
    found = decoded(value)
    if isinstance(found, dict):
        found = found.get("messages")
    return [one for message in as_list(found) if isinstance(message, dict) for one in from_parts(message)]


def from_parts(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A message written in parts as chat messages: every tool response is one of its own."""
    content = message.get("content")
    parts = message.get("parts", content if _has_sdk_parts(content) else None)
    if not isinstance(parts, list):
        if message.get("role") is not None:
            yield dict(message)
        return
    role = as_text(message.get("role")) or "user"
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[dict[str, Any]] = []
    responses: list[dict[str, Any]] = []
    for part in map(as_object, parts):
        kind = part.get("type")
        if kind in ("tool_call", "tool-call"):
            arguments = part.get("arguments", part.get("input", part.get("args")))
            function = {"name": part.get("name", part.get("toolName")), "arguments": arguments}
            calls.append({"id": part.get("id", part.get("toolCallId")), "function": function})
        elif kind in ("tool_call_response", "tool-result"):
            result = part.get("response", part.get("result", part.get("output")))
            shown = result if isinstance(result, str) else compact(result)
            responses.append(
                {"role": "tool", "tool_call_id": part.get("id", part.get("toolCallId")), "content": shown}
            )
        elif kind == "reasoning":
            thoughts.append(str(part.get("content", part.get("text", ""))))
        else:
            said = part.get("content", part.get("text"))
            texts.append(said if isinstance(said, str) else compact(part))
    if texts or calls or thoughts:
        made: dict[str, Any] = {"role": role, "content": "\n".join(texts) if texts else None}
        yield (
            made
            | ({"tool_calls": calls} if calls else {})
            | ({"reasoning_content": "\n".join(thoughts)} if thoughts else {})
        )
    yield from responses


def _has_sdk_parts(content: Any) -> bool:
    kinds = ("tool-call", "tool-result", "reasoning", "tool_call", "tool_call_response")
    return any(as_object(one).get("type") in kinds for one in as_list(content))


def _indexed(attributes: Mapping[str, Any], start: str, inner: str) -> Iterator[dict[str, Any]]:
    """Messages spread over attributes: ``start.N.inner``role, content, tool_calls.M."""
    for number in range(_MAX_MESSAGES):
        base = f"{start}.{number}.{inner}"
        role = attributes.get(f"{base}role")
        content = attributes.get(f"{base}content")
        parts = list(_contents(attributes, f"{base}contents"))
        calls = list(_indexed_calls(attributes, f"{base}tool_calls"))
        if role is None and content is None and not parts and not calls:
            return
        made: dict[str, Any] = {"role": role, "content": content if content is not None else parts or None}
        if calls:
            made["tool_calls"] = calls
        call_id = attributes.get(f"{base}tool_call_id")
        yield made | ({"tool_call_id": call_id} if call_id is not None else {})


def _contents(attributes: Mapping[str, Any], start: str) -> Iterator[dict[str, Any]]:
    for number in range(_MAX_MESSAGES):
        base = f"{start}.{number}.message_content."
        kind, text = attributes.get(f"{base}type"), attributes.get(f"{base}text")
        if kind is None and text is None:
            return
        yield {"type": kind, "text": text}


def _indexed_calls(attributes: Mapping[str, Any], start: str) -> Iterator[dict[str, Any]]:
    for number in range(_MAX_MESSAGES):
        base = f"{start}.{number}."
        for inner in ("tool_call.function.", "function.", ""):
            if f"{base}{inner}name" in attributes:
                call_id = attributes.get(f"{base}tool_call.id", attributes.get(f"{base}id"))
                function = {"name": attributes[f"{base}{inner}name"]}
                if f"{base}{inner}arguments" in attributes:
                    function["arguments"] = attributes[f"{base}{inner}arguments"]
                yield {"id": call_id, "function": function}
                break
        else:
            return


def _from_event(role: str, event: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    made: dict[str, Any] = {"role": role, "content": event.get("content")}
    calls = decoded(event.get("tool_calls"))
    if isinstance(calls, list):
        made["tool_calls"] = calls
    if role == "tool":
        made["tool_call_id"] = event.get("id")
    yield made


def _choice(event: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    message = decoded(event.get("message"))
    held: Mapping[str, Any] = message if isinstance(message, dict) else event
    calls = decoded(held.get("tool_calls", event.get("tool_calls")))
    made = {"role": "assistant", "content": held.get("content")}
    yield made | ({"tool_calls": calls} if isinstance(calls, list) else {})


def _sdk_answer(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    text = attributes.get("ai.response.text", attributes.get("ai.response.object"))
    calls = [
        {
            "id": one.get("toolCallId"),
            "function": {"name": one.get("toolName"), "arguments": one.get("args", one.get("input"))},
        }
        for one in map(as_object, as_list(decoded(attributes.get("ai.response.toolCalls"))))
    ]
    if text is None and not calls:
        return []
    return [{"role": "assistant", "content": text} | ({"tool_calls": calls} if calls else {})]


def _answer(value: Any) -> list[dict[str, Any]]:
    """An answer as recorded beside the messages: a text, ``{text}``, or messages."""
    found = decoded(value)
    if isinstance(found, list):
        return _listed(found)
    if isinstance(found, dict):
        for key in ("text", "content", "output"):
            if isinstance(found.get(key), str):
                return [{"role": "assistant", "content": found[key]}]
        choices = [as_object(as_object(one).get("message")) for one in as_list(found.get("choices"))]
        return [dict(one) for one in choices[:1] if one] or _listed(found)
    return [{"role": "assistant", "content": found}] if isinstance(found, str) and found else []
