"""OpenHands ``output.jsonl`` and bare lists of its events, joined with SWE-bench reports.

The generations V0 and V1 follow the specification; the one real file at hand is that of the issue resolver.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from trajdiff.importers import verdicts
from trajdiff.importers.bare import NO_OUTCOME, tell_unread, value_of
from trajdiff.importers.document import Document, Record
from trajdiff.importers.jsontext import plain_number
from trajdiff.importers.lenient import as_object
from trajdiff.importers.naming import as_text, id_text, whole_number
from trajdiff.importers.notices import Where
from trajdiff.importers.openhands_events import EventReader, listed, tasks_of
from trajdiff.importers.path_names import names_of
from trajdiff.importers.protocol import (
    Claim,
    Head,
    Imported,
    Peek,
    Plan,
    ReadOptions,
    Shape,
    Source,
    Unreadable,
)
from trajdiff.importers.steps import StepBuilder
from trajdiff.importers.swe_reports import joined
from trajdiff.importers.texts import content_text
from trajdiff.model import (
    Judgement,
    Provenance,
    Severity,
    SourceRef,
    Task,
    Termination,
    TerminationReason,
    Trial,
    Usage,
    Verdict,
)
from trajdiff.natural import natural_key

_RETRY = re.compile(r"\.critic_attempt_[0-9]+(?=\.jsonl$)")
_EVENT_FILE = re.compile(r"(?:^|/)event-[0-9]+(?:-[0-9a-zA-Z-]+)?\.json$")
_AT_LIMIT = re.compile(r"maximum (number of )?iterations?|max(imum)?[ _]iterations?", re.IGNORECASE)


class _OpenHands(Struct, frozen=True):
    name: str = "openhands"
    title: str = "OpenHands output"
    recognised_by: str = "lines with instance_id, test_result, history; its events, as a list or a file each"
    record_schema: str | None = None

    def sniff(self, peek: Peek) -> Claim | None:
        """Rows of an output file, of the resolver, or the events themselves."""
        if peek.shape is Shape.FOLDER:
            return _folder_claim(peek)
        if peek.shape is Shape.ARCHIVE:
            return None
        if _is_metadata(peek):
            return Claim(rule="metadata.json of a run")
        if peek.shape is Shape.OBJECT and any(_is_event(head) for head in peek.heads):
            return Claim(rule="one event") if _EVENT_FILE.search(peek.path) else None
        if any(_is_row(head) for head in peek.heads):
            return Claim(rule="rows with a history")
        if peek.shape is not Shape.OBJECT and any(_is_event(head) for head in peek.heads):
            return Claim(rule="a list of events")
        return None

    def records(self, document: Document) -> Iterable[Record]:
        """The rows, or the events."""
        return document.records()

    def read(self, source: Source, options: ReadOptions) -> Imported:
        """Every instance is a trial; attempts are retries, and of repeated rows the last counts."""
        document = source.document
        if _is_metadata(document.peek):
            document.notices.add(Severity.NOTE, "companion", "the metadata of a run; its rows repeat them")
            return Imported(trials=(), diagnostics=document.notices.all(), unread=1)
        first = _RETRY.sub("", document.path)
        if first != document.path and Path(first).is_file():
            document.notices.add(Severity.NOTE, "retries", f"attempts that {first} chose from; not counted")
            return Imported(trials=(), diagnostics=document.notices.all(), unread=1)
        if not any(_is_row(head) for head in document.peek.heads):
            trials, unread = [_event_trial(document, source)], 0
        else:
            trials, unread = _rows(document)
        return Imported(
            trials=tuple(trials),
            plans=tuple(Plan(task=Task(task_id=one.task_id)) for one in trials),
            diagnostics=document.notices.all(),
            unread=unread,
        )


IMPORTER = _OpenHands()


def _is_metadata(peek: Peek) -> bool:
    if peek.shape is not Shape.OBJECT or peek.path.rpartition("/")[2] != "metadata.json" or not peek.heads:
        return False
    head = peek.heads[0]
    return head.has("agent_class") and bool(head.keys & {"llm", "llm_config"})


def _is_row(head: Head) -> bool:
    return head.has("instance_id", "test_result", "history") or head.has("issue", "git_patch", "history")


def _is_event(head: Head) -> bool:
    kind = head.get("kind")
    if isinstance(kind, str) and kind.endswith(("Event", "Condensation")):
        return head.has("id", "source")
    return head.has("source") and bool(head.keys & {"action", "observation"}) and head.has("id")


def _rows(document: Document) -> tuple[list[Trial], int]:
    found: dict[str, Trial] = {}
    unread = 0
    for record in document.records():
        value = value_of(record, document.notices, "a row")
        task_id = tasks_of(value) if isinstance(value, dict) else None
        if task_id is None:
            unread += 1
            if record.problem is None:
                tell_unread(document.notices, "a row names no instance", record.place)
            continue
        if task_id in found:
            unread += 1
            document.notices.add(
                Severity.NOTE,
                "superseded_trial",
                f'the instance "{task_id}" is recorded twice: the last row counts',
                pointer=record.place,
                task_id=task_id,
            )
        found[task_id] = _trial(value, task_id, record, document)
    return list(found.values()), unread


def _trial(value: dict[str, Any], task_id: str, record: Record, document: Document) -> Trial:
    names = names_of(document.path)
    builder = StepBuilder(path=document.path, pointer=record.pointer, line=record.line)
    reader = EventReader(builder=builder, notices=document.notices)
    reader.add(listed(value), ".history")
    error = content_text(value.get("error")) or None
    termination = _termination(reader, error)
    steps = builder.finish(termination, messages=reader.messages, at="")
    where = Where(document.notices, document.path, record.pointer, record.line, task_id, names.trial_id)
    builder.report(where)
    judgement = joined(document.path, task_id, document.notices, "an OpenHands output")
    if judgement.state is Verdict.UNSCORED and termination.reason is TerminationReason.INFRA_ERROR:
        judgement = verdicts.infra(None, "recorded error")
    metrics = as_object(value.get("metrics"))
    tokens = as_object(metrics.get("accumulated_token_usage"))
    attempt = whole_number(value.get("attempt"))
    return Trial(
        task_id=task_id,
        trial_id=names.trial_id,
        ordinal=names.ordinal,
        steps=steps,
        judgement=judgement,
        source=SourceRef(path=document.path, pointer=record.pointer, line=record.line),
        termination=termination,
        error=error,
        usage=Usage(
            input=whole_number(tokens.get("prompt_tokens")),
            output=whole_number(tokens.get("completion_tokens")),
            cache_read=whole_number(tokens.get("cache_read_tokens")),
            cache_write=whole_number(tokens.get("cache_write_tokens")),
        ),
        cost_usd=plain_number(metrics.get("accumulated_cost")),
        started_at=min(reader.times, default=None),
        ended_at=max(reader.times, default=None),
        provenance=_provenance(as_object(value.get("metadata"))),
        message_count=reader.messages,
        metadata={} if attempt is None else {"attempt": attempt},
    )


def _folder_claim(peek: Peek) -> Claim | None:
    """A folder with one file for each event, as the SDK keeps a conversation."""
    files = sorted((name for name in peek.files if _EVENT_FILE.search(name)), key=natural_key)
    first = peek.open(files[0]) if files and peek.open is not None else None
    if first is None or not any(_is_event(head) for head in first.heads):
        return None
    return Claim(rule="event-N files", head=files[0], members=tuple(files[1:]))


def _event_trial(document: Document, source: Source) -> Trial:
    names = names_of(_EVENT_FILE.sub("", document.path) if source.members else document.path)
    builder = StepBuilder(path=document.path, pointer="$")
    reader = EventReader(builder=builder, notices=document.notices)
    events = list(_events(document, source))
    reader.expect(value for _, _, value in events)
    for path, record, value in events:
        # Every step keeps the file and the line it was recorded in.
        builder.path, builder.line = path, record.line
        reader.add_event(value, record.pointer.removeprefix("$"))
    builder.path = document.path
    termination = _termination(reader, None)
    steps = builder.finish(termination, messages=reader.messages, at="")
    builder.report(Where(document.notices, document.path, "$", None, names.task_id, names.trial_id))
    judgement: Judgement = joined(document.path, names.task_id, document.notices, "a list of events")
    return Trial(
        task_id=names.task_id,
        trial_id=names.trial_id,
        ordinal=names.ordinal,
        steps=steps,
        judgement=judgement if judgement.state is not Verdict.UNSCORED else NO_OUTCOME,
        source=SourceRef(path=document.path, pointer="$"),
        termination=termination,
        started_at=min(reader.times, default=None),
        ended_at=max(reader.times, default=None),
        message_count=reader.messages,
    )


def _events(document: Document, source: Source) -> Iterator[tuple[str, Record, Any]]:
    """Every event with its file; one that cannot be read is told."""
    documents = [document]
    for member in source.members:
        try:
            documents.append(source.open(member))
        except Unreadable as error:
            document.notices.extend([error.diagnostic(member, Severity.WARNING)])
    for one in documents:
        for record in one.records():
            value = value_of(record, document.notices, "an event")
            if record.problem is None:
                yield one.path, record, value


def _termination(reader: EventReader, error: str | None) -> Termination:
    if error is not None:
        if _AT_LIMIT.search(error):
            return Termination(reason=TerminationReason.MAX_STEPS, raw=error[:200], rule="error")
        return Termination(reason=TerminationReason.INFRA_ERROR, raw=error[:200], rule="error")
    if reader.finished:
        return Termination(reason=TerminationReason.AGENT_DONE, rule="the agent said that it is done")
    return Termination()


def _provenance(metadata: Mapping[str, Any]) -> Provenance:
    llm = as_object(metadata.get("llm") or metadata.get("llm_config"))
    sampling = {key: llm[key] for key in ("temperature", "top_p", "seed") if llm.get(key) is not None}
    version = id_text(metadata.get("openhands_sdk_version")) or id_text(metadata.get("git_commit"))
    return Provenance(
        model=as_text(llm.get("model")),
        agent=as_text(metadata.get("agent_class")),
        sampling=sampling,
        tool_version=version,
    )
