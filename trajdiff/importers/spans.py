"""OpenTelemetry GenAI, OpenInference and Traceloop spans.

The attributes were checked on published fixtures. Putting a whole trial together is inferred: no dump of one
was at hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from trajdiff.importers import scoring, verdicts
from trajdiff.importers.bare import NO_OUTCOME, tell_bare, tell_unread, value_of
from trajdiff.importers.document import Document, Record
from trajdiff.importers.naming import id_text
from trajdiff.importers.notices import Where
from trajdiff.importers.path_names import PathNames, names_of
from trajdiff.importers.protocol import Claim, Head, Imported, Peek, Plan, ReadOptions, Shape, Source
from trajdiff.importers.span_trial import TraceReader
from trajdiff.importers.span_values import MARKS, Span, SpanFinder
from trajdiff.importers.steps import StepBuilder
from trajdiff.model import Judgement, Provenance, SourceRef, Task, Termination, Trial

_CONVERSATION = ("session.id", "gen_ai.conversation.id", "resource.session.id")
_EVALUATION = "gen_ai.evaluation.result"


class _Spans(Struct, frozen=True):
    name: str = "spans"
    title: str = "OpenTelemetry GenAI or OpenInference spans"
    recognised_by: str = "resourceSpans; spans with attributes and a span context; bare span attributes"
    record_schema: str | None = None

    def sniff(self, peek: Peek) -> Claim | None:
        """An OTLP document, a list of spans, or the attributes of spans."""
        if peek.shape in (Shape.FOLDER, Shape.ARCHIVE):
            return None
        for head in peek.heads:
            if head.keys & {"resourceSpans", "resource_spans"}:
                return Claim(rule="resourceSpans")
            if _is_span(head):
                return Claim(rule="spans with attributes")
            if any(isinstance(head.get(one), str) for one in MARKS if head.has(one)):
                return Claim(rule="attributes of spans")
        if peek.shape is Shape.OBJECT and peek.heads and _is_grouped(peek.heads[0]):
            return Claim(rule="lists of spans by name")
        return None

    def records(self, document: Document) -> Iterable[Record]:
        """OTLP documents or spans."""
        return document.records()

    def read(self, source: Source, options: ReadOptions) -> Imported:
        """Every trace, or conversation of several traces, is a trial."""
        document = source.document
        finder = SpanFinder()
        spans: list[Span] = []
        unread = 0
        for record in document.records():
            value = value_of(record, document.notices)
            found = finder.spans(value, record.pointer, record.line)
            if not found and record.problem is None:
                tell_unread(document.notices, "a record holds no spans", record.place)
            unread += not found
            spans += found
        groups = _grouped(spans)
        names = names_of(document.path)
        trials = [
            _trial(group, key, _named(names, key, len(groups)), document, options)
            for key, group in groups.items()
        ]
        return Imported(
            trials=tuple(trials),
            plans=tuple(Plan(task=Task(task_id=one.task_id)) for one in trials),
            diagnostics=document.notices.all(),
            unread=unread,
        )


IMPORTER = _Spans()


def _is_span(head: Head) -> bool:
    if head.has("context.span_id"):
        return True
    return head.has("attributes") and bool(head.keys & {"spanId", "span_id", "spanContext", "context"})


def _is_grouped(head: Head) -> bool:
    first = head.get(min(head.keys)) if head.keys else None
    inner = first[0] if isinstance(first, list) and first else None
    return isinstance(inner, dict) and "attributes" in inner and "spanContext" in inner


def _grouped(spans: Sequence[Span]) -> dict[str, list[Span]]:
    """Spans by conversation where one is named, else by trace; in the order of the ids."""
    conversations: dict[str, str] = {}
    for span in spans:
        known = next((found for one in _CONVERSATION if (found := id_text(span.attributes.get(one)))), None)
        if known is not None:
            conversations.setdefault(span.trace_id, known)
    groups: dict[str, list[Span]] = {}
    seen: set[tuple[str, str]] = set()
    for span in spans:
        # Dumps repeat spans; the same span of the same trace counts once.
        if (span.trace_id, span.span_id) not in seen:
            seen.add((span.trace_id, span.span_id))
            groups.setdefault(conversations.get(span.trace_id, span.trace_id), []).append(span)
    return {key: groups[key] for key in sorted(groups)}


def _named(names: PathNames, key: str, count: int) -> PathNames:
    """Traces of one file without names are tasks each: nothing says that they belong together."""
    if count == 1:
        return names
    return PathNames(
        task_id=f"{names.task_id}#{key[:16] or 'trace'}", trial_id=names.trial_id, ordinal=names.ordinal
    )


def _trial(
    spans: Sequence[Span], key: str, names: PathNames, document: Document, options: ReadOptions
) -> Trial:
    builder = StepBuilder(path=document.path, pointer="$")
    reader = TraceReader(builder=builder, notices=document.notices)
    reader.add(spans)
    first = min(spans, key=lambda one: one.order)
    last = max(spans, key=lambda one: (one.end, one.span_id))
    builder.pointer, builder.line = first.at, first.line
    termination = Termination()
    steps = builder.finish(termination, messages=reader.messages, at="")
    where = Where(document.notices, document.path, first.at, first.line, names.task_id, names.trial_id)
    builder.report(where)
    scores = _scores(spans)
    judgement = _judgement(scores, where, options)
    begun, ended = first.moment(first.start), last.moment(last.end)
    seconds = (last.end - first.start) / 1e9 if last.end and first.start else None
    return Trial(
        task_id=names.task_id,
        trial_id=names.trial_id,
        ordinal=names.ordinal,
        steps=steps,
        judgement=judgement,
        source=SourceRef(path=document.path, pointer=first.at, line=first.line),
        producer_id=key or None,
        sub_scores=scores,
        termination=termination,
        usage=reader.usage(),
        duration_s=seconds,
        started_at=begun,
        ended_at=ended,
        provenance=Provenance(model=reader.model, sampling=reader.sampling),
        message_count=reader.messages,
    )


def _scores(spans: Sequence[Span]) -> dict[str, Any]:
    """Evaluations recorded as events: a value, else a label."""
    made: dict[str, Any] = {}
    for span in sorted(spans, key=lambda one: one.order):
        for name, event in span.events:
            if name == _EVALUATION:
                score = event.get("gen_ai.evaluation.score.value", event.get("gen_ai.evaluation.score.label"))
                made[id_text(event.get("gen_ai.evaluation.name")) or "evaluation"] = score
    return made


def _judgement(scores: Mapping[str, Any], where: Where, options: ReadOptions) -> Judgement:
    if not scores:
        tell_bare(where.notices, "a trace")
        return NO_OUTCOME
    judged = scoring.judge(scores, chosen=options.scorer, threshold=options.threshold, notices=where.notices)
    verdicts.tell_unscored(where, judged, Termination(), judged.raw, at="")
    return judged
