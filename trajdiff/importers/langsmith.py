"""Runs exported from LangSmith, as a list or lines. No real export was at hand.

Runs of one trace are one trial of the example that the root run refers to. Model runs give messages and calls,
tool runs results: the same way of putting a trial together as for spans.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from trajdiff.importers import scoring, verdicts
from trajdiff.importers.arguments import read_arguments
from trajdiff.importers.bare import NO_OUTCOME, tell_bare, tell_unread, value_of
from trajdiff.importers.document import Document, Record
from trajdiff.importers.jsontext import plain_number
from trajdiff.importers.langchain_messages import as_chat
from trajdiff.importers.lenient import as_list, as_object
from trajdiff.importers.naming import as_text, id_text, whole_number
from trajdiff.importers.notices import Where
from trajdiff.importers.path_names import names_of
from trajdiff.importers.protocol import Claim, Imported, Peek, Plan, ReadOptions, Shape, Source
from trajdiff.importers.span_trial import TraceReader
from trajdiff.importers.span_values import Span, nanoseconds_of
from trajdiff.importers.steps import StepBuilder
from trajdiff.importers.texts import content_text
from trajdiff.model import (
    Judgement,
    Provenance,
    SourceRef,
    Task,
    Termination,
    TerminationReason,
    Trial,
    Usage,
)


class _LangSmith(Struct, frozen=True):
    name: str = "langsmith"
    title: str = "LangSmith runs"
    recognised_by: str = "runs with run_type and dotted_order or trace_id"
    record_schema: str | None = None

    def sniff(self, peek: Peek) -> Claim | None:
        """One of the first records is a run."""
        if peek.shape in (Shape.FOLDER, Shape.ARCHIVE):
            return None
        if any(head.has("run_type") and head.keys & {"dotted_order", "trace_id"} for head in peek.heads):
            return Claim(rule="run_type with dotted_order or trace_id")
        return None

    def records(self, document: Document) -> Iterable[Record]:
        """Every record is a run."""
        return document.records()

    def read(self, source: Source, options: ReadOptions) -> Imported:
        """Every trace is a trial."""
        document = source.document
        traces: dict[str, list[_Run]] = {}
        unread = 0
        for record in document.records():
            value = value_of(record, document.notices, "a run")
            trace = _trace_of(value)
            if trace is None:
                unread += 1
                if record.problem is None:
                    tell_unread(document.notices, "a record is not a run", record.place)
                continue
            traces.setdefault(trace, []).append(_Run(value=value, at=record.pointer, line=record.line))
        trials = [_trial(traces[key], key, len(traces), document, options) for key in sorted(traces)]
        return Imported(
            trials=tuple(trials),
            plans=tuple(Plan(task=Task(task_id=one.task_id)) for one in trials),
            diagnostics=document.notices.all(),
            unread=unread,
        )


IMPORTER = _LangSmith()


class _Run(Struct, frozen=True, kw_only=True):
    value: Mapping[str, Any]
    at: str
    line: int | None

    @property
    def order(self) -> tuple[str, str, str]:
        """The dotted order places a run under its parents; start and id where it is missing."""
        texts = (as_text(self.value.get(key)) or "" for key in ("dotted_order", "start_time"))
        first, second = texts
        return first, second, id_text(self.value.get("id")) or ""


def _trace_of(value: Any) -> str | None:
    if not isinstance(value, dict) or as_text(value.get("run_type")) is None:
        return None
    return (
        id_text(value.get("trace_id")) or (as_text(value.get("dotted_order")) or "").partition(".")[0] or None
    )


def _trial(runs: Sequence[_Run], trace: str, count: int, document: Document, options: ReadOptions) -> Trial:
    ordered = sorted(runs, key=lambda one: one.order)
    root = next((one for one in ordered if one.value.get("parent_run_id") is None), ordered[0])
    names = names_of(document.path)
    example = id_text(root.value.get("reference_example_id"))
    fallback = names.task_id if count == 1 else f"{names.task_id}#{trace[:16]}"
    builder = StepBuilder(path=document.path, pointer="$")
    reader = TraceReader(builder=builder, notices=document.notices)
    reader.add([_span(one, place) for place, one in enumerate(ordered)])
    builder.pointer, builder.line = root.at, root.line
    error = content_text(root.value.get("error")) or None
    termination = (
        Termination()
        if error is None
        else Termination(reason=TerminationReason.AGENT_ERROR, raw=error[:200], rule="error of the root run")
    )
    steps = builder.finish(termination, messages=reader.messages, at="")
    where = Where(document.notices, document.path, root.at, root.line, example or fallback, "")
    builder.report(where)
    scores = _scores(ordered)
    return Trial(
        task_id=example or fallback,
        trial_id="" if example else names.trial_id,
        ordinal=-1 if example else names.ordinal,
        steps=steps,
        judgement=_judgement(scores, error, where, options),
        source=SourceRef(path=document.path, pointer=root.at, line=root.line),
        producer_id=trace,
        sub_scores=scores,
        termination=termination,
        error=error,
        usage=_usage(ordered, root),
        cost_usd=_cost(root.value.get("total_cost")),
        started_at=as_text(root.value.get("start_time")),
        ended_at=as_text(root.value.get("end_time")),
        provenance=Provenance(model=_metadata(ordered, "ls_model_name"), sampling=_sampling(ordered)),
        message_count=reader.messages,
        metadata={"session": session} if (session := id_text(root.value.get("session_id"))) else {},
    )


def _span(run: _Run, place: int) -> Span:
    """A run in the shape of a span, with its messages as chat messages."""
    value = run.value
    kind = as_text(value.get("run_type"))
    attributes: dict[str, Any] = {}
    if kind == "llm":
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": _messages(value.get("inputs")),
            "gen_ai.output.messages": _messages(value.get("outputs")),
        }
    elif kind == "tool":
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": as_text(value.get("name"))}
        attributes |= _tool_sides(value)
    error = value.get("error")
    return Span(
        trace_id=id_text(value.get("trace_id")) or "",
        span_id=id_text(value.get("id")) or f"run {place}",
        parent_id=id_text(value.get("parent_run_id")),
        name=as_text(value.get("name")) or "",
        start=nanoseconds_of(value, "start_time"),
        end=nanoseconds_of(value, "end_time"),
        attributes=attributes,
        failed=True if error else (False if value.get("status") == "success" else None),
        at=run.at,
        line=run.line,
    )


def _tool_sides(value: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments and result of a tool run; arguments may be the text of a Python literal."""
    made: dict[str, Any] = {}
    inputs = value.get("inputs")
    if isinstance(inputs, dict):
        given = inputs.get("input") if set(inputs) == {"input"} else inputs
        read = read_arguments(given).arguments
        made["gen_ai.tool.call.arguments"] = read.parsed if read.parsed is not None else given
    outputs = value.get("outputs")
    if isinstance(outputs, dict):
        output = outputs.get("output", outputs)
        message = as_chat(output)
        made["gen_ai.tool.call.result"] = message["content"] if message is not None else output
        call_id = as_text((message or {}).get("tool_call_id"))
        if call_id is not None:
            made["gen_ai.tool.call.id"] = call_id
    elif value.get("error"):
        made["gen_ai.tool.call.result"] = content_text(value["error"])
    return made


