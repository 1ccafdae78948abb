"""Which trial enters the figures under which name."""

from __future__ import annotations

import time

import pytest

from tests.reliability.trials import Record, passes_of, task_of
from trajdiff.errors import UsageError
from trajdiff.frozen import replace
from trajdiff.model import LIMITS, TerminationReason
from trajdiff.reliability.estimators import (
    InvalidCountsError,
    suite_curve,
    suite_reliability,
    task_reliability,
)

EVERY_STATE: list[Record] = [
    (0, "agent_done", "pass"),
    (1, "max_steps", "pass"),
    (2, "agent_done", "fail"),
    (3, "infra_error", "infra"),
    (4, "time_limit", "unscored"),
    (5, "agent_done", "unscored"),
    (6, "incomplete", "unscored"),
]


@pytest.mark.parametrize(
    ("infra", "unscored", "n"),
    [("fail", "exclude", 5), ("exclude", "exclude", 4), ("fail", "fail", 6), ("exclude", "fail", 5)],
)
def test_every_state_has_one_rule(infra: str, unscored: str, n: int) -> None:
    row = task_reliability(task_of("t", EVERY_STATE, plan=8), infra=infra, unscored=unscored)
    assert (row.n, row.c, row.expected, row.completed) == (n, 2, 8, 6)
    assert (row.infra, row.unscored, row.limit_unscored) == (("3",), ("5",), ("4",))
    assert row.missing == ("6", "7")
    assert len(row.pass_hat_k) == len(row.pass_at_k) == n
    suite = suite_reliability([row], infra=infra, unscored=unscored)
    assert (suite.counted, suite.passed, suite.failed) == (n, 2, n - 2)
    assert (suite.infra_policy, suite.unscored_policy) == (infra, unscored)


@pytest.mark.parametrize("reason", [reason.value for reason in TerminationReason])
def test_a_trial_without_verdict_fails_if_it_used_up_its_budget(reason: str) -> None:
    row = task_reliability(task_of("t", [(0, "agent_done", "pass"), (1, reason, "unscored")]))
    limited = TerminationReason(reason) in LIMITS
    assert row.n == (2 if limited else 1)
    assert row.limit_unscored == (("1",) if limited else ())
    assert row.unscored + row.missing == (() if limited else ("1",))


@pytest.mark.parametrize("reason", [reason.value for reason in TerminationReason])
@pytest.mark.parametrize("verdict", ["pass", "fail"])
def test_a_verdict_beats_the_termination_reason(reason: str, verdict: str) -> None:
    row = task_reliability(task_of("t", [(0, reason, verdict)], plan=1))
    assert (row.n, row.c, row.missing) == (1, int(verdict == "pass"), ())


def test_without_a_plan_nothing_is_expected() -> None:
    planned, unplanned = passes_of("a", 4, 2, plan=4), passes_of("b", 3, 3)
    suite = suite_reliability([task_reliability(planned), task_reliability(unplanned)])
    assert suite.expected is None
    assert (suite.completed, suite.counted, suite.missing) == (7, 7, ())
    assert len(suite.pass_hat_k_best) == len(suite.pass_hat_k_worst) == 3
    cut_off = task_of(
        "c", [(0, "agent_done", "pass"), (1, "incomplete", "unscored"), (2, "agent_done", "fail")]
    )
    suite = suite_reliability([task_reliability(cut_off)])
    assert (suite.expected, suite.completed, suite.missing) == (None, 2, ("c/1",))
    assert suite.pass_hat_k_best == suite.pass_hat_k_worst == (0.5, 0.0)


def test_missing_trials_keep_the_names_they_were_given_and_get_one_where_they_have_none() -> None:
    named = task_of("t", [(0, "agent_done", "pass")], plan=3, missing=("attempt 2", "attempt 10"))
    assert task_reliability(named).missing == ("attempt 2", "attempt 10")
    from_one = task_of("t", [(1, "agent_done", "pass"), (3, "agent_done", "fail")], plan=4)
    assert task_reliability(from_one).missing == ("2", "4")
    half = task_of("t", [(0, "agent_done", "pass")], plan=4, missing=("2",))
    assert task_reliability(half).missing == ("1", "2", "3")
    nothing = task_of("t", [], plan=2)
    assert task_reliability(nothing).missing == ("0", "1")


def test_a_trial_beyond_the_plan_moves_no_figure() -> None:
    five = [(i, "agent_done", "pass" if i == 4 else "fail") for i in (4, 0, 3, 1, 2)]
    row = task_reliability(task_of("t", five, plan=4))
    assert (row.n, row.c, row.completed, row.unplanned) == (4, 0, 4, ("4",))
    gap = [(i, "agent_done", "pass") for i in (0, 1, 2, 4)]
    row = task_reliability(task_of("t", gap, plan=4, missing=("3",)))
    assert (row.n, row.missing, row.unplanned) == (3, ("3",), ("4",))


def test_names_stand_in_natural_order_whatever_the_order_of_trials() -> None:
    records = [(i, "agent_done", "unscored") for i in (10, 2, 9, 1)]
    rows = [task_reliability(task_of(name, records)) for name in ("t10", "t9", "T1", "t9a")]
    assert rows[0].unscored == ("1", "2", "9", "10")
    assert suite_reliability(rows).unscored[:5] == ("T1/1", "T1/2", "T1/9", "T1/10", "t9/1")
    assert suite_reliability(rows).no_trials == ("T1", "t9", "t9a", "t10")


def test_ids_with_digits_of_any_kind_are_sorted() -> None:
    names = ["t²", "t" + "9" * 6000, "t" + "1" + "0" * 6000, "t007", "t7", "t٣", ""]
    rows = [task_reliability(passes_of(name, 0, 0)) for name in names]
    ordered = suite_reliability(rows).no_trials
    assert ordered[0] == ""
    assert ordered[1:5] == ("t007", "t7", names[1], names[2])
    assert ordered == suite_reliability(rows[::-1]).no_trials


