"""The project's own format, trajdiff/1: one trial a record, as JSON object, array or lines.

A recorder writes a trial as several lines with ``event``; ``own_events`` puts them together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from trajdiff.frozen import replace
from trajdiff.importers.document import Document, Record
from trajdiff.importers.jsontext import BadJsonError
from trajdiff.importers.lenient import as_list, as_object
from trajdiff.importers.naming import id_text, shortened
from trajdiff.importers.notices import Notices, Where
from trajdiff.importers.own_events import Assembled, Recordings, is_event, with_lines
from trajdiff.importers.own_steps import SCHEMA_NAME, add_steps
from trajdiff.importers.own_trial import described_trial, plan_of, where_of
from trajdiff.importers.protocol import Claim, Imported, Peek, Plan, ReadOptions, Shape, Source
from trajdiff.importers.steps import StepBuilder
from trajdiff.importers.stored_steps import Recipe, StoredSteps
from trajdiff.model import Effect, Severity, Step, Trial

_FAMILY = "trajdiff/"
# fmt: off
_KEYS = frozenset((
    "schema", "task_id", "trial_id", "ordinal", "suite", "producer_id", "task", "verdict", "reward",
    "sub_scores", "items", "termination", "error", "usage", "cost_usd", "duration_s", "started_at",
    "ended_at", "human", "provenance", "message_count", "steps", "metadata", "no_trial",
))
# fmt: on
# fmt: off
_TASK_KEYS = frozenset((
    "title", "script", "fingerprint", "expected_trials", "missing", "expected_actions", "expected_outputs",
    "metadata",
))
# fmt: on


class _OwnFormat(Struct, frozen=True):
    name: str = "trajdiff"
    title: str = SCHEMA_NAME
    recognised_by: str = "JSON or JSONL records that name the format"
    record_schema: str | None = "trace"

    def sniff(self, peek: Peek) -> Claim | None:
        """One of the first records names the format."""
        if peek.shape is Shape.FOLDER:
            return None
        for head in peek.heads:
            named = head.get("schema") if head.has("schema") else None
            if isinstance(named, str) and named.startswith(_FAMILY):
                return Claim(rule=f"records with schema {shortened(named, 20)}")
        return None

    def records(self, document: Document) -> Iterable[Record]:
        """Every record is a trial."""
        return document.records()

    def read(self, source: Source, options: ReadOptions) -> Imported:
        """Every record that names a task is a trial, or a line of a recording; one that does not is told."""
        document = source.document
        trials: list[Trial] = []
        plans: list[Plan] = []
        recordings = Recordings(document.notices)
        unread = 0
        for record in document.records():
            value = _record_value(record, document.notices)
            if value is None:
                unread += 1
                continue
            if is_event(value):
                recordings.add(value, record)
                continue
            if value.get("no_trial") is not True:
                trials.append(_kept(_trial(value, record, document.path, document.notices, options), record))
            plans.append(plan_of(value))
        for made in recordings.finished():
            trials.append(_recorded(made, document, options))
            plans.append(plan_of(made.value))
        return Imported(
            trials=tuple(trials), plans=tuple(plans), diagnostics=document.notices.all(), unread=unread
        )

    def steps_again(self, record: Record, path: str, effects: Mapping[str, Effect]) -> Sequence[Step]:
        """The steps of a trial that was read before, from its record."""
        value = _record_value(record, Notices(path))
        return () if value is None else _trial(value, record, path, Notices(path), ReadOptions()).steps


IMPORTER = _OwnFormat()


def _kept(trial: Trial, record: Record) -> Trial:
    """The trial; of a large file with its steps left in there."""
    if record.span is None:
        return trial
    recipe = Recipe(importer=IMPORTER.name, span=record.span, pointer=record.pointer, line=record.line)
    return replace(trial, steps=StoredSteps(tuple(trial.steps), recipe))


def _record_value(record: Record, notices: Notices) -> dict[str, Any] | None:
    """The record as an object that names its task; else None, and the reason is told."""
    try:
        value = record.decode()
        problem = None
    except BadJsonError as error:
        value, problem = None, f"a record cannot be read: {error.problem}"
    if problem is None and not isinstance(value, dict):
        problem = "a record is not an object"
    elif problem is None and id_text(value.get("task_id")) is None:
        problem = "a record has no task_id"
    if problem is not None:
        consequence = "this record is left out; the others are read"
        notices.add(Severity.WARNING, "unreadable_record", problem, consequence, pointer=record.place)
        return None
    return dict(value)


def _trial(
    value: Mapping[str, Any], record: Record, path: str, notices: Notices, options: ReadOptions
) -> Trial:
    _tell_keys(value, notices)
    builder = StepBuilder(path=path, pointer=record.pointer, line=record.line)
    where = where_of(value, notices, builder)
    counted = add_steps(builder, _steps(value, where), notices)
    return described_trial(value, builder, counted, where, options)


def _recorded(made: Assembled, document: Document, options: ReadOptions) -> Trial:
    """A trial that a recorder wrote line by line."""
    trial = _trial(made.value, made.record, document.path, document.notices, options)
    return replace(trial, steps=with_lines(tuple(trial.steps), made))


def _steps(value: Mapping[str, Any], where: Where) -> list[Any]:
    steps = value.get("steps")
    if not isinstance(steps, list):
        found = "missing" if steps is None else "not a list"
        where.warn("no_steps", f"steps is {found}", "it keeps its verdict and is not compared", at=".steps")
    return as_list(steps)


def _tell_keys(value: Mapping[str, Any], notices: Notices) -> None:
    """Tell once a file about unknown keys and versions; both are read as far as they are known."""
    schema = value.get("schema")
    if schema != SCHEMA_NAME:
        found = shortened(str(schema), 30)
        message = (
            f'a record names the format "{found}"'
            if schema is not None
            else "a record does not name its format"
        )
        notices.once(Severity.WARNING, "unknown_version", found, message, f"read as {SCHEMA_NAME}")
    for known, keys, prefix in ((_KEYS, value, ""), (_TASK_KEYS, as_object(value.get("task")), "task.")):
        for key in keys:
            if key not in known:
                word = shortened(prefix + str(key), 40)
                notices.once(Severity.NOTE, "unknown_key", word, f'the key "{word}" is not read')
