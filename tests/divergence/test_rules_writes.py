"""What the trial left behind: every rule about writes from both sides, blamed and closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import pytest

from tests.divergence.desk import (
    ASK,
    BYE,
    DONE,
    FIRST,
    GUARD,
    LOOK,
    LOOK_AT_OTHER,
    MOVES,
    OFFER,
    OPENING,
    PASSES,
    REFUND,
    STAYS,
    YES,
    book,
    refund,
    set_address,
    unbook,
)
from tests.divergence.made import Line, agent, broken, call, check_blamed, check_spared, judged, user

Trial: TypeAlias = "Sequence[Line]"


def _of_two(first: Line, second: Line) -> list[Trial]:
    """Two passes that do two things in the same order."""
    return [
        (user("Coupon C9 and then order cart K77."), first, second, agent("All done.")),
        (user("Please order cart K77 with coupon C9."), first, second, agent("It is ordered.")),
    ]


COUPON = call("apply_coupon", {"ok": True}, cart_id="K77", code="C9")
PLACE = call("place_order", {"ok": True}, cart_id="K77")
CANCEL_1 = call("cancel_order", {"ok": True}, order_id="A1001")
CANCEL_2 = call("cancel_order", {"ok": True}, order_id="A1002")
ADD = call("add_note", {"note_id": "N-5"}, order_id="A1001", text="fragile")
REMOVE = call("remove_note", {"ok": True}, note_id="N-5")
DARK = call("update_settings", {"ok": True}, theme="dark")
OTHER_GUARD = call("check_permission", {"order_id": "A1010", "allowed": True}, order_id="A1010")
REFUSAL = (
    (user("Cancel order A1001."), LOOK, agent("Delivered orders cannot be cancelled."), user("OK, bye.")),
    (user("I want to cancel A1001."), LOOK, agent("It was delivered, so I cannot cancel it."), user("Bye.")),
)

BLAMED: dict[str, tuple[str, Sequence[Trial], Trial]] = {
    "a wrong amount announced, then carried out": (
        "wrong_argument",
        PASSES,
        (*OPENING, agent("I can refund 99.80 for it. Shall I?").root(), YES, refund(99.8).near(), BYE),
    ),
    "a wrong amount in the call alone": (
        "wrong_argument",
        PASSES,
        (*OPENING, OFFER, YES, refund(94.9).root(), DONE, BYE),
    ),
    "a wrong record read and used": (
        "wrong_argument",
        PASSES,
        (
            ASK,
            LOOK_AT_OTHER.root(),
            OTHER_GUARD,
            agent("I can refund 20.00 for the lamp. Shall I go ahead?"),
            YES,
            refund(20, "A1010").near(),
            BYE,
        ),
    ),
    "a repaired read does not hide the fault behind it": (
        "wrong_argument",
        PASSES,
        (ASK, LOOK_AT_OTHER, LOOK, GUARD, OFFER, YES, refund(94.9).root(), DONE, BYE),
    ),
    "the right record read too, the wrong one used": (
        "wrong_argument misread_result",
        PASSES,
        (ASK, LOOK_AT_OTHER, LOOK, GUARD, OFFER, YES, refund(20).root(), DONE, BYE),
    ),
    "a state set to a wrong value": (
        "wrong_argument",
        MOVES,
        (*MOVES[0][:2], set_address("41 Mill Lane").root(), MOVES[0][3]),
    ),
    "a state set right and then wrong": (
        "wrong_argument extra_write",
        MOVES,
        (*MOVES[0][:3], set_address("41 Mill Lane").root(), MOVES[0][3]),
    ),
    "a second booking that stays": (
        "extra_write",
        STAYS,
        (STAYS[0][0], book("240", "B-7").root(), book("204", "B-9"), STAYS[0][2]),
    ),
    "the right booking cancelled": (
        "extra_write missing_step",
        STAYS,
        (STAYS[0][0], book("204", "B-7"), unbook("B-7").root(), STAYS[0][2]),
    ),
    "a write done twice": (
        "duplicate_write",
        PASSES,
        (*FIRST[:7], user("Is it done?"), refund(number="R-2").root(), agent("Yes, it is."), BYE),
    ),
    "a write done twice with the same answer": (
        "duplicate_write",
        PASSES,
        (*FIRST[:7], user("Is it done?"), REFUND.root(), agent("Yes, it is."), BYE),
    ),
    "writes to one entity in another order": (
        "wrong_order",
        _of_two(COUPON, PLACE),
        (user("Coupon C9 and then order cart K77."), PLACE.root(), COUPON, agent("All done.")),
    ),
    "a write where passes change nothing": (
        "extra_write",
        REFUSAL,
        (REFUSAL[0][0], LOOK, CANCEL_1.root(), agent("It is cancelled."), BYE),
    ),
    "a write where passes change nothing, offered first": (
        "extra_write",
        REFUSAL,
        (
            REFUSAL[0][0],
            LOOK,
            agent("I can cancel order A1001 for you. Shall I?").root(),
            user("Yes."),
            CANCEL_1.near(),
            agent("It is cancelled."),
        ),
    ),
    "an addition that stays": (
        "extra_write",
        PASSES,
        (*OPENING, ADD.root(), OFFER, YES, REFUND, DONE, BYE),
    ),
    "another tool in the place of the passes'": (
        "wrong_tool",
        PASSES,
        (*OPENING, OFFER, YES, CANCEL_1.root(), agent("I cancelled it."), BYE),
    ),
    "one of two writes left out": (
        "missing_step early_stop",
        _of_two(CANCEL_1, CANCEL_2),
        (user("Coupon C9 and then order cart K77."), CANCEL_1, agent("All done.").root()),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("kinds", "passes", "failing"), BLAMED.values(), ids=BLAMED)
def test_blamed(kinds: str, passes: Sequence[Trial], failing: Trial) -> None:
    check_blamed(passes, failing, kinds)


SPARED: dict[str, tuple[Sequence[Trial], Trial]] = {
    "a wrong offer corrected before the call": (
        PASSES,
        (*OPENING, agent("I can refund 99.80 for it. Shall I?"), user("No, just the lamp."), *FIRST[3:]),
    ),
    "a wrong record read, then the right one": (PASSES, (ASK, LOOK_AT_OTHER, *FIRST[1:])),
    "a wrong state replaced by the right one": (
        MOVES,
        (*MOVES[0][:2], set_address("41 Mill Lane"), *MOVES[0][2:]),
    ),
    "a state set twice to the same value": (MOVES, (*MOVES[0][:3], set_address("14 Mill Lane"), MOVES[0][3])),
    "a wrong booking cancelled": (
        STAYS,
        (STAYS[0][0], book("240", "B-7"), unbook("B-7"), book("204", "B-9"), STAYS[0][2]),
    ),
    "an addition removed again": (PASSES, (*OPENING, ADD, REMOVE, *FIRST[3:])),
    "a state without a name of its own set twice": (
        [(ask, DARK, agent("Done.")) for ask in (user("Dark please."), user("Make it dark."))],
        (user("Dark please."), DARK, DARK, agent("Done.")),
    ),
    "writes to different entities in another order": (
        _of_two(CANCEL_1, CANCEL_2),
        (user("Coupon C9 and then order cart K77."), CANCEL_2, CANCEL_1, agent("All done.")),
    ),
    "an extra write that the tool refused": (
        PASSES,
        (*OPENING, broken("cancel_order", "Error: delivered orders stay", order_id="A1001"), *FIRST[3:]),
    ),
    "a write of one pass is enough, another pass has none": (
        [PASSES[0], (*OPENING, agent("Refunds go by post."), BYE)],
        (*OPENING, agent("For refunds send it back by post."), user("OK.")),
    ),
}


@pytest.mark.parametrize(("passes", "failing"), SPARED.values(), ids=SPARED)
def test_closed(passes: Sequence[Trial], failing: Trial) -> None:
    check_spared(passes, failing)


def test_a_result_that_its_own_write_changed_is_no_fault_of_the_environment() -> None:
    """The coupon first, so that the total is another one: the trial's own doing."""

    def total(value: int) -> Line:
        return call("get_total", {"cart_id": "K77", "total": value}, cart_id="K77")

    def charge(value: int) -> Line:
        return call("charge_card", {"ok": True}, cart_id="K77", amount=value)

    passes = [
        (ask, total(120), charge(120), COUPON, agent("Paid."))
        for ask in (user("Pay cart K77, then add coupon C9."), user("K77: pay it and add C9 after that."))
    ]
    failing = (passes[0][0], COUPON.root(), total(100), charge(100).near(), agent("Paid."))
    said = judged(passes, failing)
    assert said.kind in ("wrong_argument", "wrong_order")
    assert said.actor == "agent"


