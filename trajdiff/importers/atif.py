"""A single ATIF trajectory file, with its continuations beside it. No verdict inside."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from trajdiff.importers.atif_own import own_part
from trajdiff.importers.atif_steps import AtifReader, provenance_of
from trajdiff.importers.bare import NO_OUTCOME, tell_bare, tell_unread, value_of
from trajdiff.importers.document import Document, Record
from trajdiff.importers.lenient import as_object
from trajdiff.importers.naming import as_text, id_text, shortened
from trajdiff.importers.notices import Notices, Where
from trajdiff.importers.own_trial import described_trial, plan_of, where_of
from trajdiff.importers.path_names import names_of
from trajdiff.importers.protocol import Claim, Imported, Peek, Plan, ReadOptions, Shape, Source, Unreadable
from trajdiff.importers.steps import StepBuilder
from trajdiff.model import Severity, SourceRef, Task, Termination, Trial

_FAMILY = "ATIF-v"
_CONTINUATION = re.compile(r"\.cont-[0-9]+(?=\.json$)")
_MAX_PARTS = 100


class _Atif(Struct, frozen=True):
    name: str = "atif"
    title: str = "ATIF trajectory"
    recognised_by: str = "schema_version that begins with ATIF-v"
    record_schema: str | None = None

    def sniff(self, peek: Peek) -> Claim | None:
        """One of the first records names the format."""
        if peek.shape is Shape.FOLDER:
            return None
        for head in peek.heads:
            named = head.get("schema_version") if head.has("schema_version", "steps") else None
            if isinstance(named, str) and named.startswith(_FAMILY):
                return Claim(rule=f"schema_version {shortened(named, 20)}")
        return None

    def records(self, document: Document) -> Iterable[Record]:
        """Every record is a trial."""
        return document.records()

    def read(self, source: Source, options: ReadOptions) -> Imported:
        """Every trajectory is a trial; a continuation belongs to the file it continues."""
        document = source.document
        first = _continues(document.path)
        if first is not None:
            message = f"continues {first}; read with it"
            document.notices.add(Severity.NOTE, "continuation", message)
            return Imported(trials=(), diagnostics=document.notices.all(), unread=1)
        trials: list[Trial] = []
        plans: list[Plan] = []
        unread = 0
        for record in document.records():
            value = value_of(record, document.notices, "a trajectory")
            if isinstance(value, dict):
                own = own_part(value)
                if id_text(own.get("task_id")) is not None:
                    trials.append(_own_trial(value, own, record, source, options))
                    plans.append(plan_of(own))
                else:
                    trials.append(_trial(value, record, source))
                    plans.append(Plan(task=Task(task_id=trials[-1].task_id)))
                continue
            unread += 1
            if record.problem is None and value is not None:
                tell_unread(document.notices, "a record is not an object", record.place)
        return Imported(
            trials=tuple(trials),
            plans=tuple(plans),
            diagnostics=document.notices.all(),
            unread=unread,
        )


IMPORTER = _Atif()


def _continues(path: str) -> str | None:
    """The file that this one continues, if it lies beside it."""
    first = _CONTINUATION.sub("", path)
    return first if first != path and Path(first).is_file() else None


def _trial(value: dict[str, Any], record: Record, source: Source) -> Trial:
    document = source.document
    names = names_of(document.path)
    builder = StepBuilder(path=document.path, pointer=record.pointer, line=record.line)
    reader = AtifReader(builder=builder, notices=document.notices)
    read_with_continuations(reader, value, document.path, source)
    steps = builder.finish(Termination(), messages=reader.messages, at="")
    where = Where(document.notices, document.path, record.pointer, record.line, names.task_id, names.trial_id)
    builder.report(where)
    tell_bare(document.notices, "an ATIF trajectory")
    return Trial(
        task_id=names.task_id,
        trial_id=names.trial_id,
        ordinal=names.ordinal,
        steps=steps,
        judgement=NO_OUTCOME,
        source=SourceRef(path=document.path, pointer=record.pointer, line=record.line),
        producer_id=id_text(value.get("trajectory_id")) or id_text(value.get("session_id")),
        usage=reader.usage(value),
        cost_usd=reader.cost(value),
        started_at=reader.started_at,
        ended_at=reader.ended_at,
        provenance=provenance_of(value),
        message_count=reader.messages,
    )


def _own_trial(
    value: dict[str, Any], own: Mapping[str, Any], record: Record, source: Source, options: ReadOptions
) -> Trial:
    """A trajectory that this program wrote, with the task, trial and verdict it had before."""
    document = source.document
    builder = StepBuilder(path=document.path, pointer=record.pointer, line=record.line)
    reader = AtifReader(builder=builder, notices=document.notices)
    reader.add(value)
    where = where_of(own, document.notices, builder)
    return described_trial(own, builder, 0, where, options)


def read_with_continuations(reader: AtifReader, first: Mapping[str, Any], path: str, source: Source) -> None:
    """Add a trajectory and the files it is continued in, which lie in the same folder."""
    builder, notices = reader.builder, reader.notices
    folder, slash, _ = path.rpartition("/")
    reader.add(first)
    trajectory, seen = first, {path}
    while (named := as_text(trajectory.get("continued_trajectory_ref"))) is not None and len(seen) < _MAX_PARTS:
        following = f"{folder}{slash}{named.rpartition('/')[2]}"
        if following in seen:
            break
        seen.add(following)
        found = opened_object(source, following, notices)
        if found is None:
            break
        trajectory = found
        # Every step keeps the file it was recorded in.
        builder.path = following
        reader.add(trajectory)
    builder.path = path


def opened_object(source: Source, path: str, notices: Notices) -> dict[str, Any] | None:
    """The object in another file; None if there is none, which is told."""
    try:
        document = source.open(path)
    except Unreadable as error:
        notices.extend([error.diagnostic(path, Severity.WARNING)])
        return None
    notices.extend(document.notices.all())
    for record in document.records():
        value = value_of(record, notices)
        if isinstance(value, dict):
            return as_object(value)
    return None