def test_a_suite_without_a_counted_trial_has_no_figure_and_names_its_tasks() -> None:
    rows = [task_reliability(task_of(t, [(0, "agent_done", "unscored")], plan=1)) for t in ("a", "b")]
    suite = suite_reliability(rows)
    assert (suite.pass_hat_k, suite.pass_at_k, suite.micro, suite.flip_rate, suite.gap) == (
        (),
        (),
        None,
        None,
        None,
    )
    assert suite.no_trials == ("a", "b")
    assert not suite.complete
    assert suite.pass_hat_k_best == (1.0,)
    assert suite.pass_hat_k_worst == (0.0,)


def test_the_task_that_shortens_the_excluded_row_is_named() -> None:
    short = task_of(
        "L1-050", [*((i, "agent_done", "pass") for i in range(3)), (3, "infra_error", "infra")], plan=4
    )
    only = task_of("L1-060", [(i, "infra_error", "infra") for i in range(4)], plan=4)
    rows = [task_reliability(task) for task in (passes_of("L1-003", 4, 4, plan=4), short, only)]
    suite = suite_reliability(rows)
    assert (suite.excluded_shortest, suite.excluded_n_min) == (("L1-050",), 3)
    assert suite.excluded_no_trials == ("L1-060",)
    assert suite.pass_hat_k == pytest.approx((7 / 12, 0.5, 5 / 12, 1 / 3))
    assert suite.pass_hat_k_excluded == (1.0, 1.0, 1.0)
    excluded = [task_reliability(task, infra="exclude") for task in (short, only)]
    headline = suite_reliability(excluded, infra="exclude")
    assert headline.pass_hat_k == headline.pass_hat_k_excluded == (1.0, 1.0, 1.0)
    assert headline.excluded_shortest == ()


def test_the_shop_of_the_documented_screen() -> None:
    """Twelve tasks with four trials; every figure was worked out by hand beforehand."""
    marks = ["4:5", "0:1", "1:1", "3:2", "2:2"]
    tasks = []
    for mark in marks:
        c, times = map(int, mark.split(":"))
        tasks += [passes_of(f"{mark}-{i}", 4, c, plan=4) for i in range(times)]
    tasks.append(
        task_of("x", [*((i, "user_done", "pass") for i in range(3)), (3, "infra_error", "infra")], plan=4)
    )
    suite = suite_reliability([task_reliability(task) for task in tasks])
    assert (suite.tasks, suite.expected, suite.completed, suite.counted) == (12, 48, 48, 48)
    assert (suite.passed, suite.failed, suite.infra) == (34, 14, ("x/3",))
    assert (suite.always, suite.sometimes, suite.never) == (5, 6, 1)
    shown = [[round(value, 2) for value in row] for row in (suite.pass_hat_k, suite.pass_at_k)]
    assert shown == [[0.71, 0.57, 0.48, 0.42], [0.71, 0.85, 0.90, 0.92]]
    assert [round(value, 2) for value in suite.pass_hat_k_excluded] == [0.73, 0.61, 0.54]
    assert [round(value, 2) for value in suite.pass_hat_k_best] == [0.73, 0.61, 0.54, 0.50]
    assert suite.pass_hat_k_worst == suite.pass_hat_k


def test_unknown_rules_are_usage_errors() -> None:
    task = passes_of("t", 2, 1)
    with pytest.raises(UsageError, match='infra is "drop", not fail or exclude'):
        task_reliability(task, infra="drop")
    with pytest.raises(UsageError, match='unscored is "zero", not exclude or fail'):
        suite_reliability([task_reliability(task)], unscored="zero")


def test_rows_whose_counts_do_not_add_up_are_refused() -> None:
    row = task_reliability(task_of("t", EVERY_STATE, plan=8))
    with pytest.raises(InvalidCountsError, match="no tasks"):
        suite_reliability([])
    with pytest.raises(InvalidCountsError, match="6 completed trials are not 5 counted and 2 left out"):
        suite_reliability([row], infra="exclude")
    with pytest.raises(InvalidCountsError, match="9 expected trials are not 6 completed and 2 missing"):
        suite_reliability([replace(row, expected=9)])


def test_a_plan_of_thousands_costs_no_more_than_its_names() -> None:
    """The rows over planned trials stop where nobody looks; the counts and the names do not."""
    rows = [task_reliability(passes_of(f"t{at}", 4, at, plan=9_999)) for at in range(4)]
    start = time.process_time()
    suite = suite_reliability(rows)
    assert time.process_time() - start < 1.0
    assert (suite.expected, suite.completed, len(suite.missing)) == (4 * 9_999, 16, 4 * 9_995)
    # 0, 1, 2 and 3 accepted trials; in the best case the 9,995 others too.
    assert suite.pass_hat_k_best[0] == pytest.approx((4 * 9_995 + 6) / (4 * 9_999))
    assert suite.pass_hat_k_worst[0] == pytest.approx(6 / (4 * 9_999))
    assert len(suite.pass_hat_k_best) == len(suite.pass_at_k_worst) == 64


def test_a_task_of_thousands_of_trials_has_its_whole_curve() -> None:
    start = time.process_time()
    hat, at = suite_curve([(3_000, 2_999)])
    assert time.process_time() - start < 2.0
    # One failure in n: C(n-1,k)/C(n,k) = (n-k)/n, and any two trials hold a pass.
    assert hat == tuple((3_000 - k) / 3_000 for k in range(1, 3_001))
    assert at[0] == 2_999 / 3_000
    assert set(at[1:]) == {1.0}
