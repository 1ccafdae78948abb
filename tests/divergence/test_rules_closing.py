"""What takes the blame back: a word that denies the act, what is put right, what a pass's user does too."""

from __future__ import annotations

from typing import Any

import pytest

from tests.divergence.desk import BYE, DONE, LOOK, MOVES, OFFER, OPENING, PASSES, REFUND, YES, set_address
from tests.divergence.made import agent, broken, call, check_blamed, judged, user
from tests.divergence.test_rules_first_commitment import (
    ANYTHING,
    BAG,
    CANCEL,
    CANCELLED,
    CLOSED,
    STAY,
    STAYS,
    TOLD,
    TURN,
    WHAT_NOW,
    WRONG,
)
from tests.divergence.test_rules_places import CALLED, GAVE_UP, LOST, PHONE, SCRIPT, WHO
from trajdiff.align.language import asserted

LATER = agent("It is done.")

# A wish, and its contrary


@pytest.mark.parametrize("words", ["I do not want to cancel it, please.", "It came, please don't cancel it."])
def test_who_says_no_to_an_act_does_not_wish_it(words: str) -> None:
    failing = (WHAT_NOW, LOOK, agent("Let me see."), user(words), CANCEL.root(), CANCELLED)
    check_blamed(TOLD, failing, "extra_write")


@pytest.mark.parametrize("words", ["I don't like the lamp at all, cancel it.", "Can't you cancel it?"])
def test_a_no_to_something_else_is_a_wish_all_the_same(words: str) -> None:
    failing = (WHAT_NOW, LOOK, agent("Let me see."), user(words).root(), CANCEL.near(), CANCELLED)
    check_blamed(TOLD, failing, "user_deviation", "user")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Please don't cancel the order, return it.", "please ; return it"),
        ("I don't need the lamp any more so cancel it", "i more so cancel it"),
        ("请不要取消订单，退款吧。", "请 ; 退款吧"),
        ("您好，取消订单。", "您好 ; 取消订单"),
    ],
)
def test_what_a_text_asserts(text: str, left: str) -> None:
    assert " ".join(asserted(text).split()) == left


# A value that was put right


def test_a_user_who_puts_it_right_has_not_left_the_passes() -> None:
    failing = (
        user("Send order A1001 to 41 Mill Lane."), LOOK, agent("Where to?"),
        user("Sorry, I mean 14 Mill Lane."), set_address("41 Mill Lane").root(), LATER,
    )  # fmt: skip
    check_blamed(MOVES, failing, "wrong_argument")


def test_an_announcement_that_the_user_put_right_is_none() -> None:
    failing = (
        MOVES[0][0], LOOK, agent("It goes to 41 Mill Lane then."), user("No, to 14 Mill Lane."),
        set_address("41 Mill Lane").root(), LATER,
    )  # fmt: skip
    check_blamed(MOVES, failing, "wrong_argument")


def test_an_announcement_after_that_counts() -> None:
    failing = (
        user("Send order A1001 to 41 Mill Lane."), LOOK, agent("Where to?"), user("I mean 14 Mill Lane."),
        agent("To 41 Mill Lane, fine.").root(), set_address("41 Mill Lane").near(), LATER,
    )  # fmt: skip
    check_blamed(MOVES, failing, "wrong_argument")


def test_a_refused_attempt_at_another_record_commits_to_nothing() -> None:
    other = broken("update_address", "Error: gone", order_id="A1010", street="41 Mill Lane")
    failing = (MOVES[0][0], LOOK, other, agent("Hm."), user("Well?"), set_address("41 Mill Lane").root(), LATER)
    check_blamed(MOVES, failing, "wrong_argument")


def test_a_look_by_the_wrong_value_before_one_by_the_right_value() -> None:
    wrong, right = (call("get_free_rooms", {"free": ["204"]}, day=day) for day in (WRONG, "2025-05-02"))
    book = call("book_room", {"ok": True}, room="204", day=WRONG)
    check_blamed(STAYS, (STAY, wrong, right, book.root(), agent("You have the room.")), "wrong_argument")
    again = (STAY, wrong, right, wrong.root(), book.near(), agent("You have the room."))
    check_blamed(STAYS, again, "wrong_argument")


