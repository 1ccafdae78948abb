"""What a tool does, and which rule decided it: settings, the log's hint, evidence in the traces, its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.divergence.made import Line, Step, agent, broken, call, corpus, record, user
from trajdiff.analysis import analyse
from trajdiff.divergence.effects import by_name, sets_state
from trajdiff.divergence.finding import ToolEffect
from trajdiff.model import Effect
from trajdiff.settings import Settings

NAMES = {
    Effect.READ: "get_order listOrders search-flights find_user check_permission calculate is_open retrieve",
    Effect.WRITE: "cancel_order bookFlight send-mail refund_item update_address set_plan createRepair",
    Effect.CONTROL: "think transfer_to_human_agents escalate_to_supervisor finish ask_user",
    Effect.UNKNOWN: "sync_thing frobnicate a_b",
}


@pytest.mark.parametrize(
    ("name", "effect"), [(name, effect) for effect, names in NAMES.items() for name in names.split()]
)
def test_what_a_name_says(name: str, effect: Effect) -> None:
    assert by_name(name) is effect


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        ("查询订单", Effect.READ),
        ("取消订单", Effect.WRITE),
        ("思考", Effect.CONTROL),
        ("转接人工客服", Effect.CONTROL),
        ("转账", Effect.WRITE),
        ("订单", Effect.UNKNOWN),
        # What is done may stand behind the thing: this one looks at a refund, the next one asks for one.
        ("退款查询", Effect.READ),
        ("申请退款", Effect.WRITE),
        ("订单_取消", Effect.WRITE),
    ],
)
def test_what_a_chinese_name_says(name: str, effect: Effect) -> None:
    """Names without spaces are parted at the words that the lists know."""
    assert by_name(name) is effect


@pytest.mark.parametrize(("name", "sets"), [("修改地址", True), ("取消订单", False), ("查询修改", False)])
def test_chinese_writes_that_set_a_state(name: str, sets: bool) -> None:
    assert sets_state(name) is sets


@pytest.mark.parametrize(
    ("name", "effect"),
    [
        # The first word that is listed decides.
        ("get_update_status", Effect.READ),
        ("cancel_check", Effect.WRITE),
        # A bare transfer moves something; a transfer to a person hands the conversation over.
        ("transfer_money", Effect.WRITE),
        ("transfer_to_human", Effect.CONTROL),
    ],
)
def test_names_with_several_verbs(name: str, effect: Effect) -> None:
    assert by_name(name) is effect


@pytest.mark.parametrize(
    ("name", "sets"),
    [
        ("update_address", True),
        ("set_plan", True),
        ("modify_order", True),
        ("create_order", False),
        ("send_mail", False),
        ("get_update", False),
        ("add_update", False),
        ("frobnicate", False),
    ],
)
def test_writes_that_set_a_state(name: str, sets: bool) -> None:
    assert sets_state(name) is sets


def tools(*trials: Sequence[Step], settings: Settings | None = None, **more: Any) -> dict[str, ToolEffect]:
    """The tools of made-up trials, as every report lists them."""
    found = corpus([record(str(number), steps, **more) for number, steps in enumerate(trials)])
    rows = analyse(found, settings or Settings(), tasks=()).tools
    assert [row.tool for row in rows] == sorted(row.tool for row in rows)
    return {row.tool: row for row in rows}


ASK, DONE = user("Hello."), agent("Done.")


def state(value: str) -> Line:
    return call("get_device", {"device_id": "D-17", "state": value}, device_id="D-17")


FLIP = call("frobnicate", {"ok": True}, device_id="D-17")


def test_counts_and_rules_are_listed() -> None:
    refused = broken("cancel_order", "Error: too late", order_id="A1")
    found = tools(
        (ASK, state("off"), refused, DONE), (ASK, FLIP, refused, call("cancel_order", 1, order_id="A1"))
    )
    assert {name: (row.effect, row.calls, row.errors) for name, row in found.items()} == {
        "cancel_order": ("write", 3, 2),
        "frobnicate": ("unknown", 1, 0),
        "get_device": ("read", 1, 0),
    }
    assert {name: row.rule for name, row in found.items()} == {
        "cancel_order": "name",
        "frobnicate": "nothing known; counts as a write",
        "get_device": "name",
    }


def test_a_read_that_differs_after_a_call_is_evidence() -> None:
    row = tools((ASK, state("off"), FLIP, state("on"), DONE))["frobnicate"]
    assert row.effect == "write"
    assert "get_device" in row.rule


NO_EVIDENCE: dict[str, Sequence[Step]] = {
    "the read does not differ": (ASK, state("off"), FLIP, state("off")),
    "the call was refused": (ASK, state("off"), broken("frobnicate", "no", device_id="D-17"), state("on")),
    "another entity": (ASK, state("off"), call("frobnicate", 1, device_id="D-18"), state("on")),
    "two candidates": (ASK, state("off"), FLIP, call("tweak", 1, device_id="D-17"), state("on")),
    "the read stands before": (ASK, FLIP, state("off"), state("on")),
}


@pytest.mark.parametrize("steps", NO_EVIDENCE.values(), ids=NO_EVIDENCE)
def test_what_is_no_evidence(steps: Sequence[Step]) -> None:
    assert tools(steps)["frobnicate"].effect == "unknown"


def test_evidence_beats_an_innocent_name_but_not_a_hand_over() -> None:
    verify = call("verify_device", {"ok": True}, device_id="D-17")
    hand = call("transfer_to_human", {"ok": True}, device_id="D-17")
    assert tools((ASK, state("off"), hand, state("on")))["transfer_to_human"].effect == "control"
    # A read by name is never a candidate: what changed between two looks may have come from outside.
    assert tools((ASK, state("off"), verify, state("on")))["verify_device"].effect == "read"


def hinted(effect: str, name: str = "get_device") -> dict[str, Any]:
    return {"name": name, "arguments": {"device_id": "D-17"}, "result": "ok", "effect_hint": effect}


def test_the_hint_of_the_log_beats_evidence_and_name() -> None:
    assert tools((ASK, hinted("write")))["get_device"].effect == "write"
    row = tools((ASK, state("off"), hinted("read", "frobnicate"), state("on")))["frobnicate"]
    assert (row.effect, row.rule) == ("read", "recorded in the log")
    # Contradicting hints: the most frequent one.
    assert tools((ASK, hinted("write"), hinted("read"), hinted("read")))["get_device"].effect == "read"


def test_settings_beat_everything_and_the_first_pattern_wins() -> None:
    rules = Settings(tools={"get_*": Effect.WRITE, "get_device": Effect.CONTROL, "frob*": Effect.READ})
    found = tools((ASK, hinted("read"), state("off"), FLIP, state("on")), settings=rules)
    assert (found["get_device"].effect, found["get_device"].rule) == ("write", "settings")
    assert (found["frobnicate"].effect, found["frobnicate"].rule) == ("read", "settings")


def test_tools_of_recorded_reference_calls_are_listed_too() -> None:
    task = {"expected_actions": [{"name": "cancel_order", "arguments": {"order_id": "A1"}}]}
    row = tools((ASK, DONE), verdict="fail", task=task)["cancel_order"]
    assert (row.effect, row.calls, row.errors) == ("write", 0, 0)
