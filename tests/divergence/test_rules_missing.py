"""Writes that are missing at the end: refused, reported, denied their input. Every rule from both sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import pytest

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
    REFUSED,
    SECOND,
    YES,
    refund,
)
from tests.divergence.made import Line, agent, broken, call, check_blamed, check_spared, judged, user
from trajdiff.divergence.finding import Kind

Trial: TypeAlias = "Sequence[Line]"

# Refused writes

REPORTED = agent("I have refunded the lamp.")


def test_a_refused_write_reported_as_done_is_missing_where_it_is_reported() -> None:
    said = check_blamed(PASSES, (*FIRST[:5], REFUSED, REPORTED.root(), BYE), "missing_step")
    assert said.tool == "refund_item"


def test_a_refused_write_that_is_no_more_spoken_of() -> None:
    sorry = agent("Sorry, it does not work.").root()
    check_blamed(PASSES, (*FIRST[:5], REFUSED, sorry, BYE), "unrecovered_error")


def test_a_refused_write_reported_after_another_try() -> None:
    check_spared(PASSES, (*FIRST[:5], REFUSED, REFUND, REPORTED, BYE))


def _refused(amount: float) -> Line:
    return broken("refund_item", "Error: not this amount", order_id="A1001", sku="LAMP-1", amount=amount)


SORRY = agent("Sorry, it does not work.")


@pytest.mark.parametrize(
    ("told", "kinds"), [("我已经为您取消了A1001。", "missing_step"), ("系统忙。", "unrecovered_error")]
)
def test_a_refused_write_in_chinese(told: str, kinds: str) -> None:
    """The verb of the tool's name stands apart from its thing."""
    look, cancel = call("查询订单", {"状态": "新"}, 订单号="A1001"), "取消订单"
    passes = [
        (ask, look, call(cancel, {"ok": True}, 订单号="A1001"), agent("办好了。"), user("谢谢。"))
        for ask in (user("A1001不要了。"), user("请处理A1001，不要了。"))
    ]
    refused = broken(cancel, "错误：系统忙", 订单号="A1001")
    check_blamed(passes, (passes[0][0], look, refused, agent(told).root(), user("好吧。")), kinds)


def test_a_refused_write_with_arguments_that_no_pass_tries() -> None:
    said = check_blamed(PASSES, (*OPENING, OFFER, YES, _refused(94.9).root(), SORRY, BYE), "wrong_argument")
    assert (said.tool, said.argument) == ("refund_item", "amount")


def test_a_refused_write_that_was_announced_so() -> None:
    offer = agent("I can refund 94.90 for the lamp. Shall I?").root()
    check_blamed(PASSES, (*OPENING, offer, YES, _refused(94.9).near(), SORRY, BYE), "wrong_argument")


def test_a_refused_write_with_the_arguments_of_a_pass() -> None:
    check_blamed(PASSES, (*OPENING, OFFER, YES, _refused(49.9), SORRY.root(), BYE), "unrecovered_error")


def test_a_refused_write_that_lacks_an_argument() -> None:
    """It has no value that the passes' call has not: there is no wrong one to show."""
    short = broken("refund_item", "Error: no amount", order_id="A1001", sku="LAMP-1")
    check_blamed(PASSES, (*OPENING, OFFER, YES, short, SORRY.root(), BYE), "unrecovered_error")


def test_a_refused_write_with_the_arguments_of_another_write_of_the_passes() -> None:
    both = user("Refund the lamps of A1001 and A1010.")
    passes = [
        (ask, refund(), refund(20, "A1010"), agent("Both are refunded."))
        for ask in (both, user("A1001, A1010: I want my money back for both lamps."))
    ]
    refused = broken("refund_item", "Error: busy", order_id="A1010", sku="LAMP-1", amount=20)
    said = check_blamed(passes, (both, refused, SORRY.root(), BYE), "unrecovered_error")
    assert said.tool == "refund_item"


def test_a_refused_write_put_right() -> None:
    check_spared(PASSES, (*OPENING, OFFER, YES, _refused(94.9), REFUND, DONE, BYE))


# What one pass reads by the way

NO_GUARD = (ASK, LOOK, agent("Let me see."), user("Well?"), agent("I will write to you."), BYE)


def test_what_a_single_pass_reads_is_not_required() -> None:
    assert judged([FIRST], NO_GUARD).tool == "refund_item"


