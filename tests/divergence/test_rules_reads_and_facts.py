"""Levels below writes: guards, required reads, results that differ and facts told, from both sides."""

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
    PASSES,
    REFUND,
    SECOND,
    YES,
    refund,
)  # fmt: skip
from tests.divergence.made import (
    Line,
    agent,
    broken,
    call,
    check_blamed,
    check_spared,
    judged,
    think,
    user,
)  # fmt: skip
from trajdiff.divergence.finding import Grade, Reason

Trial: TypeAlias = "Sequence[Line]"

# Guards and reads


def test_a_guard_left_out_before_a_write() -> None:
    """The offer stands where both passes have looked at the permission."""
    said = check_blamed(PASSES, (ASK, LOOK, OFFER.root(), YES, REFUND.near(), DONE, BYE), "missing_step")
    assert said.tool == "check_permission"
    assert said.grade is Grade.B


def test_a_guard_left_out_next_to_the_write() -> None:
    passes = [
        (ASK, LOOK, OFFER, YES, GUARD, REFUND, DONE, BYE),
        (*SECOND[:2], *SECOND[3:5], GUARD, *SECOND[5:]),
    ]
    check_blamed(passes, (ASK, LOOK, OFFER, YES, REFUND.root(), DONE, BYE), "missing_step")


def test_a_guard_done_late_but_before_the_write() -> None:
    check_spared(PASSES, (ASK, LOOK, OFFER, YES, GUARD, REFUND, DONE, BYE))


def test_a_guard_done_after_the_write_is_too_late() -> None:
    said = check_blamed(
        PASSES, (ASK, LOOK, OFFER.root(), YES, REFUND.near(), GUARD, DONE, BYE), "missing_step wrong_order"
    )
    assert said.tool == "check_permission"


def test_a_guard_that_not_every_pass_makes() -> None:
    check_spared([FIRST, (*SECOND[:2], *SECOND[3:])], (ASK, LOOK, OFFER, YES, REFUND, DONE, BYE))


def test_one_pass_never_makes_a_guard_required() -> None:
    check_spared([FIRST], (ASK, LOOK, OFFER, YES, REFUND, DONE, BYE))


def test_a_read_that_brings_the_value_of_the_write() -> None:
    """Without the search the id of the blue bag was never seen: the exchange that guesses it is the place."""
    search = call("search_items", [{"item_id": "BAG-7", "colour": "blue"}], query="blue bag")

    def exchange(item: str) -> Line:
        return call("exchange_item", {"ok": True}, order_id="A1001", new_item_id=item)

    passes = [
        (user("I want the blue bag for A1001."), search, exchange("BAG-7"), agent("Exchanged.")),
        (user("Exchange A1001 for the blue bag."), search, exchange("BAG-7"), agent("All set.")),
    ]
    failing = (user("I want the blue bag for A1001."), exchange("BAG-1").root(), agent("Exchanged."))
    check_blamed(passes, failing, "missing_step wrong_argument")
    # Looking it up late is in time as long as it is before the write.
    late = (passes[0][0], agent("One moment."), user("Sure."), *passes[0][1:])
    check_spared(passes, late)


WEATHER = call("get_weather", {"sky": "clear"}, city="Rome")
TRY_AGAIN = broken("get_order", "Error: try again", order_id="A1001")
HARMLESS: dict[str, Trial] = {
    "an extra read at the start": (ASK, WEATHER, *FIRST[1:]),
    "reads in another order": (ASK, GUARD, LOOK, *FIRST[3:]),
    "a thought": (ASK, think("The lamp cost 49.90."), *FIRST[1:]),
    "a read done twice": (ASK, LOOK, *FIRST[1:]),
    "a read that failed and was repeated": (ASK, TRY_AGAIN, *FIRST[1:]),
    "other words": (
        user("Hi! A1001: the lamp, refund please."),
        *FIRST[1:3],
        agent("49.90 back, fine?"),
        user("Sure."),
        REFUND,
        agent("49.90 refunded."),
        user("Ciao."),
    ),
}


@pytest.mark.parametrize("failing", HARMLESS.values(), ids=HARMLESS)
def test_ordinary_variation_is_never_critical(failing: Trial) -> None:
    check_spared(PASSES, failing)


@pytest.mark.parametrize("early", HARMLESS.values(), ids=HARMLESS)
def test_early_drift_does_not_hide_the_fault_behind_it(early: Trial) -> None:
    """DIV-02, DIV-03: the first difference and the critical one are two answers."""
    at = early.index(REFUND)
    wrong = (*early[:at], refund(94.9).root(), *early[at + 1 :])
    said = check_blamed(PASSES, wrong, "wrong_argument")
    if WEATHER in early:
        assert said.first_difference is not None
        assert said.first_difference.step.message == 1
        assert "get_weather" in said.first_difference.text


