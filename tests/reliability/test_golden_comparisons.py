"""Golden values of two systems on the same tasks."""

from __future__ import annotations

from fractions import Fraction

from tests.reliability.golden import Case, near, of
from trajdiff.reliability.paired import differing_at_most, holm, pair_tasks, paired_difference
from trajdiff.reliability.sign_flip import sign_flip


def sides(case: Case) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    given = case["input"]
    return [(given["n_a"], c) for c in given["c_a"]], [(given["n_b"], c) for c in given["c_b"]]


def test_paired(cases: dict[str, Case]) -> None:
    for case in of(cases, "paired"):
        a, b = sides(case)
        made = paired_difference(a, b, case["input"]["k"])
        expected, exact = case["expected"], case["exact"]
        assert made.difference == float(Fraction(exact["difference"]))
        assert made.test.p == Fraction(exact["sign_flip_p"])
        assert made.test.attainable == Fraction(exact["attainable_min_p"])
        assert (made.wins, made.ties, made.losses) == (expected["wins"], expected["ties"], expected["losses"])
        assert made.test.differing == expected["differing_tasks"]
        assert (made.stderr, made.stderr_unpaired) == near((expected["stderr"], expected["stderr_unpaired"]))
        interval = None if made.low is None else [made.low, made.high]
        assert interval == (None if expected["t_interval"] is None else near(expected["t_interval"]))
        if "mde_80_percent_power" in expected:
            assert made.detectable == near(expected["mde_80_percent_power"])
        assert made.few_differ is (expected["differing_tasks"] < 6)


def test_swapping_the_sides_negates_the_difference_and_keeps_p(cases: dict[str, Case]) -> None:
    for case in of(cases, "paired"):
        a, b = sides(case)
        there, back = (paired_difference(x, y, case["input"]["k"]) for x, y in ((a, b), (b, a)))
        assert back.difference == -there.difference
        assert back.test == there.test
        assert (back.wins, back.losses) == (there.losses, there.wins)
        if there.low is not None and there.high is not None:
            assert (back.low, back.high) == near((-there.high, -there.low))


def test_paired_zero(cases: dict[str, Case]) -> None:
    for case in of(cases, "paired_zero"):
        assert [differing_at_most(m) for m in case["input"]["m"]] == near(case["expected"]["upper"])
    a, b = sides(cases["paired_no_difference"])
    made = paired_difference(a, b, 1)
    assert (made.reason, made.differing_at_most) == ("no task differs", differing_at_most(4))


def test_mcnemar(cases: dict[str, Case]) -> None:
    for case in of(cases, "mcnemar"):
        only_a, only_b = case["input"]["b_only_a_passes"], case["input"]["c_only_b_passes"]
        a = [(1, 1)] * only_a + [(1, 0)] * only_b + [(1, 1)] * 9
        b = [(1, 0)] * only_a + [(1, 1)] * only_b + [(1, 1)] * 9
        assert paired_difference(a, b, 1).test.p == Fraction(case["exact"]["p"])


def test_paired_tasks(cases: dict[str, Case]) -> None:
    for case in of(cases, "paired_tasks"):
        made = pair_tasks(case["input"]["a"], case["input"]["b"])
        assert list(made.compared) == case["expected"]["compared"]
        assert list(made.only_a) == case["expected"]["only_a"]
        assert list(made.only_b) == case["expected"]["only_b"]


def test_holm_steps_down(cases: dict[str, Case]) -> None:
    for case in of(cases, "multiplicity"):
        assert holm(case["input"]["p"]) == near(tuple(case["expected"]["holm"]))
    assert holm([]) == ()


def test_signs_are_drawn_only_where_counting_them_would_take_minutes() -> None:
    odd = [Fraction(1, p) for p in (7, 11, 13, 17, 19, 23, 29, 31)] * 3
    made = sign_flip(odd)
    assert not made.exact
    assert made.seed == 0
    assert made.p == sign_flip(odd[::-1]).p == Fraction(1, 10_000)
    assert sign_flip(odd[:5]).exact