def test_what_every_pass_reads_about_the_record_is_required() -> None:
    assert judged(PASSES, NO_GUARD).tool == "check_permission"


def test_one_pass_is_enough_for_a_read_that_alone_brings_the_record() -> None:
    ticket = call("get_tickets", [{"ticket_id": "T-77"}], name="Ann Lee")
    close = call("close_ticket", {"ok": True}, ticket_id="T-77")
    ann = user("I am Ann Lee, close my ticket.")
    once = [(ann, ticket, close, agent("It is closed."))]
    said = check_blamed(once, (ann, agent("Which one is it?").root(), user("The only one."), SORRY, BYE),
                        "missing_step")  # fmt: skip
    assert said.tool == "get_tickets"


def _quote(amount: float) -> Line:
    return call("get_quote", {"amount": amount}, sku="LAMP-1")


def test_a_value_that_was_read_elsewhere_needs_no_read_of_a_single_pass() -> None:
    """The quote says what the order said already."""
    wrong = (ASK, LOOK, OFFER, YES, refund(94.9).root(), DONE, BYE)
    passes = [
        (ASK, LOOK, OFFER, YES, _quote(49.9), REFUND, DONE),
        (*SECOND[:2], *SECOND[3:5], _quote(49.9), REFUND),
    ]
    assert check_blamed(passes[:1], wrong, "wrong_argument").tool == "refund_item"
    assert check_blamed(passes, wrong, "missing_step").tool == "get_quote"


# A missing write with a sure place counts in order

LETTER = call("subscribe_newsletter", {"ok": True}, user_id="U-71")


def test_a_write_reported_as_done_stands_before_a_later_extra_write() -> None:
    failing = (*OPENING, OFFER, YES, REPORTED.root(), user("Thanks."), LETTER, BYE)
    assert check_blamed(PASSES, failing, "missing_step").tool == "refund_item"


def test_a_write_reported_as_done_that_nobody_agreed_to() -> None:
    failing = (*OPENING, REPORTED.root(), user("Thanks."), LETTER, BYE)
    assert check_blamed(PASSES, failing, "missing_step").tool == "refund_item"


def test_a_write_that_was_agreed_to_stands_before_a_later_extra_write() -> None:
    failing = (*OPENING, OFFER, YES, agent("One moment.").root(), user("Well?"), LETTER, agent("Bye."))
    assert check_blamed(PASSES, failing, "missing_step").tool == "refund_item"


def test_a_missing_write_whose_place_is_a_guess_stands_behind_writes_that_were_made() -> None:
    failing = (*OPENING, agent("One moment."), user("Well?"), LETTER.root(), agent("Bye."))
    check_blamed(PASSES, failing, "extra_write")


def test_an_earlier_extra_write_stands_first() -> None:
    failing = (ASK, LETTER.root(), *FIRST[1:5], REPORTED, BYE)
    check_blamed(PASSES, failing, "extra_write")


# Inputs that the user says not to have

WHO = user("Refund the lamp, please.")
PHONE = agent("What is your phone number?")
NUMBER = user("My phone is 5550142000.")
FOUND = call("find_orders", [{"order_id": "A1001", "price": 49.9}], phone="5550142000")
CALLED = [
    (ask, PHONE, NUMBER, FOUND, REFUND, DONE) for ask in (WHO, user("I want my money back for the lamp."))
]
SCRIPT: dict[str, Any] = {"task": {"script": "You want a refund for the lamp. Your phone is 5550142000."}}
LOST = user("I don't remember my phone number.")
GAVE_UP = agent("Then there is nothing that we can look up.")


def test_no_taken_for_an_answer() -> None:
    """Without a script nobody knows whether the user could have said it."""
    said = check_blamed(CALLED, (WHO, PHONE, LOST, GAVE_UP.root(), BYE), "missing_step early_stop")
    assert said.tool == "find_orders"


def test_an_input_of_the_script_that_the_user_denies() -> None:
    said = check_blamed(CALLED, (WHO, PHONE, LOST.root(), GAVE_UP, BYE), "user_deviation", "user", **SCRIPT)
    assert "phone" in said.headline + said.sentence