def _messages(side: Any) -> list[dict[str, Any]]:
    """The messages of one side of a model run: a list (of lists), generations, or a message."""
    held = as_object(side)
    found: list[Any] = []
    for one in as_list(held.get("messages")):
        found += one if isinstance(one, list) else [one]
    for batch in as_list(held.get("generations")):
        for generation in batch if isinstance(batch, list) else [batch]:
            inner = as_object(generation)
            found.append(inner.get("message") or {"role": "assistant", "content": inner.get("text")})
            break
    if not found and isinstance(held.get("output", held.get("message")), dict):
        found = [held.get("output", held.get("message"))]
    if not found:
        found = [as_object(one).get("message") for one in as_list(held.get("choices"))[:1]]
    if not found and held.get("role") is not None:
        found = [held]
    return [as_chat(one) or dict(one) for one in found if isinstance(one, dict)]


def _scores(runs: Sequence[_Run]) -> dict[str, Any]:
    """Feedback of the runs: its mean by key, with what a single one says."""
    made: dict[str, Any] = {}
    for run in runs:
        for key, stats in as_object(run.value.get("feedback_stats")).items():
            made.setdefault(key, as_object(stats).get("avg"))
    return made


def _judgement(scores: Mapping[str, Any], error: str | None, where: Where, options: ReadOptions) -> Judgement:
    if not scores:
        tell_bare(where.notices, "a LangSmith trace without feedback")
        return NO_OUTCOME
    judged = scoring.judge(
        scores, chosen=options.scorer, threshold=options.threshold, notices=where.notices, error=error
    )
    verdicts.tell_unscored(where, judged, Termination(), judged.raw, at=".feedback_stats")
    return judged


def _usage(runs: Sequence[_Run], root: _Run) -> Usage:
    """Tokens of the root run, which sums up; of the model runs where it has none."""

    def total(name: str) -> int | None:
        own = whole_number(root.value.get(name))
        if own is not None:
            return own
        models = [one.value for one in runs if one.value.get("run_type") == "llm"]
        found = [number for one in models if (number := whole_number(one.get(name))) is not None]
        return sum(found) if found else None

    return Usage(input=total("prompt_tokens"), output=total("completion_tokens"))


def _cost(recorded: Any) -> float | None:
    if isinstance(recorded, str):
        try:
            return plain_number(float(recorded))
        except ValueError:
            return None
    return plain_number(recorded)


def _metadata(runs: Sequence[_Run], key: str) -> str | None:
    for run in runs:
        found = as_text(as_object(as_object(run.value.get("extra")).get("metadata")).get(key))
        if found is not None:
            return found
    return None


def _sampling(runs: Sequence[_Run]) -> dict[str, Any]:
    for run in runs:
        metadata = as_object(as_object(run.value.get("extra")).get("metadata"))
        if plain_number(metadata.get("ls_temperature")) is not None:
            return {"temperature": metadata["ls_temperature"]}
    return {}
