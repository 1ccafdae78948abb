"""Built-in readers of message lists, for mappings: chat completions, blocks, parts, LangChain messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trajdiff.importers.arguments import NOT_RECORDED, read_arguments
from trajdiff.importers.call_entries import call_entries
from trajdiff.importers.chat_messages import add_chat_message, add_unknown
from trajdiff.importers.dialects import add_message
from trajdiff.importers.jsontext import compact
from trajdiff.importers.lenient import as_list, as_object
from trajdiff.importers.naming import as_text, id_text
from trajdiff.importers.notices import Notices
from trajdiff.importers.steps import StepBuilder, spoken
from trajdiff.importers.texts import content_text
from trajdiff.model import Actor, Result, StepKind

AddMessage = Callable[[StepBuilder, Any, int, str, Notices], None]


def add_messages(
    reader: str, builder: StepBuilder, messages: Sequence[Any], ats: Sequence[str], notices: Notices
) -> None:
    """Add the steps of all messages; ``ats`` are their places relative to the trial."""
    add = _READERS[reader]
    for index, (message, at) in enumerate(zip(messages, ats, strict=True)):
        add(builder, message, index, at, notices)


_ROLES = {"assistant": Actor.AGENT, "model": Actor.AGENT, "user": Actor.USER, "system": Actor.SYSTEM}


def _add_call(
    builder: StepBuilder,
    name: Any,
    arguments: Any,
    call_id: Any,
    index: int,
    place: int,
    at: str,
    group: int | None,
) -> None:
    builder.call(
        actor=Actor.AGENT,
        name=as_text(name),
        arguments=arguments,
        message=index,
        place=place,
        at=at,
        call_id=id_text(call_id),
        group=group,
    )


# Parts: text, functionCall and functionResponse


def _add_parts(builder: StepBuilder, message: Any, index: int, at: str, notices: Notices) -> None:
    said = as_object(message)
    role = as_text(said.get("role")) or "user"
    parts = said.get("parts")
    if role not in (*_ROLES, "function", "tool") or not isinstance(parts, list):
        add_unknown(builder, message, role, index, at, notices)
        return
    called = [_part(one, "functionCall", "function_call") for one in parts]
    group, place = index if sum(one is not None for one in called) > 1 else None, 0
    for number, part in enumerate(parts):
        where = f"{at}.parts[{number}]"
        call, answer = called[number], _part(part, "functionResponse", "function_response")
        if call is not None:
            arguments = read_arguments(call.get("args", NOT_RECORDED))
            _add_call(builder, call.get("name"), arguments, call.get("id"), index, place, where, group)
            place += 1
        elif answer is not None:
            response = answer.get("response")
            text = content_text(response if isinstance(response, str) else compact(response)) or ""
            name, call_id = as_text(answer.get("name")), id_text(answer.get("id"))
            builder.result(Result(text=text), message=index, at=where, call_id=call_id, name=name)
        else:
            thought = as_object(part).get("thought") is True
            kind = StepKind.REASONING if thought else StepKind.MESSAGE
            actor = _ROLES.get(role, Actor.ENVIRONMENT)
            builder.entry(actor=actor, kind=kind, text=content_text([part]), message=index, at=where)


def _part(part: Any, *names: str) -> Mapping[str, Any] | None:
    found = (as_object(part).get(name) for name in names)
    return next((one for one in found if isinstance(one, dict)), None)


# LangChain messages, plain, under ``data``, or serialised with ``lc`` and ``kwargs``

_TYPES = {
    "human": "user",
    "humanmessage": "user",
    "ai": "assistant",
    "aimessage": "assistant",
    "aimessagechunk": "assistant",
    "system": "system",
    "systemmessage": "system",
    "tool": "tool",
    "toolmessage": "tool",
    "function": "tool",
    "functionmessage": "tool",
}


def _add_langchain(builder: StepBuilder, message: Any, index: int, at: str, notices: Notices) -> None:
    said = as_object(message)
    kind, inner = as_text(said.get("type")) or as_text(said.get("role")) or "", said
    if isinstance(said.get("kwargs"), dict):
        names = as_list(said.get("id"))
        inner = said["kwargs"]
        kind = as_text(inner.get("type")) or (names[-1] if names and isinstance(names[-1], str) else kind)
        at += ".kwargs"
    elif isinstance(said.get("data"), dict):
        inner = said["data"]
        at += ".data"
    role = _TYPES.get(kind.lower(), kind)
    if role == "tool":
        status = inner.get("status")
        failed = status == "error" if isinstance(status, str) else None
        builder.result(
            Result(text=content_text(inner.get("content")) or "", is_error=failed),
            message=index,
            at=at,
            call_id=id_text(inner.get("tool_call_id")),
            name=as_text(inner.get("name")),
        )
    elif role == "assistant":
        _add_langchain_agent(builder, inner, index, at)
    elif role in _ROLES:
        builder.entry(actor=_ROLES[role], text=content_text(inner.get("content")), message=index, at=at)
    else:
        add_unknown(builder, message, kind or None, index, at, notices)


def _add_langchain_agent(builder: StepBuilder, message: Mapping[str, Any], index: int, at: str) -> None:
    more = as_object(message.get("additional_kwargs"))
    # Calls whose arguments the producer could not read stand apart; they are calls all the same.
    calls = [
        found
        for key in ("tool_calls", "invalid_tool_calls")
        for found in call_entries(message.get(key), f".{key}")
    ]
    if not calls:
        calls = [
            (where, {**one, **as_object(one.get("function")), "id": one.get("id")})
            for where, one in call_entries(more.get("tool_calls"), ".additional_kwargs.tool_calls")
        ]
    text = content_text(message.get("content"))
    if spoken(text, calls):
        builder.entry(actor=Actor.AGENT, text=text, message=index, at=at)
    group = index if len(calls) > 1 else None
    for place, (where, call) in enumerate(calls):
        arguments = read_arguments(call.get("args", call.get("arguments", NOT_RECORDED)))
        _add_call(builder, call.get("name"), arguments, call.get("id"), index, place, at + where, group)


_READERS: dict[str, AddMessage] = {
    "openai_messages": add_chat_message,
    "anthropic_blocks": add_message,
    "gemini_parts": _add_parts,
    "langchain_messages": _add_langchain,
}
