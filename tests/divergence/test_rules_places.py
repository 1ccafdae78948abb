"""Which of several writes is meant, where a missing step stands, and what stands before it. Both sides."""

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
    LOOK_AT_OTHER,
    OFFER,
    OPENING,
    ORDER,
    PASSES,
    REFUND,
    REFUSED,
    SECOND,
    YES,
    refund,
)
from tests.divergence.made import Line, agent, broken, call, check_blamed, check_spared, user

Trial: TypeAlias = "Sequence[Line]"

# A write made twice: the order of the passes says which one is too many

BOTH = user("Refund the lamps of A1001 and A1010.")
ONE, OTHER = refund(), refund(20, "A1010")
TWO = [
    (ask, ONE, OTHER, agent("Both are refunded."))
    for ask in (BOTH, user("A1001, A1010: I want my money back for both lamps."))
]


def test_of_two_equal_writes_the_first_stands_in_place_of_the_missing_one() -> None:
    said = check_blamed(TWO, (BOTH, OTHER.root(), OTHER, DONE), "wrong_argument")
    assert said.tool == "refund_item"


def test_of_two_equal_writes_the_one_out_of_the_order_is_too_many() -> None:
    check_blamed(TWO, (BOTH, OTHER.root(), ONE, OTHER, DONE), "duplicate_write")


def test_of_two_equal_writes_in_a_row_the_second_is_too_many() -> None:
    check_blamed(TWO, (BOTH, ONE, OTHER, OTHER.root(), DONE), "duplicate_write")


def test_of_two_equal_writes_the_first_may_be_in_order() -> None:
    check_blamed(TWO, (BOTH, ONE, OTHER, ONE.root(), DONE), "duplicate_write")


def test_of_two_equal_writes_behind_one_in_other_terms_the_second_is_too_many() -> None:
    """The order of the passes leaves open which of the two is meant."""
    ask, coming = user("A blue bag for A1001, and A1010 refunded."), agent("It is coming.")
    made = {"ok": True, "colour": "blue"}
    passes = [(one, _bag(made, colour="blue"), OTHER, coming) for one in (ask, user("A1010 back. A blue bag."))]
    check_blamed(passes, (ask, _bag(made), OTHER, OTHER.root(), coming), "duplicate_write")


# An argument that is left out

BLUE = user("A blue bag for A1001.")


def _bag(result: dict[str, Any], **more: str) -> Line:
    return call("order_bag", result, order_id="A1001", **more)


BAGS = [
    (ask, _bag({"ok": True, "colour": "blue"}, colour="blue"), agent("It is coming."))
    for ask in (BLUE, user("I'd like a bag for A1001, a blue one."))
]


def test_an_argument_that_the_result_has_all_the_same_is_no_difference() -> None:
    check_spared(BAGS, (BLUE, _bag({"ok": True, "colour": "blue"}), agent("It is coming.")))


def test_an_argument_that_only_the_passes_leave_out_is_no_difference() -> None:
    passes = [(one[0], _bag({"ok": True, "colour": "blue"}), one[2]) for one in BAGS]
    check_spared(passes, (BLUE, _bag({"ok": True, "colour": "blue"}, colour="blue"), agent("It is coming.")))


@pytest.mark.parametrize(
    "result",
    [{"ok": True, "colour": "red"}, {"ok": True}, {"ok": True, "lining": "blue"}],
    ids=["another value", "none", "under another name"],
)
def test_an_argument_that_the_result_does_not_have(result: dict[str, Any]) -> None:
    check_blamed(BAGS, (BLUE, _bag(result).root(), agent("It is coming.")), "wrong_argument")


def test_another_argument_is_a_difference_whatever_the_result_has() -> None:
    made = {"ok": True, "colour": "blue", "size": "large"}
    passes = [(one[0], _bag(made, colour="blue", size="large"), one[2]) for one in BAGS]
    check_blamed(passes, (BLUE, _bag(made, colour="red").root(), agent("It is coming.")), "wrong_argument")


# Loops

NO_ONE = call("find_customer", [], name="Ann Lee")
DOWN = broken("find_customer", "Error: busy", name="Ann Lee")
FOUND = call("find_customer", [{"id": "U7"}], phone="555-0142")
ANN = user("I am Ann Lee, phone 555-0142, refund A1001.")
SEARCHES = (
    (ANN, FOUND, LOOK, REFUND, DONE),
    (user("Refund A1001. 555-0142."), NO_ONE, FOUND, LOOK, REFUND, DONE),
)
CUT: dict[str, Any] = {"termination": "max_steps"}


