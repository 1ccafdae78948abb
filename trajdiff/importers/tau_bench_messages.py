"""The messages of a tau-bench trial: chat messages with tool calls, or actions written as text."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from trajdiff.importers.arguments import NOT_RECORDED, read_arguments
from trajdiff.importers.call_entries import call_entries
from trajdiff.importers.chat_messages import add_unknown
from trajdiff.importers.jsontext import BadJsonError, tolerant
from trajdiff.importers.naming import as_text, id_text
from trajdiff.importers.notices import Notices
from trajdiff.importers.steps import StepBuilder, spoken
from trajdiff.importers.texts import content_text
from trajdiff.model import Actor, Result, Severity, StepKind

#: The agents without tool calling get results as a user message that begins so.
_TEXT_RESULT = "API output: "
_ACTION = "Action:"
#: The action with which those agents talk to the user; it is a message, not a call.
_RESPOND = "respond"
_ERROR = "Error"
_ERROR_RULE = 'content starts with "Error"'
_ACTORS = {"system": Actor.SYSTEM, "developer": Actor.SYSTEM, "user": Actor.USER, "assistant": Actor.AGENT}


def add_message(builder: StepBuilder, message: Any, index: int, notices: Notices) -> None:
    """Add the steps of one recorded message."""
    at = f".traj[{index}]"
    role = as_text(message.get("role")) if isinstance(message, dict) else None
    if role in ("tool", "function"):
        _add_result(builder, message, index, at)
    elif role == "assistant":
        _add_assistant(builder, message, index, at)
    elif role == "user" and _is_text_result(message):
        text = (content_text(message["content"]) or "").removeprefix(_TEXT_RESULT)
        if not builder.result(_result(text), message=index, at=at):
            notices.once(Severity.NOTE, "text_result", builder.pointer, f"a result without an action at {at}")
    elif role in _ACTORS:
        builder.entry(actor=_ACTORS[role], text=content_text(message.get("content")), message=index, at=at)
    else:
        add_unknown(builder, message, role, index, at, notices)


def last_call_result(message: Any) -> bool:
    """Whether this message is the result of a call, in either way of writing it."""
    return isinstance(message, dict) and (
        message.get("role") in ("tool", "function") or _is_text_result(message)
    )


def _is_text_result(message: dict[str, Any]) -> bool:
    content = message.get("content")
    return message.get("role") == "user" and isinstance(content, str) and content.startswith(_TEXT_RESULT)


def _add_assistant(builder: StepBuilder, message: dict[str, Any], index: int, at: str) -> None:
    calls = call_entries(message.get("tool_calls"))
    text = content_text(message.get("content"))
    action = _text_action(message.get("content")) if not calls else None
    reasoning = message.get("reasoning_content")
    if isinstance(reasoning, str) and reasoning.strip():
        builder.entry(
            actor=Actor.AGENT, kind=StepKind.REASONING, text=content_text(reasoning), message=index, at=at
        )
    if action is not None:
        _add_text_action(builder, action, index, at)
        return
    if spoken(text, calls):
        builder.entry(actor=Actor.AGENT, text=text, message=index, at=at)
    group = index if len(calls) > 1 else None
    for place, (where, call) in enumerate(calls):
        function = call["function"] if isinstance(call.get("function"), dict) else call
        name = function.get("name")
        builder.call(
            actor=Actor.AGENT,
            name=name if isinstance(name, str) else None,
            arguments=read_arguments(function.get("arguments", NOT_RECORDED)),
            message=index,
            place=place,
            at=at + where,
            call_id=id_text(call.get("id")),
            group=group,
        )


def _add_text_action(builder: StepBuilder, action: _TextAction, index: int, at: str) -> None:
    if action.thought:
        builder.entry(
            actor=Actor.AGENT, kind=StepKind.REASONING, text=content_text(action.thought), message=index, at=at
        )
    if action.name == _RESPOND:
        said = action.arguments.get("content") if isinstance(action.arguments, dict) else None
        text = content_text(action.arguments if said is None else said)
        builder.entry(actor=Actor.AGENT, text=text, message=index, at=at)
        return
    builder.call(
        actor=Actor.AGENT,
        name=action.name,
        arguments=read_arguments(action.arguments),
        message=index,
        place=0,
        at=f"{at}.content",
    )


class _TextAction(Struct, frozen=True):
    """An action written as text: what was thought before it, its name and arguments."""

    thought: str
    name: str
    arguments: Any


def _text_action(content: Any) -> _TextAction | None:
    """The action in an agent's text; None for plain speech."""
    if not isinstance(content, str) or _ACTION not in content:
        return None
    thought, _, written = content.rpartition(_ACTION)
    try:
        action = tolerant(written.strip())
    except BadJsonError:
        return None
    if not isinstance(action, dict) or not isinstance(action.get("name"), str):
        return None
    return _TextAction(thought.strip(), action["name"], action.get("arguments", NOT_RECORDED))


def _add_result(builder: StepBuilder, message: dict[str, Any], index: int, at: str) -> None:
    name = message.get("name")
    builder.result(
        _result(content_text(message.get("content")) or ""),
        message=index,
        at=at,
        call_id=id_text(message.get("tool_call_id")),
        name=name if isinstance(name, str) and name else None,
    )


def _result(text: str) -> Result:
    return Result(text=text, is_error=text.startswith(_ERROR), error_rule=_ERROR_RULE)