def test_an_input_that_the_script_does_not_have() -> None:
    other: dict[str, Any] = {"task": {"script": "You want a refund for the lamp."}}
    check_blamed(CALLED, (WHO, PHONE, LOST, GAVE_UP.root(), BYE), "missing_step early_stop", **other)


@pytest.mark.parametrize("more", [{}, SCRIPT], ids=["no script", "script"])
def test_an_input_that_comes_up_later(more: dict[str, Any]) -> None:
    check_spared(CALLED, (WHO, PHONE, LOST, agent("Any bill at hand?"), *CALLED[0][2:]), **more)
    late = (WHO, PHONE, LOST, agent("Any bill?"), NUMBER, FOUND, agent("I see.").root(), user("Well?"), BYE)
    check_blamed(CALLED, late, "missing_step early_stop", **more)
    unused = (WHO, PHONE, LOST, agent("Any bill?"), NUMBER, agent("I see.").root(), user("Well?"), BYE)
    check_blamed(CALLED, unused, "missing_step early_stop", **more)


def test_another_input_that_the_user_does_not_have() -> None:
    """Nobody asked for the phone: that the user has no bill explains nothing."""
    bill = agent("Do you have the bill?").root()
    failing = (WHO, bill, user("I don't have the bill."), GAVE_UP, BYE)
    check_blamed(CALLED, failing, "missing_step early_stop", **SCRIPT)


def test_an_input_that_is_no_identifier() -> None:
    """A zip code is one of many; still the look cannot be made without it."""
    zip_code, found = agent("What is your zip code?"), call("find_orders", [{"order_id": "A1001"}], zip="19122")
    passes = [(one[0], zip_code, user("My zip is 19122."), found, *one[4:]) for one in CALLED]
    lost = user("I do not know the zip.").root()
    script: dict[str, Any] = {"task": {"script": "You want a refund for the lamp. Your zip code is 19122."}}
    said = check_blamed(passes, (WHO, zip_code, lost, GAVE_UP, BYE), "user_deviation", "user", **script)
    assert said.tool == "find_orders"


def test_an_input_denied_in_chinese() -> None:
    ask, which = user("请给我退款。"), agent("请问您的手机号是多少？")
    found = call("查询订单", [{"order_id": "A1001"}], 手机号="13800138000")
    back = call("申请退款", {"ok": True}, order_id="A1001")
    number = user("手机号是13800138000。")
    passes = [(one, which, number, found, back, agent("已退款。")) for one in (ask, user("我要退钱。"))]
    lost, stop = user("我不记得手机号了。"), agent("那就没有办法查到了。")
    failing = (ask, which, lost, stop.root(), user("好吧。"))
    check_blamed(passes, failing, "missing_step early_stop")
    script: dict[str, Any] = {"task": {"script": "你要退款，手机号是13800138000。"}}
    check_blamed(passes, (ask, which, lost.root(), stop, user("好吧。")), "user_deviation", "user", **script)
    late = (ask, which, lost, agent("请再找找。"), number, found, back, agent("已退款。"))
    check_spared(passes, late, **script)


def test_a_look_at_the_guard_is_no_input() -> None:
    """What these rules start from."""
    assert judged(PASSES, (ASK, LOOK, GUARD, SORRY, BYE)).kind in (Kind.MISSING_STEP, Kind.EARLY_STOP)


# What is counted about it

LOOK_AROUND = call("get_policy", {"days": 30}, kind="lamp")


def test_a_missing_write_is_counted_wherever_the_passes_make_it() -> None:
    """Every pass makes both refunds, the missing one before or after the other: none of them misses it."""
    small = refund(10, order="A1010", number="R-2")
    passes = ((*FIRST[:5], REFUND, small, DONE, BYE), (*SECOND[:5], REFUND, small, *SECOND[6:]))
    said = judged(passes, (*FIRST[:5], small, DONE, BYE))
    assert said.kind is Kind.MISSING_STEP
    assert said.support is not None
    assert (said.support.failed_with, said.support.passed_with, said.support.passed) == (1, 0, 2)


def test_the_first_difference_is_the_earliest_of_several_missing_calls() -> None:
    looking = tuple((*steps[:2], LOOK_AROUND, *steps[2:]) for steps in PASSES)
    said = judged(looking, (ASK, LOOK, OFFER, YES, REFUND, DONE, BYE))
    assert said.first_difference is not None
    assert said.first_difference.text == "get_policy missing"