def test_a_call_made_again_after_it_failed_is_no_repetition() -> None:
    check_blamed(SEARCHES, (ANN, DOWN, NO_ONE, NO_ONE.root(), NO_ONE, NO_ONE.near()), "loop", **CUT)


def test_a_call_made_again_after_it_answered_is_one() -> None:
    failing = (ANN, NO_ONE, LOOK, NO_ONE.root(), NO_ONE, NO_ONE.near())
    check_blamed(SEARCHES, failing, "loop", **CUT)


# What stands before a loop that ends the trial

LOOKING = [call("get_queue", {"waiting": 9}, desk="lamps")] * 3
CIRCLE = (LOOKING[0].root(), LOOKING[1], LOOKING[2].near())


def test_a_missing_write_whose_place_is_a_guess_stands_behind_the_loop() -> None:
    failing = (*OPENING, agent("One moment."), user("Well?"), *CIRCLE)
    check_blamed(PASSES, failing, "loop", **CUT)


def test_a_missing_write_that_was_agreed_to_stands_before_the_loop() -> None:
    failing = (*OPENING, OFFER, YES, agent("One moment.").root(), user("Well?"), *LOOKING)
    assert check_blamed(PASSES, failing, "missing_step", **CUT).tool == "refund_item"


def test_a_missing_write_reported_as_done_stands_before_the_loop() -> None:
    failing = (*OPENING, agent("I have refunded the lamp.").root(), user("Well?"), *LOOKING)
    assert check_blamed(PASSES, failing, "missing_step", **CUT).tool == "refund_item"


# Refused writes and what stands behind them

REPORTED = agent("I have refunded the lamp.")
LETTER = call("subscribe_newsletter", {"ok": True}, user_id="U-71")


def _refused(amount: float) -> Line:
    return broken("refund_item", "Error: not this amount", order_id="A1001", sku="LAMP-1", amount=amount)


def test_a_refused_write_reported_as_done_stands_before_a_later_extra_write() -> None:
    failing = (*OPENING, OFFER, YES, REFUSED, REPORTED.root(), user("Thanks."), LETTER, BYE)
    assert check_blamed(PASSES, failing, "missing_step").tool == "refund_item"


def test_a_refused_write_reported_as_done_stands_behind_an_earlier_extra_write() -> None:
    failing = (*OPENING, OFFER, YES, LETTER.root(), REFUSED, REPORTED, user("Thanks."), BYE)
    check_blamed(PASSES, failing, "extra_write")


def test_a_write_reported_as_done_that_was_refused_for_arguments_of_its_own() -> None:
    failing = (*OPENING, OFFER, YES, _refused(94.9).root(), REPORTED, user("Thanks."), BYE)
    assert check_blamed(PASSES, failing, "wrong_argument").argument == "amount"


WAIT = (agent("One moment."), user("Well?"), LETTER.root(), agent("Bye."))


def test_an_agreed_offer_that_was_tried_is_no_sure_place() -> None:
    check_blamed(PASSES, (*OPENING, OFFER, YES, REFUSED, LOOK_AT_OTHER, *WAIT), "extra_write")


def test_an_agreed_offer_that_was_tried_before_only_is_a_sure_place() -> None:
    failing = (*OPENING, REFUSED, OFFER, YES, LOOK_AT_OTHER, WAIT[0].root(), WAIT[1], LETTER, WAIT[3])
    assert check_blamed(PASSES, failing, "missing_step").tool == "refund_item"


# Where a missing write stands


def _unlock(order: str) -> Line:
    return call("unlock_order", {"ok": True}, order_id=order)


def _unlocked(order: str) -> list[Trial]:
    return [(*one[:5], _unlock(order), *one[5:]) for one in (FIRST, SECOND)]


FIRST_THAT, THEN_THIS = agent("Something has to be seen to first."), agent("That was that.")


def test_a_missing_write_stands_behind_the_write_on_its_record_that_comes_first() -> None:
    failing = (*OPENING, FIRST_THAT, user("Well?"), _unlock("A1001"), THEN_THIS.root(), BYE, agent("Bye."))
    assert check_blamed(_unlocked("A1001"), failing, "missing_step").tool == "refund_item"


def test_a_missing_write_does_not_wait_for_a_write_on_another_record() -> None:
    failing = (*OPENING, FIRST_THAT.root(), user("Well?"), _unlock("A1010"), THEN_THIS, BYE, agent("Bye."))
    assert check_blamed(_unlocked("A1010"), failing, "missing_step").tool == "refund_item"


