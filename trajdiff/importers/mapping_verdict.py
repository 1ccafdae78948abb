"""The verdict of a mapped trajectory: the values that the mapping lists, else the rules for all formats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajdiff.frozen import replace
from trajdiff.importers import scoring, verdicts
from trajdiff.importers.expressions import Scope
from trajdiff.importers.jsontext import compact
from trajdiff.importers.mapping_rules import OutcomeRule
from trajdiff.importers.mapping_values import Reader
from trajdiff.importers.naming import id_text, shortened
from trajdiff.importers.protocol import ReadOptions
from trajdiff.importers.verdict_words import verdict_of_word
from trajdiff.model import Judgement, Verdict


def judge_mapped(
    rule: OutcomeRule | None,
    scope: Scope,
    said: Mapping[str, Any],
    reader: Reader,
    *,
    error: str | None,
    options: ReadOptions,
) -> Judgement:
    """The verdict of one trajectory; of its mapped values ``said``, reward and scorer count."""
    scorer = id_text(said.get("scorer"))
    threshold = options.threshold
    if threshold is None and rule is not None:
        threshold = rule.threshold
    raw = reader.counted(rule.value, scope) if rule is not None else None
    if rule is None or raw is None:
        if said.get("reward") is not None:
            return verdicts.from_reward(said["reward"], threshold=threshold, error=error, scorer=scorer)
        if rule is not None and rule.missing is not None:
            return Judgement(state=rule.missing, scorer=scorer, rule=f"no outcome; missing = {rule.missing}")
        return verdicts.from_reward(None, error=error, scorer=scorer)
    path = rule.value.expression.text
    for state, values in rule.states:
        if any(_same(raw, one) for one in values):
            shown = shortened(raw if isinstance(raw, str) else compact(raw), 40)
            return Judgement(state=state, raw=raw, scorer=scorer, rule=f"{path} = {shown} is {state}")
    if any(values for _, values in rule.states):
        return _unknown(rule, raw, reader, scorer)
    return _by_common_rules(rule, raw, reader, scorer, threshold, error, options)


def _same(recorded: Any, listed: Any) -> bool:
    """Equal and of one kind: true is not 1, and "1" is not 1, but 1 is 1.0."""
    if isinstance(recorded, bool) or isinstance(listed, bool):
        return recorded is listed
    return (type(recorded) is type(listed) and recorded == listed) or (
        isinstance(recorded, int | float) and isinstance(listed, int | float) and recorded == listed
    )


def _by_common_rules(
    rule: OutcomeRule,
    raw: Any,
    reader: Reader,
    scorer: str | None,
    threshold: float | None,
    error: str | None,
    options: ReadOptions,
) -> Judgement:
    path = rule.value.expression.text
    if isinstance(raw, dict):
        judged = scoring.judge(
            raw, chosen=options.scorer, threshold=threshold, notices=reader.notices, error=error
        )
        return judged if scorer is None else replace(judged, scorer=scorer)
    if isinstance(raw, bool | int | float):
        judged = verdicts.from_reward(raw, threshold=threshold, error=error, scorer=scorer)
        shown = f"{path} is {compact(raw)}" if isinstance(raw, bool) else f"{path}: {judged.rule}"
        return replace(judged, rule=shown)
    if isinstance(raw, str):
        state = verdict_of_word(raw)
        if state is not None:
            return Judgement(state=state, raw=raw, scorer=scorer, rule=f"{path} is {shortened(raw, 30)}")
        number = scoring.as_number(raw)
        if number is not None:
            judged = scoring.judge_value(
                raw, name=scorer or path, threshold=threshold, notices=reader.notices, error=error
            )
            return replace(judged, scorer=scorer)
    return _unknown(rule, raw, reader, scorer)


def _unknown(rule: OutcomeRule, raw: Any, reader: Reader, scorer: str | None) -> Judgement:
    reader.tell_unknown(rule.value, raw)
    return Judgement(state=Verdict.UNSCORED, raw=raw, scorer=scorer, rule="unknown verdict")
