"""Labels that several judges gave to the same trials, and how far the judges agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trajdiff.errors import InputError, UsageError
from trajdiff.model import TaskTrials, Verdict
from trajdiff.natural import natural_key
from trajdiff.reliability.acceptance import met
from trajdiff.reliability.agreement import (
    Corrected,
    Fleiss,
    Kappa,
    band_within,
    cohen_of,
    corrected_rate,
    fleiss,
    majority,
    smallest_pair,
)
from trajdiff.reliability.families import Families
from trajdiff.reliability.gates import upper_bound
from trajdiff.reliability.intervals import LEVEL
from trajdiff.reliability.side_tables import csv_rows

#: Name of the judge whose labels are the recorded verdicts.
GRADER = "grader"
_PASS = frozenset({"pass", "passed", "true", "1", "yes", "c", "correct"})
_FAIL = frozenset({"fail", "failed", "false", "0", "no", "i", "incorrect"})

TrialId = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """One judge: its name and a label per trial, True for pass; unknown labels are left out."""

    rater: str
    by_trial: Mapping[TrialId, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReport:
    """Agreement of two or more judges over the trials that all of them labelled.

    ``kappa`` is that of two judges, or the smallest pair of more; ``pair`` names the two. ``interval_by_tasks``
    resamples tasks, given where a task has more than one trial. ``differ`` are trials they disagree on,
    ``left_out`` counts trials that some judge did not label. ``votes`` counts the panel's verdicts. ``raw``
    and ``corrected`` are the rate of the first judge before and after correcting for its errors.
    """

    raters: tuple[str, ...]
    items: int
    pair: tuple[str, str]
    kappa: Kappa
    interval_by_tasks: tuple[float, float] | None
    fleiss: Fleiss | None
    votes: Mapping[str, int] | None
    differ: tuple[str, ...]
    left_out: int
    unknown: tuple[str, ...] = ()
    raw: float | None = None
    corrected: Corrected | None = None

    @property
    def band(self) -> str | None:
        """The band of kappa, by the interval over tasks where there is one; None where kappa is undefined."""
        if self.kappa.kappa is None or self.interval_by_tasks is None:
            return self.kappa.band
        return band_within(self.kappa.kappa, *self.interval_by_tasks)

    @property
    def disagreement_at_most(self) -> float | None:
        """One-sided 95 % bound on the share of trials that differ, where no disagreement was seen."""
        return upper_bound(0, self.items) if not self.differ else None


def verdict_labels(tasks: Sequence[TaskTrials]) -> Labels:
    """The recorded verdicts as labels; trials ended by infrastructure and unscored ones have none."""
    found = {
        (trial.task_id, trial.trial_id): trial.verdict is Verdict.PASS
        for task in tasks
        for trial in task.trials
        if trial.verdict in (Verdict.PASS, Verdict.FAIL)
    }
    return Labels(rater=GRADER, by_trial=found)


def score_labels(tasks: Sequence[TaskTrials], name: str) -> Labels:
    """A recorded sub-score as labels. Raises ``UsageError`` for a score that no trial has."""
    found: dict[TrialId, bool] = {}
    known: set[str] = set()
    for task in tasks:
        for trial in task.trials:
            known |= set(trial.sub_scores)
            verdict = met(trial.sub_scores.get(name))
            if verdict is not None:
                found[trial.task_id, trial.trial_id] = verdict
    if not found:
        shown = ", ".join(sorted(known)) or "none is recorded"
        raise UsageError(f'no trial has the score "{name}"', f"scores: {shown}")
    return Labels(rater=name, by_trial=found)


def read_labels(text: str, name: str) -> tuple[Labels, ...]:
    """Judges from CSV text with the columns task_id, trial_id, rater, label; raters in order of appearance.

    Raises ``InputError`` for missing columns, unknown labels and a trial that a rater labelled twice.
    """
    needed = ("task_id", "trial_id", "rater", "label")
    found: dict[str, dict[TrialId, bool]] = {}
    for number, row in csv_rows(text, name, needed, what="labels", error=InputError):
        label = row["label"].strip().casefold()
        if label not in _PASS | _FAIL:
            raise InputError(f'{name}: line {number}: label "{row["label"]}" is neither pass nor fail')
        judged = found.setdefault(row["rater"].strip() or "labels", {})
        trial = (row["task_id"], row["trial_id"])
        if trial in judged:
            raise InputError(f"{name}: line {number}: this rater has labelled {'/'.join(trial)} before")
        judged[trial] = label in _PASS
    return tuple(Labels(rater=rater, by_trial=judged) for rater, judged in found.items())


def judge_report(
    judges: Sequence[Labels],
    *,
    known: frozenset[TrialId] | None = None,
    calibration: tuple[int, int, int, int] | None = None,
    families: Families | None = None,
    seed: int = 0,
) -> JudgeReport:
    """Agreement over the trials that all judges labelled.

    ``known`` are the trials that were read: labels of others are named. ``calibration`` is (judged pass,
    all) of trials that people passed, then (judged fail, all) of trials that people failed. Raises
    ``InputError`` for fewer than two judges and where they have no trial in common.
    """
    if len(judges) < 2:
        raise InputError(
            "agreement needs two sets of labels", "give --labels FILE with another rater, or two --score names"
        )
    everything = {trial for judge in judges for trial in judge.by_trial}
    unknown = sorted(everything - known, key=_key) if known is not None else []
    shared = sorted(
        (trial for trial in everything - set(unknown) if all(trial in judge.by_trial for judge in judges)),
        key=_key,
    )
    if not shared:
        raise InputError("no trial was labelled by every judge")
    columns = [[judge.by_trial[trial] for trial in shared] for judge in judges]
    names = tuple(judge.rater for judge in judges)
    found = smallest_pair(columns) if len(judges) > 2 else None
    first, second, kappa = found or (0, 1, cohen_of(columns[0], columns[1]))
    rows = list(zip(*columns, strict=True))
    votes = [majority(row) for row in rows] if len(judges) % 2 else []
    raw, corrected = _rate(shared, columns[0], calibration, seed)
    return JudgeReport(
        raters=names,
        items=len(shared),
        pair=(names[first], names[second]),
        kappa=kappa,
        interval_by_tasks=_by_tasks(shared, columns[first], columns[second], families, seed),
        fleiss=fleiss([(sum(row), len(row) - sum(row)) for row in rows]) if len(judges) > 2 else None,
        votes={str(verdict): votes.count(verdict) for verdict in Verdict if verdict in votes}
        if votes
        else None,
        differ=tuple("/".join(trial) for trial, row in zip(shared, rows, strict=True) if len(set(row)) > 1),
        left_out=len(everything) - len(unknown) - len(shared),
        unknown=tuple("/".join(trial) for trial in unknown),
        raw=raw,
        corrected=corrected,
    )


def _key(trial: TrialId) -> tuple[object, ...]:
    return natural_key(trial[0]), natural_key(trial[1])


def _rate(
    shared: Sequence[TrialId],
    labels: Sequence[bool],
    calibration: tuple[int, int, int, int] | None,
    seed: int,
) -> tuple[float, Corrected | None]:
    """The first judge's rate as the mean over tasks, and the corrected one."""
    by_task: dict[str, list[bool]] = {}
    for (task_id, _), label in zip(shared, labels, strict=True):
        by_task.setdefault(task_id, []).append(label)
    rates = [sum(task) / len(task) for task in by_task.values()]
    raw = sum(rates) / len(rates)
    if calibration is None:
        return raw, None
    return raw, corrected_rate(rates, calibration[:2], calibration[2:], seed=seed)


