"""One trial from one trajectory of a mapped file: names, verdict, ending, steps, and what else is mapped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from trajdiff.importers import verdicts
from trajdiff.importers.expressions import Places, Scope
from trajdiff.importers.jsontext import plain_number
from trajdiff.importers.lenient import as_object
from trajdiff.importers.mapping_rules import MappingRules, ValueRule
from trajdiff.importers.mapping_steps import add_steps
from trajdiff.importers.mapping_values import Reader
from trajdiff.importers.mapping_verdict import judge_mapped
from trajdiff.importers.naming import id_text, whole_number
from trajdiff.importers.notices import Where
from trajdiff.importers.own_fields import provenance_of, usage_of
from trajdiff.importers.protocol import Plan, ReadOptions
from trajdiff.importers.row_fields import number_of
from trajdiff.importers.steps import StepBuilder
from trajdiff.importers.termination_words import reason_of
from trajdiff.importers.texts import content_text
from trajdiff.model import (
    LIMITS,
    Severity,
    SourceRef,
    Task,
    Termination,
    Trial,
    Verdict,
)


class MappedTrial(Struct, frozen=True, kw_only=True):
    """A trial and what its record says about its task."""

    trial: Trial
    plan: Plan


def mapped_trial(
    rules: MappingRules,
    scope: Scope,
    places: Places,
    reader: Reader,
    *,
    path: str,
    pointer: str,
    line: int | None,
    options: ReadOptions,
) -> MappedTrial | None:
    """The trial of a trajectory; None if it names no task."""
    said = {key: reader.counted(rule, scope) for key, rule in rules.fields.items()}
    objects = {key: _object(rule, scope, reader) for key, rule in rules.objects.items()}
    task_id = id_text(said.get("task"))
    if task_id is None:
        return None
    trial_id = id_text(said.get("trial")) or ""
    where = Where(reader.notices, path, pointer, line, task_id, trial_id)
    termination = _termination(rules, scope, reader, where)
    builder = StepBuilder(path=path, pointer=pointer, line=line)
    messages = 0
    if rules.steps is not None:
        read = add_steps(builder, rules.steps, scope, places, reader, where)
        messages = read.messages
        reader.coverage.entries += read.entries
        reader.coverage.unmatched.extend(read.unmatched)
    steps = builder.finish(termination, messages=messages, at="")
    builder.report(where)
    # An ending by the trial's own budget is not an error of the infrastructure.
    error = content_text(said.get("error")) or None
    fatal = error if termination.reason not in LIMITS else None
    judgement = judge_mapped(rules.outcome, scope, said, reader, error=fatal, options=options)
    verdicts.tell_unscored(where, judgement, termination, judgement.raw, at="")
    reward = plain_number(said.get("reward"))
    reward = plain_number(judgement.raw) if reward is None else reward
    if error is not None and judgement.state is Verdict.FAIL and reward == 0:
        hint = "the verdict stays fail; look whether the trial was graded"
        where.warn("zero_with_error", "a reward of 0 stands beside an error", hint)
    trial = Trial(
        task_id=task_id,
        trial_id=trial_id,
        ordinal=number_of(trial_id),
        steps=steps,
        judgement=judgement,
        source=SourceRef(path=path, pointer=pointer, line=line),
        reward=reward,
        termination=termination,
        error=error,
        message_count=messages,
        **_rest(said, objects),
    )
    expected = whole_number(said.get("expected_trials"))
    return MappedTrial(trial=trial, plan=Plan(task=_task(said, trial), expected_n=expected, whole_task=True))


def _rest(said: Mapping[str, Any], objects: Mapping[str, Any]) -> dict[str, Any]:
    """What is only recorded and decides nothing."""
    made = {**said, "environment_version": said.get("env_version"), "sampling": objects.get("sampling")}
    return {
        "suite": id_text(said.get("suite")),
        "producer_id": id_text(said.get("producer_id")),
        "sub_scores": as_object(objects.get("sub_scores")),
        "usage": usage_of(objects.get("usage")),
        "cost_usd": plain_number(said.get("cost_usd")),
        "duration_s": plain_number(said.get("duration_s")),
        "started_at": id_text(said.get("started_at")),
        "ended_at": id_text(said.get("ended_at")),
        "provenance": provenance_of(made),
        "metadata": as_object(objects.get("metadata")),
    }


def _task(said: Mapping[str, Any], trial: Trial) -> Task:
    return Task(
        task_id=trial.task_id,
        suite=trial.suite,
        title=content_text(said.get("title")),
        fingerprint=id_text(said.get("fingerprint")),
        script=content_text(said.get("script")),
    )


def _object(rule: ValueRule | Mapping[str, ValueRule], scope: Scope, reader: Reader) -> Any:
    if isinstance(rule, ValueRule):
        return reader.counted(rule, scope)
    found = {name: reader.counted(one, scope) for name, one in rule.items()}
    return {name: value for name, value in found.items() if value is not None}


def _termination(rules: MappingRules, scope: Scope, reader: Reader, where: Where) -> Termination:
    """Why the trial stopped: a word of the mapping's table, one of our own, or one in common use."""
    if rules.stop is None:
        return Termination()
    recorded = rules.stop.expression.value(scope)
    word = reader.counted(rules.stop, scope)
    raw = content_text(recorded)
    if word is None:
        return Termination(raw=raw)
    reason = reason_of(content_text(word) or "")
    if reason is None:
        where.notices.once(
            Severity.NOTE,
            "unknown_termination",
            str(word),
            f'the ending "{word}" is not known and kept as it is',
            f'translate it: stop = {{path = "...", values = {{"{word}" = "agent_done"}}}}',
        )
        return Termination(raw=raw)
    translated = rules.stop.values is not None
    rule = None if reason.value == raw else "mapping" if translated else "word in common use"
    return Termination(reason=reason, raw=raw, rule=rule)
