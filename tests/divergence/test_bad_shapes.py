"""Odd trials: no crash, no false claim, and a finding or an abstention that says why.

``hold`` is what every answer must satisfy, whatever was recorded.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.divergence.desk import (
    ASK,
    BYE,
    DONE,
    FIRST,
    GUARD,
    LOOK,
    OFFER,
    OPENING,
    PASSES,
    REFUND,
    YES,
    refund,
)
from tests.divergence.made import (
    Line,
    Step,
    agent,
    call,
    check_blamed,
    check_spared,
    corpus,
    of,
    raw_step,
    record,
    records,
    user,
)
from trajdiff.analysis import Analysis, analyse
from trajdiff.divergence.finding import Grade, Kind, Reason
from trajdiff.model import Verdict
from trajdiff.report import build_report
from trajdiff.settings import Settings

WRONG = (*OPENING, OFFER, YES, refund(94.9).root(), DONE, BYE)


def hold(made: Sequence[dict[str, Any]]) -> Analysis:
    """The analysis, after checking that everybody is answered and that no answer claims without a place."""
    found = corpus(made)
    analysis = analyse(found, Settings())
    for task in found.tasks:
        finding = analysis.findings[task.task_id]
        asked = [t.trial_id for t in task.trials if t.verdict in (Verdict.FAIL, Verdict.INFRA)]
        assert [d.trial_id for d in finding.divergences] == asked
        for said in finding.divergences:
            assert said.headline
            assert said.sentence
            assert said.row_id
            if said.abstained:
                assert said.reason is not None
                assert said.root is None
            elif said.kind is not Kind.INFRASTRUCTURE:
                assert said.grade is not None
                assert said.root is not None
                assert said.manifest is not None
        if finding.table is not None:
            comparable = [t.trial_id for t in task.trials if t.comparable]
            assert sorted(finding.table.columns) == sorted(comparable)
    report = build_report(found, analysis, Settings())
    assert [len(task.trials) for task in report.tasks] == [len(task.trials) for task in found.tasks]
    return analysis


def put(steps: Sequence[Line], at: int, **changed: Any) -> list[Step]:
    """Steps with one of them recorded in an odd way."""
    return [{**raw_step(step), **changed} if number == at else step for number, step in enumerate(steps)]


# Long and large


def large(what: str, size: int, project: Path) -> dict[str, Any]:
    """The answer about a large task, from a process of its own, and that its time grows with the steps and not
    with their square: that would be 16 times as long for four times as many. Raises TimeoutError."""
    command = [sys.executable, "-m", "tests.divergence.large", what, str(size)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    if done.returncode < 0:
        raise TimeoutError
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found.pop("times") < 13
    return found


def test_trials_of_five_thousand_steps(project: Path) -> None:
    said = large("steps", 5000, project)
    assert (said["kind"], said["step"]) == ("wrong_argument", 4998)


LARGE = {
    "ends": (5000, "wrong_argument", 4995),
    "nothing": (5000, "wrong_argument", 4998),
    "equal writes": (5000, "extra_write", 4999),
    "other writes": (2000, "wrong_argument", 1),
    "commands": (5000, "early_stop", 4999),
}


@pytest.mark.parametrize("what", LARGE)
def test_large_trials_of_other_shapes(what: str, project: Path) -> None:
    size, kind, step = LARGE[what]
    said = large(what, size, project)
    assert (said["kind"], said["step"]) == (kind, step)


def test_trials_of_300_steps(project: Path) -> None:
    said = large("steps", 300, project)
    assert (said["kind"], said["step"]) == ("wrong_argument", 298)


def test_a_task_of_60_trials(project: Path) -> None:
    assert large("trials", 30, project) == {
        "kind": "wrong_argument", "grade": "A", "step": 5, "group": 30,
    }  # fmt: skip


def test_results_of_400_kilobytes() -> None:
    def look(text: str) -> Line:
        return call("get_log", text, order_id="A1001")

    big, other = "log line 4711\n" * 30_000, "log line 4712\n" * 30_000
    assert len(big) > 400_000
    started = time.monotonic()
    passes = [(ASK, look(big), REFUND, DONE), (user("A1001: refund."), look(big), REFUND, DONE)]
    same = of(hold(records(passes, [(ASK, look(big), REFUND, DONE)])))
    assert same.reason is Reason.SAME_PATH
    differs = of(hold(records(passes, [(ASK, look(other), REFUND, DONE)])))
    assert (differs.kind, differs.actor) == (Kind.RESULT_DIFFERENCE, "environment")
    wrong = of(hold(records(passes, [(ASK, look(big), refund(94.9), DONE)])))
    assert wrong.kind is Kind.WRONG_ARGUMENT
    assert time.monotonic() - started < 10


def test_large_json_results() -> None:
    rows = [{"item_id": f"I-{n}", "price": n, "colour": "blue"} for n in range(8_000)]
    assert len(json.dumps(rows)) > 400_000
    look = call("list_items", rows, order_id="A1001")
    passes = [(ASK, look, REFUND, DONE), (user("A1001: refund."), look, REFUND, DONE)]
    assert of(hold(records(passes, [(ASK, look, refund(94.9), DONE)]))).kind is Kind.WRONG_ARGUMENT


# Data flow that bites its own tail


def test_results_that_feed_each_other_in_a_circle() -> None:
    steps = [call("get_link", {"next": f"L-{(n + 1) % 3}0"}, link=f"L-{n % 3}0") for n in range(12)]
    passes = [(ASK, *steps, REFUND, DONE), (ASK, *reversed(steps), REFUND, DONE)]
    said = of(hold(records(passes, [(ASK, *steps[3:], *steps[:3], refund(94.9), DONE)])))
    assert said.kind is Kind.WRONG_ARGUMENT


def test_a_value_that_was_read_by_way_of_wrong_reads() -> None:
    chain = [call("get_link", {"next": f"X-{n + 1}00"}, link=f"X-{n}00") for n in range(9)]
    good = [call("get_link", {"next": f"L-{n + 1}00"}, link=f"L-{n}00") for n in range(9)]
    passes = [(ASK, *good, refund(order="L-900"), DONE), (user("Refund."), *good, refund(order="L-900"), DONE)]
    said = of(hold(records(passes, [(ASK, *chain, refund(order="X-900"), DONE)])))
    assert said.kind in (Kind.WRONG_ARGUMENT, Kind.USER_DEVIATION)
    assert said.root is not None
    assert said.root.step <= 9


# Outcomes


def test_a_pass_without_writes_beside_one_with_writes() -> None:
    nothing = (*OPENING, agent("Refunds go by post."), BYE)
    assert of(hold(records([FIRST, nothing], [WRONG]))).grade is Grade.B
    check_spared([FIRST, nothing], (*OPENING, agent("Please use the post."), BYE))


def test_all_trials_infra() -> None:
    analysis = hold([record(f"i{n}", FIRST[:n], "infra", error="host lost") for n in range(4)])
    assert {d.kind for d in analysis.findings["T1"].divergences} == {Kind.INFRASTRUCTURE}
    assert analysis.self_check.passing_trials == 0


def test_nothing_but_verdicts() -> None:
    analysis = hold([record("p0", []), record("f0", [], "fail"), record("i0", [], "infra")])
    assert of(analysis).reason is Reason.NOT_COMPARABLE
    assert analysis.findings["T1"].table is None


ONE_STEP = {"user": [ASK], "agent": [DONE], "call": [LOOK], "empty": [user("")], "blank": [agent(" ")]}


@pytest.mark.parametrize("steps", ONE_STEP.values(), ids=ONE_STEP)
def test_failing_trials_of_one_step(steps: list[Line]) -> None:
    hold(records(PASSES, [steps]))
    hold(records([steps], [FIRST]))
    hold(records([steps], [steps]))


def test_trials_of_reasoning_and_errors_alone() -> None:
    odd: list[Step] = [
        {"actor": "agent", "kind": "reasoning", "text": "hm"},
        {"actor": "environment", "kind": "error", "text": "host is slow"},
        {"actor": "system", "kind": "message", "text": "Be kind."},
    ]
    said = of(hold(records(PASSES, [odd])))
    assert said.abstained
    hold(records([odd], [FIRST]))
    hold([record("f0", [odd[2]], "fail"), *records(PASSES, [])])


# Arguments and results

ODD_ARGUMENTS: dict[str, Any] = {
    "cut text": '{"order_id": "A10',
    "prose": "order A1001 please",
    "a list": ["A1001", 49.9],
    "a number": 7,
    "a bool": True,
    "null": None,
    "an empty text": "",
    "a backslash outside a string": '{"a": 1}\\n',
    "100 levels": json.loads("[" * 100 + "]" * 100),
    "100 levels of objects": json.loads('{"a":' * 100 + "1" + "}" * 100),
    "not a number": {"amount": math.nan, "limit": math.inf},
    "a lone surrogate": {"text": "half \ud83d of it"},
    "terminal escapes": {"text": "\x1b[31mred\x1b[0m\x07\x00"},
    "a text of digits": {"order_id": "9" * 5000},
    "a huge number": {"n": 10**400},
    "empty keys": {"": {"": [""]}},
    "mixed lists": {"ids": ["A1", 1, None, {"a": []}, [True]]},
    "a text like a formula": {"text": "=1+1"},
}


@pytest.mark.parametrize("odd", ODD_ARGUMENTS.values(), ids=ODD_ARGUMENTS)
def test_odd_arguments(odd: Any) -> None:
    """Equal they are the same path; only in the failing trial's write they are what differs."""
    same = put(FIRST, 5, arguments=odd)
    assert of(hold(records([same, same], [same]))).reason is Reason.SAME_PATH
    said = of(hold(records(PASSES, [same])))
    assert not said.abstained
    assert said.root is not None
    assert said.root.step == 5
    assert not of(hold(records([same, same], [FIRST]))).abstained
    # In a read the oddity changes nothing.
    assert of(hold(records(PASSES, [put((ASK, LOOK, *FIRST[1:]), 1, arguments=odd)]))).abstained


