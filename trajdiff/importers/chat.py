"""Bare message lists of chat completions or Anthropic, JSON or JSONL; the catch-all of its stage.

One trial is a list of messages, a file with one message a line, or an object with ``messages``; several are a
list or lines of such objects. What an object records beside its messages is used; the rest comes from the path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from trajdiff.importers import scoring, verdicts
from trajdiff.importers.bare import NO_OUTCOME, tell_bare, tell_unread, value_of
from trajdiff.importers.chat_messages import SAYS
from trajdiff.importers.dialects import add_message
from trajdiff.importers.document import Document, Record
from trajdiff.importers.jsontext import plain_number
from trajdiff.importers.langchain_messages import as_chat
from trajdiff.importers.lenient import as_object
from trajdiff.importers.naming import as_text, id_text, whole_number
from trajdiff.importers.notices import Where
from trajdiff.importers.path_names import PathNames, names_of
from trajdiff.importers.protocol import Claim, Head, Imported, Peek, Plan, ReadOptions, Shape, Source
from trajdiff.importers.steps import StepBuilder
from trajdiff.importers.texts import content_text
from trajdiff.model import (
    Actor,
    Judgement,
    Provenance,
    SourceRef,
    Task,
    Termination,
    TerminationReason,
    Trial,
    Usage,
    Verdict,
)

_TASK_KEYS = ("task_id", "id")
_TRIAL_KEYS = ("trial", "epoch", "attempt", "run")
#: ``success`` is not among them: published files use it for "submitted" and for "finished".
_OUTCOME_KEYS = ("reward", "score", "passed", "pass")
_REASONS = {
    "stop": TerminationReason.AGENT_DONE,
    "length": TerminationReason.TOKEN_LIMIT,
    "timeout": TerminationReason.TIME_LIMIT,
    "max_turns": TerminationReason.MAX_STEPS,
    **{one.value: one for one in TerminationReason},
}


class _Chat(Struct, frozen=True):
    name: str = "chat"
    title: str = "chat messages (OpenAI, Anthropic, LangChain)"
    recognised_by: str = "messages with role and content, bare or under messages"
    record_schema: str | None = None
    catch_all: bool = True

    def sniff(self, peek: Peek) -> Claim | None:
        """Objects with ``messages``, or messages with a role; asked only where nobody else claims the file."""
        if peek.shape in (Shape.FOLDER, Shape.ARCHIVE) or not peek.heads:
            return None
        if any(_is_holder(head) for head in peek.heads):
            return Claim(rule="objects with messages")
        if peek.shape is not Shape.OBJECT and any(_is_message(head) for head in peek.heads):
            return Claim(rule="messages with role and content")
        return None

    def records(self, document: Document) -> Iterable[Record]:
        """Objects with messages, or the messages themselves."""
        return document.records()

    def read(self, source: Source, options: ReadOptions) -> Imported:
        """Every object with messages is a trial; bare messages are one trial together."""
        document = source.document
        names = names_of(document.path)
        if not any(_is_holder(head) for head in document.peek.heads):
            trials, unread = [_bare_trial(document, names)], 0
        else:
            trials, unread = _held_trials(document, names, options)
        return Imported(
            trials=tuple(trials),
            plans=tuple(Plan(task=Task(task_id=one.task_id)) for one in trials),
            diagnostics=document.notices.all(),
            unread=unread,
        )


IMPORTER = _Chat()


def _is_holder(head: Head) -> bool:
    if head.has("messages"):
        return isinstance(head.get("messages"), list)
    # The state of a LangGraph thread keeps its messages among its values.
    return head.has("values") and isinstance(as_object(head.get("values")).get("messages"), list)


def _messages_in(value: Any) -> tuple[list[Any], str] | None:
    """The messages of an object and their place in it; None if it has none."""
    held = as_object(value)
    if isinstance(held.get("messages"), list):
        return held["messages"], ".messages"
    messages = as_object(held.get("values")).get("messages")
    return (messages, ".values.messages") if isinstance(messages, list) else None


def _is_message(head: Head) -> bool:
    if head.has("role") and isinstance(head.get("role"), str) and bool(head.keys & SAYS):
        return True
    if not head.has("type"):
        return False
    held = ("role", "type", "lc", "id", "kwargs", "data", "content")
    return as_chat({key: head.get(key) for key in held if head.has(key)}) is not None


def _bare_trial(document: Document, names: PathNames) -> Trial:
    builder = StepBuilder(path=document.path, pointer="$")
    count = 0
    for record in document.records():
        # In a file of lines every message has a line of its own.
        builder.line = record.line
        value = value_of(record, document.notices, "a message")
        if value is None and record.problem is not None:
            continue
        add_message(builder, value, count, record.pointer.removeprefix("$"), document.notices)
        count += 1
    termination = Termination()
    steps = builder.finish(termination, messages=count, at="")
    builder.report(Where(document.notices, document.path, "$", builder.line, names.task_id, names.trial_id))
    tell_bare(document.notices, "a list of messages")
    return Trial(
        task_id=names.task_id,
        trial_id=names.trial_id,
        ordinal=names.ordinal,
        steps=steps,
        judgement=NO_OUTCOME,
        source=SourceRef(path=document.path, pointer="$"),
        producer_id=names.session,
        message_count=count,
    )


def _held_trials(document: Document, names: PathNames, options: ReadOptions) -> tuple[list[Trial], int]:
    trials: list[Trial] = []
    records = list(document.records())
    unread = 0
    for number, record in enumerate(records):
        value = value_of(record, document.notices, "a trial")
        if _messages_in(value) is not None:
            place = number + 1 if len(records) > 1 else None
            trials.append(_held_trial(value, record, place, document, names, options))
            continue
        unread += 1
        if record.problem is None:
            tell_unread(document.notices, "a record has no list of messages", record.place)
    return trials, unread


def _held_trial(
    value: dict[str, Any],
    record: Record,
    place: int | None,
    document: Document,
    names: PathNames,
    options: ReadOptions,
) -> Trial:
    named = _named(value, names, place)
    where = Where(document.notices, document.path, record.pointer, record.line, named.task_id, named.trial_id)
    messages, at = _messages_in(value) or ([], "")
    builder = StepBuilder(path=document.path, pointer=record.pointer, line=record.line)
    if value.get("system") is not None:
        # Anthropic requests keep the system prompt beside the messages.
        builder.entry(actor=Actor.SYSTEM, text=content_text(value["system"]), message=0, at=".system")
    for index, message in enumerate(messages):
        add_message(builder, message, index, f"{at}[{index}]", document.notices)
    termination = _termination(value)
    steps = builder.finish(termination, messages=len(messages), at="")
    builder.report(where)
    error = content_text(value.get("error")) or None
    judgement = _judgement(value, error, where, options)
    if judgement is NO_OUTCOME:
        tell_bare(document.notices, "an object with messages")
    else:
        verdicts.tell_unscored(where, judgement, termination, judgement.raw, at="")
    return Trial(
        task_id=named.task_id,
        trial_id=named.trial_id,
        ordinal=named.ordinal,
        steps=steps,
        judgement=judgement,
        source=SourceRef(path=document.path, pointer=record.pointer, line=record.line),
        producer_id=named.session,
        reward=plain_number(scoring.as_number(judgement.raw)),
        termination=termination,
        error=error,
        usage=_usage(value),
        provenance=Provenance(model=as_text(value.get("model")), seed=whole_number(value.get("seed"))),
        message_count=len(messages),
    )


def _named(value: Mapping[str, Any], names: PathNames, place: int | None) -> PathNames:
    """Task and trial as the record names them, else by the path; records without a name are tasks each."""
    task = next((found for key in _TASK_KEYS if (found := id_text(value.get(key)))), None)
    trial = next((found for key in _TRIAL_KEYS if (found := id_text(value.get(key)))), None)
    if task is None:
        task = names.task_id if place is None else f"{names.task_id}#{place}"
    if trial is None:
        return PathNames(task_id=task, trial_id=names.trial_id, ordinal=names.ordinal, session=names.session)
    number = whole_number(trial)
    return PathNames(task_id=task, trial_id=trial, ordinal=-1 if number is None else number)


def _judgement(value: Mapping[str, Any], error: str | None, where: Where, options: ReadOptions) -> Judgement:
    scores = {key: value[key] for key in _OUTCOME_KEYS if value.get(key) is not None}
    chosen = options.scorer
    if chosen is not None and chosen.partition(".")[0] in value:
        key = chosen.partition(".")[0]
        scores = {key: value[key]}
    elif chosen is None and len({_state(one, options) for one in scores.values()}) == 1:
        # Several names for one outcome; where they contradict each other, the user chooses.
        scores = dict(list(scores.items())[:1])
    if not scores and error is None:
        return NO_OUTCOME
    return scoring.judge(scores, chosen=chosen, threshold=options.threshold, notices=where.notices, error=error)


def _state(value: Any, options: ReadOptions) -> Verdict:
    return verdicts.from_reward(scoring.as_number(value), threshold=options.threshold).state


def _termination(value: Mapping[str, Any]) -> Termination:
    for key in ("termination", "exit_status"):
        raw = as_text(value.get(key))
        if raw is not None:
            return Termination(reason=_REASONS.get(raw, TerminationReason.UNKNOWN), raw=raw, rule=key)
    return Termination()


def _usage(value: Mapping[str, Any]) -> Usage:
    recorded = as_object(value.get("usage"))
    return Usage(
        input=whole_number(recorded.get("prompt_tokens")),
        output=whole_number(recorded.get("completion_tokens")),
        cache_read=whole_number(as_object(recorded.get("prompt_tokens_details")).get("cached_tokens")),
    )