# Where a missing look stands

GREETING, CHECKED = user("Hello, it is about order A1001."), agent("I see the order A1001 here.")
VAN = user("Please book a van for it, too.")
VANS = call("get_vans", [{"van_id": "V-77"}], order_id="A1001")
BOOK_VAN = call("book_van", {"ok": True}, van_id="V-77")
WITH_VAN = [
    (ask, LOOK, CHECKED, VAN, VANS, BOOK_VAN, agent("The van is booked."))
    for ask in (GREETING, user("Good morning, a question about A1001."))
]
CHAT = user("How is the weather?")
SUNNY = agent("Splendid, not a cloud.")
NONE_LEFT = agent("All of them are out.")


def test_a_missing_look_stands_behind_the_request_that_it_answers() -> None:
    failing = (GREETING, LOOK, CHECKED, CHAT, SUNNY, VAN, NONE_LEFT.root(), BYE, agent("Bye."))
    assert check_blamed(WITH_VAN, failing, "missing_step").tool == "get_vans"


def test_a_missing_look_for_which_nobody_asked_in_such_words() -> None:
    failing = (GREETING, LOOK, CHECKED, CHAT, SUNNY.root(), user("Rain?"), NONE_LEFT, BYE, agent("Bye."))
    assert check_blamed(WITH_VAN, failing, "missing_step").tool == "get_vans"


LOOKED_TWICE = [
    (ask, LOOK, LOOK_AT_OTHER, REFUND, DONE)
    for ask in (
        user("My lamp was dearer in A1001 than in A1010, refund it."),
        user("Refund A1001: A1010 was cheaper."),
    )
]
DEARER, MOMENT = LOOKED_TWICE[0][0], agent("Let me have a look at that.")
NOT_SEEN = agent("There is nothing to be seen.")


def test_a_missing_look_stands_behind_the_last_look_of_its_kind() -> None:
    failing = (DEARER, MOMENT, user("Well?"), LOOK_AT_OTHER, NOT_SEEN.root(), BYE, agent("Bye."))
    assert check_blamed(LOOKED_TWICE, failing, "missing_step").tool == "get_order"


def test_a_missing_look_does_not_wait_for_looks_of_another_kind() -> None:
    queue = call("get_queue", {"waiting": 9}, desk="lamps")
    failing = (DEARER, MOMENT.root(), user("Well?"), queue, NOT_SEEN, BYE, agent("Bye."))
    assert check_blamed(LOOKED_TWICE, failing, "missing_step").tool == "get_order"


def test_a_missing_look_does_not_wait_for_a_look_that_was_refused() -> None:
    refused = broken("get_order", "Error: busy", order_id="A1010")
    failing = (DEARER, MOMENT.root(), user("Well?"), refused, NOT_SEEN, BYE, agent("Bye."))
    assert check_blamed(LOOKED_TWICE, failing, "missing_step").tool == "get_order"


# Inputs that the user says not to have

WHO, PHONE = user("Refund the lamp, please."), agent("What is your phone number?")
NUMBER, FIND = user("My phone is 5550142000."), call("find_orders", [ORDER], phone="5550142000")
CALLED = [(ask, PHONE, NUMBER, FIND, REFUND, DONE) for ask in (WHO, user("I want my money back for the lamp."))]
#: One pass finds the order without the phone, so that no look is missing but the write alone.
BY_ORDER = (WHO, agent("Which order is it?"), user("A1001, the lamp."), LOOK, REFUND, DONE)
SCRIPT: dict[str, Any] = {"task": {"script": "You want a refund for the lamp. Your phone is 5550142000."}}
NO_PHONE: dict[str, Any] = {"task": {"script": "You want a refund for the lamp."}}
LOST = user("I don't remember my phone number.")
GAVE_UP = agent("Then there is nothing that we can look up.")
STOPPED = "missing_step early_stop"


def test_an_input_of_the_script_that_the_missing_write_does_not_take() -> None:
    passes = [BY_ORDER, CALLED[0]]
    said = check_blamed(passes, (WHO, PHONE, LOST.root(), GAVE_UP, BYE), "user_deviation", "user", **SCRIPT)
    assert said.tool == "refund_item"
    assert "phone" in said.sentence


