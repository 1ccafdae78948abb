"""The steps of an inspect_ai sample: its messages in the order of its events, calls with the times of theirs.

``messages`` is the final state only: compaction, forks and sub-agents lose history there. So the events are
walked, and a message they name is taken from ``messages`` where it still is. Logs whose messages have no ids,
and samples whose events were removed, are read from ``messages`` alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from trajdiff.importers.arguments import NOT_RECORDED, ReadArguments, read_arguments
from trajdiff.importers.call_entries import call_entries
from trajdiff.importers.inspect_events import acts_of
from trajdiff.importers.inspect_order import Entry, events_alone, in_order
from trajdiff.importers.jsontext import compact
from trajdiff.importers.naming import as_text, id_text, shortened
from trajdiff.importers.notices import Notices
from trajdiff.importers.steps import StepBuilder, spoken
from trajdiff.importers.texts import clean, content_text
from trajdiff.model import Actor, Arguments, ArgumentState, Result, Severity, StepKind

_ATTACHMENT = re.compile(r"attachment://([0-9a-zA-Z]+)")
_ACTORS = {"system": Actor.SYSTEM, "developer": Actor.SYSTEM, "user": Actor.USER, "assistant": Actor.AGENT}
#: Calls that no message asked for are counted from here, so that their uids are their own.
_UNASKED = 10_000


class Walked(Struct, frozen=True, kw_only=True):
    """How many messages were recorded, and when the first and the last event happened."""

    messages: int
    started_at: str | None = None
    ended_at: str | None = None


def add_steps(builder: StepBuilder, sample: Mapping[str, Any], notices: Notices) -> Walked:
    """Add the steps of a sample; every message counts once."""
    recorded = sample.get("messages")
    messages = recorded if isinstance(recorded, list) else []
    events = sample.get("events")
    events = events if isinstance(events, list) else []
    acts = acts_of(events, _pool(sample))
    entries = in_order(messages, acts)
    if entries is None:
        entries = [Entry(at=f".messages[{i}]", message=one, position=i) for i, one in enumerate(messages)]
        entries += events_alone(acts) if not messages else []
        if not events and any(isinstance(one, dict) and one.get("tool_calls") for one in messages):
            notices.once(
                Severity.NOTE, "no_events", "", "events are not recorded; steps are taken from the messages"
            )
    walk = _Walk(builder=builder, notices=notices, texts=_Texts(sample.get("attachments")))
    count = walk.add(entries, len(messages))
    times = [one for event in events if isinstance(event, dict) and (one := as_text(event.get("timestamp")))]
    return Walked(
        messages=count,
        started_at=min(times, default=None),
        ended_at=max(times, default=None),
    )


def _pool(sample: Mapping[str, Any]) -> list[Any]:
    """Messages that model events share and name by their positions."""
    pool = sample.get("message_pool")
    if not isinstance(pool, list):
        data = sample.get("events_data")
        pool = data.get("messages") if isinstance(data, dict) else None
    return pool if isinstance(pool, list) else []


# The steps


class _Texts:
    """Puts attachments back into texts that name them."""

    def __init__(self, attachments: Any) -> None:
        self._held = attachments if isinstance(attachments, dict) else {}

    def of(self, value: Any) -> Any:
        """The value with every attachment in its place."""
        if isinstance(value, str):
            return _ATTACHMENT.sub(self._held_text, value) if "attachment://" in value else value
        if isinstance(value, list):
            return [self.of(one) for one in value]
        if isinstance(value, dict):
            return {key: self.of(one) for key, one in value.items()}
        return value

    def _held_text(self, found: re.Match[str]) -> str:
        held = self._held.get(found.group(1))
        return held if isinstance(held, str) else found.group()


class _Walk(Struct, kw_only=True):
    builder: StepBuilder
    notices: Notices
    texts: _Texts
    open_ids: list[str | None] = field(default_factory=list)
    unasked: int = 0

    def add(self, entries: list[Entry], recorded: int) -> int:
        """Add all entries; the number of messages they are."""
        number = -1
        lost = any(one.position is None for one in entries if one.event is None)
        for entry in entries:
            own = entry.event is None or entry.position is not None
            if lost:
                # Something is not in the final messages: then only the order of the events counts.
                number += own
                index = max(number, 0)
            else:
                index = number = number if entry.position is None else entry.position
                index = max(index, 0)
            if entry.event is None:
                self._message(entry.message, index, entry.at, entry.actor)
            else:
                self._tool_event(entry, index)
        return number + 1 if lost else recorded

    def _message(self, message: Any, index: int, at: str, actor: str) -> None:
        role = as_text(message.get("role")) if isinstance(message, dict) else None
        if role == "tool":
            self._result(message, index, at)
        elif role == "assistant":
            self._assistant(message, index, at, actor)
        elif role in _ACTORS:
            text = content_text(self.texts.of(message.get("content")))
            self.builder.entry(actor=_ACTORS[role], text=text, message=index, at=at)
        else:
            what = f'role "{shortened(role)}"' if role else "no role"
            self.builder.entry(
                actor=Actor.ENVIRONMENT, text=content_text(compact(message)), message=index, at=at
            )
            self.notices.once(
                Severity.WARNING, "unknown_message", what, f"a message with {what} is kept as it is"
            )

    def _assistant(self, message: Mapping[str, Any], index: int, at: str, actor: str) -> None:
        calls = call_entries(message.get("tool_calls"))
        thought, text = _thought_and_text(self.texts.of(message.get("content")))
        if thought:
            self.builder.entry(actor=actor, kind=StepKind.REASONING, text=thought, message=index, at=at)
        if spoken(text, calls):
            self.builder.entry(
                actor=actor, text=text, message=index, at=at, model=as_text(message.get("model"))
            )
        group = index if len(calls) > 1 else None
        for place, (where, call) in enumerate(calls):
            call_id = id_text(call.get("id"))
            self.open_ids.append(call_id)
            self.builder.call(
                actor=actor,
                name=as_text(call.get("function")),
                arguments=self._arguments(call),
                message=index,
                place=place,
                at=at + where,
                call_id=call_id,
                group=group,
            )

    def _arguments(self, call: Mapping[str, Any]) -> ReadArguments:
        recorded = self.texts.of(call.get("arguments", NOT_RECORDED))
        if call.get("parse_error"):
            raw = recorded if isinstance(recorded, str) else compact(recorded)
            return ReadArguments(arguments=Arguments(raw=clean(raw), parsed=None, state=ArgumentState.INVALID))
        return read_arguments(recorded)

    def _result(self, message: Mapping[str, Any], index: int, at: str, **more: Any) -> None:
        call_id = id_text(message.get("tool_call_id"))
        if call_id in self.open_ids:
            self.open_ids.remove(call_id)
        self.builder.result(
            self._read_result(message.get("content"), message.get("error", message.get("tool_error"))),
            message=index,
            at=at,
            call_id=call_id,
            name=as_text(message.get("function")),
            **more,
        )

    def _tool_event(self, entry: Entry, index: int) -> None:
        """The result of a call, with its times; a tool that no model asked for is a call of its own."""
        event = entry.event or {}
        call_id = id_text(event.get("id"))
        if call_id not in self.open_ids:
            self.unasked += 1
            self.builder.call(
                actor=entry.actor,
                name=as_text(event.get("function")),
                arguments=self._arguments(event),
                message=index,
                place=_UNASKED + self.unasked,
                at=entry.at,
                call_id=call_id,
            )
        else:
            self.open_ids.remove(call_id)
        self.builder.result(
            self._read_result(event.get("result"), event.get("error"), bool(event.get("truncated"))),
            message=index,
            at=entry.at,
            call_id=call_id,
            name=as_text(event.get("function")),
            started_at=as_text(event.get("timestamp")),
            ended_at=as_text(event.get("completed")),
        )

    def _read_result(self, content: Any, error: Any, truncated: bool = False) -> Result:
        text = content_text(self.texts.of(content)) or ""
        if error is None:
            # A result without an error record is no failure in this log.
            return Result(text=text, is_error=False, error_rule="no error recorded", truncated=truncated)
        kind, said = (error.get("type"), error.get("message")) if isinstance(error, dict) else (None, error)
        shown = text or content_text(self.texts.of(said)) or ""
        rule = f"error of type {shortened(str(kind), 40)}" if kind else "an error is recorded"
        return Result(text=shown, is_error=True, error_rule=rule, truncated=truncated)


def _thought_and_text(content: Any) -> tuple[str | None, str | None]:
    """What was thought and what was said, of a content that is a text or a list of parts."""
    if not isinstance(content, list):
        return None, content_text(content)
    thought = list(_thoughts(content))
    rest = [one for one in content if not (isinstance(one, dict) and one.get("type") == "reasoning")]
    return content_text("\n".join(thought)) if thought else None, content_text(rest) if rest else None


def _thoughts(content: list[Any]) -> Iterator[str]:
    for part in content:
        if isinstance(part, dict) and part.get("type") == "reasoning":
            said = part.get("reasoning") or part.get("summary")
            if isinstance(said, str) and said.strip():
                yield said