# What a pass's user, or the script, says too


def test_a_turn_that_a_passes_user_takes_elsewhere() -> None:
    more = agent("What more do you have in mind about parcels?")
    early = (CLOSED[1][0], LOOK, more, TURN, agent("We have none of these."), user("Pity. So what?"))
    passes = [CLOSED[0], (*early, *CLOSED[1][2:])]
    check_blamed(passes, (WHAT_NOW, LOOK, ANYTHING, TURN, BAG.root(), LATER), "extra_write")


def test_a_turn_that_brings_what_the_script_states() -> None:
    turn = user("My cousin would love BAG-9, the one with long straps.")
    script: dict[str, Any] = {"task": {"script": "Ask about A1001. Your cousin is to have BAG-9."}}
    failing = (WHAT_NOW, LOOK, ANYTHING, turn, BAG.root(), LATER)
    check_blamed(CLOSED, failing, "extra_write", **script)
    blamed = (WHAT_NOW, LOOK, ANYTHING, turn.root(), BAG.near(), LATER)
    check_blamed(CLOSED, blamed, "user_deviation", "user", task={"script": "Ask about A1001."})


def test_a_denial_that_a_passes_user_says_too() -> None:
    by_order = (WHO, PHONE, LOST, agent("Which order is it?"), user("A1001, the lamp."), LOOK, REFUND, DONE)
    failing = (WHO, PHONE, LOST, GAVE_UP.root(), BYE)
    check_blamed([CALLED[0], by_order], failing, "missing_step early_stop", **SCRIPT)


# A turn that was left after all


def test_a_user_who_speaks_on_while_the_trial_goes_on_leaves_a_turn() -> None:
    more = (user("Oh, and how is the weather?"), agent("Sunny.").root(), user("And tomorrow?"), agent("Rain."))
    check_blamed(PASSES, (*OPENING, OFFER, YES, *more, BYE), "missing_step")


def test_a_user_who_speaks_on_before_a_call_leaves_a_turn() -> None:
    look = call("get_queue", {"waiting": 9}, desk="lamps")
    failing = (*OPENING, OFFER, YES, user("Oh, who is next?"), look, agent("Nine wait.").root(), BYE)
    check_blamed(PASSES, failing, "missing_step early_stop")


# What is printed


def test_another_wish_in_the_place_of_the_passes_call_ended_nothing() -> None:
    def exchange() -> Any:
        return call("exchange_item", {"ok": True}, order_id="A1001", new_item_id="BAG-7")

    ask, offer = user("I want the blue bag instead, order A1001."), agent("Shall I send BAG-7?")
    passes = [
        (ask, LOOK, offer, YES, exchange(), agent("Done.")),
        (user("A1001: please a blue bag instead."), LOOK, agent("BAG-7, right?"), YES, exchange(), BYE),
    ]
    other = user("No, I want my money back as a refund instead.")
    said = judged(passes, (ask, LOOK, offer, other, REFUND, agent("Refunded.")))
    assert said.headline == "another wish, met by refund_item"
    assert said.sentence == (
        "The user says something that no passed trial's user says: another wish, met by refund_item."
    )


@pytest.mark.parametrize("reason", ["unknown", "incomplete"])
def test_nobody_knows_who_ended_a_record_that_does_not_say_so(reason: str) -> None:
    said = judged(PASSES, (*OPENING, OFFER, YES), termination=reason)
    assert said.sentence == (
        "The record ends with no turn for refund_item after the user's message; both passed trials call it."
    )
    ended = judged(PASSES, (*OPENING, OFFER, YES), termination="user_done")
    assert ended.sentence == (
        "The user ends the trial and leaves no turn for refund_item; both passed trials call it."
    )
