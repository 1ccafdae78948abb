"""The parts of a trajdiff/1 record beside its steps: task, verdict, termination, provenance and the like."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from trajdiff.importers import verdicts
from trajdiff.importers.jsontext import plain_number
from trajdiff.importers.lenient import as_flag, as_list, as_object
from trajdiff.importers.naming import as_text, id_text, shortened, whole_number
from trajdiff.importers.notices import Where
from trajdiff.importers.texts import content_text
from trajdiff.model import (
    LIMITS,
    Actor,
    CriterionItems,
    ExpectedAction,
    Human,
    Judgement,
    Provenance,
    Task,
    Termination,
    TerminationReason,
    Usage,
    Verdict,
)


def task_of(record: Mapping[str, Any], task_id: str) -> Task:
    """The task as this record describes it."""
    said = as_object(record.get("task"))
    actions, outputs = said.get("expected_actions"), said.get("expected_outputs")
    return Task(
        task_id=task_id,
        suite=id_text(record.get("suite")),
        title=as_text(said.get("title")),
        fingerprint=id_text(said.get("fingerprint")),
        script=content_text(said.get("script")),
        expected_actions=None if not isinstance(actions, list) else _actions(actions),
        expected_outputs=tuple(map(_item, outputs)) if isinstance(outputs, list) else None,
        metadata=as_object(said.get("metadata")),
    )


def _actions(actions: list[Any]) -> tuple[ExpectedAction, ...]:
    return tuple(
        ExpectedAction(
            name=one["name"], arguments=one.get("arguments"), actor=as_text(one.get("actor")) or Actor.AGENT
        )
        for one in actions
        if isinstance(one, dict) and isinstance(one.get("name"), str)
    )


def judgement_of(
    record: Mapping[str, Any], termination: Termination, threshold: float | None, where: Where
) -> Judgement:
    """The recorded verdict, else the one that follows from the reward.

    A threshold the user gives decides again between pass and fail where there is a reward.
    """
    recorded = record.get("verdict")
    said: Mapping[str, Any] = recorded if isinstance(recorded, dict) else {"state": recorded}
    word = said.get("state")
    reward = record.get("reward")
    state = _state(word)
    if (
        threshold is not None
        and plain_number(reward) is not None
        and state in (Verdict.PASS, Verdict.FAIL, None)
    ):
        return verdicts.from_reward(reward, threshold=threshold, scorer=as_text(said.get("scorer")))
    if state is not None:
        return Judgement(
            state=state,
            raw=with_numbers(said.get("raw")) if isinstance(recorded, dict) else recorded,
            scorer=as_text(said.get("scorer")),
            rule=as_text(said.get("rule")) or "recorded verdict",
            threshold=plain_number(said.get("threshold")),
        )
    if word is not None:
        found = shortened(str(content_text(word)), 30)
        where.warn(
            "unknown_verdict", f'the verdict "{found}" is not known', "it counts as unscored", at=".verdict"
        )
        return Judgement(state=Verdict.UNSCORED, raw=recorded, rule="unknown verdict")
    # An ending by the trial's own budget is not an error of the infrastructure.
    error = as_text(record.get("error")) if termination.reason not in LIMITS else None
    return verdicts.from_reward(reward, error=error, scorer=as_text(said.get("scorer")))


def _state(word: Any) -> Verdict | None:
    if isinstance(word, str) and word.strip().lower() in tuple(Verdict):
        return Verdict(word.strip().lower())
    return None


def termination_of(recorded: Any, where: Where) -> Termination:
    """Why the trial stopped, as recorded: a word, or an object with reason, raw and rule."""
    if recorded is None:
        return Termination()
    said: Mapping[str, Any] = recorded if isinstance(recorded, dict) else {"reason": recorded}
    word = said.get("reason")
    raw = said.get("raw")
    raw_text = None if raw is None else content_text(raw)
    rule = as_text(said.get("rule"))
    if word in tuple(TerminationReason):
        return Termination(reason=TerminationReason(word), raw=raw_text, rule=rule)
    found = shortened(str(content_text(word)), 30)
    where.warn(
        "unknown_termination", f'the termination "{found}" is not known', "kept as unknown", at=".termination"
    )
    return Termination(raw=raw_text if raw_text is not None else content_text(word), rule=rule)


def items_of(recorded: Any) -> tuple[CriterionItems, ...]:
    """Expected against produced items of every criterion."""
    return tuple(
        CriterionItems(
            criterion=one["criterion"],
            expected=tuple(map(_item, as_list(one.get("expected")))),
            produced=tuple(map(_item, as_list(one.get("produced")))),
        )
        for one in as_list(recorded)
        if isinstance(one, dict) and isinstance(one.get("criterion"), str)
    )


def _item(value: Any) -> str:
    return content_text(value) or ""


def usage_of(recorded: Any) -> Usage:
    """Tokens; what is not a whole number is unknown."""
    said = as_object(recorded)
    names = ("input", "output", "cache_read", "cache_write", "reasoning")
    return Usage(**{name: whole_number(said.get(name)) for name in names})


def human_of(recorded: Any) -> Human:
    """A person's part in the trial."""
    said = as_object(recorded)
    return Human(
        minutes=plain_number(said.get("minutes")),
        assisted=as_flag(said.get("assisted")),
        in_scope=as_flag(said.get("in_scope")),
    )


def provenance_of(recorded: Any) -> Provenance:
    """Model, agent, sampling and versions."""
    said = as_object(recorded)
    seed = said.get("seed")
    versions = ("prompt_version", "tool_version", "environment_version", "fixture_version", "scorer_version")
    return Provenance(
        model=id_text(said.get("model")),
        agent=id_text(said.get("agent")),
        sampling=as_object(said.get("sampling")),
        seed=seed if isinstance(seed, int) and not isinstance(seed, bool) else None,
        **{name: id_text(said.get(name)) for name in versions},
    )


_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def with_numbers(value: Any) -> Any:
    """A score with the numbers that JSON lacks, which are written as text."""
    if isinstance(value, str):
        return _NOT_FINITE.get(value, value)
    if isinstance(value, dict):
        return {key: with_numbers(one) for key, one in value.items()}
    return [with_numbers(one) for one in value] if isinstance(value, list) else value
