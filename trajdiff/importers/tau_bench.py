"""tau-bench results: a list of trials with task_id, reward, info, traj and trial."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from trajdiff.importers import verdicts
from trajdiff.importers.document import Document, Record
from trajdiff.importers.jsontext import BadJsonError, canonical, plain_number
from trajdiff.importers.lenient import as_object
from trajdiff.importers.naming import id_text, whole_number
from trajdiff.importers.notices import Notices, Where
from trajdiff.importers.protocol import Claim, Imported, Peek, Plan, ReadOptions, Shape, Source
from trajdiff.importers.steps import StepBuilder
from trajdiff.importers.tau_bench_messages import add_message, last_call_result
from trajdiff.importers.texts import content_text
from trajdiff.model import (
    CriterionItems,
    ExpectedAction,
    Judgement,
    Provenance,
    Severity,
    SourceRef,
    Task,
    Termination,
    TerminationReason,
    Trial,
)

#: The word with which the simulated user ends the conversation.
_USER_STOP = "###STOP###"
_RUN_NAME = re.compile(
    r"^(?P<strategy>tool-calling|few-shot|[a-z]+)-(?P<model>.+)-(?P<temperature>[0-9]+(?:\.[0-9]+)?)_range_-?[0-9]+--?[0-9]+"
    r"_user-(?P<user>.+)_[0-9]{6,14}$"
)


class _TauBench(Struct, frozen=True):
    name: str = "tau-bench"
    title: str = "tau-bench results"
    recognised_by: str = "list of objects with task_id, reward, traj"
    record_schema: str | None = "tau_bench"

    def sniff(self, peek: Peek) -> Claim | None:
        """One of the first records has the keys of a trial."""
        if peek.shape is Shape.FOLDER:
            return None
        if any(head.has("task_id", "traj") and head.keys & {"reward", "trial", "info"} for head in peek.heads):
            return Claim(rule="records with task_id, reward, traj")
        return None

    def records(self, document: Document) -> Iterable[Record]:
        """Every record is a trial."""
        return document.records()

    def read(self, source: Source, options: ReadOptions) -> Imported:
        """Every record that names a task is a trial; one that does not is told and left out."""
        document = source.document
        notices = document.notices
        provenance = _provenance(document.path)
        trials: list[Trial] = []
        plans: list[Plan] = []
        unread = 0
        for record in document.records():
            value = _record_value(record, notices)
            if value is None:
                unread += 1
                continue
            trials.append(_trial(value, record, document, options, provenance))
            plans.append(Plan(task=_task(value, trials[-1].task_id)))
        return Imported(
            trials=tuple(trials),
            plans=tuple(plans),
            diagnostics=notices.all(),
            producer={"model": provenance.model} if provenance.model else {},
            unread=unread,
        )


IMPORTER = _TauBench()


def _record_value(record: Record, notices: Notices) -> dict[str, Any] | None:
    """The record as an object that names its task; else None, and the reason is told."""
    consequence = "this record is left out; the others are read"
    try:
        value = record.decode()
    except BadJsonError as error:
        message = f"a record cannot be read: {error.problem}"
        notices.add(Severity.WARNING, "unreadable_record", message, consequence, pointer=record.place)
        return None
    if not isinstance(value, dict):
        message = "a record is not an object"
    elif id_text(value.get("task_id")) is None:
        message = "a record has no task_id"
    else:
        return value
    notices.add(Severity.WARNING, "unreadable_record", message, consequence, pointer=record.place)
    return None


def _trial(
    value: dict[str, Any], record: Record, document: Document, options: ReadOptions, provenance: Provenance
) -> Trial:
    task_id = id_text(value.get("task_id")) or ""
    number = whole_number(value.get("trial"))
    trial_id = id_text(value.get("trial")) or ""
    info = as_object(value.get("info"))
    error = content_text(info.get("error"))
    builder = StepBuilder(path=document.path, pointer=record.pointer, line=record.line)
    where = Where(document.notices, document.path, record.pointer, record.line, task_id, trial_id)
    messages = _messages(value, where)
    for index, message in enumerate(messages):
        add_message(builder, message, index, document.notices)
    judgement = _judgement(value, error, options)
    termination = _termination(messages, info, error, judgement)
    last = f".traj[{len(messages) - 1}]" if messages else ".traj"
    steps = builder.finish(termination, messages=len(messages), at=last)
    builder.report(where)
    verdicts.tell_unscored(where, judgement, termination, value.get("reward"), at=".reward")
    scores = as_object(as_object(info.get("reward_info")).get("info"))
    return Trial(
        task_id=task_id,
        trial_id=trial_id,
        ordinal=-1 if number is None else number,
        steps=steps,
        judgement=judgement,
        source=SourceRef(path=document.path, pointer=record.pointer, line=record.line),
        reward=plain_number(value.get("reward")),
        sub_scores={key: one for key, one in scores.items() if key in ("r_actions", "r_outputs")},
        items=_items(scores),
        termination=termination,
        error=error,
        provenance=provenance,
        message_count=len(messages),
        metadata={"user_cost": info["user_cost"]} if plain_number(info.get("user_cost")) is not None else {},
    )


def _messages(value: dict[str, Any], where: Where) -> list[Any]:
    messages = value.get("traj")
    if isinstance(messages, list):
        return messages
    found = "missing" if messages is None else "not a list"
    where.warn("no_messages", f"traj is {found}", "it keeps its verdict and is not compared", at=".traj")
    return []


def _judgement(value: dict[str, Any], error: str | None, options: ReadOptions) -> Judgement:
    raw = value.get("reward")
    if error is not None:
        # The crash handler of the harness writes a reward of 0 beside the error.
        return verdicts.infra(raw, "info.error")
    return verdicts.from_reward(raw, threshold=options.threshold)


def _termination(
    messages: list[Any], info: dict[str, Any], error: str | None, judgement: Judgement
) -> Termination:
    """How the trial ended; this harness does not record it."""
    last = messages[-1] if messages else None
    if error is not None:
        return Termination(reason=TerminationReason.INFRA_ERROR, raw=error, rule="info.error")
    if (
        isinstance(last, dict)
        and last.get("role") == "user"
        and _USER_STOP in (content_text(last.get("content")) or "")
    ):
        return Termination(reason=TerminationReason.USER_DONE, rule="the user said the stop word")
    # The harness scores a conversation when it ends; one that was cut at the step limit is never scored.
    if "reward_info" in info and info["reward_info"] is None:
        return Termination(reason=TerminationReason.MAX_STEPS, rule="no reward details")
    if last_call_result(last):
        return Termination(reason=TerminationReason.AGENT_DONE, rule="the last message is the result of a call")
    if not messages:
        # The record is there, so the trial is no missing one; how it ended is not known.
        return Termination(rule="no messages")
    return Termination()


def _items(scores: dict[str, Any]) -> tuple[CriterionItems, ...]:
    outputs = scores.get("outputs")
    if not isinstance(outputs, dict):
        return ()
    produced = tuple(key for key, found in outputs.items() if found is True)
    return (CriterionItems(criterion="outputs", expected=tuple(outputs), produced=produced),)


def _task(value: dict[str, Any], task_id: str) -> Task:
    recorded = as_object(as_object(value.get("info")).get("task"))
    if not recorded:
        return Task(task_id=task_id)
    outputs = recorded.get("outputs")
    definition = {key: recorded.get(key) for key in ("instruction", "actions", "outputs")}
    return Task(
        task_id=task_id,
        script=content_text(recorded.get("instruction")),
        expected_actions=_expected_actions(recorded.get("actions")),
        expected_outputs=tuple(content_text(one) or "" for one in outputs)
        if isinstance(outputs, list)
        else None,
        fingerprint=hashlib.sha256(canonical(definition).encode()).hexdigest()[:16],
        metadata={"user_id": recorded["user_id"]} if isinstance(recorded.get("user_id"), str) else {},
    )


def _expected_actions(actions: Any) -> tuple[ExpectedAction, ...] | None:
    if not isinstance(actions, list):
        return None
    return tuple(
        ExpectedAction(name=one["name"], arguments=one.get("kwargs", one.get("arguments")))
        for one in actions
        if isinstance(one, dict) and isinstance(one.get("name"), str)
    )


def _provenance(path: str) -> Provenance:
    """Model and temperature, which this harness writes in the file name only."""
    name = path.rsplit("/", 1)[-1]
    found = _RUN_NAME.match(re.sub(r"\.jsonl?(\.gz)?$", "", name))
    if found is None:
        return Provenance()
    return Provenance(
        model=found["model"], agent=found["strategy"], sampling={"temperature": float(found["temperature"])}
    )
