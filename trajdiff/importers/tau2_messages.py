"""The messages of a tau2 simulation: two sides that both may call tools, and the ticks of voice runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from trajdiff.importers.arguments import NOT_RECORDED, ReadArguments, read_arguments, read_encoded_object
from trajdiff.importers.call_entries import call_entries
from trajdiff.importers.jsontext import compact
from trajdiff.importers.naming import as_text, id_text, shortened
from trajdiff.importers.notices import Notices
from trajdiff.importers.steps import StepBuilder, spoken
from trajdiff.importers.tau2_records import Call, Message, call_of, message_of
from trajdiff.importers.texts import content_text
from trajdiff.model import Actor, Result, Severity, Usage

_REQUESTORS = {"user": Actor.USER, "assistant": Actor.AGENT}
_ACTORS = {"system": Actor.SYSTEM, "user": Actor.USER, "assistant": Actor.AGENT}


def add_message(builder: StepBuilder, message: Message, index: int, at: str, notices: Notices) -> None:
    """Add the steps of one message."""
    role = as_text(message.role)
    if role == "tool":
        _add_results(builder, message, index, at)
    elif role in _ACTORS:
        _add_speech(builder, message, _ACTORS[role], index, at)
    else:
        what = f'role "{shortened(role)}"' if role else "no role"
        text = content_text(message.content) or content_text(compact(message.whole))
        builder.entry(actor=Actor.ENVIRONMENT, text=text, message=index, at=at)
        where = f"at {builder.place(at)}"
        notices.once(
            Severity.WARNING, "unknown_message", what, f"a message with {what} is kept as it is", where
        )


def _add_speech(builder: StepBuilder, message: Message, actor: Actor, index: int, at: str) -> None:
    # In ticks the place of the message is that of its calls already.
    calls = call_entries(message.tool_calls, "" if at.endswith("_tool_calls") else ".tool_calls")
    text = content_text(message.content)
    started = as_text(message.timestamp)
    if spoken(text, calls):
        builder.entry(actor=actor, text=text, message=index, at=at, started_at=started)
    group = index if len(calls) > 1 else None
    for place, (where, recorded) in enumerate(calls):
        call = call_of(recorded)
        name = call.name
        builder.call(
            # Trimmed files have no requestor; then the role of the message says who acts.
            actor=_REQUESTORS.get(str(call.requestor), actor),
            name=name if isinstance(name, str) else None,
            arguments=_arguments(call),
            message=index,
            place=place,
            at=at + where,
            call_id=id_text(call.id),
            group=group,
            started_at=started,
        )


def _arguments(call: Call) -> ReadArguments:
    value = call.arguments
    if isinstance(value, msgspec.Raw):
        return read_encoded_object(bytes(value))
    return read_arguments(NOT_RECORDED if value is msgspec.UNSET else value)


def _add_results(builder: StepBuilder, message: Message, index: int, at: str) -> None:
    several = message.tool_messages
    if isinstance(several, list):
        for place, one in enumerate(several):
            if isinstance(one, dict):
                _add_result(builder, message_of(one), index, f"{at}.tool_messages[{place}]")
        return
    _add_result(builder, message, index, at)


def _add_result(builder: StepBuilder, message: Message, index: int, at: str) -> None:
    error, name = message.error, message.name
    builder.result(
        Result(
            text=content_text(message.content) or "",
            is_error=error if isinstance(error, bool) else None,
            error_rule="error flag" if isinstance(error, bool) else None,
        ),
        message=index,
        at=at,
        call_id=id_text(message.id),
        name=name if isinstance(name, str) and name else None,
        ended_at=as_text(message.timestamp),
    )


def flattened_ticks(ticks: list[Any]) -> list[tuple[Any, str]]:
    """The messages of a full-duplex run: what each side said in one go, joined, with calls between.

    Both sides speak at the same time in small pieces. A piece continues its side's message until that side
    pauses, calls a tool, or the other side's calls come between; ticks stand in order of time.
    """
    flat: list[tuple[Any, str]] = []
    pieces: dict[str, list[str]] = {}
    for number, tick in enumerate(ticks):
        if not isinstance(tick, dict):
            continue
        time = tick.get("timestamp")
        for role, side in (("assistant", "agent"), ("user", "user")):
            piece = tick.get(f"{side}_chunk")
            said = piece.get("content") if isinstance(piece, dict) else None
            if not isinstance(said, str) or not said:
                pieces.pop(role, None)
            elif role in pieces:
                pieces[role].append(said)
            else:
                pieces[role] = [said]
                message = {"role": role, "content": pieces[role], "timestamp": time}
                flat.append((message, f".ticks[{number}].{side}_chunk"))
            calls, results = tick.get(f"{side}_tool_calls"), tick.get(f"{side}_tool_results")
            if isinstance(calls, list) and calls:
                pieces.clear()
                flat.append(
                    (
                        {"role": role, "tool_calls": calls, "timestamp": time},
                        f".ticks[{number}].{side}_tool_calls",
                    )
                )
            for place, result in enumerate(results if isinstance(results, list) else ()):
                if isinstance(result, dict):
                    flat.append(({"role": "tool", **result}, f".ticks[{number}].{side}_tool_results[{place}]"))
    for message, _ in flat:
        if isinstance(message.get("content"), list) and message["role"] != "tool":
            message["content"] = "".join(message["content"])
    return flat


def usage_of(session: Any, messages: Iterable[Message]) -> Usage:
    """Tokens of the agent: the recorded total where there is one, else the sum over its messages.

    ``prompt_tokens`` includes cache reads. Unknown stays None.
    """
    if isinstance(session, dict) and any(
        _tokens(session, key) is not None for key in ("input_tokens", "prompt_tokens")
    ):
        return Usage(
            input=_tokens(session, "input_tokens", "prompt_tokens"),
            output=_tokens(session, "output_tokens", "completion_tokens"),
            cache_read=_tokens(session, "cached_tokens", "cache_read_tokens"),
        )
    totals: dict[str, int] = {}
    for message in messages:
        usage = message.usage
        if isinstance(usage, dict) and message.role == "assistant":
            for key, count in _parts(usage).items():
                if count is not None:
                    totals[key] = totals.get(key, 0) + count
    return Usage(**totals)


def _parts(usage: dict[str, Any]) -> dict[str, int | None]:
    parts = {"input": _tokens(usage, "prompt_tokens"), "output": _tokens(usage, "completion_tokens")}
    if len(usage) <= 2 + ("total_tokens" in usage) and None not in parts.values():
        return parts  # most producers say no more
    prompt, completion = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    prompt = prompt if isinstance(prompt, dict) else {}
    completion = completion if isinstance(completion, dict) else {}
    cached = _tokens(usage, "cache_read_tokens")
    reasoning = _tokens(usage, "reasoning_tokens")
    return {
        **parts,
        "cache_read": cached if cached is not None else _tokens(prompt, "cached_tokens"),
        "cache_write": _tokens(usage, "cache_creation_tokens", "cache_write_tokens"),
        "reasoning": reasoning if reasoning is not None else _tokens(completion, "reasoning_tokens"),
    }


def _tokens(usage: dict[str, Any], *keys: str) -> int | None:
    for key in keys:
        value = usage.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None
