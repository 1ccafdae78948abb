"""Which of several recorded scores decides, and what its value means: numbers, letters, lists, objects.

One score is taken as it is. Several need a choice (``NAME`` or ``NAME.key``); without one the trial is
unscored and the names are told once a file: never 0, never a mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajdiff.importers import verdicts
from trajdiff.importers.jsontext import plain_number
from trajdiff.importers.naming import shortened
from trajdiff.importers.notices import Notices
from trajdiff.model import NONE_CHOSEN, Judgement, Severity, Verdict
from trajdiff.natural import natural_key

#: What the letters of graders are worth; a partial pass is a fail unless a threshold says otherwise.
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_NAMED = 12


def judge(
    scores: Mapping[str, Any],
    *,
    chosen: str | None,
    threshold: float | None,
    notices: Notices,
    preferred: str | None = None,
    error: str | None = None,
) -> Judgement:
    """The verdict by one of ``scores`` (name to recorded value).

    ``chosen`` is the user's choice, ``preferred`` the name that decides where the format defines one;
    ``error`` is an error the trial recorded, which makes a trial without usable score invalid.
    """
    name = chosen or _only_name(scores, preferred)
    if name is None:
        if scores and error is None:
            _tell_choice(scores, notices)
            return Judgement(state=Verdict.UNSCORED, raw=dict(scores), rule=NONE_CHOSEN)
        return verdicts.from_reward(None, error=error)
    found, value = _value(scores, name)
    if not found:
        if scores and chosen is not None:
            names = ", ".join(score_names(scores)[:_NAMED])
            notices.once(
                Severity.WARNING,
                "unknown_scorer",
                chosen,
                f'no score "{shortened(chosen)}" in some trials',
                f"recorded there: {names}",
                "these trials have no outcome",
            )
        return verdicts.from_reward(None, error=error, scorer=name)
    return judge_value(value, name=name, threshold=threshold, notices=notices, error=error)


def judge_value(
    value: Any, *, name: str, threshold: float | None, notices: Notices, error: str | None = None
) -> Judgement:
    """The verdict of one recorded value; an unknown letter is an error of the file and gives no verdict."""
    number = as_number(value)
    if number is None:
        if isinstance(value, str):
            word = shortened(value, 30)
            notices.once(
                Severity.ERROR,
                "unknown_letter",
                word,
                f'the score "{name}" is "{word}", which is neither a number nor one of C, P, I, N',
                "trials with this score have no outcome",
            )
        return verdicts.from_reward(value if isinstance(value, float) else None, error=error, scorer=name)
    judged = verdicts.from_reward(number, threshold=threshold, scorer=name)
    rule = judged.rule
    if isinstance(value, str) and threshold is None:
        rule = "score C"
    elif isinstance(value, str):
        rule = f"{rule}, with C = 1, P = 0.5, I and N = 0"
    return Judgement(state=judged.state, raw=value, scorer=name, rule=rule, threshold=judged.threshold)


def as_number(value: Any) -> float | bool | None:
    """What a score is worth: a number or truth value as it is, a letter by its worth; None for the rest."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _LETTERS.get(value)
    return plain_number(value)


def score_names(scores: Mapping[str, Any]) -> list[str]:
    """Every name a user can choose, in natural order: ``name``, or ``name.key`` for lists and objects."""
    names: list[str] = []
    for name, value in scores.items():
        names.extend(f"{name}.{key}" for key in _keys(value)) if _keys(value) else names.append(name)
    return sorted(names, key=natural_key)


def _keys(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [str(key) for key in value]
    return [str(position) for position in range(len(value))] if isinstance(value, list) else []


def _only_name(scores: Mapping[str, Any], preferred: str | None) -> str | None:
    if preferred is not None and preferred in scores:
        return preferred
    names = score_names(scores)
    return names[0] if len(names) == 1 else None


def _value(scores: Mapping[str, Any], name: str) -> tuple[bool, Any]:
    """Whether there is a score of this name, and its value; a list or object of one entry is that entry."""
    if name in scores:
        value = scores[name]
        keys = _keys(value)
        if not keys:
            return not isinstance(value, dict | list), value
        if len(keys) > 1:
            return False, None
        return True, value[keys[0]] if isinstance(value, dict) else value[0]
    # Names may hold dots themselves: the longest recorded name that fits is meant.
    for scorer in sorted(scores, key=lambda one: (-len(one), one)):
        value, key = scores[scorer], name.removeprefix(f"{scorer}.")
        if key != name and key in _keys(value):
            return True, value[key] if isinstance(value, dict) else value[int(key)]
    return False, None


def _tell_choice(scores: Mapping[str, Any], notices: Notices) -> None:
    names = score_names(scores)
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    notices.once(
        Severity.WARNING,
        "several_scorers",
        "",
        f"several scores, none chosen: {', '.join(names[:_NAMED])}{more}",
        "its trials are read without outcome",
        "choose one with --scorer NAME or --scorer NAME.key",
    )
