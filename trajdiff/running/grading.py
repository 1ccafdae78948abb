"""The verdict of a trial: from a grader's output or exit code, or from a file that the harness writes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trajdiff.importers.verdicts import from_reward
from trajdiff.model import Judgement, Verdict
from trajdiff.running.commands import Ended

_SCORER = "grader"


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """What a grader said. ``problem`` says why there is no verdict; then the trial is unscored."""

    judgement: Judgement
    reward: float | None = None
    sub_scores: Mapping[str, Any] = field(default_factory=dict)
    problem: str | None = None


def graded_by_command(ended: Ended, limit: float) -> Graded:
    """The last line printed, where it is a JSON value with a verdict; else exit code 0 is a pass, 1 a fail.

    Any other code, a signal or a time-out means that the grader failed: no verdict, never a silent pass.
    """
    if ended.code not in (0, 1) or ended.stopped is not None or ended.problem is not None:
        return failed(f"the grader failed: {ended.words(limit)}")
    last = next((line for line in reversed(ended.output.splitlines()) if line.strip()), "")
    said = _json(last)
    if isinstance(said, Mapping) or (isinstance(said, bool | int | float) and ended.code == 0):
        return graded_value(said)
    state = Verdict.PASS if ended.code == 0 else Verdict.FAIL
    rule = "exit code of the grader: 0 passes, 1 fails"
    return Graded(judgement=Judgement(state=state, raw=ended.code, scorer=_SCORER, rule=rule))


def graded_by_file(path: Path) -> Graded:
    """The verdict in a file: JSON as a grader prints it, or one word."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError as error:
        return failed(f"no verdict file {path.name} ({error.strerror or error})")
    said = _json(text)
    return graded_value(text if said is None else said)


def graded_value(said: Any) -> Graded:
    """The verdict in a value: a word, a number (1 passes), true or false, or an object with one of these."""
    scores: Mapping[str, Any] = {}
    if isinstance(said, Mapping):
        scores = said.get("sub_scores") if isinstance(said.get("sub_scores"), Mapping) else {}  # type: ignore[assignment]
        key = next((key for key in ("verdict", "passed", "reward", "score") if said.get(key) is not None), None)
        if key is None:
            return failed("the grader gave neither verdict nor reward")
        reward = said.get("reward")
        value = said[key]
    else:
        value = reward = said
    number = float(reward) if isinstance(reward, int | float) and not isinstance(reward, bool) else None
    if isinstance(value, str):
        word = value.strip().lower()
        if word not in tuple(Verdict):
            return failed(f'the grader gave an unknown verdict "{value[:40]}"')
        judgement = Judgement(state=Verdict(word), raw=value, scorer=_SCORER, rule="verdict of the grader")
        return Graded(judgement=judgement, reward=number, sub_scores=scores)
    judgement = from_reward(value, scorer=_SCORER)
    if judgement.state is Verdict.UNSCORED:
        return failed("the grader gave no number that could be read")
    return Graded(judgement=judgement, reward=number, sub_scores=scores)


def failed(problem: str) -> Graded:
    """No verdict, and why."""
    judgement = Judgement(state=Verdict.UNSCORED, scorer=_SCORER, rule="the grader gave no verdict")
    return Graded(judgement=judgement, problem=problem)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
