"""Who commits first to a write that no pass makes: an attempt, a look, an offer, the user. Both sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import pytest

from tests.divergence.desk import (
    BYE,
    LOOK,
    LOOK_AT_OTHER,
    MOVES,
    OFFER,
    OPENING,
    PASSES,
    YES,
    set_address,
)
from tests.divergence.made import Line, agent, broken, call, check_blamed, user

Trial: TypeAlias = "Sequence[Line]"

# A refused attempt at the same call

MOVE, LATER = MOVES[0][0], agent("It is done.")
TO_41 = set_address("41 Mill Lane")


def _refused(street: str) -> Line:
    return broken("update_address", "Error: busy", order_id="A1001", street=street)


def test_a_refused_attempt_that_has_the_wrong_value_already() -> None:
    failing = (MOVE, LOOK, _refused("41 Mill Lane").root(), agent("Once more."), TO_41.near(), LATER)
    assert check_blamed(MOVES, failing, "wrong_argument").argument == "street"


def test_a_refused_attempt_with_another_value() -> None:
    failing = (MOVE, LOOK, _refused("9 Elm Road"), agent("Once more."), TO_41.root(), LATER)
    check_blamed(MOVES, failing, "wrong_argument")


def test_a_refused_attempt_that_a_pass_makes_too() -> None:
    passes = [MOVES[0], (*MOVES[1][:2], _refused("41 Mill Lane"), *MOVES[1][2:])]
    failing = (MOVE, LOOK, _refused("41 Mill Lane"), agent("Once more."), TO_41.root(), LATER)
    check_blamed(passes, failing, "wrong_argument")


def test_a_refused_attempt_that_was_announced() -> None:
    told = agent("I will send it to 41 Mill Lane.").root()
    check_blamed(MOVES, (MOVE, LOOK, told, _refused("41 Mill Lane"), TO_41.near(), LATER), "wrong_argument")


# A look that is restricted to the wrong value


def _free(**restricted: str) -> Line:
    return call("get_free_rooms", {"free": ["204", "206"]}, **restricted)


def _book(day: str) -> Line:
    return call("book_room", {"ok": True}, room="204", day=day)


RIGHT, WRONG = "2025-05-02", "2025-05-20"
STAY = user("Book room 204 for 2 May.")
STAYS = [
    (ask, _free(day=RIGHT), _book(RIGHT), agent("Room 204 is booked."))
    for ask in (STAY, user("I need 204 on 2 May."))
]
BOOKED = (_book(WRONG), agent("You have the room."))


def test_a_look_by_the_wrong_value() -> None:
    failing = (STAY, _free(day=WRONG).root(), _book(WRONG).near(), BOOKED[1])
    assert check_blamed(STAYS, failing, "wrong_argument").argument == "day"


def test_a_look_by_the_wrong_value_that_a_pass_makes_too() -> None:
    passes = [STAYS[0], (STAYS[1][0], _free(day=WRONG), *STAYS[1][1:])]
    check_blamed(passes, (STAY, _free(day=WRONG), BOOKED[0].root(), BOOKED[1]), "wrong_argument")


def test_a_look_by_both_values() -> None:
    failing = (STAY, _free(day=RIGHT, until=WRONG), BOOKED[0].root(), BOOKED[1])
    check_blamed(STAYS, failing, "wrong_argument")


def test_a_look_at_another_record_restricts_nothing() -> None:
    def exchange(item: str) -> Line:
        return call("exchange_item", {"ok": True}, order_id="A1001", new_item_id=item)

    passes = [
        (ask, LOOK, exchange("BAG-7"), agent("It is on its way."))
        for ask in (user("The blue bag for the lamp of A1001."), user("A1001: a blue bag instead."))
    ]
    look = call("get_item", {"colour": "blue"}, item_id="BAG-9")
    check_blamed(passes, (passes[0][0], LOOK, look, exchange("BAG-9").root(), LATER), "wrong_argument")


# Telling how a record is


def _address(street: str, order: str = "A1001") -> Line:
    return call("get_address", {"street": street, "town": "Hull"}, order_id=order)


def _moves(*looks: Line) -> list[Trial]:
    return [(one[0], *looks, *one[2:]) for one in MOVES]


AT_PRESENT = agent("At present it goes to 41 Mill Lane.")


def test_who_tells_how_a_record_is_announces_nothing() -> None:
    look = _address("41 Mill Lane")
    check_blamed(_moves(look), (MOVE, look, AT_PRESENT, user("Hm."), TO_41.root(), LATER), "wrong_argument")


def test_who_tells_what_the_record_does_not_have_announces_it() -> None:
    look = _address("9 Elm Road")
    failing = (MOVE, look, AT_PRESENT.root(), user("Hm."), TO_41.near(), LATER)
    check_blamed(_moves(look), failing, "wrong_argument")


def test_who_tells_what_another_record_has_announces_it() -> None:
    looks = (_address("9 Elm Road"), _address("41 Mill Lane", "A1010"))
    failing = (MOVE, *looks, AT_PRESENT.root(), user("Hm."), TO_41.near(), LATER)
    check_blamed(_moves(*looks), failing, "wrong_argument")


# An offer that names another record


def cancel(order: str) -> Line:
    return call("cancel_order", {"ok": True}, order_id=order)


ASK = user("Cancel order A1001.")
CANCEL, CANCEL_OTHER = cancel("A1001"), cancel("A1010")
CANCELLED = agent("It is cancelled.")
LEFT = (
    (ASK, LOOK, agent("Delivered orders cannot be cancelled."), user("OK, bye.")),
    (user("I want to cancel A1001."), LOOK, agent("It was delivered, so I cannot cancel it."), user("Bye.")),
)


def test_an_offer_that_names_another_record_is_none_of_this_one() -> None:
    offer = agent("I can cancel order A1010 for you. Shall I?")
    check_blamed(LEFT, (ASK, LOOK, LOOK_AT_OTHER, offer, YES, CANCEL.root(), CANCELLED), "extra_write")


@pytest.mark.parametrize("which", ["order A1010 and A1001", "the order"])
def test_an_offer_that_names_this_record_too_or_none(which: str) -> None:
    offer = agent(f"I can cancel {which} for you. Shall I?").root()
    check_blamed(LEFT, (ASK, LOOK, LOOK_AT_OTHER, offer, YES, CANCEL.near(), CANCELLED), "extra_write")


def test_an_offer_that_names_a_record_at_which_nobody_looked() -> None:
    offer = agent("I can cancel order A1010 for you. Shall I?").root()
    check_blamed(LEFT, (ASK, LOOK, offer, YES, CANCEL.near(), CANCELLED), "extra_write")


# An offer of what passes do

NOT_NEEDED = user("I don't need the lamp of A1001 any more.")
CANCELS = [
    (ask, LOOK, agent("Fine, I will cancel A1001, all right?"), YES, CANCEL, CANCELLED)
    for ask in (NOT_NEEDED, user("No more need for A1001."))
]
WITH_MONEY = agent("I can cancel A1001; a refund of 49.90 follows. Do you want that?")
MONEY = call("refund_order", {"ok": True}, order_id="A1001", amount=49.9)


def test_an_offer_of_the_passes_act_is_none_of_another_tools() -> None:
    failing = (NOT_NEEDED, LOOK, WITH_MONEY, YES, MONEY.root(), LATER)
    check_blamed(CANCELS, failing, "wrong_tool")


def test_an_offer_of_the_passes_act_that_the_trial_makes_too() -> None:
    failing = (NOT_NEEDED, LOOK, WITH_MONEY.root(), YES, CANCEL, MONEY.near(), LATER)
    check_blamed(CANCELS, failing, "extra_write")


def test_an_offer_of_the_passes_act_on_another_record() -> None:
    passes = [(ask, LOOK, LOOK_AT_OTHER, CANCEL_OTHER, CANCELLED) for ask, *_ in CANCELS]
    failing = (NOT_NEEDED, LOOK, LOOK_AT_OTHER, WITH_MONEY.root(), YES, MONEY.near(), LATER)
    check_blamed(passes, failing, "extra_write wrong_tool")


# An extra write on a record of its own, where passes make such a call on another one

ONE = [
    (ask, LOOK, agent("I can cancel order A1001 for you. Shall I?"), YES, CANCEL, CANCELLED)
    for ask in (ASK, user("I don't need A1001: cancel it, please."))
]


def test_an_offer_of_the_extra_record() -> None:
    offer = agent("Shall I cancel A1010 as well?").root()
    failing = (*ONE[0][:5], LOOK_AT_OTHER, offer, YES, CANCEL_OTHER.near(), agent("Both are cancelled."))
    check_blamed(ONE, failing, "extra_write")


def test_an_offer_that_names_the_passes_record_as_well() -> None:
    offer = agent("Shall I cancel A1010 as well as A1001?")
    failing = (*ONE[0][:5], LOOK_AT_OTHER, offer, YES, CANCEL_OTHER.root(), agent("Both are cancelled."))
    check_blamed(ONE, failing, "extra_write")


# An offer that states a value of the passes' writes


def _pay(order: str = "A1001") -> Line:
    return call("pay_bill", {"ok": True}, order_id=order, method="gift voucher")


BILL = user("The bill of A1001 is still open.")
PAID = [(ask, LOOK, _pay(), agent("All is settled."), BYE) for ask in (BILL, user("A1001: something is open."))]
INSURE = call("insure_lamp", {"ok": True}, order_id="A1010", method="gift voucher")


def _insured(offer: str) -> tuple[Line, ...]:
    return BILL, LOOK, _pay(), LOOK_AT_OTHER, agent(offer), YES, INSURE, LATER


def test_an_offer_that_states_nothing_but_a_value_of_the_passes_writes() -> None:
    *before, extra, later = _insured("It goes on the gift voucher, do you want that?")
    check_blamed(PAID, (*before, extra.root(), later), "extra_write")


def test_an_offer_that_states_what_only_this_call_has() -> None:
    *before, offer, yes, extra, later = _insured("It goes on the gift voucher for A1010, do you want that?")
    check_blamed(PAID, (*before, offer.root(), yes, extra.near(), later), "extra_write")


# A wish that follows an idea of the agent's

WHAT_NOW = user("What can I do with A1001?")
TOLD = (
    (WHAT_NOW, LOOK, agent("It has come, so there is nothing to do."), user("Fine, bye.")),
    (user("A1001: what now?"), LOOK, agent("Nothing at all: it has come."), user("Good, bye.")),
)
IDEA, WISH = agent("Some people cancel such things."), user("I want you to cancel it.")
OTHER_SCRIPT: dict[str, Any] = {"task": {"script": "You want to know what becomes of A1001."}}
ITS_SCRIPT: dict[str, Any] = {"task": {"script": "You want to know what becomes of A1001, or to cancel it."}}


def test_a_wish_that_leaves_the_script_for_the_agents_idea_is_the_users() -> None:
    failing = (WHAT_NOW, LOOK, IDEA, WISH.root(), CANCEL.near(), CANCELLED)
    check_blamed(TOLD, failing, "user_deviation", "user", **OTHER_SCRIPT)


@pytest.mark.parametrize("more", [{}, ITS_SCRIPT], ids=["no script", "in the script"])
def test_a_wish_after_the_agents_idea_that_leaves_no_script(more: dict[str, Any]) -> None:
    failing = (WHAT_NOW, LOOK, IDEA, WISH, CANCEL.root(), CANCELLED)
    check_blamed(TOLD, failing, "extra_write", **more)


# A user who turns to something else

ANYTHING = agent("It has come already. Is there anything else?")
TURN = user("My cousin would love something blue with long straps.")
BAG = call("send_parcel", {"ok": True}, content="BAG-9")
CLOSED = [
    (ask, LOOK, ANYTHING, user(no))
    for ask, no in ((WHAT_NOW, "No, that is all."), (TOLD[1][0], "Nothing more, bye."))
]


def test_a_user_who_turns_where_the_passes_users_end() -> None:
    failing = (WHAT_NOW, LOOK, ANYTHING, TURN.root(), BAG.near(), LATER)
    check_blamed(CLOSED, failing, "user_deviation", "user")


def test_that_the_user_of_one_pass_ends_there_shows_no_turn() -> None:
    check_blamed(CLOSED[:1], (WHAT_NOW, LOOK, ANYTHING, TURN, BAG.root(), LATER), "extra_write")


def test_a_turn_that_a_passes_user_takes_too() -> None:
    alike = user("My cousin would love something blue with short straps.")
    passes = [CLOSED[0], (*CLOSED[1][:3], alike, agent("We have none."), BYE)]
    check_blamed(passes, (WHAT_NOW, LOOK, ANYTHING, TURN, BAG.root(), LATER), "extra_write")


def test_a_turn_after_words_of_the_agents_own() -> None:
    own = agent("A parcel was left with the neighbours. Have you got a present for everybody?")
    check_blamed(CLOSED, (WHAT_NOW, LOOK, own, TURN, BAG.root(), LATER), "extra_write")


def test_a_consent_is_no_turn() -> None:
    agreed = user("Sure, my cousin would love something blue with long straps.")
    check_blamed(CLOSED, (WHAT_NOW, LOOK, ANYTHING, agreed, BAG.root(), LATER), "extra_write")


# A user who speaks again before the agent had a turn

LEAVING = user("Oh, the doorbell. I must go now, bye.")
OWN_CALL = Line(actor="user", name="check_door", result="somebody rings")


@pytest.mark.parametrize("after", [(), (agent("Goodbye."),)], ids=["last", "the agent says goodbye"])
@pytest.mark.parametrize("between", [(), (OWN_CALL,)], ids=["at once", "after a call of its own"])
def test_a_user_who_agrees_and_leaves_at_once(between: Trial, after: Trial) -> None:
    failing = (*OPENING, OFFER, YES, *between, LEAVING.root(), *after)
    assert check_blamed(PASSES, failing, "user_deviation", "user").tool == "refund_item"


def test_a_user_who_leaves_after_the_agents_turn() -> None:
    failing = (*OPENING, OFFER, YES, agent("One moment, please.").root(), LEAVING, agent("Goodbye."))
    check_blamed(PASSES, failing, "missing_step")
