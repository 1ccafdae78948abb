"""What a row of a side file says about a trial, put over what the trial records itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from trajdiff.frozen import replace
from trajdiff.importers import scoring, verdicts
from trajdiff.importers.jsontext import plain_number
from trajdiff.importers.naming import id_text, shortened, whole_number
from trajdiff.importers.outcome_rows import Row
from trajdiff.importers.termination_words import reason_of
from trajdiff.importers.verdict_words import verdict_of_word
from trajdiff.model import Judgement, Provenance, Task, Termination, Trial, Verdict

_PROVENANCE = (
    "model",
    "agent",
    "prompt_version",
    "tool_version",
    "environment_version",
    "fixture_version",
    "scorer_version",
)


class BadRowError(Exception):
    """A row with a value that cannot be read; the message says which."""


def with_row(trial: Trial, row: Row, threshold: float | None) -> Trial:
    """The trial with the fields of a row, but for its names. Raises ``BadRowError``."""
    changes: dict[str, Any] = {}
    if row.judged:
        judgement = judgement_of_row(row, threshold)
        # An empty cell says nothing about a trial whose own log has a verdict.
        if judgement.raw is not None or trial.verdict is Verdict.UNSCORED:
            changes["judgement"] = judgement
            changes["reward"] = plain_number(_number(judgement.raw))
    for key in ("suite", "error", "started_at", "ended_at", "producer_id"):
        if row.text(key) is not None:
            changes[key] = row.text(key)
    for key in ("duration_s", "cost_usd"):
        if row.values.get(key) is not None:
            changes[key] = _asked_number(row, key)
    word = row.text("termination")
    if word is not None:
        reason = reason_of(word)
        changes["termination"] = (
            Termination(raw=word) if reason is None else Termination(reason=reason, raw=word, rule=row.file)
        )
    if row.metadata:
        changes["metadata"] = {**trial.metadata, **row.metadata}
    return replace(trial, provenance=_provenance(trial.provenance, row), **changes)


def with_row_task(task: Task, row: Row) -> Task:
    """The definition of a task with what a row says about it."""
    said: dict[str, Any] = {key: row.text(key) for key in ("suite", "title", "script", "fingerprint")}
    return replace(task, **{key: value for key, value in said.items() if value is not None})


def expected_of(row: Row) -> int | None:
    """The planned number of trials of the row's task."""
    return whole_number(_number(row.values.get("expected_trials")))


def judgement_of_row(row: Row, threshold: float | None) -> Judgement:
    """The verdict that a row records; an empty cell is unscored. Raises ``BadRowError``."""
    key = "verdict" if row.values.get("verdict") is not None or "reward" not in row.columns else "reward"
    raw = row.values.get(key)
    name = row.file.rpartition("/")[2]
    rule = f"{row.columns.get(key, key)} in {name}"
    scorer = row.text("scorer")
    if raw is None:
        return Judgement(state=Verdict.UNSCORED, scorer=scorer, rule=f"{rule} is empty")
    state = verdict_of_word(raw) if isinstance(raw, str) and key == "verdict" else None
    if state is not None:
        return Judgement(state=state, raw=raw, scorer=scorer, rule=rule)
    value = _number(raw)
    worth = scoring.as_number(value)
    if isinstance(worth, float) and worth != worth:
        worth = None
    if worth is None and not isinstance(value, float):
        shown = shortened(str(raw), 30)
        raise BadRowError(f'{row.columns.get(key, key)} "{shown}" is neither a verdict nor a number')
    judged = verdicts.from_reward(worth, threshold=threshold, scorer=scorer)
    shown = rule if isinstance(worth, bool) or worth is None else f"{judged.rule}: {rule}"
    return replace(judged, raw=raw, rule=shown)


def _number(raw: Any) -> Any:
    """A cell of a table is text: the number or truth value in it; anything else as it is."""
    if not isinstance(raw, str):
        return raw
    text = raw.strip()
    try:
        value = json.loads(text.lower())
    except (ValueError, RecursionError):
        try:
            return float(text)
        except ValueError:
            return text
    return value if isinstance(value, bool | int | float) else text


def _asked_number(row: Row, key: str) -> float:
    number = plain_number(_number(row.values[key]))
    if number is None:
        raise BadRowError(f'{key} "{shortened(str(row.values[key]), 30)}" is not a number')
    return number


def _provenance(known: Provenance, row: Row) -> Provenance:
    said: Mapping[str, Any] = {key: row.text(key) for key in _PROVENANCE if row.text(key) is not None}
    seed = _number(row.values.get("seed"))
    more: dict[str, Any] = {"seed": seed} if isinstance(seed, int) and not isinstance(seed, bool) else {}
    return replace(known, **said, **more)


def number_of(trial_id: str) -> int:
    """The number of a trial id, -1 where it is none."""
    number = whole_number(trial_id)
    return -1 if number is None else number


def names_of_row(row: Row) -> tuple[str | None, str | None]:
    """Task and trial that a row names."""
    return id_text(row.values.get("task")), id_text(row.values.get("trial"))
