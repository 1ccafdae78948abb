"""Weights of tasks (traffic shares), always with the name of where they come from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from trajdiff.errors import UsageError
from trajdiff.reliability.intervals import SuiteInterval, kish, suite_interval, weighted_mean
from trajdiff.reliability.pass_k import pass_hat_fraction
from trajdiff.reliability.side_tables import csv_rows, json_object


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A weight of 0 or more per task id, and ``source``: where the shares were taken from."""

    by_task: Mapping[str, Fraction]
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedRow:
    """Weighted pass^k for k = 1 up to the smallest n: an extra row, never the headline.

    ``intervals[k-1]`` belongs to k. ``kish`` is the effective number of tasks. ``unweighted`` names tasks
    that have trials and no weight; they are not in the row.
    """

    source: str
    pass_hat_k: tuple[float, ...]
    intervals: tuple[SuiteInterval | None, ...]
    kish: float
    tasks: int
    unweighted: tuple[str, ...] = ()


def make_weights(by_task: Mapping[str, Any], source: str, *, name: str | None = None) -> Weights:
    """Checked weights; ``name`` is that of their file. Raises ``UsageError`` for an empty source and for
    anything but finite numbers from 0."""
    where = "" if name is None else f"{name}: "
    if not source.strip():
        raise UsageError(
            f"{where}weights without a source", "name where the shares come from, for instance a traffic log"
        )
    made: dict[str, Fraction] = {}
    for task_id, value in by_task.items():
        if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)) or not _usable(value):
            raise UsageError(
                f'{where}weight of task "{task_id}" is {repr(value)[:40]}, not a finite number from 0'
            )
        # The shortest decimal that reads back as the float: a share of 0.7 means seven tenths.
        made[task_id] = Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
    if not sum(made.values()):
        raise UsageError(f"{where}all weights are 0")
    return Weights(by_task=made, source=source.strip())


def read_weights(text: str, name: str) -> Weights:
    """Weights from the text of a file; ``name`` is used in messages. Raises ``UsageError``.

    JSON: ``{"source": "traffic log", "weights": {"task": 0.7}}``. CSV: columns ``task_id``, ``weight`` and
    ``source``, the same source in every row.
    """
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return _from_json(text, name)
    return _from_csv(text, name)


def weighted_row(counts: Mapping[str, tuple[int, int]], weights: Weights) -> WeightedRow:
    """Weighted means of the tasks with (n, c) in ``counts``; ``UsageError`` for weights of unknown tasks."""
    unknown = [task_id for task_id in weights.by_task if task_id not in counts]
    if unknown:
        shown = ", ".join(f'"{task}"' for task in unknown[:5]) + (" ..." if len(unknown) > 5 else "")
        raise UsageError(f"weights name tasks that were not read: {shown}")
    used = [(nc, weights.by_task[task]) for task, nc in counts.items() if task in weights.by_task and nc[0]]
    if not sum(w for _, w in used):
        raise UsageError("no task with a weight has a counted trial")
    shares = [w for _, w in used]
    trials = sum(n for (n, _), _ in used)
    hat, intervals = [], []
    for k in range(1, min(n for (n, _), _ in used) + 1):
        values = [pass_hat_fraction(n, c, k) for (n, c), _ in used]
        hat.append(float(weighted_mean(values, shares)))
        intervals.append(suite_interval(values, trials, weights=shares))
    return WeightedRow(
        source=weights.source,
        pass_hat_k=tuple(hat),
        intervals=tuple(intervals),
        kish=float(kish(shares)),
        tasks=len(used),
        unweighted=tuple(task for task, nc in counts.items() if nc[0] and task not in weights.by_task),
    )


def _usable(value: float | Fraction) -> bool:
    try:
        return math.isfinite(value) and value >= 0
    except OverflowError:  # an integer beyond any float
        return False


def _from_json(text: str, name: str) -> Weights:
    document = json_object(text, name, what="weights")
    table = document.get("weights")
    source = document.get("source")
    if not isinstance(table, dict) or not isinstance(source, str):
        raise UsageError(f'{name}: weights need "source" (a text) and "weights" (a table of task ids)')
    return make_weights(table, source, name=name)


def _from_csv(text: str, name: str) -> Weights:
    needed = ("task_id", "weight", "source")
    rows = list(csv_rows(text, name, needed, what="weights", error=UsageError))
    sources = sorted({row["source"].strip() for _, row in rows})
    if len(sources) > 1:
        raise UsageError(f"{name}: weights of several sources: {', '.join(sources)}")
    table: dict[str, float] = {}
    for number, row in rows:
        try:
            weight = float(row["weight"])
        except ValueError:
            raise UsageError(f"{name}: line {number}: weight {row['weight']!r} is no number") from None
        if row["task_id"] in table:
            raise UsageError(f'{name}: line {number}: task "{row["task_id"]}" has two weights')
        table[row["task_id"]] = weight
    return make_weights(table, sources[0], name=name)
