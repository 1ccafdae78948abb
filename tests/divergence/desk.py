"""Steps of a made-up service desk, from which the rules are told."""

from __future__ import annotations

from tests.divergence.made import Line, agent, broken, call, user

ORDER = {"order_id": "A1001", "sku": "LAMP-1", "price": 49.9, "total": 99.8, "status": "delivered"}
OTHER_ORDER = {"order_id": "A1010", "sku": "LAMP-1", "price": 20, "total": 35, "status": "delivered"}

ASK = user("Please refund the lamp of order A1001.")
LOOK = call("get_order", ORDER, order_id="A1001")
LOOK_AT_OTHER = call("get_order", OTHER_ORDER, order_id="A1010")
GUARD = call("check_permission", {"order_id": "A1001", "allowed": True}, order_id="A1001")
OFFER = agent("I can refund 49.90 for the lamp. Shall I go ahead?")
YES = user("Yes, please.")
DONE = agent("Done, the 49.90 are on their way.")
BYE = user("Thanks, goodbye.")


def refund(amount: object = 49.9, order: str = "A1001", number: str = "R-1") -> Line:
    return call(
        "refund_item", {"refund_id": number, "status": "ok"}, order_id=order, sku="LAMP-1", amount=amount
    )


REFUND = refund()
REFUSED = broken("refund_item", "Error: payment service busy", order_id="A1001", sku="LAMP-1", amount=49.9)

#: Two passes that say the same in other words.
FIRST = (ASK, LOOK, GUARD, OFFER, YES, REFUND, DONE, BYE)
SECOND = (
    user("I'd like my money back for the lamp in A1001."),
    LOOK,
    GUARD,
    agent("The lamp cost 49.90; do you want me to refund that?"),
    user("Yes."),
    REFUND,
    agent("I have refunded 49.90."),
    user("Great, bye."),
)
PASSES = (FIRST, SECOND)
#: The opening that all trials of the refund share.
OPENING = FIRST[:3]


def set_address(street: str) -> Line:
    return call("update_address", {"ok": True}, order_id="A1001", street=street)


#: Two passes that set an address.
MOVES = (
    (
        user("Send order A1001 to 14 Mill Lane."),
        LOOK,
        set_address("14 Mill Lane"),
        agent("The address is 14 Mill Lane now."),
    ),
    (
        user("Please change the address of A1001: 14 Mill Lane."),
        LOOK,
        set_address("14 Mill Lane"),
        agent("It goes to 14 Mill Lane."),
    ),
)


def book(room: str, number: str) -> Line:
    return call("book_room", {"booking_id": number}, room=room, day="2025-05-02")


def unbook(number: str) -> Line:
    return call("cancel_booking", {"booking_id": number, "status": "cancelled"}, booking_id=number)


#: Two passes that book a room.
STAYS = (
    (user("Book room 204 for 2 May."), book("204", "B-7"), agent("Room 204 is booked.")),
    (user("I need room 204 on 2 May."), book("204", "B-8"), agent("I booked room 204.")),
)