def test_a_state_that_was_restored_is_no_write() -> None:
    state = {"user_id": "U-71", "plan": "basic", "mail": "a@b.c", "age": 40, "city": "Rome"}
    profile = call("get_profile", state, user_id="U-71")
    passes = [
        (user("Is plan pro better for U-71?"), profile, agent("No.")),
        (user("U-71: is pro better?"), profile, agent("It is not.")),
    ]

    def plan(name: str) -> Line:
        return call("set_plan", {"ok": True}, user_id="U-71", plan=name)

    check_spared(passes, (passes[0][0], profile, plan("pro"), plan("basic"), agent("No.")))
    check_blamed(
        passes, (passes[0][0], profile, plan("basic"), plan("pro").root(), agent("No.")), "extra_write"
    )


def test_what_differs_is_named() -> None:
    said = check_blamed(PASSES, BLAMED["a wrong amount announced, then carried out"][2], "wrong_argument")
    assert (said.tool, said.argument) == ("refund_item", "amount")
    assert any("49.9" in line and "99.8" in line for line in said.evidence)
    assert said.provenance is not None
    # The order names 99.8 as its total: the value came from a result, not from nowhere.
    assert (said.provenance.origin, said.provenance.tool, said.provenance.path) == (
        "tool_result",
        "get_order",
        "total",
    )
    invented = check_blamed(PASSES, BLAMED["a wrong amount in the call alone"][2], "wrong_argument")
    assert invented.provenance is not None
    assert invented.provenance.origin == "nowhere"


@pytest.mark.parametrize("name", ["a wrong state replaced by the right one", "a wrong booking cancelled"])
def test_what_was_repaired_is_shown(name: str) -> None:
    said = check_spared(*SPARED[name])
    first = said.recovered[0]
    assert first.closed_at is not None
    assert first.opened_at.step < first.closed_at.step


def test_one_undone_write_is_one_repair() -> None:
    assert len(check_spared(*SPARED["a wrong booking cancelled"]).recovered) == 1


def test_a_right_write_is_no_deviation() -> None:
    kinds, passes, failing = BLAMED["a state set right and then wrong"]
    assert check_blamed(passes, failing, kinds).recovered == ()


def test_a_repaired_read_is_shown() -> None:
    assert check_spared(*SPARED["a wrong record read, then the right one"]).recovered


def test_no_pass_has_the_wrong_order() -> None:
    kinds, passes, failing = BLAMED["writes to one entity in another order"]
    support = check_blamed(passes, failing, kinds).support
    assert support is not None
    assert support.passed_with == 0
