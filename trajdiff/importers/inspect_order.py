"""The order of an inspect_ai sample: its final messages in the order of its events.

A message that an event names is taken from the final messages where it still is; what is no longer there
(compaction, forks, sub-agents) comes from the event.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from trajdiff.importers.inspect_events import Acts
from trajdiff.importers.jsontext import compact
from trajdiff.importers.naming import id_text
from trajdiff.model import Actor


class Entry(Struct, frozen=True, kw_only=True):
    """One message or tool event in the order in which things happened."""

    at: str
    message: Any = None
    event: Mapping[str, Any] | None = None
    actor: str = Actor.AGENT
    position: int | None = None


def in_order(messages: list[Any], acts: Acts) -> list[Entry] | None:
    """Messages and tool events in the order of the events; None where the messages have no ids."""
    places: dict[str, int] = {}
    for position, one in enumerate(messages):
        known = id_text(one.get("id")) if isinstance(one, dict) else None
        if known is not None:
            places.setdefault(known, position)
    if len(places) != len(messages) or not acts.acts:
        return None
    answers = _answers(messages, acts)
    seen: set[str] = {str(messages[position]["id"]) for position in answers.values()}
    entries: list[Entry] = []
    for number, act in enumerate(acts.acts):
        if act.tool is not None:
            answer = answers.get(number)
            at = act.at if answer is None else f".messages[{answer}]"
            entries.append(Entry(at=at, event=act.tool, actor=act.actor, position=answer))
            continue
        for at, message in act.messages:
            known = id_text(message.get("id"))
            if known is None or known in seen:
                continue
            seen.add(known)
            home = places.get(known)
            own = message if home is None else messages[home]
            # A tool that ends the trial is taken out of the final messages; the event still has the call.
            kept = own if len(calls_in(own)) >= len(calls_in(message)) else message
            at = f".messages[{home}]" if kept is own and home is not None else at
            entries.append(Entry(at=at, message=kept, actor=act.actor, position=home))
    for position, message in enumerate(messages):
        if id_text(message["id"]) not in seen:
            entries.append(Entry(at=f".messages[{position}]", message=message, position=position))
    return entries


def events_alone(acts: Acts) -> list[Entry]:
    """The entries of a log that holds events and no messages: every output, and every input once by text."""
    entries: list[Entry] = []
    seen: set[str] = set()
    for act in acts.acts:
        if act.tool is not None:
            entries.append(Entry(at=act.at, event=act.tool, actor=act.actor))
            continue
        for at, message in act.messages:
            known = compact({key: one for key, one in message.items() if key != "source"})
            if known not in seen:
                seen.add(known)
                entries.append(Entry(at=at, message=message, actor=act.actor))
    return entries


def _answers(messages: list[Any], acts: Acts) -> dict[int, int]:
    """For the number of a tool event, the position of the message that carries its result."""
    by_id: dict[str, int] = {}
    by_call: dict[str, deque[int]] = {}
    for position, message in enumerate(messages):
        if message.get("role") == "tool":
            by_id[str(message["id"])] = position
            call_id = id_text(message.get("tool_call_id"))
            if call_id is not None:
                by_call.setdefault(call_id, deque()).append(position)
    found: dict[int, int] = {}
    used: set[int] = set()
    for number, act in enumerate(acts.acts):
        if act.tool is None:
            continue
        call_id = id_text(act.tool.get("id")) or ""
        named = by_id.get(id_text(act.tool.get("message_id")) or "")
        # Some versions give all calls of one message the id of the first result: the call id must agree.
        fits = named is not None and (id_text(messages[named].get("tool_call_id")) or "") == call_id
        waiting = by_call.get(call_id, deque())
        answer = named if fits else next((one for one in waiting if one not in used), None)
        if answer is not None and answer not in used:
            used.add(answer)
            found[number] = answer
    return found


def calls_in(message: Any) -> list[Any]:
    """The recorded calls of a message; an empty list where there are none."""
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    return calls if isinstance(calls, list) else []
