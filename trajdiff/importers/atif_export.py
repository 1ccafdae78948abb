"""Writes trials as ATIF-v1.6 trajectories, so that reading them gives the same trials.

What ATIF has no place for (verdict, task, numbers of messages, calls of other sides than the agent) stands
under ``extra.trajdiff`` of the trajectory, its steps, calls and results; other readers may pass it over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct, field

from trajdiff.importers.own_record import arguments_record, own_name, plain, record_of, step_record
from trajdiff.model import Actor, Arguments, ArgumentState, Corpus, Result, Step, StepKind, Trial

VERSION = "ATIF-v1.6"
OWN = "trajdiff"
_SOURCES = {Actor.USER: "user", Actor.SYSTEM: "system", Actor.ENVIRONMENT: "system"}
_ORDER = {StepKind.REASONING: 0, StepKind.MESSAGE: 1, StepKind.TOOL_CALL: 2}
#: What a call says of itself in ATIF; the rest of its record stands under ``extra``.
_IN_CALL = frozenset({"name", "arguments", "result", "call_id", "actor", "kind"})


def trajectories(corpus: Corpus) -> Iterator[dict[str, Any]]:
    """One trajectory a trial, tasks and trials in their order. A task without any trial has none."""
    for task in corpus.tasks:
        for trial in task.trials:
            own = record_of(trial, task.task, task.expected_n, task.missing)
            del own["steps"]
            yield _trajectory(trial, {**own, "task_id": own_name(task)})


def _trajectory(trial: Trial, own: dict[str, Any]) -> dict[str, Any]:
    made = trial.provenance
    agent = {"name": made.agent or "unknown", "version": made.tool_version or "unknown"}
    agent |= {} if made.model is None else {"model_name": made.model}
    steps = [step for step in trial.steps if step.kind is not StepKind.TERMINATION]
    written = [_written(group, number) for number, group in enumerate(_groups(steps), 1)]
    if not written:
        # The format wants one step at least.
        hint = {OWN: {"placeholder": True}}
        written = [{"step_id": 1, "source": "system", "message": "no steps recorded", "extra": hint}]
    usage = {
        "total_prompt_tokens": trial.usage.input,
        "total_completion_tokens": trial.usage.output,
        "total_cached_tokens": trial.usage.cache_read,
        "total_cost_usd": trial.cost_usd,
    }
    known = {key: value for key, value in usage.items() if value is not None}
    return {
        "schema_version": VERSION,
        "session_id": trial.producer_id or f"{own['task_id']}/{trial.trial_id}",
        "agent": agent,
        "steps": written,
        **({"final_metrics": {**known, "total_steps": len(written)}} if known else {}),
        "extra": {OWN: own},
    }


def _groups(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Steps that are one step of ATIF: thought, text and calls of one message of the agent, in this order."""
    group: list[Step] = []
    for step in steps:
        if group and not _continues(group, step):
            yield group
            group = []
        group.append(step)
    if group:
        yield group


def _continues(group: Sequence[Step], step: Step) -> bool:
    last = group[-1]
    if step.kind not in _ORDER or last.kind not in _ORDER or step.actor != last.actor:
        return False
    if step.source.message_index is None or step.source.message_index != last.source.message_index:
        return False
    calls = step.kind is last.kind is StepKind.TOOL_CALL
    # A thought with a time or a model of its own would lose it inside another step.
    plain = last.kind is StepKind.TOOL_CALL or not (last.started_at or last.ended_at or last.model or last.name)
    return plain and (calls or _ORDER[step.kind] > _ORDER[last.kind])


class _Observed(Struct):
    """The calls of one step with their results."""

    calls: list[dict[str, Any]] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def add(self, step: Step) -> None:
        """Add one call and its result; ids are made up where none is recorded, and unique."""
        own = {key: one for key, one in step_record(step).items() if key not in _IN_CALL}
        call_id = step.call_id
        if call_id is None or call_id in self.used:
            call_id = f"{step.call_uid}" if step.call_uid not in self.used else f"{step.call_uid}.{step.index}"
            own["call_id"] = step.call_id
        self.used.add(call_id)
        arguments, more = _arguments(step.arguments)
        called = {"tool_call_id": call_id, "function_name": step.name or "unknown", "arguments": arguments}
        own |= more | ({"name": None} if step.name is None else {})
        self.calls.append({**called, "extra": {OWN: own}})
        if step.result is not None:
            self.results.append({"source_call_id": call_id, **_result(step.result)})


def _written(group: Sequence[Step], number: int) -> dict[str, Any]:
    first = group[0]
    source = _SOURCES.get(Actor(first.actor), "agent") if first.actor in tuple(Actor) else "agent"
    own: dict[str, Any] = {"message": first.source.message_index, "actor": str(first.actor)}
    made: dict[str, Any] = {"step_id": number, "source": source, "message": ""}
    observed = _Observed()
    for step in group:
        if step.kind is StepKind.TOOL_CALL:
            observed.add(step)
        elif step.kind is StepKind.REASONING and source == "agent":
            made["reasoning_content"] = step.text or ""
        elif step.kind is StepKind.ORPHAN_RESULT and step.result is not None:
            own |= _rest(step)
            made["observation"] = {"results": [_result(step.result)]}
        else:
            made["message"], own["text"] = step.text or "", step.text is not None
            own |= _rest(step)
    if observed.calls and source == "agent":
        made["tool_calls"] = observed.calls
    elif observed.calls:
        # Only the agent calls tools in ATIF.
        own["tool_calls"] = observed.calls
    if observed.results:
        (made if source == "agent" else own)["observation"] = {"results": observed.results}
    if first.kind is StepKind.REASONING and len(group) == 1:
        own |= _rest(first)
    return {**made, "extra": {OWN: own}}


_IN_ENTRY = ("kind", "name", "call_id", "model", "started_at", "ended_at")


def _rest(step: Step) -> dict[str, Any]:
    """What an entry records beside its text."""
    said = step_record(step)
    return {key: said[key] for key in _IN_ENTRY if key in said}


def _arguments(arguments: Arguments | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments as the object that ATIF wants, and as they were recorded where that is more."""
    if arguments is None or arguments.state is ArgumentState.ABSENT:
        return {}, {"absent": True}
    parsed = plain(arguments.parsed) if arguments.parsed is not None else {}
    written = arguments_record(arguments)
    return parsed, {} if isinstance(written, dict) else {"arguments": written}


def _result(result: Result) -> dict[str, Any]:
    flag = {} if result.is_error is None else {"is_error": result.is_error}
    own: dict[str, Any] = dict(flag)
    if result.error_rule is not None:
        own["error_rule"] = result.error_rule
    if result.truncated:
        own["truncated"] = True
    return {"content": result.text, "extra": {**flag, OWN: own}}