@pytest.mark.parametrize("more", [{}, NO_PHONE], ids=["no script", "not in the script"])
def test_an_input_of_no_script_that_the_missing_write_does_not_take(more: dict[str, Any]) -> None:
    check_blamed([BY_ORDER, CALLED[0]], (WHO, PHONE, LOST, GAVE_UP.root(), BYE), STOPPED, **more)


def test_what_the_missing_write_does_not_take_is_no_input_without_a_script() -> None:
    given = (user("Refund the lamp, my phone is 5550142000."), FIND, REFUND, DONE)
    passes = [BY_ORDER, (user("My money back for the lamp, please."), *BY_ORDER[1:]), given]
    check_blamed(passes, (WHO, PHONE.root(), LOST, GAVE_UP, BYE), STOPPED)
    check_blamed(passes, (WHO, PHONE, LOST.root(), GAVE_UP, BYE), "user_deviation", "user", **SCRIPT)


def test_an_input_of_the_script_that_no_trial_passes_on() -> None:
    passes = [BY_ORDER, (user("My money back for the lamp, please."), *BY_ORDER[1:])]
    check_blamed(passes, (WHO, PHONE.root(), LOST, GAVE_UP, BYE), STOPPED, **SCRIPT)


@pytest.mark.parametrize("words", ["I don't have those with me.", "Sorry, I don't know.", "I forgot."])
def test_a_denial_that_names_nothing_denies_what_was_asked_for(words: str) -> None:
    failing = (WHO, PHONE, user(words).root(), GAVE_UP, BYE)
    check_blamed(CALLED, failing, "user_deviation", "user", **SCRIPT)


def test_a_denial_that_names_nothing_denies_nothing_else() -> None:
    bill = agent("Do you have the bill?").root()
    failing = (WHO, bill, user("I don't have those with me."), GAVE_UP, BYE)
    check_blamed(CALLED, failing, STOPPED, **SCRIPT)


EITHER = agent("What is your phone number, or the number of your bill?")
BY_BILL = (
    user("The lamp has to go back."), EITHER, user("The bill is B-20417, my phone is 5550142000."),
    call("find_bills", [{"bill": "B-20417"}], bill="B-20417"), FIND, REFUND, DONE,
)  # fmt: skip


def test_a_denial_that_names_one_input_denies_only_that() -> None:
    failing = (WHO, EITHER, user("I don't have the bill."), GAVE_UP.root(), BYE)
    check_blamed([*CALLED, BY_BILL], failing, STOPPED, **SCRIPT)


def test_a_denial_that_names_both_inputs() -> None:
    failing = (WHO, EITHER, user("I don't have the bill and I forgot my phone.").root(), GAVE_UP, BYE)
    check_blamed([*CALLED, BY_BILL], failing, "user_deviation", "user", **SCRIPT)


ASK_ZH, WHICH_ZH = user("请给我退款。"), agent("请问您的手机号是多少？")
NUMBER_ZH = user("手机号是13800138000。")
CALLED_ZH = [
    (
        ask, WHICH_ZH, NUMBER_ZH, call("查询订单", [{"order_id": "A1001"}], 手机号="13800138000"),
        call("申请退款", {"ok": True}, order_id="A1001"), agent("已退款。"),
    )
    for ask in (ASK_ZH, user("我要退钱。"))
]  # fmt: skip
SCRIPT_ZH: dict[str, Any] = {"task": {"script": "你要退款，手机号是13800138000。"}}
STOP_ZH, FINE_ZH = agent("那就没有办法查到了。"), user("好吧。")


@pytest.mark.parametrize("words", ["我不记得了。", "不知道。"])
def test_a_denial_in_chinese_that_names_nothing(words: str) -> None:
    failing = (ASK_ZH, WHICH_ZH, user(words).root(), STOP_ZH, FINE_ZH)
    check_blamed(CALLED_ZH, failing, "user_deviation", "user", **SCRIPT_ZH)


def test_what_is_no_denial_in_chinese() -> None:
    failing = (ASK_ZH, WHICH_ZH, user("没有带。"), STOP_ZH.root(), FINE_ZH)
    check_blamed(CALLED_ZH, failing, STOPPED, **SCRIPT_ZH)


def test_the_opening_of_the_desk_is_shared() -> None:
    """What these places start from: what the passes say, too, is no place of a missing write."""
    failing = (ASK, LOOK, GUARD, OFFER, user("Well?"), NOT_SEEN.root(), BYE, agent("Bye."))
    assert check_blamed(PASSES, failing, "missing_step").tool == "refund_item"
