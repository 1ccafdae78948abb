"""Cancellations: orders that have not left the warehouse yet."""

from __future__ import annotations

from tests.samples.notation import Task, agent, broken, call, failed, passed, think, user

# L1-011: a plain cancellation that always passes; trials 0 and 2 are word for word the same.

_TENT = call("get_order", {"order_id": "A1011", "status": "pending", "items": ["TENT-2"]}, order_id="A1011")
_CANCEL_TENT = call("cancel_order", {"status": "cancelled"}, order_id="A1011", reason="no longer needed")
_SAME_WORDS = (
    user("Please cancel order A1011, I don't need the tent any more."),
    _TENT,
    _CANCEL_TENT,
    agent("Order A1011 is cancelled."),
    user("Thank you."),
)

TENT = Task(
    task_id="L1-011",
    title="cancel a pending order",
    script="Cancel order A1011; you no longer need the tent.",
    trials=(
        passed(_SAME_WORDS, tags="identical_trials"),
        passed(
            user("I changed my mind about the tent, order A1011. Can you cancel it?"),
            think("Pending orders may be cancelled. Look first."),
            _TENT,
            agent("It has not been packed yet. Shall I cancel it?"),
            user("Yes, no longer needed."),
            _CANCEL_TENT,
            agent("Done, A1011 is cancelled."),
            user("Great."),
            tags="think",
        ),
        passed(_SAME_WORDS, tags="identical_trials"),
        passed(
            user("Hello, order A1011 should be cancelled, please. I have no use for it now."),
            broken("get_order", "temporarily unavailable, try again", order_id="A1011"),
            _TENT,
            _CANCEL_TENT,
            agent("I have cancelled order A1011 for you."),
            user("Thanks!"),
            tags="retry",
        ),
    ),
)

# L1-017: the agent reads everything and says that it is done, three times of four without the call.

_DESK = call("get_order", {"order_id": "A1017", "status": "pending", "items": ["DESK-5"]}, order_id="A1017")
_MAY = call("check_permission", {"allowed": True}, order_id="A1017", action="cancel")
_ONLY_SAID = "It says that the order is cancelled without ever calling cancel_order."
_VERIFIED_17 = call("verify_customer", {"verified": True, "customer_id": "C-17"}, postcode="LS1 4DY")

DESK = Task(
    task_id="L1-017",
    title="cancel a desk",
    script="Cancel order A1017, the delivery takes too long. Postcode LS1 4DY.",
    trials=(
        failed(
            user("The desk in order A1017 takes too long. Please cancel."),
            agent("Sure. What is your postcode?"),
            user("LS1 4DY."),
            _VERIFIED_17,
            _DESK,
            _MAY,
            agent("Your order A1017 is now cancelled.").root(),
            user("Thanks."),
            kinds="missing_step early_stop",
            why=_ONLY_SAID,
            tags="missing_write",
        ),
        failed(
            user("Cancel A1017 please, I cannot wait that long."),
            agent("Happy to help. May I have your postcode first?"),
            user("It is LS1 4DY."),
            _VERIFIED_17,
            _MAY,
            _DESK,
            agent("I have taken care of it: A1017 is cancelled.").root(),
            user("Good, thank you."),
            kinds="missing_step early_stop",
            why=_ONLY_SAID,
            tags="missing_write",
        ),
        passed(
            user("I want to cancel order A1017. The desk is taking forever. My postcode is LS1 4DY."),
            _VERIFIED_17,
            _DESK,
            _MAY,
            call("cancel_order", {"status": "cancelled"}, order_id="A1017", reason="delivery too slow"),
            agent("Order A1017 is cancelled. Sorry for the wait."),
            user("No problem."),
        ),
        failed(
            user("Hi, about A1017: delivery is too slow, so cancel it."),
            agent("Of course. Please tell me your postcode."),
            user("LS1 4DY, please."),
            _VERIFIED_17,
            _DESK,
            _MAY,
            agent("Understood. Order A1017 has been cancelled.").root(),
            user("Okay, bye."),
            kinds="missing_step early_stop",
            why=_ONLY_SAID,
            tags="missing_write",
        ),
    ),
)

# L1-077: the order is found by phone number only; one trial asks for the same email until the limit.

_BY_EMAIL = call("search_orders", {"orders": []}, email="kai@example.com")
_BY_PHONE = call("search_orders", {"orders": ["A1077"]}, phone="555-0177")
_BIKE = call("get_order", {"order_id": "A1077", "status": "pending", "items": ["BIKE-1"]}, order_id="A1077")
_CANCEL_BIKE = call("cancel_order", {"status": "cancelled"}, order_id="A1077", reason="ordered twice")
_VERIFIED_77 = call("verify_customer", {"verified": True, "customer_id": "C-77"}, postcode="BS8 1TH")

BIKE = Task(
    task_id="L1-077",
    title="cancel an order found by phone number",
    script="You ordered a bike twice; cancel it. Email kai@example.com, phone 555-0177, BS8 1TH.",
    metered=True,
    trials=(
        passed(
            user("I ordered the bike twice, please cancel one. kai@example.com, phone 555-0177."),
            agent("Happy to help. May I have your postcode first?"),
            user("It is BS8 1TH."),
            _VERIFIED_77,
            _BY_EMAIL,
            _BY_PHONE,
            _BIKE,
            _CANCEL_BIKE,
            agent("I found it under your phone number and cancelled A1077."),
            user("Thanks."),
        ),
        failed(
            user("Cancel the bike I ordered twice, please. kai@example.com, phone 555-0177, postcode BS8 1TH."),
            _VERIFIED_77,
            _BY_EMAIL,
            _BY_EMAIL.root(),
            _BY_EMAIL.near(),
            _BY_EMAIL.near(),
            _BY_EMAIL.near(),
            _BY_EMAIL.near(),
            kinds="loop missing_step",
            why="It repeats the same fruitless search until the step limit; every pass searches by phone.",
            end="max_steps",
            tags="loop",
        ),
        passed(
            user("One bike too many! Ordered twice. My email: kai@example.com. My phone: 555-0177."),
            agent("Of course. Please tell me your postcode."),
            user("BS8 1TH, please."),
            _VERIFIED_77,
            _BY_EMAIL,
            think("Nothing under the email. Try the phone number."),
            _BY_PHONE,
            _BIKE,
            agent("A1077 is still pending. Shall I cancel it as a double order?"),
            user("Yes."),
            _CANCEL_BIKE,
            agent("A1077 is cancelled."),
            user("Super."),
            tags="think",
        ),
        passed(
            user("kai@example.com, 555-0177: I have a double order of a bike, could you cancel it?"),
            agent("Sure. What is your postcode?"),
            user("BS8 1TH."),
            _VERIFIED_77,
            _BY_PHONE,
            _BIKE,
            _BIKE,
            _CANCEL_BIKE,
            agent("Done. Order A1077 is cancelled."),
            user("Cheers."),
            tags="repeated_read fewer_reads",
        ),
    ),
)

TASKS = (TENT, DESK, BIKE)
