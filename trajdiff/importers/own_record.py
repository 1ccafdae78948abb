"""Writes a trial as a trajdiff/1 record. ``own_format`` reads it back to the same trial."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from trajdiff.importers.arguments import read_arguments
from trajdiff.importers.jsontext import compact
from trajdiff.importers.naming import whole_number
from trajdiff.importers.own_steps import SCHEMA_NAME, default_actor, default_kind
from trajdiff.model import (
    Arguments,
    ArgumentState,
    Judgement,
    Result,
    Step,
    StepKind,
    Task,
    TaskTrials,
    Termination,
    Trial,
)


def record_of(trial: Trial, task: Task, expected_n: int | None, missing: Sequence[str] = ()) -> dict[str, Any]:
    """The record of one trial, without what is not recorded; numbers that JSON lacks are written as text.

    ``missing`` are the planned trials of the task that are not there.
    """
    record: dict[str, Any] = {
        "schema": SCHEMA_NAME,
        "task_id": trial.task_id,
        "trial_id": trial.trial_id,
        "ordinal": None if whole_number(trial.trial_id) == trial.ordinal else trial.ordinal,
        "suite": trial.suite,
        "producer_id": trial.producer_id,
        "task": _task(task, expected_n, missing),
        "verdict": _judgement(trial.judgement),
        "reward": trial.reward,
        "sub_scores": dict(trial.sub_scores),
        "items": [
            {"criterion": one.criterion, "expected": list(one.expected), "produced": list(one.produced)}
            for one in trial.items
        ],
        "termination": _termination(trial.termination),
        "error": trial.error,
        "usage": _fields(trial.usage, "input", "output", "cache_read", "cache_write", "reasoning"),
        "cost_usd": trial.cost_usd,
        "duration_s": trial.duration_s,
        "started_at": trial.started_at,
        "ended_at": trial.ended_at,
        "human": _fields(trial.human, "minutes", "assisted", "in_scope"),
        "provenance": _provenance(trial),
        "message_count": trial.message_count,
        "metadata": dict(trial.metadata),
    }
    record = {key: plain(value) for key, value in record.items() if value not in (None, {}, [])}
    record["steps"] = [step_record(step) for step in trial.steps if step.kind is not StepKind.TERMINATION]
    return record


def announcement_of(task: Task, expected_n: int | None, missing: Sequence[str]) -> dict[str, Any]:
    """The record of a task of which no trial is there."""
    said = {"schema": SCHEMA_NAME, "task_id": task.task_id, "no_trial": True, "suite": task.suite}
    record = {**said, "task": plain(_task(task, expected_n, missing))}
    return {key: value for key, value in record.items() if value not in (None, {})} | {"steps": []}


def _fields(value: Any, *names: str) -> dict[str, Any]:
    named = {name: getattr(value, name) for name in names}
    return {name: one for name, one in named.items() if one is not None}


def _task(task: Task, expected_n: int | None, missing: Sequence[str]) -> dict[str, Any]:
    said = _fields(task, "title", "script", "fingerprint")
    if expected_n is not None:
        said["expected_trials"] = expected_n
    if missing:
        said["missing"] = list(missing)
    if task.expected_actions is not None:
        said["expected_actions"] = [
            {"name": one.name, "arguments": one.arguments, "actor": str(one.actor)}
            for one in task.expected_actions
        ]
    if task.expected_outputs is not None:
        said["expected_outputs"] = list(task.expected_outputs)
    if task.metadata:
        said["metadata"] = dict(task.metadata)
    return said


def _judgement(judgement: Judgement) -> dict[str, Any]:
    said: dict[str, Any] = {"state": judgement.state.value, "raw": judgement.raw, "rule": judgement.rule}
    return said | _fields(judgement, "scorer", "threshold")


def _termination(termination: Termination) -> dict[str, Any]:
    said = {"reason": termination.reason.value, **_fields(termination, "raw", "rule")}
    return {} if termination == Termination() else said


def _provenance(trial: Trial) -> dict[str, Any]:
    names = ("model", "agent", "seed", "prompt_version", "tool_version")
    versions = ("environment_version", "fixture_version", "scorer_version")
    said = _fields(trial.provenance, *names, *versions)
    if trial.provenance.sampling:
        said["sampling"] = dict(trial.provenance.sampling)
    return said


def step_record(step: Step) -> dict[str, Any]:
    """The record of one step, without what is not recorded."""
    said: dict[str, Any] = {"actor": str(step.actor), "kind": step.kind.value, **_fields(step, "text", "name")}
    if step.kind is default_kind(said):
        del said["kind"]
    if step.actor == default_actor(step.kind) and step.kind is StepKind.TOOL_CALL:
        del said["actor"]
    if step.arguments is not None and step.arguments.state is not ArgumentState.ABSENT:
        said["arguments"] = arguments_record(step.arguments)
        if step.arguments.state is ArgumentState.INVALID and not _looks_invalid(step.arguments):
            said["arguments_state"] = step.arguments.state.value
    if step.result is not None:
        said["result"] = _result(step.result)
    said["message"] = step.source.message_index
    if step.result_source is not None:
        said["result_message"] = step.result_source.message_index
    said |= _fields(
        step, "call_id", "call_uid", "parallel_group", "model", "choice_reason", "started_at", "ended_at"
    )
    if step.effect_hint is not None:
        said["effect_hint"] = step.effect_hint.value
    if step.candidates:
        said["candidates"] = [_fields(one, "name", "arguments", "score", "reason") for one in step.candidates]
    return {key: plain(value) for key, value in said.items()}


def _looks_invalid(arguments: Arguments) -> bool:
    """Whether reading the text again finds by itself that it is no object."""
    return read_arguments(arguments.raw).arguments.state is ArgumentState.INVALID


def arguments_record(arguments: Arguments) -> Any:
    """The arguments as they were recorded: an object, or the text that was there."""
    if arguments.raw is not None or arguments.state is not ArgumentState.OK:
        return arguments.raw
    # NaN has no place in JSON, but inside the text of the arguments it can be written and read again.
    return compact(arguments.parsed) if plain(arguments.parsed) != arguments.parsed else arguments.parsed


def _result(result: Result) -> str | dict[str, Any]:
    if result.is_error is None and result.error_rule is None and not result.truncated:
        return result.text
    said: dict[str, Any] = {"text": result.text, **_fields(result, "is_error", "error_rule")}
    if result.truncated:
        said["truncated"] = True
    return said


def plain(value: Any) -> Any:
    """The value as JSON can hold it: lists for tuples, text for NaN and infinities."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


def own_name(task: TaskTrials) -> str:
    """The id without the group in brackets; the group follows from model and agent again when it is read."""
    return task.task_id if task.group is None else task.task_id.removesuffix(f" [{task.group}]")