# Facts told

FAQ = call("search_faq", "Points are valid 24 months, coupons 6 months.", query="validity")
TOLD = (
    (user("How long are points valid?"), FAQ, agent("Points are valid for 24 months."), user("Thanks.")),
    (user("When do my points expire?"), FAQ, agent("After 24 months."), user("Thank you.")),
)


def test_another_fact_than_every_pass_tells() -> None:
    failing = (TOLD[0][0], FAQ, agent("Points are valid for 36 months.").root(), user("OK."))
    said = check_blamed(TOLD, failing, "wrong_answer")
    assert said.grade is Grade.B
    assert "24" in said.headline


def test_another_fact_of_one_digit() -> None:
    failing = (TOLD[0][0], FAQ, agent("Points are valid for 6 months.").root(), user("OK."))
    check_blamed(TOLD, failing, "wrong_answer")


def test_saying_less_than_the_passes_is_no_wrong_answer() -> None:
    check_spared(TOLD, (TOLD[0][0], FAQ, agent("Please see the terms."), user("Fine.")))


OUTPUTS: dict[str, Any] = {"task": {"expected_actions": [], "expected_outputs": ["24", "1,500.50"]}}


def _two_outputs(*texts: str) -> Trial:
    return (TOLD[0][0], FAQ, *(step for text in texts for step in (agent(text), user("Fine."))))


def test_a_required_output_left_out_where_no_trial_passed() -> None:
    told = agent("Points are valid for 36 months, you have 1500.50.").root()
    failing = (TOLD[0][0], FAQ, told, user("Fine."), agent("Goodbye."))
    said = check_blamed([], failing, "wrong_answer", **OUTPUTS)
    assert said.grade is Grade.C
    assert "24" in said.headline
    assert said.support is not None
    assert (said.support.failed_with, said.support.failed) == (1, 1)
    silent = (TOLD[0][0], FAQ, agent("Please see the terms.").root(), user("Fine."))
    check_blamed([], silent, "wrong_answer", **OUTPUTS)


@pytest.mark.parametrize(
    "texts",
    [("24 months; 1500.5 points.",), ("They last 24 months.", "You have 1500.50 points.")],
    ids=["in one message", "in two"],
)
def test_required_outputs_that_were_told(texts: Sequence[str]) -> None:
    check_spared([], _two_outputs(*texts), **OUTPUTS)


def test_required_outputs_are_not_used_where_a_trial_passed() -> None:
    check_spared(TOLD[:1], _two_outputs("Please see the terms."), **OUTPUTS)


def test_a_fact_told_later_in_other_words() -> None:
    later = agent("They last 24 months.")
    check_spared(TOLD, (TOLD[0][0], FAQ, agent("Let me see. Anything else?"), user("No."), later, user("OK.")))


def test_one_pass_never_makes_a_fact_required() -> None:
    failing = (TOLD[0][0], FAQ, agent("Points are valid for 36 months."), user("OK."))
    check_spared(TOLD[:1], failing)


def test_a_fact_that_not_every_pass_tells() -> None:
    silent = (user("How long are points valid?"), FAQ, agent("Please see the terms."), user("Fine."))
    check_spared([*TOLD, silent], (TOLD[0][0], FAQ, agent("Points are valid for 36 months."), user("OK.")))


def test_a_number_word_tells_the_number() -> None:
    faq = call("search_faq", "Returns within 12 weeks.", query="returns")
    passes = [
        (user("How long may I return?"), faq, agent("Within 12 weeks."), user("Thanks.")),
        (user("Until when are returns fine?"), faq, agent("You have 12 weeks."), user("Thanks.")),
    ]
    check_spared(passes, (passes[0][0], faq, agent("You have twelve weeks."), user("OK.")))


SPELLED = {
    "a final zero": ("It costs 49.90.", "The price: 49.90.", "It is 49.9, says agent X77."),
    "a date": ("It comes on 2025-03-12.", "On 2025-03-12.", "It comes on March 12, 2025."),
    "Chinese words": ("您的积分有效期为24个月", "您的积分有效期为24个月", "积分在24个月之内都有效"),
}


@pytest.mark.parametrize(("first", "second", "other"), SPELLED.values(), ids=SPELLED)
def test_the_same_fact_spelled_otherwise(first: str, second: str, other: str) -> None:
    look = call("get_info", {"user": "U-71", "months": 24}, user_id="U-71")
    passes = [(user("How is it?"), look, agent(said), user("Thanks.")) for said in (first, second)]
    check_spared(passes, (user("How is it?"), look, agent(other), user("Thanks.")))


