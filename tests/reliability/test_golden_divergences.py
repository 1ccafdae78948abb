"""Golden values of a divergence in one task, and across tasks."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reliability.golden import Case, exactly, near, of
from trajdiff.reliability.association import (
    Table,
    benjamini_hochberg,
    ceiling,
    exact_test,
    luck_probability,
    perfect_split,
    relabelling,
    risk_difference,
)
from trajdiff.reliability.pass_k import InvalidCountsError


def tables(case: Case) -> list[Table]:
    return [Table(a=a, r=r, c=c, n=n) for a, r, c, n in case["input"]["tables_a_r_c_n"]]


def test_fisher_attainable(cases: dict[str, Case]) -> None:
    for case in of(cases, "fisher_attainable"):
        made = [exact_test([perfect_split(s, f)]) for s, f in case["input"]["rows_passes_failures"]]
        assert [one.p for one in made] == exactly(case["exact"]["p"])
        assert [one.mid_p for one in made] == exactly(case["exact"]["mid_p"])
        assert [one.attainable_p for one in made] == exactly(case["exact"]["p"])


def test_stratified_exact(cases: dict[str, Case]) -> None:
    for case in of(cases, "stratified_exact"):
        made, expected = exact_test(tables(case)), case["expected"]
        assert made.informative == expected["informative_tasks"]
        found = (made.p, made.mid_p, made.attainable_p, made.attainable_mid_p)
        names = ("p", "mid_p", "attainable_min_p", "attainable_min_mid_p")
        exact: Any = case.get("exact", expected)
        assert list(found) == exactly([exact[name] for name in names]), case["name"]
        assert made.testable() is (made.attainable_mid_p is not None and made.attainable_mid_p <= 0.05)


def test_one_table_is_the_two_sided_fisher_test() -> None:
    from scipy.stats import fisher_exact  # type: ignore[import-untyped]

    for n in range(2, 9):
        for r in range(1, n):
            for c in range(1, n):
                for a in range(max(0, r + c - n), min(r, c) + 1):
                    other = fisher_exact([[a, r - a], [c - a, n - r - c + a]]).pvalue
                    assert float(exact_test([Table(a=a, r=r, c=c, n=n)]).p or 0) == near(other)


def test_risk_difference(cases: dict[str, Case]) -> None:
    for case in of(cases, "risk_difference"):
        assert risk_difference(tables(case)) == Fraction(case["exact"]["risk_difference"])
    assert risk_difference([Table(a=0, r=0, c=2, n=4)]) is None


def test_multiplicity(cases: dict[str, Case]) -> None:
    for case in of(cases, "multiplicity"):
        p = case["input"]["p"]
        assert benjamini_hochberg(p, [0.0] * len(p)).q == near(tuple(case["expected"]["bh_q"]))


@given(st.lists(st.sampled_from([0.0, 0.001, 0.01, 0.02, 0.2, 0.5, 1.0]), min_size=1, max_size=12))
def test_the_step_up_by_hand_is_that_of_scipy(p_values: list[float]) -> None:
    from scipy.stats import false_discovery_control

    made = benjamini_hochberg(p_values, [0.0] * len(p_values))
    assert made.q == near(tuple(false_discovery_control(p_values)))


def test_multiplicity_filter(cases: dict[str, Case]) -> None:
    for case in of(cases, "multiplicity_filter"):
        given, expected = case["input"], case["expected"]
        made = benjamini_hochberg(given["p"], given["attainable_min"], given["alpha"])
        assert (made.tested, made.untestable) == (expected["tested"], expected["untestable"])
        assert [q is None for q in made.q] == [q is None for q in expected["q"]]
        assert [q for q in made.q if q is not None] == near([q for q in expected["q"] if q is not None])
    assert benjamini_hochberg([], []).q == ()


def test_luck(cases: dict[str, Case]) -> None:
    for case in of(cases, "luck"):
        made = [luck_probability(*row) for row in case["input"]["rows_S_F_L_q"]]
        assert made == near(case["expected"]["luck"])
    assert luck_probability(2, 2, 0, 0.5) == 0.0
    assert luck_probability(2, 0, 3, 0.0) == 1.0
    with pytest.raises(InvalidCountsError):
        luck_probability(2, 2, 10, 1.5)


def test_relabelling(cases: dict[str, Case]) -> None:
    for case in of(cases, "relabelling"):
        nodes = [list(map(bool, node)) for node in case["input"]["nodes_deviates"]]
        made = relabelling(list(map(bool, case["input"]["passed"])), nodes)
        assert made.best_p == Fraction(case["exact"]["best_p"])
        assert made.p == Fraction(case["exact"]["relabelling_p"])
        assert made.relabellings == case["expected"]["relabellings"]
        assert made.seed is None


def test_many_trials_are_relabelled_at_random_with_a_seed() -> None:
    passed = [True] * 7 + [False] * 5
    node = [not one for one in passed]
    made = relabelling(passed, [node], seed=3)
    assert (made.relabellings, made.seed) == (9_999, 3)
    assert made.best_p == Fraction(1, 792)
    assert made.p == near(1 / 792, 0.002)
    assert made == relabelling(passed, [node], seed=3)


def test_ceiling(cases: dict[str, Case]) -> None:
    for case in of(cases, "ceiling"):
        rows = [tuple(row) for row in case["input"]["rows_n_c_f"]]
        for k, value in case["exact"]["ceiling"].items():
            assert ceiling(rows, int(k)) == float(Fraction(value))
        for k, value in case["exact"]["pass_hat"].items():
            assert ceiling([(n, c, 0) for n, c, _ in rows], int(k)) == float(Fraction(value))
    with pytest.raises(InvalidCountsError):
        ceiling([(4, 3, 2)], 1)


@pytest.mark.parametrize("row", [(3, 2, 2, 4), (0, 3, 3, 4), (-1, 2, 2, 4), (1, 5, 2, 4)])
def test_impossible_tables_are_refused(row: tuple[int, int, int, int]) -> None:
    a, r, c, n = row
    with pytest.raises(InvalidCountsError):
        Table(a=a, r=r, c=c, n=n)
