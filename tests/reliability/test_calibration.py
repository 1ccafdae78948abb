"""Whether the figures keep their promises in simulation and on halves of a recorded run. Seeded."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from tests.reliability.split_halves import measure
from trajdiff.importers import load
from trajdiff.model import Corpus
from trajdiff.reliability.association import Table, exact_test
from trajdiff.reliability.intervals import suite_interval
from trajdiff.reliability.pass_k import pass_hat_fraction


def coverage(
    draw: Callable[[random.Random], float], truth: float, *, m: int, n: int, k: int, suites: int
) -> float:
    """Share of simulated suites whose headline interval holds the true pass^k."""
    rng, known, inside = random.Random(1), {c: pass_hat_fraction(n, c, k) for c in range(n + 1)}, 0
    for _ in range(suites):
        values: list[Fraction] = []
        for _ in range(m):
            p = draw(rng)
            values.append(known[sum(rng.random() < p for _ in range(n))])
        made = suite_interval(values, m * n)
        assert made is not None
        inside += made.low <= truth <= made.high
    return inside / suites


@pytest.mark.slow
def test_the_headline_interval_covers_what_it_says() -> None:
    found = coverage(lambda rng: rng.betavariate(2, 1), 1 / 3, m=50, n=4, k=4, suites=2000)
    assert 0.94 <= found <= 0.99


@pytest.mark.slow
def test_the_cap_holds_the_interval_where_few_tasks_never_pass() -> None:
    """4 % of tasks never pass: without the cap the interval covers the truth in less than 0.90 of suites."""
    truth = 0.96 * 0.995
    found = coverage(lambda rng: 0.0 if rng.random() < 0.04 else 0.995, truth, m=50, n=4, k=1, suites=1000)
    assert found >= 0.93


@pytest.mark.slow
def test_the_stratified_test_finds_nothing_where_nothing_is() -> None:
    rng, rejected = random.Random(2), 0
    for _ in range(1500):
        tables = []
        for _ in range(20):
            deviating, failing = (
                rng.random(),
                rng.random(),
            )  # hard tasks may deviate more: no matter inside a task
            trials = [(rng.random() < deviating, rng.random() < failing) for _ in range(4)]
            tables.append(
                Table(
                    a=sum(d and f for d, f in trials),
                    r=sum(d for d, _ in trials),
                    c=sum(f for _, f in trials),
                    n=4,
                )
            )
        mid = exact_test(tables).mid_p
        rejected += mid is not None and mid <= Fraction(1, 20)
    assert rejected / 1500 <= 0.06


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2])
def test_halves_of_one_run_are_no_regression(shared: Path, k: int) -> None:
    log = shared / "data" / "tau_bench" / "gpt-4o-airline.json"
    if not log.is_file():
        pytest.skip("no recorded airline run beside the project")
    made = measure(Corpus(tasks=load([str(log)]).tasks), splits=200, k=k)
    assert made.red <= 0.05
    assert made.covered >= 0.90
    assert made.intervals == made.splits
