"""Golden values: weights, intervals, errors, bootstrap, shared faults, adaptive n."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from tests.reliability.golden import Case, counts, near, of, strings
from trajdiff.errors import UsageError
from trajdiff.reliability.adaptive import adaptive_design
from trajdiff.reliability.bootstrap import bootstrap_means
from trajdiff.reliability.intervals import (
    SuiteInterval,
    highest_lower_end,
    standard_error,
    suite_interval,
    task_interval,
    tasks_needed,
)
from trajdiff.reliability.pass_k import pass_at_fraction, pass_hat_fraction
from trajdiff.reliability.spread import cochran_q, shared_fault, spread, trial_index_means
from trajdiff.reliability.weights import make_weights, weighted_row

ESTIMATORS = {"pass_hat": pass_hat_fraction, "pass_at": pass_at_fraction}


def values(pairs: list[tuple[int, int]], metric: str, k: int) -> list[Fraction]:
    return [ESTIMATORS[metric](n, c, k) for n, c in pairs]


def assert_interval(made: SuiteInterval | None, expected: Case) -> None:
    assert made is not None
    found = {
        "estimate": made.estimate,
        "stderr": made.stderr,
        "n_eff": made.n_eff,
        "units": made.units,
        "branch": made.branch,
        "cap_applied": made.capped,
        "low": made.low,
        "high": made.high,
    }
    assert set(expected) <= set(found)
    for name, value in expected.items():
        assert found[name] == (value if isinstance(value, str) else near(value)), name
    assert 0 <= made.low <= made.estimate <= made.high <= 1


def test_suite_interval(cases: dict[str, Case]) -> None:
    checked = 0
    for case in of(cases, "suite_interval"):
        pairs = counts(case, cases)
        for metric in ESTIMATORS:
            for k, expected in case["expected"].get(metric, {}).items():
                made = suite_interval(values(pairs, metric, int(k)), sum(n for n, _ in pairs))
                assert_interval(made, expected)
                assert made is not None
                assert made.few_tasks is (len(pairs) < 10)
                checked += 1
        assert case["expected"].get("flags", ["few tasks"]) == ["few tasks"]
    assert checked == 26


def test_suite_interval_absent(cases: dict[str, Case]) -> None:
    for case in of(cases, "suite_interval_absent"):
        pairs = counts(case, cases)
        assert suite_interval(values(pairs, "pass_hat", 1), 4) is None
        assert standard_error(values(pairs, "pass_hat", 1)) is None
        assert bootstrap_means([[0.75]]) == (None,)


def test_suite_interval_families(cases: dict[str, Case]) -> None:
    for case in of(cases, "suite_interval_families"):
        pairs, families = counts(case, cases), case["input"]["family"]
        x, trials = values(pairs, "pass_hat", case["input"]["k"]), sum(n for n, _ in pairs)
        assert_interval(suite_interval(x, trials, families=families), case["expected"]["by_family"])
        assert_interval(suite_interval(x, trials), case["expected"]["ignoring_families"])
        assert suite_interval(x, trials, families=["a"] * len(x)) is None
        with pytest.raises(UsageError, match="not supported"):
            suite_interval(x, trials, families=families, weights=[Fraction(1)] * len(x))


def test_attainable_lower_bound(cases: dict[str, Case]) -> None:
    for case in of(cases, "attainable_lower_bound"):
        given, expected = case["input"], case["expected"]
        assert [highest_lower_end(m) for m in given["m"]] == near(expected["max_low"])
        assert [tasks_needed(x) for x in given["thresholds"]] == expected["min_tasks"]


def test_wilson(cases: dict[str, Case]) -> None:
    for case in of(cases, "wilson"):
        for (c, n), ends in zip(case["input"]["rows_c_n"], case["expected"]["intervals"], strict=True):
            assert task_interval(n, c) == near(tuple(ends))


def test_stderr(cases: dict[str, Case]) -> None:
    for case in of(cases, "stderr"):
        p, m = Fraction(str(case["input"]["p"])), case["input"]["tasks"]
        passed = int(p * m)
        made = standard_error([Fraction(1)] * passed + [Fraction(0)] * (m - passed))
        assert made == near(case["expected"]["stderr_ddof1"])
        assert made is not None
        assert made * math.sqrt((m - 1) / m) == near(case["expected"]["stderr"])


def test_standard_errors_and_variance_components_of_a_recorded_run(cases: dict[str, Case]) -> None:
    for case in of(cases, "suite_spread"):
        pairs, expected = counts(case, cases), case["expected"]
        for metric, by_k in expected["stderr"].items():
            for k, value in by_k.items():
                assert standard_error(values(pairs, metric, int(k))) == near(value)
        made = spread(pairs)
        assert made is not None
        assert made.within == Fraction(case["exact"]["within"])
        assert made.total == Fraction(case["exact"]["total_variance"])
        assert made.between == Fraction(case["exact"]["between"])
        assert made.icc == near(expected["icc1"])
        for n, value in expected["stderr_mean_if_n"].items():
            assert made.stderr_at(float(n)) == near(value)
        assert made.stderr_with(trials=2) == near(expected["stderr_mean_if_n"]["8"])
        assert made.stderr_with(tasks=2) == near(expected["stderr_mean_if_twice_the_tasks"])
        means = [mean for _, mean, _ in trial_index_means(by_index(strings(case, cases)))]
        assert means == near(expected["trial_index_means"])


def test_metamorphic_standard_error_of_a_doubled_suite(cases: dict[str, Case]) -> None:
    case = cases["duplicating_every_task"]
    x = values(counts(case, cases), "pass_hat", case["input"]["k"])
    once, twice = standard_error(x), standard_error(x * 2)
    assert (once, twice) == near((case["expected"]["stderr"], case["expected"]["stderr_doubled"]))
    m = len(x)
    assert twice is not None
    assert once is not None
    assert twice / once == near(math.sqrt((m - 1) / (2 * m - 1)))


def by_index(texts: list[str]) -> list[dict[int, bool]]:
    return [{index: mark == "1" for index, mark in enumerate(text)} for text in texts]


def test_cochran_q(cases: dict[str, Case]) -> None:
    for case in of(cases, "cochran_q"):
        texts, expected = strings(case, cases), case["expected"]
        q, degrees, p = cochran_q([[mark == "1" for mark in text] for text in texts])
        assert (q, degrees, p) == near((expected["q"], expected["df"], expected["p"]))
        if "trial_index_means" in expected:
            means = [mean for _, mean, _ in trial_index_means(by_index(texts))]
            assert means == near(expected["trial_index_means"])
    calm = shared_fault(by_index(strings(cases["gpt4o_airline_shared_fault_check"], cases)))
    assert calm is not None
    assert not calm.suspected
    outage = strings(cases["shared_outage_in_trial_3"], cases)
    assert shared_fault(by_index(outage)) is None  # seven mixed tasks are too few
    made = shared_fault(by_index(outage * 2))
    assert made is not None
    assert made.suspected
    assert (made.index, made.rate) == (2, 0.2)
    assert made.others == near(2.5 / 3)


def test_adaptive(cases: dict[str, Case]) -> None:
    for case in of(cases, "adaptive"):
        outcomes = [[mark == "1" for mark in text] for text in case["input"]["trial_strings"]]
        made = adaptive_design(outcomes)
        assert (made is not None) is case["expected"]["adaptive_n_suspected"], case["name"]
    screening = [[mark == "1" for mark in text] for text in strings(cases["adaptive_n_screening"], cases)]
    made = adaptive_design(screening, ordered=False)
    assert made is not None
    assert made.text == "number of trials may depend on outcomes"


@pytest.mark.parametrize(
    ("texts", "pattern"),
    [
        (["1", "1", "1", "1", "1", "0110"], "screening"),
        (["1", "1", "1", "1", "1", "1110"], "stop_at_first_pass"),
        (["1", "01", "001", "1", "01", "1100"], "stop_at_first_pass"),
        (["0", "10", "110", "0", "10", "1111"], "stop_at_first_failure"),
        (["0", "10", "110", "0", "1111"], None),
        (["0", "10", "110", "0", "01", "1111"], None),
        (["", "1", "1", "1", "1", "0110"], None),
    ],
)
def test_each_adaptive_pattern(texts: list[str], pattern: str | None) -> None:
    made = adaptive_design([[mark == "1" for mark in text] for text in texts])
    assert (made.pattern if made else None) == pattern


def test_bootstrap(cases: dict[str, Case]) -> None:
    for case in of(cases, "bootstrap"):
        pairs = counts(case, cases)
        for metric in ESTIMATORS:
            for k, expected in case["expected"].get(metric, {}).items():
                x = [float(value) for value in values(pairs, metric, int(k))]
                made = bootstrap_means([x], seed=7)[0]
                assert made is not None
                assert not made.degenerate
                assert made.mean == near(expected["mean"], 0.01)
                assert made.stderr == near(expected["stderr"], 0.01)
                atoms = sorted({sum(draw) / 4 for draw in _draws(x)})
                for end, exact in ((made.low, expected["low"]), (made.high, expected["high"])):
                    at = min(range(len(atoms)), key=lambda i: abs(atoms[i] - exact))
                    assert atoms[max(at - 1, 0)] - 1e-9 <= end <= atoms[min(at + 1, len(atoms) - 1)] + 1e-9


def _draws(x: list[float]) -> list[tuple[float, ...]]:
    return [(a, b, c, d) for a in x for b in x for c in x for d in x]


def test_bootstrap_degenerate(cases: dict[str, Case]) -> None:
    for case in of(cases, "bootstrap_degenerate"):
        x = [float(value) for value in values(counts(case, cases), "pass_hat", case["input"]["k"])]
        made = bootstrap_means([x])[0]
        assert made is not None
        assert {"low": made.low, "high": made.high, "degenerate": made.degenerate} == case["expected"]


def test_the_bootstrap_depends_on_the_seed_and_not_on_the_order_of_tasks(cases: dict[str, Case]) -> None:
    pairs = counts(cases["gpt4o_airline_curve"], cases)
    rows = [[float(value) for value in values(pairs, "pass_hat", k)] for k in (1, 4)]
    made = bootstrap_means(rows, seed=7)
    assert made == bootstrap_means([row[::-1] for row in rows], seed=7)
    assert made != bootstrap_means(rows, seed=8)
    assert made[0] is not None
    assert made[1] is not None
    shown = [round(end, 2) for one in (made[0], made[1]) for end in (one.low, one.high)]
    assert shown == [0.32, 0.53, 0.10, 0.32]  # as the documented screen has them


def test_weighted(cases: dict[str, Case]) -> None:
    for case in of(cases, "weighted"):
        given, expected = case["input"], case["expected"]
        table: dict[str, Any] = {f"t{i}": w for i, w in enumerate(given["weights"])}
        pairs = {f"t{i}": pair for i, pair in enumerate(counts(case, cases))}
        row = weighted_row(pairs, make_weights(table, given["weights_source"]))
        for k, value in case["exact"]["weighted"].items():
            assert row.pass_hat_k[int(k) - 1] == float(Fraction(value))
        assert row.kish == float(Fraction(case["exact"]["kish_n_eff"]))
        assert row.source == given["weights_source"]
        made = row.intervals[0]
        assert made is not None
        wanted = expected["interval_k1"]
        assert {name: getattr(made, name) for name in wanted} == near(wanted)


def test_weighted_error(cases: dict[str, Case]) -> None:
    for case in of(cases, "weighted_error"):
        table = {f"t{i}": weight for i, weight in enumerate(case["input"]["weights"])}
        with pytest.raises(UsageError, match="without a source"):
            make_weights(table, case["input"]["weights_source"])
