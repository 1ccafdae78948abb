"""Where the uncertainty comes from: within tasks, between tasks, or a fault that trials share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

#: Cochran's Q is run on at least so many mixed tasks.
MIXED_NEEDED = 10
#: Below this p a trial index is pointed out.
SUSPICIOUS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Variance components of one trial's outcome.

    ``within`` is the variance of one trial inside a task, ``between`` that of the tasks' chances, ``total``
    the variance of the tasks' means; ``icc`` is between / (between + within), None where both are 0.
    """

    tasks: int
    within: Fraction
    between: Fraction
    total: Fraction
    mean_inverse_n: Fraction

    @property
    def less_than_chance(self) -> bool:
        """Whether tasks differ less than their trials alone would make them: then nothing can be projected."""
        return self.total < self.within * self.mean_inverse_n

    @property
    def icc(self) -> float | None:
        """Share of the variance of one trial that lies between tasks."""
        whole = self.within + self.between
        return float(self.between / whole) if whole else None

    @property
    def stderr(self) -> float:
        """Standard error of the mean over tasks."""
        return math.sqrt(self.total / self.tasks)

    def stderr_with(self, *, trials: float = 1, tasks: float = 1) -> float:
        """Standard error expected with so many times the trials per task, and so many times the tasks."""
        once = float(self.between) + float(self.within * self.mean_inverse_n) / trials
        return math.sqrt(once / (self.tasks * tasks))

    def stderr_at(self, n: float) -> float:
        """Standard error expected with n trials per task on as many tasks; ``math.inf`` for endless trials."""
        return math.sqrt((float(self.between) + float(self.within) / n) / self.tasks)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFault:
    """Cochran's Q over trial indices, and the index farthest from the mean of the others."""

    q: float
    degrees: int
    p: float
    index: int
    rate: float
    others: float

    @property
    def suspected(self) -> bool:
        """Whether one index stands out enough to point at it."""
        return self.p < SUSPICIOUS


def spread(counts: Sequence[tuple[int, int]]) -> Spread | None:
    """Variance components of (n, c) per task; None for fewer than two tasks or where no task has two trials."""
    used = [(n, c) for n, c in counts if n]
    repeated = [(n, c) for n, c in used if n > 1]
    if len(used) < 2 or not repeated:
        return None
    m = len(used)
    within = sum((Fraction(c * (n - c), n * (n - 1)) for n, c in repeated), Fraction(0)) / len(repeated)
    means = [Fraction(c, n) for n, c in used]
    middle = sum(means, Fraction(0)) / m
    total = sum(((x - middle) ** 2 for x in means), Fraction(0)) / (m - 1)
    inverse = sum((Fraction(1, n) for n, _ in used), Fraction(0)) / m
    between = max(total - within * inverse, Fraction(0))
    return Spread(tasks=m, within=within, between=between, total=total, mean_inverse_n=inverse)


def trial_index_means(outcomes: Sequence[Mapping[int, bool]]) -> tuple[tuple[int, float, int], ...]:
    """Mean outcome per trial index: (index, mean, tasks that have it), by index.

    ``outcomes`` gives for each task the counted trials by their index.
    """
    indices = sorted({index for task in outcomes for index in task})
    made = []
    for index in indices:
        there = [task[index] for task in outcomes if index in task]
        made.append((index, sum(there) / len(there), len(there)))
    return tuple(made)


def cochran_q(rows: Sequence[Sequence[bool]]) -> tuple[float, int, float]:
    """Cochran's Q of tasks by trial indices: (Q, degrees of freedom, p). All rows must be equally long."""
    import numpy as np
    from statsmodels.stats.contingency_tables import cochrans_q  # type: ignore[import-untyped]

    found = cochrans_q(np.array(rows, dtype=int))
    return float(found.statistic), int(found.df), float(found.pvalue)


def shared_fault(outcomes: Sequence[Mapping[int, bool]]) -> SharedFault | None:
    """The check for a fault that trials of one index share; None where the data do not allow it.

    Needs the same indices in every task and at least ``MIXED_NEEDED`` mixed tasks.
    """
    indices = sorted(outcomes[0]) if outcomes else []
    if len(indices) < 2 or any(sorted(task) != indices for task in outcomes):
        return None
    rows = [[task[index] for index in indices] for task in outcomes]
    if sum(0 < sum(row) < len(row) for row in rows) < MIXED_NEEDED:
        return None
    q, degrees, p = cochran_q(rows)
    rates = [sum(row[at] for row in rows) / len(rows) for at in range(len(indices))]
    others = [(sum(rates) - rate) / (len(rates) - 1) for rate in rates]
    at = max(range(len(rates)), key=lambda i: (abs(rates[i] - others[i]), -i))
    return SharedFault(q=q, degrees=degrees, p=p, index=indices[at], rate=rates[at], others=others[at])
