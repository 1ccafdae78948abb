"""SWE-agent ``.traj`` files, joined with SWE-bench reports where they lie near."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from trajdiff.importers.arguments import read_arguments
from trajdiff.importers.bare import tell_unread, value_of
from trajdiff.importers.chat_messages import add_chat_message
from trajdiff.importers.document import Document, Record
from trajdiff.importers.empty_traces import empty_trial
from trajdiff.importers.jsontext import BadJsonError, plain_number, tolerant
from trajdiff.importers.lenient import as_list, as_object
from trajdiff.importers.naming import as_text, id_text, whole_number
from trajdiff.importers.notices import Where
from trajdiff.importers.path_names import names_of
from trajdiff.importers.protocol import Claim, Imported, Peek, Plan, ReadOptions, Shape, Source
from trajdiff.importers.steps import StepBuilder
from trajdiff.importers.swe_reports import joined
from trajdiff.importers.texts import content_text
from trajdiff.model import (
    Actor,
    Provenance,
    Result,
    Severity,
    SourceRef,
    StepKind,
    Task,
    Termination,
    TerminationReason,
    Trial,
    Usage,
)

_REASONS = {
    "submitted": TerminationReason.AGENT_DONE,
    "exit_forfeit": TerminationReason.AGENT_DONE,
    "exit_total_execution_time": TerminationReason.TIME_LIMIT,
    "exit_command_timeout": TerminationReason.TIME_LIMIT,
    "exit_context": TerminationReason.CONTEXT_LIMIT,
    "exit_cost": TerminationReason.COST_LIMIT,
    "exit_format": TerminationReason.TOO_MANY_ERRORS,
    "exit_api": TerminationReason.INFRA_ERROR,
    "exit_environment_error": TerminationReason.INFRA_ERROR,
    "exit_error": TerminationReason.AGENT_ERROR,
}
_INNER = re.compile(r"\((exit_[a-z_]+)\)")
_WORD = re.compile(r"^\s*([A-Za-z_][\w.-]*)")


class _SweAgent(Struct, frozen=True):
    name: str = "swe-agent"
    title: str = "SWE-agent trajectory"
    recognised_by: str = "object with trajectory, history, info; or history with the keys of SWE-agent"
    record_schema: str | None = None

    def sniff(self, peek: Peek) -> Claim | None:
        """``trajectory`` and ``history`` (or ``attempts``), or the history alone."""
        if peek.shape is not Shape.OBJECT or not peek.heads:
            return None
        head = peek.heads[0]
        if head.has("trajectory", "history", "info") or head.has("attempts", "info"):
            return Claim(rule="trajectory, history, info")
        if head.has("history") and not head.has("test_result"):
            first = next(iter(as_list(head.get("history"))), None)
            if isinstance(first, dict) and {"role", "content", "agent"} <= first.keys():
                return Claim(rule="history alone")
        return None

    def records(self, document: Document) -> Iterable[Record]:
        """The file is one trial."""
        return document.records()

    def read(self, source: Source, options: ReadOptions) -> Imported:
        """The file is one trial; attempts inside it are retries of the producer."""
        document = source.document
        for record in document.records():
            value = value_of(record, document.notices, "the trajectory")
            if isinstance(value, dict):
                trial = _trial(value, document)
                return Imported(
                    trials=(trial,),
                    plans=(Plan(task=Task(task_id=trial.task_id)),),
                    diagnostics=document.notices.all(),
                )
            if record.problem is None:
                tell_unread(document.notices, "the file holds no trajectory", record.place)
        return Imported(trials=(), diagnostics=document.notices.all(), unread=1)

    def empty_trial(self, path: str) -> Imported | None:
        """An empty ``.traj`` is the trial of its instance, killed before a step was written."""
        return empty_trial(path, "a SWE-agent trajectory") if path.endswith(".traj") else None


IMPORTER = _SweAgent()


def _trial(value: dict[str, Any], document: Document) -> Trial:
    notices = document.notices
    whole, at = _best_attempt(value, document)
    names = names_of(document.path)
    task_id = id_text(value.get("instance_id")) or names.task_id
    builder = StepBuilder(path=document.path, pointer="$")
    count = _add_steps(builder, whole, at, document)
    info = as_object(whole.get("info")) or as_object(value.get("info"))
    termination = _termination(info)
    steps = builder.finish(termination, messages=count, at="")
    builder.report(Where(notices, document.path, "$", None, task_id, names.trial_id))
    judgement = joined(document.path, task_id, notices, "a SWE-agent trajectory")
    stats = as_object(info.get("model_stats"))
    return Trial(
        task_id=task_id,
        trial_id=names.trial_id,
        ordinal=names.ordinal,
        steps=steps,
        judgement=judgement,
        source=SourceRef(path=document.path, pointer="$"),
        termination=termination,
        usage=Usage(
            input=whole_number(stats.get("tokens_sent")), output=whole_number(stats.get("tokens_received"))
        ),
        cost_usd=plain_number(stats.get("instance_cost")),
        provenance=_provenance(value, info),
        message_count=count,
    )


def _best_attempt(value: dict[str, Any], document: Document) -> tuple[dict[str, Any], str]:
    """The record to read: the file itself, or of several attempts the one that was chosen."""
    attempts = as_list(value.get("attempts"))
    if not attempts:
        return value, ""
    document.notices.add(
        Severity.NOTE, "retries", f"{len(attempts)} attempts inside one trial; they are retries, not trials"
    )
    if as_list(value.get("history")) or as_list(value.get("trajectory")):
        return value, ""
    best = whole_number(as_object(value.get("info")).get("best_attempt_idx"))
    number = best if best is not None and best < len(attempts) else len(attempts) - 1
    return as_object(attempts[number]), f".attempts[{number}]"


def _add_steps(builder: StepBuilder, value: Mapping[str, Any], at: str, document: Document) -> int:
    """Add the steps; the number of messages. Structured calls stand in the history only."""
    history, trajectory = (_listed(value, key, at, document) for key in ("history", "trajectory"))
    shown = [one for one in history if as_object(one).get("is_demo") is not True]
    structured = any(as_object(one).get("tool_calls") for one in shown)
    count = 0
    for place, message in enumerate(history):
        if as_object(message).get("is_demo") is True:
            continue
        if not structured and trajectory and as_object(message).get("role") in ("assistant", "tool"):
            break
        _add_message(builder, message, count, f"{at}.history[{place}]", document)
        count += 1
    for place, step in enumerate(trajectory if not structured else ()):
        _add_text_step(builder, as_object(step), count, f"{at}.trajectory[{place}]")
        count += 1
    return count


def _listed(value: Mapping[str, Any], key: str, at: str, document: Document) -> list[Any]:
    """A list of the trajectory; anything else in its place is told."""
    found = value.get(key)
    if found is not None and not isinstance(found, list):
        text = f"{key} is not a list: none of it is read"
        document.notices.add(Severity.WARNING, "not_a_list", text, pointer=f"${at}.{key}")
    return as_list(found)


def _add_message(builder: StepBuilder, message: Any, index: int, at: str, document: Document) -> None:
    said = as_object(message)
    ids = as_list(said.get("tool_call_ids"))
    if said.get("role") == "assistant" and said.get("action") and not said.get("tool_calls"):
        step = {"thought": said.get("thought") or said.get("content"), "action": said["action"]}
        _add_text_step(builder, step, index, at)
    elif said.get("role") == "tool" and ids and said.get("tool_call_id") is None:
        add_chat_message(builder, said | {"tool_call_id": ids[0]}, index, at, document.notices)
    else:
        add_chat_message(builder, message, index, at, document.notices)


def _add_text_step(builder: StepBuilder, step: Mapping[str, Any], index: int, at: str) -> None:
    """A thought, and an action written as a command line; the first word of it is the tool."""
    thought = content_text(step.get("thought"))
    if thought and thought.strip():
        builder.entry(actor=Actor.AGENT, kind=StepKind.REASONING, text=thought, message=index, at=at)
    action = as_text(step.get("action"))
    if action is None or not action.strip():
        text = content_text(step.get("observation")) or content_text(step.get("response"))
        if text:
            builder.entry(actor=Actor.ENVIRONMENT, text=text, message=index, at=at)
        return
    word = _WORD.match(action)
    builder.call(
        actor=Actor.AGENT,
        name=word.group(1) if word else "command",
        arguments=read_arguments({"command": action.strip()}),
        message=index,
        place=0,
        at=at,
    )
    if step.get("observation") is not None:
        builder.result(Result(text=content_text(step["observation"]) or ""), message=index, at=at)


def _termination(info: Mapping[str, Any]) -> Termination:
    raw = as_text(info.get("exit_status"))
    if raw is None:
        rule = "no exit_status"
        return Termination(
            reason=TerminationReason.INCOMPLETE if info else TerminationReason.UNKNOWN, rule=rule
        )
    # "submitted (exit_cost)": what is there was submitted when the budget ran out.
    inner = _INNER.search(raw)
    word = inner.group(1) if inner else raw.strip()
    return Termination(reason=_REASONS.get(word, TerminationReason.UNKNOWN), raw=raw, rule="info.exit_status")


def _provenance(value: Mapping[str, Any], info: Mapping[str, Any]) -> Provenance:
    config = value.get("replay_config")
    if isinstance(config, str):
        try:
            config = tolerant(config)
        except BadJsonError:
            config = None
    model = as_object(as_object(as_object(config).get("agent")).get("model"))
    sampling = {key: model[key] for key in ("temperature", "top_p") if model.get(key) is not None}
    return Provenance(
        model=as_text(model.get("name")),
        agent="SWE-agent",
        sampling=sampling,
        tool_version=id_text(info.get("swe_agent_version")) or id_text(info.get("swe_agent_hash")),
    )
