"""Offers and consents: who agreed to what, and which offer a call answers. Every rule from both sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import pytest

from tests.divergence.desk import BYE, DONE, LOOK, OFFER, OPENING, PASSES, REFUND, YES, set_address
from tests.divergence.made import Line, agent, broken, call, check_blamed, judged, user
from trajdiff.divergence.finding import Kind

Trial: TypeAlias = "Sequence[Line]"


def cancel(order: str) -> Line:
    return call("cancel_order", {"ok": True}, order_id=order)


CANCEL = cancel("A1001")
CANCEL_OTHER = cancel("A1002")
ASK = user("Cancel order A1001.")
MAY_I = agent("I can cancel order A1001 for you. Shall I?")
CANCELLED = agent("It is cancelled.")
#: Passes that change nothing.
LEFT = (
    (ASK, LOOK, agent("Delivered orders cannot be cancelled."), user("OK, bye.")),
    (user("I want to cancel A1001."), LOOK, agent("It was delivered, so I cannot cancel it."), user("Bye.")),
)

# A question agrees to nothing


@pytest.mark.parametrize("words", ["Yes.", "Yes, please proceed."])
def test_a_call_that_the_user_agreed_to_goes_back_to_the_offer(words: str) -> None:
    said = check_blamed(LEFT, (ASK, LOOK, MAY_I.root(), user(words), CANCEL.near(), CANCELLED), "extra_write")
    assert "announced in a message first; the call that carries it out comes later" in said.evidence


@pytest.mark.parametrize("words", ["How do we proceed?", "Are you sure?", "No, do not proceed."])
def test_a_question_or_a_no_agrees_to_nothing(words: str) -> None:
    check_blamed(LEFT, (ASK, LOOK, MAY_I, user(words), CANCEL.root(), CANCELLED), "extra_write")


CHINESE = (
    (user("请取消订单A1001。"), LOOK, agent("订单已签收，无法取消。"), user("知道了。")),
    (user("我想取消A1001。"), LOOK, agent("已签收的订单不能取消。"), user("再见。")),
)
MAY_I_CHINESE = agent("我这边为您取消订单A1001，您看怎么样？")


@pytest.mark.parametrize("words", ["好的。", "可以，请继续。", "没问题"])
def test_a_consent_in_chinese_goes_back_to_the_offer(words: str) -> None:
    failing = (CHINESE[0][0], LOOK, MAY_I_CHINESE.root(), user(words), CANCEL.near(), agent("已取消。"))
    check_blamed(CHINESE, failing, "extra_write")


@pytest.mark.parametrize("words", ["可以吗？", "好的话怎么办理？", "不可以。", "您好。"])
def test_a_question_or_a_no_in_chinese_agrees_to_nothing(words: str) -> None:
    failing = (CHINESE[0][0], LOOK, MAY_I_CHINESE, user(words), CANCEL.root(), agent("已取消。"))
    check_blamed(CHINESE, failing, "extra_write")


# A consent is no wish of the user's own

WHAT_NOW = user("What can I do with A1001?")
#: Passes in which the agent, not the user, speaks of cancelling.
TOLD = (
    (WHAT_NOW, LOOK, agent("It was delivered; to cancel is too late."), user("OK, bye.")),
    (user("A1001: what now?"), LOOK, agent("Nothing to cancel any more, it has come."), user("Fine, bye.")),
)


def test_a_consent_that_names_the_act_is_no_wish() -> None:
    failing = (WHAT_NOW, LOOK, MAY_I.root(), user("Yes, cancel it."), CANCEL.near(), CANCELLED)
    check_blamed(TOLD, failing, "extra_write")


def test_a_wish_that_no_pass_has_is_the_users() -> None:
    failing = (WHAT_NOW, LOOK, agent("It has come."), user("I want you to cancel it.").root(), CANCEL.near())
    check_blamed(TOLD, failing, "user_deviation", "user")


def test_a_consent_in_chinese_that_names_the_act_is_no_wish() -> None:
    def change(order: str) -> Line:
        return call("取消订单", {"ok": True}, order_id=order)

    ask = user("A1001怎么处理？")
    passes = [
        (ask, LOOK, agent("已签收，取消订单来不及了。"), user("知道了。")),
        (user("A1001现在怎么样？"), LOOK, agent("货已送到，不用取消订单了。"), user("再见。")),
    ]
    offer = agent("我为您取消订单A1001，您看怎么样？")
    agreed = (ask, LOOK, offer.root(), user("好的，取消订单吧。"), change("A1001").near(), agent("办好了。"))
    check_blamed(passes, agreed, "extra_write")
    wished = (ask, LOOK, agent("货已送到。"), user("我要取消订单。").root(), change("A1001").near())
    check_blamed(passes, wished, "user_deviation", "user")


# An offer is of one record

BOTH = user("Cancel orders A1001 and A1002, please.")
FIRST_OFFER, OTHER_OFFER = agent("Shall I cancel A1001?"), agent("Shall I cancel A1002?")
TWO = [
    (ask, OTHER_OFFER, YES, CANCEL_OTHER, FIRST_OFFER, YES, CANCEL, agent("Both are cancelled."))
    for ask in (BOTH, user("Please cancel A1002 and A1001."))
]


def test_a_consent_about_another_record_is_none_to_the_missing_write() -> None:
    failing = (BOTH, FIRST_OFFER.root(), YES, CANCEL, agent("That is done."))
    assert check_blamed(TWO, failing, "missing_step").tool == "cancel_order"


def test_a_consent_about_the_missing_record_moves_the_place_behind_it() -> None:
    failing = (BOTH, OTHER_OFFER, YES, FIRST_OFFER.root(), YES, CANCEL, agent("That is done."))
    check_blamed(TWO, failing, "missing_step")


# Offers made again


def test_an_offer_made_again_and_agreed_to_again_is_made_where_it_is_made_first() -> None:
    again = agent("To be sure: I will cancel order A1001, right?")
    failing = (ASK, LOOK, MAY_I.root(), YES, again, user("Yes, that's right."), CANCEL.near(), CANCELLED)
    check_blamed(LEFT, failing, "extra_write")


def test_an_offer_that_was_declined_first_counts_from_the_second() -> None:
    again = agent("Shall I not cancel order A1001 after all?")
    failing = (ASK, LOOK, MAY_I, user("Hm, wait."), again.root(), YES, CANCEL.near(), CANCELLED)
    check_blamed(LEFT, failing, "extra_write")


# Where passes make another call of the tool

ONE = [
    (ask, LOOK, MAY_I, YES, CANCEL, CANCELLED) for ask in (ASK, user("I don't need A1001: cancel it, please."))
]


def test_an_offer_of_the_passes_own_act_is_none_of_another_record() -> None:
    failing = (ASK, LOOK, agent("Fine, shall I cancel it?"), YES, CANCEL, CANCEL_OTHER.root(), CANCELLED)
    check_blamed(ONE, failing, "extra_write")


def test_an_offer_that_states_the_other_record_is_of_it() -> None:
    offer = agent("Fine, shall I cancel it and A1002 with it?").root()
    check_blamed(ONE, (ASK, LOOK, offer, YES, CANCEL, CANCEL_OTHER.near(), CANCELLED), "extra_write")


# Refusing one thing and offering another

INSTEAD = agent("Unfortunately A1001 cannot be cancelled. Would you like me to refund the lamp instead?")


def test_a_message_that_refuses_one_thing_may_offer_another() -> None:
    failing = (*OPENING, INSTEAD, YES, agent("Is there anything else?").root(), BYE)
    assert check_blamed(PASSES, failing, "missing_step early_stop").tool == "refund_item"


def test_a_refusal_with_a_question_is_no_offer() -> None:
    refusal = agent("Unfortunately I cannot refund the lamp. Would you like to know why?").root()
    check_blamed(PASSES, (*OPENING, refusal, YES, agent("Is there anything else?"), BYE), "missing_step")


# An act is named by most words of its name

CHANGE_USER = call("change_user", {"ok": True}, user_id="U-71", mail="a@b.c")
SPLIT = {"order_id": "A1001", "boxes": 2}
CHANGES = [
    (ask, LOOK, CHANGE_USER, call("change_order", {"ok": True}, **SPLIT), agent("All is set."))
    for ask in (user("U-71 here: A1001 in two boxes, and a@b.c."), user("Two boxes for A1001. a@b.c is U-71."))
]


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ("I have changed the order.", Kind.MISSING_STEP),
        ("I have looked at the order.", Kind.UNRECOVERED_ERROR),
        ("I have changed the user.", Kind.UNRECOVERED_ERROR),
    ],
)
def test_two_words_of_its_name_name_an_act(told: str, kind: Kind) -> None:
    """Each word alone belongs to another tool, too: only both together report the refused call as done."""
    refused = broken("change_order", "Error: busy", **SPLIT)
    said = judged(CHANGES, (CHANGES[0][0], LOOK, CHANGE_USER, refused, agent(told), user("Bye.")))
    assert said.kind is kind, said.sentence


def test_a_sentence_with_as_many_words_of_a_longer_name_names_neither() -> None:
    moved = call("change_order_street", {"ok": True}, order_id="A1001", street="14 Mill Lane")
    passes = [(*one[:3], moved, *one[3:]) for one in CHANGES]
    refused = broken("change_order", "Error: busy", **SPLIT)
    told = agent("I have changed the order street.").root()
    failing = (CHANGES[0][0], LOOK, CHANGE_USER, moved, refused, told, user("Bye."))
    check_blamed(passes, failing, "unrecovered_error")


# An agreed offer stands before an earlier mention

BAG = call("order_item", {"ok": True}, item_id="BAG-9")
WHICH = user("Which bag goes with the lamp of A1001?")
ADVICE = [
    (ask, LOOK, agent("Any blue one."), user("Thanks, bye.")) for ask in (WHICH, user("A bag for A1001?"))
]
MENTION = agent("Many people like BAG-9 with it.")


def test_an_agreed_offer_stands_before_an_earlier_mention() -> None:
    offer = agent("I can order BAG-9 for you. Shall I?").root()
    failing = (WHICH, LOOK, MENTION, user("Is it a good one?"), offer, YES, BAG.near(), agent("It is coming."))
    check_blamed(ADVICE, failing, "extra_write")


def test_without_a_consent_the_first_mention_stands() -> None:
    failing = (WHICH, LOOK, MENTION.root(), user("Is it a good one?"), BAG.near(), agent("It is coming."))
    check_blamed(ADVICE, failing, "extra_write")


def test_where_passes_make_the_call_with_another_value_the_mention_stands() -> None:
    """It is the value that parts the trial from the passes, not the act."""
    passes = [
        (ask, LOOK, set_address("14 Mill Lane"), agent("Set."))
        for ask in (user("Send A1001 to 14 Mill Lane."), user("A1001 goes to 14 Mill Lane."))
    ]
    offer = agent("I will change the address of A1001 to 41 Mill Lane, okay?")
    mention = agent("You said 41 Mill Lane, I see.").root()
    failing = (passes[0][0], LOOK, mention, user("Hm?"), offer, YES, set_address("41 Mill Lane").near(), DONE)
    check_blamed(passes, failing, "wrong_argument")


def test_the_opening_of_the_desk_still_offers() -> None:
    """What these rules start from: an offer that passes make, too, is no announcement."""
    check_blamed(PASSES, (*OPENING, OFFER, YES, CANCEL.root(), DONE), "wrong_tool")
    assert judged(PASSES, (*OPENING, OFFER, YES, REFUND, DONE, BYE)).abstained
