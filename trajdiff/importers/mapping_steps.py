"""The steps of a mapped trajectory: entries by the rules of the mapping, or messages by a built-in reader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from trajdiff.importers.arguments import NOT_RECORDED, read_arguments
from trajdiff.importers.expressions import Item, Places, Scope
from trajdiff.importers.jsontext import compact
from trajdiff.importers.mapping_rules import SHORT_KEYS, StepRule, StepsRule, ValueRule
from trajdiff.importers.mapping_values import Reader
from trajdiff.importers.message_readers import add_messages
from trajdiff.importers.naming import as_text, id_text, shortened
from trajdiff.importers.notices import Where
from trajdiff.importers.steps import StepBuilder
from trajdiff.importers.texts import content_text
from trajdiff.importers.transforms import BadValueError, apply_all
from trajdiff.model import Actor, Result, Severity, StepKind

#: How an actor is called elsewhere; other words are kept and told.
_ACTORS = {
    "agent": Actor.AGENT,
    "assistant": Actor.AGENT,
    "ai": Actor.AGENT,
    "model": Actor.AGENT,
    "bot": Actor.AGENT,
    "user": Actor.USER,
    "human": Actor.USER,
    "system": Actor.SYSTEM,
    "developer": Actor.SYSTEM,
    "environment": Actor.ENVIRONMENT,
    "tool": Actor.ENVIRONMENT,
    "function": Actor.ENVIRONMENT,
}
_KINDS = {
    "message": StepKind.MESSAGE,
    "reasoning": StepKind.REASONING,
    "error": StepKind.ERROR,
    "compaction": StepKind.COMPACTION,
}


class StepsRead(Struct, kw_only=True):
    """What became of the entries: how many there were, and which no rule fitted (place and start)."""

    messages: int = 0
    entries: int = 0
    unmatched: list[tuple[str, str]] = field(default_factory=list)


def add_steps(
    builder: StepBuilder, rule: StepsRule, scope: Scope, places: Places, reader: Reader, where: Where
) -> StepsRead:
    """Add the steps of one trajectory; an entry that no rule fits is kept as it is, and told."""
    read = StepsRead()
    items = rule.expression.items(scope)
    if rule.decode:
        items = [one for item in items for one in _decoded(item, rule, reader)]
    if rule.reader is not None:
        messages = [item.value for item in items]
        ats = [_at(item, number, builder, places) for number, item in enumerate(items)]
        read.entries = read.messages = len(messages)
        add_messages(rule.reader, builder, messages, ats, where.notices)
        return read
    last = -1
    for item in items:
        known = places.index(item.source)
        message = known if known is not None and known > last else last + 1
        last = message
        read.entries += 1
        entry = _Entry(
            item=item,
            scope=Scope(root=scope.root, record=scope.record, trial=scope.trial, here=item.source),
            message=message,
            at=_at(item, message, builder, places),
        )
        if not _add(builder, rule, entry, reader, where):
            read.unmatched.append((builder.place(entry.at), shortened(compact(item.source), 100)))
            text = content_text(compact(item.source))
            builder.entry(actor=Actor.ENVIRONMENT, text=text, message=message, at=entry.at)
    read.messages = last + 1
    return read


class _Entry(Struct, frozen=True, kw_only=True):
    """One entry of a trajectory with its number and its place."""

    item: Item
    scope: Scope
    message: int
    at: str


def _decoded(item: Item, rule: StepsRule, reader: Reader) -> list[Item]:
    """The entry after the transforms of ``steps``; one that becomes a list gives several entries."""
    try:
        value = apply_all(rule.decode, item.value)
    except BadValueError as error:
        reader.tell_bad("steps", item.value, str(error))
        value = item.value
    if isinstance(value, list):
        return [Item(value=one, source=one, outermost=item.outermost) for one in value]
    return [Item(value=value, source=value, outermost=item.outermost)]


def _at(item: Item, number: int, builder: StepBuilder, places: Places) -> str:
    """The place of an entry, relative to the trial; what was made by an expression lies at its number."""
    pointer = places.of(item.source)
    if pointer is None:
        return f".steps[{number}]"
    return pointer.removeprefix(builder.pointer) if pointer.startswith(builder.pointer) else pointer


def _add(builder: StepBuilder, rule: StepsRule, entry: _Entry, reader: Reader, where: Where) -> bool:
    """Add what an entry stands for; False if no rule fits."""
    if not rule.rules:
        return _add_short(builder, rule, entry, where)
    for one in rule.rules:
        if one.condition is None or _true(one.condition.value(entry.scope)):
            return _add_emitted(builder, one, rule.pairing, entry, reader, where)
    return False


def _true(value: Any) -> bool:
    """What JMESPath takes for true: everything but false, null and what is empty."""
    return value not in (None, False, "", [], {}) if not isinstance(value, int | float) else value is not False


def _add_short(builder: StepBuilder, rule: StepsRule, entry: _Entry, where: Where) -> bool:
    if not isinstance(entry.item.value, dict):
        return False
    said: dict[str, Any] = {}
    for key, meaning in SHORT_KEYS.items():
        if entry.item.value.get(key) is not None and meaning not in said:
            said[meaning] = entry.item.value[key]
    built = rule.expression.keys()
    if "arguments" not in said:
        name = next((one for one in entry.item.value if SHORT_KEYS.get(one) == "arguments"), None)
        recorded = name is not None and (built is None or not rule.expression.missing(entry.item.source, name))
        said["arguments"] = None if recorded else NOT_RECORDED
    if said.get("name") is not None:
        return _add_call(builder, said, entry, where, pairing="id")
    if said.get("text") is None:
        return False
    _add_entry(builder, StepKind.MESSAGE, said, entry, where)
    return True


def _add_emitted(
    builder: StepBuilder, rule: StepRule, pairing: str, entry: _Entry, reader: Reader, where: Where
) -> bool:
    if rule.emit == "skip":
        return True
    said = {key: _said(key, one, entry, reader) for key, one in rule.values.items()}
    if rule.emit == "tool_call":
        return _add_call(builder, said, entry, where, pairing=pairing)
    if rule.emit == "tool_result":
        result = _result(said.get("text", said.get("result")), said.get("error"))
        call_id = id_text(said.get("id")) if pairing == "id" else None
        name = as_text(said.get("name"))
        if pairing == "none":
            source = builder.source(entry.at, entry.message)
            builder.orphan(result, source=source, message=entry.message, call_id=call_id, name=name)
        else:
            builder.result(result, message=entry.message, at=entry.at, call_id=call_id, name=name)
        return True
    _add_entry(builder, _KINDS[rule.emit], said, entry, where)
    return True


def _said(key: str, rule: ValueRule, entry: _Entry, reader: Reader) -> Any:
    value = reader.value(rule, entry.scope, keep_bad=key == "arguments")
    if key == "arguments" and value is None:
        return NOT_RECORDED if rule.expression.missing(entry.item.source) else None
    return value


def _add_call(
    builder: StepBuilder, said: Mapping[str, Any], entry: _Entry, where: Where, *, pairing: str
) -> bool:
    name = id_text(said.get("name"))
    if name is None:
        return False
    call_id = id_text(said.get("id")) if pairing == "id" else None
    builder.call(
        actor=_actor(said.get("actor"), Actor.AGENT, where, entry.at),
        name=name,
        arguments=read_arguments(said.get("arguments", NOT_RECORDED)),
        message=entry.message,
        place=0,
        at=entry.at,
        call_id=call_id,
        text=content_text(said.get("text")),
        **_common(said),
    )
    error = said.get("error")
    if said.get("result") is not None or error not in (None, False) or (error is False and "result" in said):
        # The call just added is the most recent one with its id, so that it gets this result.
        result = _result(said.get("result"), error)
        builder.result(result, message=entry.message, at=entry.at, call_id=call_id)
    return True


def _add_entry(
    builder: StepBuilder, kind: StepKind, said: Mapping[str, Any], entry: _Entry, where: Where
) -> None:
    usual = Actor.AGENT if kind in (StepKind.MESSAGE, StepKind.REASONING) else Actor.ENVIRONMENT
    builder.entry(
        actor=_actor(said.get("actor"), usual, where, entry.at),
        kind=kind,
        text=content_text(said.get("text")),
        message=entry.message,
        at=entry.at,
        **({"name": as_text(said.get("name"))} if said.get("name") else {}),
        **_common(said),
    )


def _common(said: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "model": id_text(said.get("model")),
        "started_at": id_text(said.get("started_at")),
        "ended_at": id_text(said.get("ended_at")),
    }


def _actor(recorded: Any, usual: Actor, where: Where, at: str) -> str:
    if recorded is None:
        return usual
    word = content_text(recorded) or ""
    if word.startswith("subagent:"):
        return word
    known = _ACTORS.get(word.strip().lower())
    if known is not None:
        return known
    shown = shortened(word, 30)
    where.notices.once(
        Severity.WARNING,
        "unknown_actor",
        shown,
        f'an entry is by "{shown}", which is no known actor; it counts as the environment',
        f"at {where.pointer}{at}",
        f'translate it: actor = {{path = "...", values = {{"{shown}" = "user"}}}}',
    )
    return Actor.ENVIRONMENT


def _result(value: Any, error: Any) -> Result:
    """What came back: a text as it is, parts joined, anything else as JSON; the flag as far as it is known."""
    if value is None and isinstance(error, str):
        value = error
    flag = error if isinstance(error, bool) else None if error is None else bool(error)
    parts = isinstance(value, list) and value and all(isinstance(one, dict) and "type" in one for one in value)
    if value is None:
        text = ""
    elif isinstance(value, str) or parts:
        text = content_text(value) or ""
    else:
        text = content_text(compact(value)) or ""
    return Result(text=text, is_error=flag)
