"""Golden values of selectors, cheaper designs and published curves."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tests.reliability.golden import Case, counts, near, of, strings
from trajdiff.errors import UsageError
from trajdiff.reliability.curve_check import Published, Status, check_curve, published
from trajdiff.reliability.designs import (
    at_least_one_failure,
    beta_pass_hat,
    hard_subset,
    runs_without_failure,
    selected_at_k,
    stop_at_first_pass_mean,
    two_phase,
)
from trajdiff.reliability.pass_k import InvalidCountsError, pass_hat_k, suite_curve

LAWS = {
    "Beta(2,1)": (Fraction(2), Fraction(1)),
    "Beta(1/2,1/2)": (Fraction(1, 2), Fraction(1, 2)),
    "Beta(8,1/2)": (Fraction(8), Fraction(1, 2)),
    "Beta(1,3)": (Fraction(1), Fraction(3)),
}


def test_selector(cases: dict[str, Case]) -> None:
    for case in of(cases, "selector"):
        tasks = [(list(map(bool, task["passed"])), task["selected"]) for task in case["input"]["tasks"]]
        made, expected = selected_at_k(tasks), case["expected"]
        assert (made.k, made.pass_at_k) == (3, expected["pass_at_3"])
        assert (made.selected, made.loss) == (expected["selected_at_3"], expected["selector_loss"])
    with pytest.raises(InvalidCountsError):
        selected_at_k([([True], 1)])


def test_extrapolation(cases: dict[str, Case]) -> None:
    for case in of(cases, "extrapolation"):
        given = case["input"]
        made = [beta_pass_hat(Fraction(given["a"]), Fraction(given["b"]), k) for k in given["k"]]
        assert made == [Fraction(x) for x in case["exact"]["pass_hat"]]


def test_bias(cases: dict[str, Case]) -> None:
    assert len(of(cases, "bias")) == 5
    stop = cases["stop_at_first_pass_bias"]
    made = stop_at_first_pass_mean(Fraction(str(stop["input"]["p"])), stop["input"]["max_n"])
    assert made == Fraction(stop["exact"]["mean_of_c_over_n"]) > Fraction(stop["exact"]["true"])
    hard = cases["hard_subset_bias"]
    for index, law in enumerate(hard["input"]["laws"]):
        curve = [beta_pass_hat(*LAWS[law], k) for k in range(1, 6)]
        assert curve[3] == Fraction(hard["exact"]["true_pass_hat_4"][index])
        assert hard_subset(curve, 4) == float(Fraction(hard["exact"]["reported"][index]))
        once = curve[4] / curve[0]
        assert once == Fraction(hard["exact"]["true_pass_hat_4_among_passed_once"][index])
    recorded = cases["hard_subset_on_gpt4o_airline"]
    texts = strings(recorded, cases)
    screened = [text for text in texts if text[0] == "1"]
    later = [pass_hat_k(3, text[1:].count("1"), 3) for text in screened]
    assert len(screened) == recorded["expected"]["passed_trial_0"]
    assert sum(later) == recorded["expected"]["pass_all_four"]
    exact = float(Fraction(recorded["exact"]["pass_later_three_among_passed_trial_0"]))
    assert sum(later) / len(later) == near(exact)
    for n, c, k in cases["trial_resampling_is_biased"]["input"]["rows_n_c_k"]:
        assert pass_hat_k(n, c, k) == 0 < (c / n) ** k
    biased = cases["trial_resampling_on_gpt4o_airline"]
    curve_hat, _ = suite_curve(counts(biased, cases))
    for k, value in biased["exact"]["unbiased"].items():
        assert curve_hat[int(k) - 1] == float(Fraction(value))


def test_design(cases: dict[str, Case]) -> None:
    assert len(of(cases, "design")) == 3
    case = cases["two_phase_weighting"]
    given = case["input"]
    failed, passed = (
        [Fraction(str(x)).limit_denominator(100) for x in given[name]]
        for name in ("x_failed", "x_passed_sample")
    )
    made = two_phase(failed, passed, given["failed"], given["passed"])
    assert made.estimate == float(Fraction(case["exact"]["estimate"]))
    assert made.variance == float(Fraction(case["exact"]["variance"]))
    assert made.weight_of_pass == case["expected"]["weight_of_a_sampled_pass"]
    stable = cases["p95_is_not_stable"]
    for k, value in zip(stable["input"]["k"], stable["expected"]["all_pass"], strict=True):
        single, _ = at_least_one_failure(0.5, stable["input"]["p"] ** k, k)
        assert 1 - single == near(value)
    apart = cases["same_task_and_different_tasks"]
    made_same, made_other = at_least_one_failure(apart["input"]["mean"], apart["input"]["pass_hat_4"], 4)
    assert made_same == near(apart["expected"]["at_least_one_failure_same_task"])
    assert made_other == near(apart["expected"]["at_least_one_failure_four_random_tasks"])


def test_planning(cases: dict[str, Case]) -> None:
    for case in of(cases, "planning"):
        assert [runs_without_failure(p) for p in case["input"]["p"]] == case["expected"]["runs"]


def figures(case: Case) -> list[Published]:
    given = case["input"]
    half = Fraction(str(given["half_unit"]))
    rows = given["pass_hat"]
    pairs = rows.items() if isinstance(rows, dict) else enumerate(rows, start=1)
    made = [published("pass_hat", int(k), text) for k, text in pairs]
    assert all(figure.half_unit == half or figure.half_unit > half for figure in made)
    return [Published(metric=f.metric, k=f.k, value=f.value, half_unit=half) for f in made]


def test_invert_curve(cases: dict[str, Case]) -> None:
    for case in of(cases, "invert_curve"):
        given, expected = case["input"], case["expected"]
        made = check_curve(figures(case), given["tasks"], given["n"])
        assert made.status == expected["status"], case["name"]
        if "histogram" in expected:
            assert list(made.histogram) == expected["histogram"]
            assert made.text == f"histogram {' '.join(map(str, expected['histogram']))} (unique)"
        if "unrounded_solution_c0_to_c4" in expected:
            assert list(made.unrounded) == [Fraction(x) for x in case["exact"]["unrounded_solution_c0_to_c4"]]
        if "possible_with_n" in expected:
            assert set(expected["possible_with_n"]) <= set(made.possible_with)
            assert not set(expected["impossible_with_n"]) & set(made.possible_with)
            assert made.text.startswith("no 50 tasks with 4 trials each give this curve; possible with n = ")


def test_invert_curve_partial(cases: dict[str, Case]) -> None:
    for case in of(cases, "invert_curve_partial"):
        given, expected = case["input"], case["expected"]
        made = check_curve(figures(case), given["tasks"], given["n"])
        assert made.status == expected["status"]
        assert [list(span) for span in made.ranges] == expected["range_by_c"]
        assert made.text == "not determined: tasks with 0 to 3 passes 0 to 6, 0 to 12, 0 to 6, 8"


def test_invert_columns(cases: dict[str, Case]) -> None:
    for case in of(cases, "invert_columns"):
        given, expected = case["input"], case["expected"]
        made = []
        for name, text in given["columns"].items():
            metric, _, k = name.rpartition("_")
            made.append(published(metric, int(k), text))
        found = check_curve(made, given["tasks"], given["n"])
        assert (found.status, list(found.histogram)) == (expected["status"], expected["histogram"])


def test_every_equal_n_curve_inverts_to_its_own_histogram(cases: dict[str, Case]) -> None:
    for name in ("gpt4o_airline_curve", "article_four_tasks_curve", "two_tasks_p1_and_p0", "three_failures"):
        pairs = counts(cases[name], cases)
        n = pairs[0][0]
        hat, _ = suite_curve(pairs)
        made = check_curve([published("pass_hat", k, f"{x:.6f}") for k, x in enumerate(hat, 1)], len(pairs), n)
        assert made.status is Status.UNIQUE
        assert made.histogram == tuple(sum(c == count for _, c in pairs) for count in range(n + 1))


def test_figures_are_read_as_they_were_printed() -> None:
    assert published("pass_hat", 1, "75.9%") == published("pass_hat", 1, ".759")
    assert published("pass_hat", 1, "1").half_unit == Fraction(1, 2)
    assert published("pass_hat", 1, ".60").half_unit == Fraction(1, 200)
    for text in ("", "x", "1/2", "1e-1", "-0.1", "1.2", "120%", "nan", "inf"):
        with pytest.raises(UsageError):
            published("pass_hat", 1, text)
    for tasks, n, k in ((0, 4, 1), (5, 0, 1), (5, 4, 5), (5, 4, 0)):
        with pytest.raises(UsageError):
            check_curve(
                [Published(metric="pass_hat", k=k, value=Fraction(1, 2), half_unit=Fraction(1))], tasks, n
            )


def test_runs_need_a_chance_between_0_and_1() -> None:
    for p in (0.0, 1.0, -1.0, math.nan):
        with pytest.raises(UsageError):
            runs_without_failure(p)
