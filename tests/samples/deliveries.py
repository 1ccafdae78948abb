"""Deliveries and addresses: a reshipment, another delivery day, new addresses."""

from __future__ import annotations

from tests.samples.notation import Task, agent, broken, call, failed, passed, think, user

# L1-025: only the address of the order changes, not the customer's own; trial 2 was never recorded.

_PENDING = call(
    "get_order", {"order_id": "A1025", "status": "pending", "ship_to": "2 Elm Row"}, order_id="A1025"
)
_TO_OFFICE = call("update_address", {"status": "ok"}, order_id="A1025", address="9 Dock Street")

OFFICE = Task(
    task_id="L1-025",
    title="send one order to the office",
    script="Order A1025 shall go to your office, 9 Dock Street. Your home address stays as it is.",
    trials=(
        passed(
            user("Could order A1025 go to my office instead? 9 Dock Street. Just this one."),
            _PENDING,
            _TO_OFFICE,
            agent("Order A1025 now goes to 9 Dock Street."),
            user("Thank you."),
        ),
        failed(
            user("Please send A1025 to my office, 9 Dock Street. Only this order."),
            _PENDING,
            _TO_OFFICE,
            call("update_profile", {"status": "ok"}, customer_id="C-25", address="9 Dock Street").root(),
            agent("A1025 goes to 9 Dock Street, and I saved it as your home address too."),
            user("Hm, I did not ask for that. Bye."),
            kinds="extra_write",
            why="It also changes the customer's own address, which nobody asked for and no pass does.",
            tags="extra_write",
        ),
        None,
        passed(
            user("Hi! A1025 please to 9 Dock Street, my office. Home address stays."),
            call("get_customer", {"customer_id": "C-25", "address": "2 Elm Row"}, customer_id="C-25"),
            _PENDING,
            _TO_OFFICE,
            agent("All set: A1025 will be delivered to 9 Dock Street."),
            user("Great, thanks."),
            tags="extra_read",
        ),
    ),
)

# L1-082: a lost parcel is sent again, once.

_LOST = call(
    "get_order", {"order_id": "A1082", "status": "lost in transit", "reshipments": []}, order_id="A1082"
)
_VALID = call("validate_address", {"valid": True}, address="5 Hill Road")
_UNAVAILABLE = broken("validate_address", "service unavailable, try again", address="5 Hill Road")
_RESHIP = call("create_reshipment", {"reshipment_id": "S-1"}, order_id="A1082", address="5 Hill Road")
_AFTER = call(
    "get_order", {"order_id": "A1082", "status": "lost in transit", "reshipments": ["S-1"]}, order_id="A1082"
)

PARCEL = Task(
    task_id="L1-082",
    title="send a lost parcel again",
    script="The parcel of order A1082 got lost. You want it sent again to 5 Hill Road.",
    style="both",
    checks=("state",),
    trials=(
        passed(
            user("My parcel A1082 never came. Please send it again, to 5 Hill Road."),
            _LOST,
            _VALID,
            _RESHIP,
            _AFTER,
            agent("A new parcel, S-1, is on its way to 5 Hill Road."),
            user("Thank you!"),
        ),
        failed(
            user("A1082 got lost. Could you ship it once more to 5 Hill Road?"),
            _LOST,
            _VALID,
            broken(
                "create_reshipment",
                "timed out after 30 s, state unknown",
                order_id="A1082",
                address="5 Hill Road",
            ).near(),
            call("create_reshipment", {"reshipment_id": "S-2"}, order_id="A1082", address="5 Hill Road").root(),
            call(
                "get_order",
                {"order_id": "A1082", "status": "lost in transit", "reshipments": ["S-1", "S-2"]},
                order_id="A1082",
            ),
            agent("Your replacement, S-2, is being packed for 5 Hill Road."),
            user("Thanks."),
            kinds="duplicate_write extra_write",
            why="The first call timed out but took effect; the retry without a look makes a second parcel.",
            tags="duplicate_write",
        ),
        passed(
            user("Order A1082 is lost, says the carrier. Send a new one to 5 Hill Road please."),
            _LOST,
            _UNAVAILABLE,
            _VALID,
            _RESHIP,
            _AFTER,
            agent("Sorry about that. Parcel S-1 to 5 Hill Road leaves today."),
            user("Good."),
            tags="retry",
        ),
        failed(
            user("Hi, parcel A1082 is missing. I'd like it sent again: 5 Hill Road."),
            _LOST,
            _UNAVAILABLE.near(),
            agent(
                "Sorry, our address service does not answer right now. Please write again another day."
            ).root(),
            user("Oh. All right."),
            kinds="unrecovered_error early_stop missing_step",
            why="It gives up after one tool error; a pass that saw the same error tried again and went on.",
            tags="stop_after_error",
        ),
    ),
)

# L1-093: in one trial the simulated user gives another house number than its script has.