ODD_RESULTS: dict[str, Any] = {
    "a list": [1, "two", None],
    "a number": 7,
    "a bool": False,
    "null": None,
    "an empty text": "",
    "cut JSON": '{"refund_id": "R-',
    "100 levels": "[" * 100 + "]" * 100,
    "5000 levels": "[" * 5000 + "]" * 5000,
    "not a number": {"value": math.nan},
    "a lone surrogate": "half \ud83d of it",
    "terminal escapes": "\x1b]0;title\x07\x1b[2J\x9b31m",
    "a NUL": "a\x00b",
    "an object with odd keys": {"text": 5, "is_error": "maybe"},
    "content parts": [{"type": "text", "text": "ok"}],
    "a bidi override": "abc\u202edef",
    "a long line": "x" * 99_999,
}


@pytest.mark.parametrize("odd", ODD_RESULTS.values(), ids=ODD_RESULTS)
def test_odd_results(odd: Any) -> None:
    for at in (1, 5):
        same = put(FIRST, at, result=odd)
        assert of(hold(records([same, same], [same]))).reason is Reason.SAME_PATH
    read = of(hold(records(PASSES, [put(FIRST, 1, result=odd)])))
    assert read.actor in ("environment", None), read.sentence
    wrong = of(hold(records([put(FIRST, 1, result=odd)] * 2, [put(WRONG, 1, result=odd)])))
    assert wrong.kind is Kind.WRONG_ARGUMENT


