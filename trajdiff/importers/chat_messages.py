"""Messages in the way of OpenAI chat completions, whoever recorded them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajdiff.importers.arguments import NOT_RECORDED, read_arguments
from trajdiff.importers.call_entries import call_entries
from trajdiff.importers.jsontext import compact
from trajdiff.importers.lenient import as_object
from trajdiff.importers.naming import as_text, id_text, shortened
from trajdiff.importers.notices import Notices
from trajdiff.importers.steps import StepBuilder, spoken
from trajdiff.importers.texts import content_text
from trajdiff.model import Actor, Result, Severity, StepKind

_ACTORS = {"system": Actor.SYSTEM, "developer": Actor.SYSTEM, "user": Actor.USER, "assistant": Actor.AGENT}
_RESULTS = ("tool", "function")
#: Keys of which a message has at least one beside its role.
SAYS = frozenset({"content", "tool_calls", "function_call", "tool_call_id", "refusal"})


def add_chat_message(builder: StepBuilder, message: Any, index: int, at: str, notices: Notices) -> None:
    """Add the steps of one message; what is not understood is kept as an opaque entry, and told."""
    role = as_text(message.get("role")) if isinstance(message, dict) else None
    if role in _RESULTS:
        builder.result(
            _result(message),
            message=index,
            at=at,
            call_id=id_text(message.get("tool_call_id")),
            name=as_text(message.get("name")),
        )
    elif role == "assistant":
        _add_assistant(builder, message, index, at)
    elif role in _ACTORS:
        builder.entry(actor=_ACTORS[role], text=content_text(message.get("content")), message=index, at=at)
    else:
        add_unknown(builder, message, role, index, at, notices)


def _result(message: Mapping[str, Any]) -> Result:
    """This dialect has no error flag; messages of LangChain bring a status along."""
    text = content_text(message.get("content")) or ""
    status = message.get("status")
    if status in ("error", "success"):
        return Result(text=text, is_error=status == "error", error_rule="status")
    return Result(text=text)


def add_unknown(
    builder: StepBuilder, message: Any, role: str | None, index: int, at: str, notices: Notices
) -> None:
    """Keep a message of no known role as it is."""
    text = content_text(message.get("content")) if isinstance(message, dict) else None
    builder.entry(
        actor=Actor.ENVIRONMENT,
        text=text if text is not None else content_text(compact(message)),
        message=index,
        at=at,
    )
    what = f'role "{shortened(role)}"' if role else "no role"
    notices.once(
        Severity.WARNING,
        "unknown_message",
        what,
        f"a message with {what} is kept as it is",
        f"at {builder.place(at)}",
    )


def _add_assistant(builder: StepBuilder, message: Mapping[str, Any], index: int, at: str) -> None:
    calls = recorded_calls(message)
    for key in ("reasoning_content", "reasoning"):
        thought = message.get(key)
        if isinstance(thought, str) and thought.strip():
            builder.entry(
                actor=Actor.AGENT, kind=StepKind.REASONING, text=content_text(thought), message=index, at=at
            )
            break
    text = content_text(message.get("content"))
    if text is None:
        text = content_text(message.get("refusal"))
    if spoken(text, calls):
        builder.entry(actor=Actor.AGENT, text=text, message=index, at=at, model=as_text(message.get("model")))
    group = index if len(calls) > 1 else None
    for place, (where, call) in enumerate(calls):
        _add_call(builder, call, index, place, at + where, group)


def recorded_calls(message: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The calls of a message with their places; some producers write each as JSON text."""
    found = call_entries(message.get("tool_calls"))
    older = message.get("function_call")
    if isinstance(older, dict) and not found:
        found.append((".function_call", {"function": older}))
    return found


def _add_call(
    builder: StepBuilder, call: Mapping[str, Any], index: int, place: int, at: str, group: int | None
) -> None:
    function = as_object(call.get("function")) or as_object(call.get("custom")) or call
    arguments = function.get("arguments", function.get("input", NOT_RECORDED))
    if call.get("type") == "custom" and isinstance(arguments, str):
        # A custom tool takes free text; it is kept under one key so that it compares as text.
        arguments = {"input": arguments}
    builder.call(
        actor=Actor.AGENT,
        name=as_text(function.get("name")),
        arguments=read_arguments(arguments),
        message=index,
        place=place,
        at=at,
        call_id=id_text(call.get("id")),
        group=group,
    )