_BOX = call("get_order", {"order_id": "A1093", "status": "pending", "ship_to": "3 Quay"}, order_id="A1093")
_TO_MILL = call("update_address", {"status": "ok"}, order_id="A1093", address="14 Mill Lane")
_WHERE = "Of course. What is the new address?"

HOUSE = Task(
    task_id="L1-093",
    title="change the address of an order",
    script="You moved. Order A1093 shall go to 14 Mill Lane. Give the address when asked.",
    trials=(
        passed(
            user("I moved house. Can you change the address of order A1093?"),
            _BOX,
            agent(_WHERE),
            user("14 Mill Lane."),
            _TO_MILL,
            agent("Order A1093 goes to 14 Mill Lane."),
            user("Thanks."),
        ),
        passed(
            user("Please change where A1093 is delivered, we have moved."),
            agent("Sure, which address shall it be?"),
            user("It is 14 Mill Lane."),
            _BOX,
            think("Pending, so the address may still change."),
            _TO_MILL,
            agent("Done: 14 Mill Lane it is."),
            user("Wonderful."),
            tags="think reordered_reads",
        ),
        passed(
            user("A1093 has my old address. I live somewhere else now."),
            _BOX,
            _BOX,
            agent("I can change that. Where do you live now?"),
            user("14 Mill Lane, please."),
            _TO_MILL,
            agent("A1093 will be delivered to 14 Mill Lane."),
            user("Thank you."),
            tags="repeated_read",
        ),
        failed(
            user("Hello, new home! Order A1093 needs another address."),
            _BOX,
            agent(_WHERE),
            user("41 Mill Lane.").root(),
            call("update_address", {"status": "ok"}, order_id="A1093", address="41 Mill Lane").near(),
            agent("Order A1093 now goes to 41 Mill Lane."),
            user("Perfect."),
            kinds="user_deviation",
            actor="user",
            why="The simulated user says 41 Mill Lane; its script and every pass say 14.",
            tags="user_deviation",
        ),
    ),
)

# L1-109: 03/04 is the third of April for this customer.

_LEEDS = call(
    "get_customer", {"customer_id": "C-109", "city": "Leeds", "date_order": "day first"}, customer_id="C-109"
)
_SOFA = call("get_order", {"order_id": "A1109", "status": "packed", "delivery": "2025-03-01"}, order_id="A1109")
_THIRD = call("parse_date", {"date": "2025-04-03"}, text="03/04", day_first=True)
_MOVE = call("reschedule_delivery", {"status": "ok"}, order_id="A1109", date="2025-04-03")

SOFA = Task(
    task_id="L1-109",
    title="move a delivery to 03/04",
    script="You are customer C-109 in Leeds. Your sofa (A1109) shall come on 03/04, the third of April.",
    style="verdict",
    metered=True,
    trials=(
        passed(
            user("Customer C-109 here. Can my sofa, order A1109, come on 03/04 instead?"),
            _LEEDS,
            _SOFA,
            _THIRD,
            agent("That is Thursday, 3 April. Shall I move it?"),
            user("Yes, exactly."),
            _MOVE,
            agent("Your sofa comes on 3 April."),
            user("Thanks!"),
        ),
        failed(
            user("I am C-109. Please deliver order A1109, the sofa, on 03/04."),
            _SOFA,
            _LEEDS,
            call("parse_date", {"date": "2025-03-04"}, text="03/04", day_first=False).root().near_result(),
            call("reschedule_delivery", {"status": "ok"}, order_id="A1109", date="2025-03-04").near(),
            agent("Your delivery is moved as you asked."),
            user("Thank you."),
            kinds="wrong_argument",
            why="It has 03/04 parsed month first although the customer record says day first, and moves the "
            "delivery to the fourth of March.",
            tags="date_parsed",
        ),
        failed(
            user("C-109 again. The sofa of order A1109 should come on 05/04.").root(),
            _LEEDS,
            _SOFA,
            call("parse_date", {"date": "2025-04-05"}, text="05/04", day_first=True),
            call("reschedule_delivery", {"status": "ok"}, order_id="A1109", date="2025-04-05").near(),
            agent("Your sofa will be delivered on 5 April."),
            user("Lovely."),
            kinds="user_deviation",
            actor="user",
            why="The simulated user asks for 05/04; its script and both passes say 03/04.",
            tags="user_deviation",
        ),
        passed(
            user("Hi, C-109. Could you bring my sofa on 03/04? It is order A1109."),
            _SOFA,
            _LEEDS,
            call("parse_date", {"date": "2025-04-03"}, day_first=True, text="03/04"),
            _MOVE.stringified(),
            agent("Done, 3 April."),
            user("Great, bye."),
            tags="reordered_reads key_order stringified",
        ),
    ),
)

TASKS = (OFFICE, PARCEL, HOUSE, SOFA)