ODD_TEXTS = [
    "",
    " ",
    "\x1b[31m",
    "half \ud83d",
    "\u202e",
    "\x00",
    "a" * 300_000,
    "١٢٣ ٤٥٦",
    "½ Ⅷ ①",
    "1e999 0x1F 1_000",
]


@pytest.mark.parametrize("odd", ODD_TEXTS, ids=lambda text: ascii(text[:12]))
def test_odd_messages(odd: str) -> None:
    for at in (0, 3, 6):
        same = put(FIRST, at, text=odd)
        assert of(hold(records([same, same], [same]))).reason is Reason.SAME_PATH
        hold(records(PASSES, [same]))
        assert of(hold(records([same, same], [WRONG]))).kind in (Kind.WRONG_ARGUMENT, Kind.USER_DEVIATION)


@pytest.mark.parametrize(
    "name", ["", " ", "a" * 3000, "取消订单", "=cmd", "\x1b[31m", "half \ud83d", "a\x00b", "%s{0}"]
)
def test_odd_tool_names(name: str) -> None:
    same = put(FIRST, 5, name=name)
    assert of(hold(records([same, same], [same]))).reason is Reason.SAME_PATH
    hold(records(PASSES, [same]))


def test_a_call_without_recorded_arguments_is_not_one_without_arguments() -> None:
    """CAL-09: absent is never equal to empty."""
    bare = {"name": "sync_thing", "result": "ok"}
    empty = {**bare, "arguments": {}}
    passes = [(ASK, empty, DONE), (user("Sync it."), empty, DONE)]
    assert of(hold(records(passes, [(ASK, {**bare, "arguments": ""}, DONE)]))).reason is Reason.SAME_PATH
    said = of(hold(records(passes, [(ASK, bare, DONE)])))
    assert said.reason is not Reason.SAME_PATH


def test_orphan_results_and_unanswered_calls() -> None:
    orphan = {"kind": "orphan_result", "result": {"refund_id": "R-1"}, "call_id": "c9"}
    unanswered = call("refund_item", order_id="A1001", sku="LAMP-1", amount=49.9)
    said = of(hold(records(PASSES, [(*OPENING, OFFER, YES, unanswered, orphan, DONE, BYE)])))
    assert not said.abstained, "a write without an answer is no effective write"


