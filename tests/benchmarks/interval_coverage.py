"""How often the headline interval holds the true value, for suites drawn from known laws.

    python -m tests.benchmarks.interval_coverage [--suites 300] [--tasks 10 20 50] [--seed 1]

A law gives each task of a suite its chance to pass; the truth is the mean of that chance to the power k (or of
its complement, for pass@k). Target: 0.95 of suites. With 300 suites one cell is off by .013 (one standard
error); ``--suites 3000`` brings that to .004. Beside the headline stands
the t interval over tasks, which collapses where all tasks agree.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from trajdiff.reliability.intervals import suite_interval
from trajdiff.reliability.pass_k import pass_at_fraction, pass_hat_fraction
from trajdiff.reliability.quantiles import t_quantile


@dataclass(frozen=True, kw_only=True)
class Law:
    """Draws a task's chance to pass; ``moment(j)`` is the mean of its j-th power."""

    draw: Callable[[random.Random], float]
    moment: Callable[[int], float]


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Counts of suites whose interval holds the truth: the headline, and t over tasks; mean width."""

    suites: int
    covered: int
    covered_by_t: int
    width: float


def _beta(a: float, b: float) -> Law:
    def moment(power: int) -> float:
        return math.prod((a + j) / (a + b + j) for j in range(power))

    return Law(draw=lambda rng: rng.betavariate(a, b), moment=moment)


def _two(share: float, low: float, high: float) -> Law:
    """A share of tasks passes with the low chance, the others with the high one."""
    return Law(
        draw=lambda rng: low if rng.random() < share else high,
        moment=lambda power: share * low**power + (1 - share) * high**power,
    )


LAWS = {
    "Beta(2,1)": _beta(2, 1),
    "Beta(.5,.5)": _beta(0.5, 0.5),
    "Beta(8,.5)": _beta(8, 0.5),
    "Beta(1,3)": _beta(1, 3),
    "half always": Law(
        draw=lambda rng: 1.0 if rng.random() < 0.5 else rng.betavariate(2, 1),
        moment=lambda power: 0.5 + 0.5 * _beta(2, 1).moment(power),
    ),
    "all .9": _two(0.0, 0.0, 0.9),
    "4 % never": _two(0.04, 0.0, 0.995),
}
#: Figure, trials of each task, k.
FIGURES = (("pass_hat", 4, 1), ("pass_hat", 4, 4), ("pass_hat", 5, 2), ("pass_at", 4, 4))


def coverage(
    law: Law, *, m: int, n: int, k: int, suites: int, figure: str = "pass_hat", seed: int = 1
) -> Coverage:
    """Draws so many suites of m tasks with n trials each and counts the intervals that hold the truth."""
    rng = random.Random(seed)
    estimator = pass_hat_fraction if figure == "pass_hat" else pass_at_fraction
    known = [estimator(n, c, k) for c in range(n + 1)]
    truth = _truth(law, figure, k)
    covered = by_t = 0
    width = 0.0
    for _ in range(suites):
        chances = [law.draw(rng) for _ in range(m)]
        values = [known[sum(rng.random() < p for _ in range(n))] for p in chances]
        made = suite_interval(values, m * n)
        assert made is not None
        covered += made.low <= truth <= made.high
        width += made.high - made.low
        by_t += _t_holds(values, truth)
    return Coverage(suites=suites, covered=covered, covered_by_t=by_t, width=width / suites)


def _truth(law: Law, figure: str, k: int) -> float:
    if figure == "pass_hat":
        return law.moment(k)
    return 1 - sum(math.pow(-1, j) * math.comb(k, j) * law.moment(j) for j in range(k + 1))


def _t_holds(values: list[Fraction], truth: float) -> bool:
    """Whether mean and t quantile times the standard error hold the truth."""
    m, mean = len(values), float(sum(values, Fraction(0)) / len(values))
    square = sum((float(x) - mean) ** 2 for x in values) / (m * (m - 1))
    return abs(mean - truth) <= t_quantile(0.95, m - 1) * math.sqrt(square)


def main() -> None:
    """Print one row per law and figure."""
    parser = argparse.ArgumentParser(description="coverage of the headline interval")
    parser.add_argument("--suites", type=int, default=300)
    parser.add_argument("--tasks", type=int, nargs="+", default=[10, 20, 50])
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print(f"{asked.suites} suites per cell, seed {asked.seed}; headline / t over tasks (mean width)")
    print(f"{'law':<12} {'figure':<12}" + "".join(f"{f'm={m}':>22}" for m in asked.tasks))
    sums = dict.fromkeys(asked.tasks, 0.0)
    for name, law in LAWS.items():
        for figure, n, k in FIGURES:
            cells = []
            for m in asked.tasks:
                made = coverage(law, m=m, n=n, k=k, suites=asked.suites, figure=figure, seed=asked.seed)
                own, other = made.covered / made.suites, made.covered_by_t / made.suites
                sums[m] += own
                cells.append(f"{own:.3f} / {other:.3f} ({made.width:.2f})")
            mark = "^" if figure == "pass_hat" else "@"
            print(f"{name:<12} {f'pass{mark}{k} n={n}':<12}" + "".join(f"{cell:>22}" for cell in cells))
    size = len(LAWS) * len(FIGURES)
    print(f"{'mean':<25}" + "".join(f"{sums[m] / size:>22.3f}" for m in asked.tasks))


if __name__ == "__main__":
    main()