def test_another_fact_in_chinese() -> None:
    faq = call("search_faq", "积分有效期24个月", query="积分")
    passes = [
        (user("积分多久过期？"), faq, agent("您的积分在 24 个月内有效"), user("谢谢")),
        (user("我的积分什么时候过期？"), faq, agent("有效期是 24 个月"), user("好的")),
    ]
    failing = (passes[0][0], faq, agent("有效期是 36 个月").root(), user("谢谢"))
    check_blamed(passes, failing, "wrong_answer")


# The same call with another result


def _coupon(state: str) -> Line:
    return call("check_coupon", {"code": "C9", "state": state, "percent": 10}, code="C9")


APPLY = call("apply_coupon", {"ok": True}, cart_id="K77", code="C9")
VALID = (
    (user("Use coupon C9 for cart K77."), _coupon("valid"), APPLY, agent("The coupon is in.")),
    (user("Cart K77 with coupon C9 please."), _coupon("valid"), APPLY, agent("Coupon applied.")),
)
NOT_VALID = agent("That coupon is used up, so I cannot apply it.")


def test_another_result_of_the_same_call_is_not_the_agents() -> None:
    failing = (VALID[0][0], _coupon("redeemed").root(), NOT_VALID.near(), user("Oh. Bye."))
    assert check_blamed(VALID, failing, "result_difference", "environment").tool == "check_coupon"


def test_a_result_that_was_repaired_by_a_second_look() -> None:
    check_spared(VALID, (VALID[0][0], _coupon("redeemed"), *VALID[0][1:]))


def test_results_that_differ_between_passes_too() -> None:
    passes = [
        (one[0], call("get_time", {"at": at}), *one[1:])
        for one, at in zip(VALID, ("09:01", "09:07"), strict=True)
    ]
    check_spared(passes, (VALID[0][0], call("get_time", {"at": "09:30"}), *VALID[0][1:]))


def _parcels(count: int) -> Line:
    return call("get_parcels", {"order_id": "A1001", "parcels": count}, order_id="A1001")


def _ship(number: str) -> Line:
    return call("create_shipment", {"shipment_id": number}, order_id="A1001")


SENT = (
    (user("Send A1001 again."), _ship("S-1"), _parcels(1), agent("One parcel is on its way.")),
    (user("Please resend order A1001."), _ship("S-5"), _parcels(1), agent("Your one parcel is coming.")),
)
TIMED_OUT = broken("create_shipment", "Error: timeout", order_id="A1001")


def test_another_result_after_a_write_of_its_own_is_the_agents() -> None:
    """The timed-out call took effect all the same: the read behind the retry counts two parcels."""
    failing = (SENT[0][0], TIMED_OUT, _ship("S-1").root(), _parcels(2).near(), agent("Two parcels are coming."))
    check_blamed(SENT, failing, "duplicate_write")


def test_a_retry_without_a_second_effect() -> None:
    check_spared(SENT, (SENT[0][0], TIMED_OUT, _ship("S-1"), _parcels(1), agent("One parcel is on its way.")))


def test_a_misread_result_is_no_result_difference() -> None:
    """The same result, told wrongly: the agent's message, not the environment."""
    faq = call("get_limit", {"limit": 500, "user": "U-8"}, user_id="U-8")
    passes = [
        (user("What is my limit? U-8."), faq, agent("Your limit is 500."), user("Thanks.")),
        (user("U-8, which limit?"), faq, agent("It is 500."), user("Thanks.")),
    ]
    failing = (passes[0][0], faq, agent("Your limit is 5,000.").root(), user("Great."))
    check_blamed(passes, failing, "wrong_answer misread_result")


def test_same_path_other_outcome() -> None:
    for failing in (FIRST, HARMLESS["other words"]):
        said = check_spared(PASSES, failing)
        assert said.reason is Reason.SAME_PATH
        assert said.actor == "grader"


@pytest.mark.parametrize("name", ["reads in another order", "a read done twice"])
def test_wording_only_is_said_where_only_words_differ(name: str) -> None:
    said = check_spared(PASSES, HARMLESS[name])
    assert said.reason is not Reason.WORDING_ONLY
    assert "free text alone" not in said.sentence


def test_a_call_of_the_user_is_no_wording() -> None:
    toggle = {"actor": "user", "name": "toggle_data", "arguments": {"on": True}, "result": "on"}
    help_me, do_it = user("No network."), agent("Please toggle your data.")
    passes = [(help_me, do_it, toggle, agent("It works.")), (user("Help."), do_it, toggle, agent("Fine."))]
    said = judged(passes, (help_me, do_it, user("No."), agent("Well.")))
    assert said.reason is not Reason.WORDING_ONLY
    assert "calls of the user" in said.sentence
    same = judged(passes, (help_me, do_it, toggle, agent("Well.")))
    assert same.reason in (Reason.SAME_PATH, Reason.WORDING_ONLY)