def test_repeated_call_ids_lose_no_call() -> None:
    """CAL-01, CAL-02."""

    def named(steps: Sequence[Line]) -> list[Step]:
        return [{**raw_step(step), "call_id": "c1"} if step.is_call else step for step in steps]

    assert of(hold(records([named(FIRST), FIRST], [named(FIRST)]))).reason is Reason.SAME_PATH
    assert of(hold(records(PASSES, [named(WRONG)]))).kind is Kind.WRONG_ARGUMENT


def test_sub_agents_are_no_agent_of_the_trial() -> None:
    other = {
        "actor": "subagent:7",
        "kind": "tool_call",
        "name": "cancel_order",
        "arguments": {"order_id": "A1001"},
        "result": "ok",
    }
    hold(records(PASSES, [(*OPENING, OFFER, YES, REFUND, other, DONE, BYE)]))


def test_ids_that_trials_created_themselves_are_the_same() -> None:
    """Order numbers differ in every trial: later calls on the trial's own new order are equal."""

    def order(number: str, paid: str = "") -> list[Line]:
        return [
            user("Order the lamp and pay it."),
            call("create_order", {"order_id": number}, sku="LAMP-1"),
            call("pay_order", {"ok": True}, order_id=paid or number),
            agent("Ordered and paid."),
        ]

    passes = [order("N-100"), order("N-200")]
    check_spared(passes, order("N-300"))
    wrong = order("N-300", paid="N-999")
    wrong[2] = wrong[2].root()
    check_blamed(passes, wrong, "wrong_argument")


def test_an_id_that_other_trials_get_too_is_no_new_one() -> None:
    """Both passes are sent to depot D-40: it is a record of the shop, and D-50 is another one."""

    def back(depot: str) -> list[Line]:
        return [
            user("Send the lamp back."),
            call("create_return", {"depot_id": depot}, sku="LAMP-1").root(),
            call("notify_depot", {"ok": True}, depot_id=depot).near(),
            agent("Done."),
        ]

    check_blamed([back("D-40"), back("D-40")], back("D-50"), "result_difference", "environment")


def test_guards_hold_for_numbers_of_any_kind() -> None:
    passes = [(ASK, LOOK, GUARD, refund(1e22), DONE), (user("A1001."), LOOK, GUARD, refund(1e22), DONE)]
    assert of(hold(records(passes, [(ASK, LOOK, GUARD, refund(10**22), DONE)]))).abstained
    assert not of(hold(records(passes, [(ASK, LOOK, GUARD, refund(10**22 + 1), DONE)]))).abstained


POOL: list[Step] = [
    *FIRST, *put(FIRST, 5, arguments="{"), *put(FIRST, 1, result=None), REFUND, refund(94.9),
    refund(order="A1010"), user("No."), agent("I cannot do that. Shall I transfer you?"),
    agent("94.90, okay?"), user("Yes, 94.90."), call("transfer_to_human", "ok"),
    call("set_plan", {"ok": True}, user_id="U-71", plan="pro"),
    {"name": "refund_item", "arguments": {}, "result": {"text": "Error", "is_error": True}},
    {"actor": "environment", "kind": "error", "text": "slow"}, {"actor": "environment", "kind": "compaction"},
    {"actor": "user", "name": "toggle", "arguments": {"on": True}, "result": "on"},
]  # fmt: skip
ANY_TRIAL = st.tuples(
    st.lists(st.sampled_from(POOL), max_size=9),
    st.sampled_from(["pass", "pass", "fail", "fail", "infra", "unscored"]),
    st.sampled_from(["user_done", "agent_done", "max_steps", "agent_error", "unknown"]),
)


@given(trials=st.lists(ANY_TRIAL, min_size=1, max_size=5), gold=st.booleans())
@hypothesis_settings(max_examples=60)
def test_any_task_is_answered(trials: list[tuple[list[Step], str, str]], gold: bool) -> None:
    action = {"name": "refund_item", "arguments": {"order_id": "A1001", "sku": "LAMP-1", "amount": 49.9}}
    task = {"expected_actions": [action]} if gold else {}
    analysis = hold(
        [
            record(str(number), steps, verdict, termination=end, task=task)
            for number, (steps, verdict, end) in enumerate(trials)
        ]
    )
    passed = sum(verdict == "pass" and bool(steps) for steps, verdict, _ in trials)
    for said in analysis.findings["T1"].divergences:
        if said.grade in (Grade.A, Grade.B):
            assert passed
            assert said.support is not None
            assert said.support.passed == passed
        if said.grade is Grade.A:
            assert passed >= 2
            assert said.support is not None
            assert said.support.passed_with == 0
        if said.grade is Grade.C:
            assert gold
            assert not passed
