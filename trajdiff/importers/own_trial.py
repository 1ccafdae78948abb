"""A trial by what a trajdiff/1 record says about it; its steps may have been read from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajdiff.importers.jsontext import plain_number
from trajdiff.importers.lenient import as_list, as_object
from trajdiff.importers.naming import as_text, id_text, whole_number
from trajdiff.importers.notices import Notices, Where
from trajdiff.importers.own_fields import (
    human_of,
    items_of,
    judgement_of,
    provenance_of,
    task_of,
    termination_of,
    usage_of,
    with_numbers,
)
from trajdiff.importers.protocol import Plan, ReadOptions
from trajdiff.importers.steps import StepBuilder
from trajdiff.importers.texts import content_text
from trajdiff.importers.verdicts import tell_unscored
from trajdiff.model import SourceRef, Trial, Verdict


def where_of(value: Mapping[str, Any], notices: Notices, builder: StepBuilder) -> Where:
    """The trial of a record, for messages."""
    task_id, trial_id = id_text(value.get("task_id")) or "", id_text(value.get("trial_id")) or ""
    return Where(notices, builder.path, builder.pointer, builder.line, task_id, trial_id)


def plan_of(value: Mapping[str, Any]) -> Plan:
    """What a record says about its task: definition, planned trials, and which of them are known to be lost."""
    said = as_object(value.get("task"))
    names = [id_text(one) for one in as_list(said.get("missing"))]
    return Plan(
        task=task_of(value, id_text(value.get("task_id")) or ""),
        expected_n=whole_number(said.get("expected_trials")),
        whole_task=True,
        lost=tuple(name for name in names if name is not None),
    )


def described_trial(
    value: Mapping[str, Any], builder: StepBuilder, counted: int, where: Where, options: ReadOptions
) -> Trial:
    """The trial with the steps of ``builder``, which amount to ``counted`` messages."""
    recorded = whole_number(value.get("message_count"))
    messages = counted if recorded is None else max(recorded, counted)
    termination = termination_of(value.get("termination"), where)
    at = ".termination" if value.get("termination") is not None else ""
    steps = builder.finish(termination, messages=messages, at=at)
    builder.report(where)
    judgement = judgement_of(value, termination, options.threshold, where)
    if judgement.rule != "unknown verdict":
        tell_unscored(where, judgement, termination, value.get("reward"), at=".reward")
    error = content_text(value.get("error"))
    if error is not None and judgement.state is Verdict.FAIL and plain_number(value.get("reward")) == 0:
        what = "a reward of 0 stands beside an error"
        where.warn(
            "zero_with_error", what, "the verdict stays fail; look whether the trial was graded", at=".error"
        )
    return Trial(
        task_id=where.task_id,
        trial_id=where.trial_id,
        ordinal=_ordinal(value, where.trial_id),
        steps=steps,
        judgement=judgement,
        source=SourceRef(path=builder.path, pointer=builder.pointer, line=builder.line),
        suite=_suite(value, where),
        producer_id=id_text(value.get("producer_id")),
        reward=plain_number(value.get("reward")),
        sub_scores=with_numbers(as_object(value.get("sub_scores"))),
        items=items_of(value.get("items")),
        termination=termination,
        error=error,
        usage=usage_of(value.get("usage")),
        cost_usd=plain_number(value.get("cost_usd")),
        duration_s=plain_number(value.get("duration_s")),
        started_at=as_text(value.get("started_at")),
        ended_at=as_text(value.get("ended_at")),
        human=human_of(value.get("human")),
        provenance=provenance_of(value.get("provenance")),
        message_count=messages,
        metadata=as_object(value.get("metadata")),
    )


def _suite(value: Mapping[str, Any], where: Where) -> str | None:
    """The suite; a number is its text, as with all ids. Anything else names none, which makes another task."""
    recorded = value.get("suite")
    suite = id_text(recorded)
    if suite is None and recorded is not None:
        found = "empty" if recorded == "" else "neither a text nor a number"
        where.warn("no_suite", f"the suite is {found}", "the task counts as one without a suite", at=".suite")
    return suite


def _ordinal(value: Mapping[str, Any], trial_id: str) -> int:
    """The recorded number, else that of an id that is a number, else -1."""
    for candidate in (whole_number(value.get("ordinal")), whole_number(trial_id)):
        if candidate is not None:
            return candidate
    return -1
