"""Golden values of the reliability statistics: counts, point estimates, the infrastructure rows."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.reliability import (
    test_golden_comparisons,
    test_golden_designs,
    test_golden_divergences,
    test_golden_intervals,
    test_golden_outcomes,
)
from tests.reliability.golden import Case, counts
from tests.reliability.golden import of as every
from tests.reliability.trials import Record, passes_of, task_of
from trajdiff.importers import load
from trajdiff.reliability.estimators import (
    InvalidCountsError,
    SuiteReliability,
    disagreement,
    format_k,
    log10_pass_hat_k,
    none_of_k,
    pass_at_k,
    pass_hat_k,
    suite_curve,
    suite_reliability,
    task_reliability,
)

#: Groups that are covered here, each by the test of its name.
COVERED_GROUPS = {
    "task_metrics",
    "task_metrics_error",
    "task_metrics_table",
    "numerics",
    "suite_curve",
    "suite_curve_from_histogram",
    "suite_curve_partial",
    "suite_error",
    "suite_spread",
    "metamorphic",
    "identity",
    "ranking",
    "gap",
    "records",
    "published_consistency",
}

#: Cases of covered groups that belong to another module.
COVERED_ELSEWHERE = {
    "duplicates_are_counted_once": "test_golden_outcomes",
}


def suite(pairs: list[tuple[int, int]]) -> SuiteReliability:
    tasks = [passes_of(f"t{index}", n, c) for index, (n, c) in enumerate(pairs)]
    return suite_reliability([task_reliability(task) for task in tasks])


def assert_curve(found: tuple[float, ...], expected: dict[str, float], exact: dict[str, str] | None) -> None:
    assert len(found) == max(map(int, expected))
    for k, value in expected.items():
        assert found[int(k) - 1] == pytest.approx(value, abs=1e-12)
        if exact is not None:
            assert found[int(k) - 1] == float(Fraction(exact[k]))


OTHERS = (
    test_golden_comparisons,
    test_golden_designs,
    test_golden_divergences,
    test_golden_intervals,
    test_golden_outcomes,
)


def of(cases: dict[str, Case], group: str) -> list[Case]:
    return [case for case in every(cases, group) if case["name"] not in COVERED_ELSEWHERE]


def test_every_golden_group_has_its_test(cases: dict[str, Case]) -> None:
    groups = {case["group"] for case in cases.values()}
    here = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert here | {"suite_curve_from_histogram"} >= COVERED_GROUPS  # that one is part of suite_curve
    elsewhere = [
        name.removeprefix("test_") for module in OTHERS for name in vars(module) if name.startswith("test_")
    ]
    assert groups == COVERED_GROUPS | (set(elsewhere) & groups)
    assert not COVERED_GROUPS & set(elsewhere)


def test_task_metrics(cases: dict[str, Case]) -> None:
    for case in of(cases, "task_metrics"):
        n, k = case["input"]["n"], case["input"]["k"]
        for index, c in enumerate(case["input"]["c"]):
            exact: Case = case.get("exact") or case["expected"]
            assert pass_hat_k(n, c, k) == float(Fraction(exact["pass_hat"][index])), case["name"]
            assert pass_at_k(n, c, k) == float(Fraction(exact["pass_at"][index])), case["name"]


def test_task_metrics_error(cases: dict[str, Case]) -> None:
    for case in of(cases, "task_metrics_error"):
        for n, c, k in case["input"]["rows_n_c_k"]:
            for estimator in (pass_hat_k, pass_at_k, none_of_k, log10_pass_hat_k):
                with pytest.raises(InvalidCountsError):
                    estimator(n, c, k)


def test_task_metrics_table(cases: dict[str, Case]) -> None:
    tables = of(cases, "task_metrics_table")
    assert len(tables) == 6
    for case in tables:
        n, exact = case["input"]["n"], case["exact"]
        for row, c in enumerate(case["input"]["c"]):
            made = task_reliability(passes_of("t", n, c))
            assert made.pass_hat_k == tuple(float(Fraction(x)) for x in exact["pass_hat_by_c_then_k"][row])
            assert made.pass_at_k == tuple(float(Fraction(x)) for x in exact["pass_at_by_c_then_k"][row])


def test_numerics(cases: dict[str, Case]) -> None:
    assert len(of(cases, "numerics")) == 3
    large = cases["large_counts"]
    for index, row in enumerate(large["input"]["rows_n_c_k"]):
        assert pass_hat_k(*row) == large["expected"]["pass_hat"][index]
        assert log10_pass_hat_k(*row) == pytest.approx(large["expected"]["log10_pass_hat"][index], abs=1e-9)
    small = cases["small_pass_at_has_no_cancellation"]
    for index, row in enumerate(small["input"]["rows_n_c_k"]):
        assert pass_at_k(*row) == pytest.approx(small["expected"]["pass_at"][index], rel=1e-15, abs=0)
    near = cases["pass_at_near_one_reports_the_complement"]
    n, c, k = (near["input"][name] for name in "nck")
    assert pass_at_k(n, c, k) == pytest.approx(near["expected"]["pass_at"], rel=1e-15, abs=0)
    assert none_of_k(n, c, k) == pytest.approx(near["expected"]["none_k"], rel=1e-15, abs=0)


@pytest.mark.parametrize("group", ["suite_curve", "suite_curve_from_histogram"])
def test_suite_curve(cases: dict[str, Case], group: str) -> None:
    for case in of(cases, group):
        pairs, expected, exact = counts(case, cases), case["expected"], case.get("exact", {})
        made = suite(pairs)
        assert (made.pass_hat_k, made.pass_at_k) == suite_curve(pairs), case["name"]
        assert len(made.pass_hat_k) == expected["max_k"] == made.n_min
        assert_curve(made.pass_hat_k, expected["pass_hat"], exact.get("pass_hat"))
        assert_curve(made.pass_at_k, expected["pass_at"], exact.get("pass_at"))
        for k, wrong in expected.get("wrong_value_mean_to_the_k", {}).items():
            assert made.pass_hat_k[int(k) - 1] != pytest.approx(wrong, abs=1e-3)
        for k in expected.get("absent_k", []):
            assert format_k(made.pass_hat_k, k) == "n/a"
        if "micro_successes_over_trials" in expected:
            assert made.micro == expected["micro_successes_over_trials"]
        if "successes" in expected:
            assert (made.tasks, made.passed) == (expected["tasks"], expected["successes"])


def test_suite_curve_partial(cases: dict[str, Case]) -> None:
    for case in of(cases, "suite_curve_partial"):
        pairs, expected = counts(case, cases), case["expected"]
        made = suite(pairs)
        assert made.tasks == expected["tasks"]
        assert made.tasks - len(made.no_trials) == expected["tasks_used"]
        assert made.no_trials == ("t1",)
        assert made.complete is expected["complete"]
        assert_curve(made.pass_hat_k, expected["pass_hat"], case["exact"]["pass_hat"])
        rows = [task_reliability(passes_of("t", n, c)).pass_hat_k for n, c in pairs]
        assert [row[0] if row else None for row in rows] == expected["per_task_pass_hat_1"]


def test_suite_error(cases: dict[str, Case]) -> None:
    for case in of(cases, "suite_error"):
        with pytest.raises(InvalidCountsError):
            suite_curve(counts(case, cases))


def test_suite_spread(cases: dict[str, Case]) -> None:
    """The spread of outcomes; standard errors and variance components are in test_golden_intervals."""
    for case in of(cases, "suite_spread"):
        made, expected = suite(counts(case, cases)), case["expected"]
        assert (made.always, made.never, made.sometimes) == (
            expected["always"],
            expected["never"],
            expected["sometimes"],
        )
        assert made.flip_rate == expected["flip_rate"]
        assert made.gap == pytest.approx(expected["gap_mean_minus_pass_hat_4"], abs=1e-12)


def test_metamorphic(cases: dict[str, Case]) -> None:
    doubled = cases["duplicating_every_task"]
    pairs, k = [(n, c) for n, c in counts(doubled, cases)], doubled["input"]["k"]
    assert suite(pairs * 2).pass_hat_k == suite(pairs).pass_hat_k
    assert suite(pairs * 2).pass_hat_k[k - 1] == doubled["expected"]["pass_hat_doubled"]
    added = cases["adding_an_all_fail_task"]
    made = suite(counts(added, cases))
    assert_curve(made.pass_hat_k, added["expected"]["pass_hat"], added["exact"]["pass_hat"])
    assert_curve(made.pass_at_k, added["expected"]["pass_at"], added["exact"]["pass_at"])
    assert len(of(cases, "metamorphic")) == 2


def test_identity(cases: dict[str, Case]) -> None:
    case = cases["pass_at_from_pass_hat"]
    made = suite(counts(cases["gpt4o_airline_curve"], cases))
    for k, value in enumerate(case["exact"]["pass_at"], start=1):
        from_hat = sum((-1) ** (j + 1) * math.comb(k, j) * made.pass_hat_k[j - 1] for j in range(1, k + 1))
        assert made.pass_at_k[k - 1] == float(Fraction(value)) == pytest.approx(from_hat, abs=1e-12)


def test_ranking(cases: dict[str, Case]) -> None:
    for case in of(cases, "ranking"):
        for (n, c), exact in zip(case["input"]["rows_n_c"], case["exact"]["disagreement"], strict=True):
            assert disagreement(n, c) == task_reliability(passes_of("t", n, c)).disagreement
            assert disagreement(n, c) == float(Fraction(exact))


def test_gap(cases: dict[str, Case]) -> None:
    for case in of(cases, "gap"):
        n, k = case["input"]["n"], case["input"]["k"]
        for c, contribution in zip(case["input"]["c"], case["expected"]["contribution"], strict=True):
            assert suite([(n, c)]).gap == contribution
        assert k == n
        assert suite([(n, c) for c in case["input"]["c"]]).gap == pytest.approx(
            case["expected"]["gap"], abs=1e-12
        )


def test_published_consistency(cases: dict[str, Case]) -> None:
    case = cases["consistency_gap_168x5"]
    tasks, n, expected = case["input"]["tasks"], case["input"]["n"], case["expected"]
    others = expected["successes"] - n * expected["always"]
    pairs = [(n, n)] * expected["always"]
    while others > 0:  # any split of the other successes over tasks that do not always pass
        pairs.append((n, min(others, n - 1)))
        others -= pairs[-1][1]
    pairs += [(n, 0)] * (tasks - len(pairs))
    made = suite(pairs)
    assert made.passed == expected["successes"]
    assert made.pass_hat_k[0] == float(Fraction(case["exact"]["mean"]))
    assert made.pass_hat_k[4] == float(Fraction(case["exact"]["pass_hat_5"]))
    assert made.gap == pytest.approx(expected["gap"], abs=1e-12)
    rates = cases["article_trial_rates"]
    micro = suite([(800, rates["expected"]["total"])]).micro
    assert micro == rates["expected"]["mean"] == float(Fraction(rates["exact"]["mean"]))


def test_records(cases: dict[str, Case]) -> None:
    for case in of(cases, "records"):
        settings = case["input"].get("settings", {})
        tasks = _recorded(case, cases)
        rows = [task_reliability(task, **settings) for task in tasks]
        _assert_records(case, suite_reliability(rows, **settings), [(row.n, row.c) for row in rows])


def _recorded(case: Case, cases: dict[str, Case]) -> list[Any]:
    given = case["input"]
    rows = given.get("records_task_trial_termination_verdict")
    if rows is None:
        rows = cases[given["records_task_trial_termination_verdict_of"]]["input"][
            "records_task_trial_termination_verdict"
        ]
    records: dict[str, list[Record]] = {task_id: [] for task_id in given["plan"]}
    for task_id, number, reason, verdict in rows:
        records[task_id].append((number, reason, verdict))
    return [task_of(task_id, records[task_id], plan) for task_id, plan in given["plan"].items()]


def _assert_records(case: Case, made: SuiteReliability, pairs: list[tuple[int, int]]) -> None:
    expected, exact = case["expected"], case.get("exact", {})
    known: dict[str, Any] = {
        "n": [n for n, _ in pairs],
        "c": [c for _, c in pairs],
        "expected": made.expected,
        "completed": made.completed,
        "counted": made.counted,
        "complete": made.complete,
        "max_k": len(made.pass_hat_k),
    }
    names = {
        "missing": made.missing,
        "unscored": made.unscored,
        "infra": made.infra,
        "limit_without_verdict": made.limit_unscored,
        "unplanned": made.unplanned,
    }
    curves = {
        "as_failure": made.pass_hat_k,
        "excluded": made.pass_hat_k_excluded,
        "best_case": made.pass_hat_k_best,
        "worst_case": made.pass_hat_k_worst,
    }
    for key, value in expected.items():
        if key in known:
            assert known[key] == value, (case["name"], key)
        elif key in names:
            assert list(names[key]) == [f"{task}/{trial}" for task, trial in value], (case["name"], key)
        elif key in curves:
            assert_curve(curves[key], value["pass_hat"], exact[key]["pass_hat"])
            assert len(curves[key]) == value.get("max_k", len(curves[key]))
        else:
            assert key == "absent_k"
            assert all(format_k(made.pass_hat_k, k) == "n/a" for k in value)
    if "excluded" in expected:
        assert made.tasks - len(made.excluded_no_trials) == expected["excluded"]["tasks_used"]
        assert list(made.excluded_no_trials) == expected["excluded"].get("tasks_without_value", [])
        assert made.excluded_n_min == expected["excluded"]["max_k"]


def test_recorded_airline_run_gives_its_published_curve(shared: Path) -> None:
    """From the log to the curve: .420 .273 .220 .200 over 50 tasks with 4 trials each."""
    log = shared / "data" / "tau_bench" / "gpt-4o-airline.json"
    if not log.is_file():
        pytest.skip("no recorded airline run beside the project")
    made = suite_reliability([task_reliability(task) for task in load([str(log)]).tasks])
    assert (made.tasks, made.counted, made.passed) == (50, 200, 84)
    assert [f"{value:.3f}" for value in made.pass_hat_k] == ["0.420", "0.273", "0.220", "0.200"]
    assert (made.never, made.sometimes, made.always) == (14, 26, 10)
