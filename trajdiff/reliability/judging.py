"""What a report rests on where a judge gave the verdicts: agreement, and the corrected rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from trajdiff.errors import UsageError
from trajdiff.model import TaskTrials
from trajdiff.reliability.agreement import (
    Corrected,
    corrected_curve,
    corrected_rate,
    resampled_means,
    unit_sums,
)
from trajdiff.reliability.families import Families
from trajdiff.reliability.intervals import LEVEL
from trajdiff.reliability.labels import JudgeReport, Labels, judge_report, verdict_labels
from trajdiff.reliability.pass_k import pass_hat_k

#: (judged pass, of trials that people passed, judged fail, of trials that people failed)
Calibration = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """The recorded verdicts as those of a judge.

    ``agreement`` is that with other labels, None where none were given. ``raw`` is the mean over the ``tasks``
    with judged trials, ``corrected`` the same after correcting for the judge's errors, None without
    calibration counts. ``curve`` is the corrected pass^k with its ends as (value, low, high) per k, for judge
    errors that are independent between trials; empty where it cannot be had.
    """

    agreement: JudgeReport | None
    calibration: Calibration | None
    raw: float
    tasks: int
    corrected: Corrected | None = None
    curve: tuple[tuple[float, float, float], ...] = ()


def judging(
    tasks: Sequence[TaskTrials],
    *,
    labels: Sequence[Labels] = (),
    calibration: Calibration | None = None,
    families: Families | None = None,
    detailed: bool = False,
    seed: int = 0,
) -> Judging | None:
    """Agreement and correction of the recorded verdicts; None where neither labels nor counts are given.

    ``families`` are resampled in place of tasks, ``detailed`` adds the corrected curve. Raises ``InputError``
    where the labels share no trial with the record, ``UsageError`` for impossible calibration counts
    and where no trial was judged.
    """
    if not labels and calibration is None:
        return None
    own = verdict_labels(tasks)
    known = frozenset((trial.task_id, trial.trial_id) for task in tasks for trial in task.trials)
    agreement = judge_report((own, *labels), known=known, families=families, seed=seed) if labels else None
    judged: dict[str, list[bool]] = {}
    for (task_id, _), label in own.by_trial.items():
        judged.setdefault(task_id, []).append(label)
    if not judged:
        raise UsageError("no trial has a verdict of a judge: nothing to correct")
    counts = [(len(row), sum(row)) for row in judged.values()]
    rates = [c / n for n, c in counts]
    units = None if families is None else families.of(list(judged))
    corrected: Corrected | None = None
    curve: tuple[tuple[float, float, float], ...] = ()
    if calibration is not None:
        corrected = corrected_rate(rates, calibration[:2], calibration[2:], families=units, seed=seed)
        curve = _curve(counts, calibration, units, seed) if detailed and not corrected.refused else ()
    return Judging(
        agreement=agreement,
        calibration=calibration,
        raw=sum(sorted(rates)) / len(rates),
        tasks=len(rates),
        corrected=corrected,
        curve=curve,
    )


def _curve(
    counts: Sequence[tuple[int, int]],
    calibration: Calibration,
    families: Sequence[str] | None,
    seed: int,
    resamples: int = 9_999,
) -> tuple[tuple[float, float, float], ...]:
    """Corrected pass^k with percentile ends: tasks resampled, the judge's rates drawn at the same time."""
    reach = min(n for n, _ in counts)
    values = [[pass_hat_k(n, c, k) for k in range(1, reach + 1)] for n, c in counts]
    units = unit_sums(values, families)
    if len(units) < 2:
        return ()
    import numpy as np

    right, positives, rejected, negatives = calibration
    observed = [math.fsum(row[k] for row in values) / len(values) for k in range(reach)]
    found = corrected_curve(observed, right / positives, rejected / negatives)
    if found is None:
        return ()
    rng = np.random.default_rng(seed)
    means = resampled_means(units, rng, resamples)
    tpr = rng.beta(right + 0.5, positives - right + 0.5, size=resamples)
    tnr = rng.beta(rejected + 0.5, negatives - rejected + 0.5, size=resamples)
    drawn = [corrected_curve([float(x) for x in row], p, q) for row, p, q in zip(means, tpr, tnr, strict=True)]
    kept = np.clip(np.array([row for row in drawn if row is not None]), 0, 1)
    if not len(kept):
        return ()
    tail = (1 - LEVEL) / 2 * 100
    ends = np.percentile(kept, [tail, 100 - tail], axis=0)
    return tuple(
        (min(max(value, 0.0), 1.0), float(low), float(high))
        for value, low, high in zip(found, ends[0], ends[1], strict=True)
    )