def _by_tasks(
    shared: Sequence[TrialId],
    left: Sequence[bool],
    right: Sequence[bool],
    families: Families | None,
    seed: int,
) -> tuple[float, float] | None:
    """Percentile interval of kappa over resampled tasks (families); None where each has one trial."""
    tables: dict[str, list[int]] = {}
    units = families.of([task for task, _ in shared]) if families else [task for task, _ in shared]
    for unit, x, y in zip(units, left, right, strict=True):
        tables.setdefault(unit, [0, 0, 0, 0])[2 * (not x) + (not y)] += 1
    if len(tables) < 2 or len(tables) == len(shared):
        return None
    import numpy as np

    cells = np.array(sorted(tables.values()), dtype=float)
    rng = np.random.default_rng(seed)
    drawn = cells[rng.integers(0, len(cells), size=(9_999, len(cells)))].sum(axis=1)
    n = drawn.sum(axis=1)
    agree = (drawn[:, 0] + drawn[:, 3]) / n
    p1, p2 = (drawn[:, 0] + drawn[:, 1]) / n, (drawn[:, 0] + drawn[:, 2]) / n
    chance = p1 * p2 + (1 - p1) * (1 - p2)
    defined = chance < 1
    if not defined.any():
        return None
    kappas = (agree[defined] - chance[defined]) / (1 - chance[defined])
    tail = (1 - LEVEL) / 2 * 100
    low, high = np.percentile(kappas, [tail, 100 - tail])
    return float(low), float(high)
