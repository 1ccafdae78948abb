"""What counts as the same, and how a project's settings change it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.divergence.desk import ASK, BYE, DONE, LOOK, OFFER, OPENING, ORDER, PASSES, REFUND, YES
from tests.divergence.made import Line, Steps, agent, call, check_blamed, check_spared, judged, user
from trajdiff.divergence.finding import Reason
from trajdiff.settings import Settings, load_settings


def settings(folder: Path, text: str) -> Settings:
    """Settings from a real file."""
    (folder / "trajdiff.toml").write_text(text, "utf-8")
    return load_settings(start=folder)


def with_extra(extra: Line) -> Sequence[Line]:
    return (*OPENING, OFFER, YES, REFUND, extra, DONE, BYE)


SYNC = call("sync_thing", {"ok": True}, order_id="A1001")
CHECK_OUT = call("check_out", {"ok": True}, order_id="A1001")


def test_an_unknown_tool_counts_as_a_write() -> None:
    check_blamed(PASSES, with_extra(SYNC.root()), "extra_write")


def test_the_settings_say_that_a_tool_only_reads(tmp_path: Path) -> None:
    check_spared(PASSES, with_extra(SYNC), settings(tmp_path, '[tools]\n"sync_*" = "read"\n'))


def test_the_settings_say_that_a_tool_writes(tmp_path: Path) -> None:
    check_spared(PASSES, with_extra(CHECK_OUT))
    rules = settings(tmp_path, '[tools]\ncheck_out = "write"\n')
    check_blamed(PASSES, with_extra(CHECK_OUT.root()), "extra_write", settings=rules)


def test_a_hint_in_the_log_stands_above_the_name_and_below_the_settings(tmp_path: Path) -> None:
    hinted = {
        "actor": "agent", "kind": "tool_call", "name": "sync_thing", "arguments": {"order_id": "A1001"},
        "result": {"ok": True}, "effect_hint": "read",
    }  # fmt: skip
    failing: Steps = (*OPENING, OFFER, YES, REFUND, hinted, DONE, BYE)
    check_spared(PASSES, failing)
    said = judged(PASSES, failing, settings(tmp_path, '[tools]\nsync_thing = "write"\n'))
    assert said.kind == "extra_write"


def noted(note: str, amount: float = 49.9) -> Line:
    return call("refund_item", {"refund_id": "R-1"}, order_id="A1001", sku="LAMP-1", amount=amount, note=note)


NOTED = [
    (ASK, LOOK, OFFER, YES, noted("broken lamp"), DONE),
    (user("Refund A1001."), LOOK, noted("broken lamp"), BYE),
]
IGNORE = {"the tool's": "refund_item.note", "any tool's": "*.note", "by a pattern": "refund_*.no?e"}


def test_an_argument_differs(tmp_path: Path) -> None:
    said = check_blamed(NOTED, (ASK, LOOK, OFFER, YES, noted("wrong size").root(), DONE), "wrong_argument")
    assert said.argument == "note"


@pytest.mark.parametrize("pattern", IGNORE.values(), ids=IGNORE)
def test_an_ignored_argument_never_differs(pattern: str, tmp_path: Path) -> None:
    rules = settings(tmp_path, f'[ignore]\narguments = ["{pattern}"]\n')
    said = check_spared(NOTED, (ASK, LOOK, OFFER, YES, noted("wrong size"), DONE), rules)
    assert said.reason is Reason.SAME_PATH
    # It hides nothing else.
    failing = (ASK, LOOK, OFFER, YES, noted("wrong size", 94.9).root(), DONE)
    assert check_blamed(NOTED, failing, "wrong_argument", settings=rules).argument == "amount"


def about(words: str, amount: float = 49.9) -> Line:
    return call("refund_item", {"refund_id": "R-1"}, order_id="A1001", about=words, amount=amount)


@pytest.mark.parametrize(
    "offer", [OFFER, agent("I put down wrong size and pay 49.90. Okay?")], ids=["silent", "said"]
)
def test_an_ignored_argument_is_neither_named_nor_announced(offer: Line, tmp_path: Path) -> None:
    """Its name sorts before that of the argument that matters, and a message states its value."""
    passes = [(ASK, LOOK, OFFER, YES, about("broken lamp"), DONE), (ASK, LOOK, about("broken lamp"), BYE)]
    rules = settings(tmp_path, '[ignore]\narguments = ["refund_item.about"]\n')
    failing = (ASK, LOOK, offer, YES, about("wrong size", 94.9).root(), DONE)
    said = check_blamed(passes, failing, "wrong_argument", settings=rules)
    assert said.argument == "amount"
    assert not any("about" in line for line in said.evidence)


def test_an_ignored_tool_is_no_step(tmp_path: Path) -> None:
    check_spared(PASSES, with_extra(SYNC), settings(tmp_path, '[ignore]\ntools = ["sync_*"]\n'))


def test_an_ignored_result_never_differs(tmp_path: Path) -> None:
    def coupon(state: str) -> Line:
        return call("check_coupon", {"state": state, "code": "C9"}, code="C9")

    passes = [(ask, coupon("valid"), agent("It works.")) for ask in (user("Coupon C9?"), user("Is C9 valid?"))]
    failing = (user("Coupon C9?"), coupon("used").root(), agent("It works."))
    check_blamed(passes, failing, "result_difference", "environment")
    check_spared(passes, failing, settings(tmp_path, '[ignore]\nresults = ["check_coupon.state"]\n'))


def test_a_label_makes_two_tools_one_step(tmp_path: Path) -> None:
    other = call("repay_item", {"refund_id": "R-1"}, order_id="A1001", sku="LAMP-1", amount=49.9)
    failing = (*OPENING, OFFER, YES, other.root(), DONE, BYE)
    check_blamed(PASSES, failing, "wrong_tool extra_write")
    check_spared(PASSES, failing, settings(tmp_path, '[steps]\nrefund = "re*_item"\n'))


# Equal without any setting


def cancel(ids: Any) -> Line:
    return call("cancel_items", {"ok": True}, order_id="A1001", item_ids=ids)


def exchange(old: Any, new: Any) -> Line:
    return call("exchange_items", {"ok": True}, order_id="A1001", item_ids=old, new_item_ids=new)


def repaid(**given: Any) -> Line:
    return call("refund_item", {"status": "ok", "refund_id": "R-1"}, **given)


EQUAL: dict[str, tuple[Line, Line]] = {
    "stringified arguments": (REFUND, REFUND.stringified()),
    "ids in another order": (cancel(["I-1", "I-2"]), cancel(["I-2", "I-1"])),
    "a list as text": (cancel(["I-1", "I-2"]), cancel('["I-1", "I-2"]')),
    "parallel lists in another order": (exchange(["1", "2"], ["8", "9"]), exchange(["2", "1"], ["9", "8"])),
    "full-width forms": (REFUND, repaid(order_id="Ａ１００１", sku="ＬＡＭＰ－１", amount="４９.９０")),
    "an amount as text": (REFUND, repaid(order_id="A1001", sku="LAMP-1", amount="49.90")),
    "keys in another order": (REFUND, repaid(amount=49.9, sku="LAMP-1", order_id="A1001")),
    "a request id": (REFUND, repaid(order_id="A1001", sku="LAMP-1", amount=49.9, request_id="q-77")),
}


@pytest.mark.parametrize(("ours", "theirs"), EQUAL.values(), ids=EQUAL)
def test_equal_calls(ours: Line, theirs: Line) -> None:
    passes = [(ASK, LOOK, ours, DONE), (user("A1001: refund."), LOOK, ours, DONE)]
    assert check_spared(passes, (ASK, LOOK, theirs, DONE)).reason is Reason.SAME_PATH


OTHER: dict[str, tuple[Line, Line]] = {
    "other ids": (cancel(["I-1", "I-2"]), cancel(["I-2", "I-3"])),
    "an id twice": (cancel(["I-1", "I-2"]), cancel(["I-1", "I-2", "I-2"])),
    "parallel lists paired otherwise": (exchange(["1", "2"], ["8", "9"]), exchange(["1", "2"], ["9", "8"])),
    "an id with a leading zero": (cancel("0123"), cancel("123")),
    "true and one": (cancel(True), cancel(1)),
}


@pytest.mark.parametrize(("ours", "theirs"), OTHER.values(), ids=OTHER)
def test_calls_that_differ(ours: Line, theirs: Line) -> None:
    passes = [(ASK, LOOK, ours, DONE), (user("A1001: refund."), LOOK, ours, DONE)]
    check_blamed(passes, (ASK, LOOK, theirs.root(), DONE), "wrong_argument")


def test_parallel_calls_in_another_order() -> None:
    """DIV-04."""
    user_7 = call("get_user", {"user_id": "U7"}, user_id="U7")
    group = [call("get_order", ORDER, order_id="A1001"), user_7, OPENING[2]]
    passes = [(ask, *(one.beside(1) for one in group), REFUND, DONE) for ask in (ASK, user("A1001: refund."))]
    check_spared(passes, (ASK, *(one.beside(1) for one in reversed(group)), REFUND, DONE))
