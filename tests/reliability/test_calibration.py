"""Whether the figures keep their promises in simulation and on halves of a recorded run. Seeded."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest

from tests.benchmarks.a_a_runs import counts_only, figures, read_labels, recurring
from tests.benchmarks.interval_coverage import LAWS, coverage
from trajdiff.importers import load
from trajdiff.model import Corpus
from trajdiff.reliability.association import Table, exact_test


@pytest.mark.slow
def test_the_headline_interval_covers_what_it_says() -> None:
    found = coverage(LAWS["Beta(2,1)"], m=50, n=4, k=4, suites=2000)
    assert 0.94 <= found.covered / found.suites <= 0.99


@pytest.mark.slow
def test_the_cap_holds_the_interval_where_few_tasks_never_pass() -> None:
    """4 % of tasks never pass: without the cap the interval covers the truth in less than 0.90 of suites."""
    found = coverage(LAWS["4 % never"], m=50, n=4, k=1, suites=1000)
    assert found.covered / found.suites >= 0.93


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


@pytest.fixture(scope="module")
def airline(shared: Path) -> Corpus:
    log = shared / "data" / "tau_bench" / "gpt-4o-airline.json"
    if not log.is_file():
        pytest.skip("no recorded airline run beside the project")
    return Corpus(tasks=load([str(log)]).tasks)


@pytest.mark.slow
def test_halves_of_one_run_are_no_regression(airline: Corpus) -> None:
    made = figures(airline, splits=200, k=1)
    assert made.red / made.splits <= 0.05
    assert made.intervals == made.splits
    assert made.covered / made.splits >= 0.90


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2])
def test_intervals_of_thousands_of_halves_hold_no_difference(airline: Corpus, k: int) -> None:
    many = counts_only(airline, splits=3_000, k=k)
    assert many.red / many.splits <= 0.035
    assert many.covered / many.splits >= 0.94


@pytest.mark.slow
def test_recurring_failures_keep_their_identity(airline: Corpus, shared: Path) -> None:
    labels = shared / "labels" / "airline.jsonl"
    if not labels.is_file():
        pytest.skip("no readers' labels beside the project")
    found = recurring(airline, read_labels(str(labels)), splits=10)
    assert found.claimed >= 5
    assert found.again / found.claimed >= 0.8
