"""Joins outcome rows to trials by task and trial, and lists what is left on either side."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from trajdiff.errors import InputError
from trajdiff.frozen import replace
from trajdiff.importers.copies import Entry
from trajdiff.importers.ledger import Ledger
from trajdiff.importers.outcome_rows import Row
from trajdiff.importers.row_fields import BadRowError, expected_of, judgement_of_row, names_of_row
from trajdiff.model import Severity, Trial, Verdict
from trajdiff.natural import natural_key

_Key = TypeVar("_Key", bound=Hashable)
_SHOWN = 8


@dataclass(slots=True, kw_only=True)
class Joined(Generic[_Key]):
    """The trials with their rows. ``lost`` are trials of known tasks that only a row knows, by task id.

    ``expected`` is the planned number of trials that rows give, by task id.
    """

    trials: dict[_Key, tuple[Entry, ...]]
    lost: dict[str, tuple[str, ...]] = field(default_factory=dict)
    expected: dict[str, int] = field(default_factory=dict)


def join_outcomes(ledger: Ledger, numbered: Mapping[_Key, tuple[Entry, ...]]) -> Joined[_Key]:
    """Give every outcome row to the one trial it names. Raises ``InputError`` if two rows contradict."""
    rows = ledger.outcome_rows()
    if not rows:
        return Joined(trials=dict(numbered))
    trials = {key: list(entries) for key, entries in numbered.items()}
    index: dict[str, list[tuple[_Key, int]]] = {}
    for key, entries in trials.items():
        for place, entry in enumerate(entries):
            index.setdefault(entry.trial.task_id, []).append((key, place))
    taken: dict[tuple[_Key, int], Row] = {}
    left: list[str] = []
    lost: dict[str, list[str]] = {}
    expected: dict[str, int] = {}
    for row in rows:
        task, trial_id = names_of_row(row)
        planned = expected_of(row)
        if task is not None and planned is not None:
            expected[task] = max(planned, expected.get(task, 0))
        near = index.get(task or "", [])
        fits = [at for at in near if _fits(trials[at[0]][at[1]].trial, row, trial_id)]
        if len(fits) == 1:
            _refuse_second(taken.get(fits[0]), row, ledger.threshold)
            taken[fits[0]] = row
            continue
        left.append(f"{row.shown} ({_why(fits, near, trial_id)})")
        if near and not fits and task is not None and trial_id is not None:
            lost.setdefault(task, []).append(trial_id)
    regraded = 0
    for (key, place), row in taken.items():
        before = trials[key][place].trial
        after = ledger.with_row(before, row)
        regraded += _regraded(before, after)
        trials[key][place] = replace(trials[key][place], trial=after)
    _tell(ledger, rows[0].file, left, regraded, _without_row(trials, taken, ledger))
    return Joined(
        trials={key: tuple(entries) for key, entries in trials.items()},
        lost={task: tuple(dict.fromkeys(names)) for task, names in lost.items()},
        expected=expected,
    )


def _tell(ledger: Ledger, file: str, left: Sequence[str], regraded: int, without: Sequence[str]) -> None:
    if left:
        count = "1 row names" if len(left) == 1 else f"{len(left)} rows name"
        ledger.say(
            Severity.WARNING, "unmatched_row", f"{count} no trial that was read", *_some(left), path=file
        )
    if without:
        count = "1 trial has" if len(without) == 1 else f"{len(without)} trials have"
        message = f"{count} no row here and {'keeps' if len(without) == 1 else 'keep'} what the log says"
        ledger.say(Severity.WARNING, "trial_without_row", message, *_some(without), path=file)
    if regraded:
        count = "1 trial has" if regraded == 1 else f"{regraded} trials have"
        message = f"{count} another verdict here than in the log"
        ledger.say(Severity.WARNING, "regraded", message, "this file counts", path=file)


def _some(found: Sequence[str]) -> list[str]:
    more = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    return [*found[:_SHOWN], *more]


def _fits(trial: Trial, row: Row, trial_id: str | None) -> bool:
    recorded = {"suite": trial.suite, "model": trial.provenance.model, "agent": trial.provenance.agent}
    for key, value in recorded.items():
        if row.text(key) is not None and value is not None and row.text(key) != value:
            return False
    return trial_id in (None, trial.trial_id, trial.producer_id)


def _why(fits: Sequence[object], near: Sequence[object], trial_id: str | None) -> str:
    if fits:
        return f"{len(fits)} trials fit; name the {'trial' if trial_id is None else 'suite or the model'}"
    return "no such trial" if near else "no such task"


def _refuse_second(known: Row | None, row: Row, threshold: float | None) -> None:
    """Two rows of one trial must agree."""
    if known is None:
        return
    try:
        first, second = judgement_of_row(known, threshold).state, judgement_of_row(row, threshold).state
    except BadRowError:
        return
    if first is not second:
        raise InputError(
            f"{row.file}: two rows give one trial different verdicts",
            f"{known.file} {known.shown}: {first}",
            f"{row.file} {row.shown}: {second}",
        )


def _regraded(before: Trial, after: Trial) -> bool:
    scored = (Verdict.PASS, Verdict.FAIL)
    return before.verdict in scored and after.verdict in scored and before.verdict is not after.verdict


def _without_row(
    trials: Mapping[_Key, Sequence[Entry]], taken: Mapping[tuple[_Key, int], Row], ledger: Ledger
) -> list[str]:
    names = [
        f"{entry.trial.task_id}/{entry.trial.trial_id} ({entry.trial.verdict})"
        for key, entries in trials.items()
        for place, entry in enumerate(entries)
        if (key, place) not in taken and entry.trial.source.path not in ledger.judged_files
    ]
    return sorted(names, key=natural_key)
