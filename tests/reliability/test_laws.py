"""Laws that hold for any counts, checked against counting by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reliability.trials import passes_of, task_of
from trajdiff.errors import InputError
from trajdiff.reliability.estimators import (
    InvalidCountsError,
    format_k,
    log10_pass_hat_k,
    none_of_k,
    pass_at_k,
    pass_hat_k,
    suite_curve,
    suite_reliability,
    task_reliability,
    why_absent,
)

COUNTS = st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))
SUITES = st.lists(COUNTS, min_size=1, max_size=12)


@pytest.mark.parametrize("n", range(1, 9))
def test_estimators_equal_the_share_of_all_draws(n: int) -> None:
    for c in range(n + 1):
        accepted = [True] * c + [False] * (n - c)
        for k in range(1, n + 1):
            draws = list(combinations(accepted, k))
            assert pass_hat_k(n, c, k) == sum(map(all, draws)) / len(draws)
            assert pass_at_k(n, c, k) == sum(map(any, draws)) / len(draws)
            assert none_of_k(n, c, k) == sum(not any(draw) for draw in draws) / len(draws)


@given(COUNTS)
def test_one_trial_is_the_mean_and_more_trials_part_the_two(counts: tuple[int, int]) -> None:
    n, c = counts
    hat = [pass_hat_k(n, c, k) for k in range(1, n + 1)]
    at = [pass_at_k(n, c, k) for k in range(1, n + 1)]
    assert hat[0] == at[0] == c / n
    assert hat == sorted(hat, reverse=True)
    assert at == sorted(at)
    assert hat[-1] == (1.0 if c == n else 0.0)
    assert at[-1] == (1.0 if c else 0.0)


@given(SUITES)
def test_pass_at_k_follows_from_pass_hat_k(suite: list[tuple[int, int]]) -> None:
    hat, at = suite_curve(suite)
    for k in range(1, min(len(hat), 8) + 1):
        total = sum((-1) ** (j + 1) * math.comb(k, j) * Fraction(hat[j - 1]) for j in range(1, k + 1))
        assert at[k - 1] == pytest.approx(float(total), abs=1e-12)


@given(COUNTS)
def test_alternating_differences_are_never_negative(counts: tuple[int, int]) -> None:
    n, c = counts
    hat = [Fraction(1), *(Fraction(math.comb(c, k), math.comb(n, k)) for k in range(1, n + 1))]
    assert [float(value) for value in hat[1:]] == [pass_hat_k(n, c, k) for k in range(1, n + 1)]
    for k in range(n + 1):
        for r in range(n - k + 1):
            assert sum((-1) ** j * math.comb(r, j) * hat[k + j] for j in range(r + 1)) >= 0


@given(SUITES, st.randoms(use_true_random=False))
def test_the_order_of_tasks_changes_no_digit(suite: list[tuple[int, int]], random: object) -> None:
    shuffled = list(suite)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert suite_curve(shuffled) == suite_curve(suite)
    rows = [task_reliability(passes_of(f"t{i}", n, c)) for i, (n, c) in enumerate(suite)]
    random.shuffle(shuffled_rows := list(rows))  # type: ignore[attr-defined]
    assert suite_reliability(shuffled_rows) == suite_reliability(rows)


@given(SUITES)
def test_a_suite_is_the_mean_of_its_tasks(suite: list[tuple[int, int]]) -> None:
    hat, at = suite_curve(suite)
    assert len(hat) == len(at) == min(n for n, _ in suite)
    for k in range(1, len(hat) + 1):
        mean = sum(Fraction(math.comb(c, k), math.comb(n, k)) for n, c in suite) / len(suite)
        assert hat[k - 1] == float(mean)


@given(COUNTS)
def test_swapping_outcomes_swaps_the_estimators(counts: tuple[int, int]) -> None:
    n, c = counts
    for k in range(1, n + 1):
        assert pass_hat_k(n, c, k) == pytest.approx(1 - pass_at_k(n, n - c, k), abs=1e-15)


@given(st.lists(st.sampled_from(["pass", "fail", "infra", "unscored", "limit"]), min_size=1, max_size=9))
def test_infrastructure_rows_enclose_the_headline(states: list[str]) -> None:
    rows = [task_reliability(passes_of("a", 9, 5, plan=9))]
    records = [
        (i, "time_limit" if s == "limit" else "unknown", "unscored" if s == "limit" else s)
        for i, s in enumerate(states)
    ]
    rows.append(task_reliability(task_of("b", records, plan=9)))
    made = suite_reliability(rows)
    for low, middle, high in (
        (made.pass_hat_k_worst, made.pass_hat_k, made.pass_hat_k_best),
        (made.pass_at_k_worst, made.pass_at_k, made.pass_at_k_best),
    ):
        assert len(low) == len(high) == 9
        assert all(low[k] <= middle[k] <= high[k] for k in range(len(middle)) if made.no_trials == ())
    assert made.expected == 18 == made.completed + len(made.missing)
    assert made.completed == made.counted + len(made.unscored)


def test_huge_counts_do_not_overflow() -> None:
    assert pass_hat_k(5000, 4999, 2500) == 0.5
    assert pass_hat_k(100_000, 50_000, 40_000) == 0.0
    assert math.isfinite(log10_pass_hat_k(100_000, 50_000, 40_000))
    assert log10_pass_hat_k(4, 2, 3) == -math.inf


@pytest.mark.parametrize(
    ("n", "c", "k"),
    [
        (0, 0, 1),
        (-1, 0, 1),
        (4, -1, 1),
        (4, 5, 1),
        (4, 2, 0),
        (4, 2, 5),
        (True, 1, 1),
        (4, True, 1),
        (4, 2, True),
        (4.0, 2, 1),
        (4, 2.0, 1),
        (4, 2, 1.0),
        ("4", 2, 1),
        (4, None, 1),
    ],
)
def test_impossible_counts_are_refused(n: int, c: int, k: int) -> None:
    for estimator in (pass_hat_k, pass_at_k, none_of_k, log10_pass_hat_k):
        with pytest.raises(InvalidCountsError) as refused:
            estimator(n, c, k)
        assert isinstance(refused.value, ValueError)
        assert isinstance(refused.value, InputError)


@pytest.mark.parametrize("suite", [[], [(0, 0)], [(4, 2), (3, 4)], [(0, 1)], [(4, 2), (-1, 0)]])
def test_impossible_suites_are_refused(suite: list[tuple[int, int]]) -> None:
    with pytest.raises(InvalidCountsError):
        suite_curve(suite)


def test_a_larger_k_is_absent_and_says_why() -> None:
    hat = task_reliability(passes_of("t", 4, 3)).pass_hat_k
    assert [format_k(hat, k) for k in range(1, 7)] == ["0.75", "0.50", "0.25", "0.00", "n/a", "n/a"]
    assert why_absent(5, 4) == "needs 5 trials, smallest n is 4"
    with pytest.raises(InvalidCountsError):
        format_k(hat, 0)
