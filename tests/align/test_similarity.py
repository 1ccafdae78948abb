"""How alike two steps are: a table of known relations, and laws over every pair of sample steps."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.divergence.made import Line, Step, agent, broken, call, prepared, think, trial_of, user
from trajdiff.align.batch import BLOCKED
from trajdiff.align.cost_table import CostTable
from trajdiff.align.language import fold
from trajdiff.align.prepared import PreparedStep, PreparedTrial, Preparer
from trajdiff.align.similarity import (
    ENOUGH,
    FEW,
    FULL,
    Costs,
    likeness,
    near_names,
    text_likeness,
    text_likenesses,
    weight,
)
from trajdiff.divergence.effects import classify
from trajdiff.importers import load
from trajdiff.settings import Settings

PROJECT = Path(__file__).resolve().parents[2]


def alike(left: Step, right: Step) -> int:
    """Likeness of two steps, each as the only one of its trial."""
    (one,), (other,) = trial_of(left), trial_of(right)
    assert likeness(one, other) == likeness(other, one)
    return likeness(one, other)


LOOK = call("get_order", {"status": "paid"}, order_id="A1001")
EQUAL: dict[str, tuple[Line, Line]] = {
    "itself": (LOOK, LOOK),
    "arguments as text": (LOOK, LOOK.stringified()),
    "a result with other keys first": (call("f", {"a": 1, "b": 2}), call("f", {"b": 2, "a": 1})),
    "case and width of a message": (user("Refund A1001"), user("refund Ａ１００１")),
    "spaces in a message": (agent("Done.  Bye."), agent("Done. Bye. ")),
}


@pytest.mark.parametrize(("left", "right"), EQUAL.values(), ids=EQUAL)
def test_equal_steps(left: Line, right: Line) -> None:
    assert alike(left, right) == FULL


#: The first pair of each row is more alike than the second.
CLOSER: dict[str, tuple[tuple[Line, Line], tuple[Line, Line]]] = {
    "another result than another argument": (
        (LOOK, call("get_order", {"status": "new"}, order_id="A1001")),
        (LOOK, call("get_order", {"status": "paid"}, order_id="A1002")),
    ),
    "one changed argument than two": (
        (call("f", 1, a="A1", b="B1"), call("f", 1, a="A1", b="B2")),
        (call("f", 1, a="A1", b="B1"), call("f", 1, a="A2", b="B2")),
    ),
    "the same tool than another one": (
        (LOOK, call("get_order", {"status": "new"}, order_id="Z9")),
        (LOOK, call("get_user", {"status": "paid"}, order_id="A1001")),
    ),
    "prose about the same than about something else": (
        (call("note", 1, text="the lamp arrived broken"), call("note", 1, text="the lamp came broken")),
        (call("note", 1, text="the lamp arrived broken"), call("note", 1, text="please cancel my plan")),
    ),
    "the same amount in other words than another amount in the same words": (
        (agent("I can refund 49.90 for the lamp."), agent("For the lamp, 49.90 is what you get back.")),
        (agent("I can refund 49.90 for the lamp."), agent("I can refund 99.80 for the rug.")),
    ),
    "the same number of list members than fewer": (
        (call("f", 1, ids=["A1", "A2", "A3"]), call("f", 1, ids=["A1", "A2", "A4"])),
        (call("f", 1, ids=["A1", "A2", "A3"]), call("f", 1, ids=["A1", "B2", "B4"])),
    ),
    "Chinese words about the same": (
        (user("我想退掉订单里的台灯"), user("我要退订单里的那盏台灯")),
        (user("我想退掉订单里的台灯"), user("请问积分什么时候过期")),
    ),
}


@pytest.mark.parametrize(("closer", "farther"), CLOSER.values(), ids=CLOSER)
def test_closer_pairs(closer: tuple[Line, Line], farther: tuple[Line, Line]) -> None:
    assert FULL > alike(*closer) > alike(*farther)


NEVER: dict[str, tuple[Step, Step]] = {
    "a call and a message": (LOOK, agent("get_order A1001")),
    "a message of the agent and one of the user": (agent("Yes, please."), user("Yes, please.")),
    "calls of different tools": (LOOK, call("refund_item", {"status": "paid"}, order_id="A1001")),
    "words of opposite action": (agent("I will enable the alarm."), agent("I will disable the alarm.")),
    "opposite words in Chinese": (agent("为您开启提醒服务"), agent("为您关闭提醒服务")),
    "opposite tools": (
        call("add_item", {"ok": True}, item="A1"),
        call("remove_item", {"ok": True}, item="A1"),
    ),
}


@pytest.mark.parametrize(("left", "right"), NEVER.values(), ids=NEVER)
def test_steps_that_never_share_a_row(left: Step, right: Step) -> None:
    assert alike(left, right) < ENOUGH
    assert Costs().substitute(trial_of(left)[0], trial_of(right)[0]) is None


def test_an_error_is_never_equal_to_a_success_of_the_same_words() -> None:
    assert ENOUGH <= alike(call("f", "busy", a="A1"), broken("f", "busy", a="A1")) < FULL


def test_any_two_calls_of_one_tool_may_share_a_row() -> None:
    assert alike(call("f", 1, a="A1"), call("f", 2, b="Z9")) >= ENOUGH


def test_tools_spelled_alike_are_one_where_arguments_and_results_agree() -> None:
    order = {"status": "paid"}
    assert alike(call("get_order", order, id="A1"), call("getOrder", order, id="A1")) >= ENOUGH
    assert alike(call("get_order", order, id="A1"), call("getOrders", order, id="A2")) < ENOUGH
    assert alike(call("get_order", order, id="A1"), call("getOrders", {"status": "new"}, id="A1")) < ENOUGH


def test_tools_with_one_word_in_common_are_one_where_arguments_and_results_agree() -> None:
    order = {"status": "paid", "total": 99.8}
    left, right = (call(name, order, order_id="A1001") for name in ("get_order", "fetch_order_details"))
    assert alike(left, right) >= ENOUGH


@pytest.mark.parametrize(
    ("left", "right", "near"),
    [
        ("get_order", "getOrder", True),
        ("get_order", "get-order", True),
        ("get_order", "get_orders", True),
        ("get_order_details", "get_order", True),
        ("get_order", "cancel_plan", False),
        ("enable_alarm", "disable_alarm", False),
        ("lock_door", "unlock_door", False),
        ("添加商品", "删除商品", False),
    ],
)
def test_near_names(left: str, right: str, near: bool) -> None:
    assert near_names(left, right) == near_names(right, left) == near


def test_weights_rank_what_steps_can_change() -> None:
    trial = prepared(
        [user("hi"), LOOK, think("hm"), call("refund_item", 1, order_id="A1001"), agent("Done."), agent(" ")]
    )
    said, read, thought, write, told, empty, end = (weight(step) for step in trial.steps)
    assert write > read > told >= said > thought > 0
    assert empty < said
    assert end == weight(trial.steps[-1]) > 0
    retried = prepared([broken("get_order", "Error: busy", order_id="A1001"), LOOK])
    assert weight(retried.steps[0]) < weight(retried.steps[1])


@given(st.text(max_size=40), st.text(max_size=40))
def test_texts_are_alike_both_ways(left: str, right: str) -> None:
    found = text_likeness(left, right)
    assert found == text_likeness(right, left)
    assert 0 <= found <= FULL
    assert text_likeness(left, left) == FULL


def sample_trials() -> list[tuple[PreparedTrial, ...]]:
    """The prepared trials of every sample task."""
    found = load([str(PROJECT / "sample_traces")])
    preparer = Preparer(effect_of=classify(found.trials, Settings()).of)
    return [preparer.trials(task.trials) for task in found.tasks]


def test_laws_over_every_pair_of_steps_of_a_sample_task() -> None:
    costs = Costs()
    for trials in sample_trials():
        steps: dict[str, PreparedStep] = {step.full_key: step for trial in trials for step in trial.steps}
        for step in steps.values():
            assert likeness(step, step) == FULL
            assert costs.substitute(step, step) == 0
            assert weight(step) > 0
        for left, right in combinations(steps.values(), 2):
            found = likeness(left, right)
            assert found == likeness(right, left)
            assert 0 <= found < FULL, (left.full_key, right.full_key)
            assert costs.likeness(left, right) == costs.likeness(right, left) == found
            cost = costs.substitute(left, right)
            assert (cost is None) == (found < ENOUGH)
            # Putting two steps into one row never costs more than leaving both out.
            assert cost is None or 0 <= cost <= weight(left) + weight(right)


_SOME = ("a", "bb", "ccc", "the", "order", "of", "é", "12", "x9", "--", "dd")
_FEW = st.lists(st.sampled_from(_SOME), max_size=9).map(" ".join)
_TEXT = st.one_of(_FEW, st.text(alphabet="ab cdé1 ", max_size=40))


@given(_TEXT, _TEXT)
def test_words_are_compared_as_rapidfuzz_compares_them(left: str, right: str) -> None:
    """Parted and sorted words are kept between comparisons; the numbers are those of the library, exactly."""
    from rapidfuzz import fuzz

    one, other = fold(left), fold(right)
    if one != other:
        expected = int(5 * (fuzz.token_sort_ratio(one, other) + fuzz.token_set_ratio(one, other)))
        assert text_likeness(left, right) == expected


@given(st.lists(st.tuples(st.one_of(_TEXT, st.text(max_size=30)), _TEXT), min_size=FEW, max_size=20))
def test_texts_compared_together_are_as_alike_as_one_by_one(pairs: list[tuple[str, str]]) -> None:
    assert text_likenesses(pairs) == [text_likeness(left, right) for left, right in pairs]


def test_steps_compared_together_are_as_alike_as_one_by_one() -> None:
    for trials in sample_trials():
        steps = {step.full_key: step for trial in trials for step in trial.steps}
        pairs = list(combinations(steps.values(), 2))
        assert Costs().likenesses(pairs) == [likeness(left, right) for left, right in pairs]


def test_a_table_of_costs_says_what_each_pair_costs() -> None:
    for trials in sample_trials():
        costs, table = Costs(), CostTable(Costs().likenesses)
        for left, right in combinations(trials, 2):
            rows, columns = table.places(left.steps), table.places(right.steps)
            assert rows is not None
            assert columns is not None
            table.cover([(rows, columns)])
            expected = [[costs.substitute(one, other) for other in right.steps] for one in left.steps]
            found = table.block(rows, columns).tolist()
            assert [[None if cost == BLOCKED else cost for cost in row] for row in found] == expected
            assert table.weights(columns).tolist() == [weight(step) for step in right.steps]
