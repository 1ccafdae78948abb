"""Refunds: a broken lamp, a return that came too late, headphones bought with a discount, a faulty kettle."""

from __future__ import annotations

from tests.samples.notation import Task, agent, broken, call, failed, passed, think, user

# L1-061: one lamp of two is broken; only half of the order may be refunded.

_SEARCH = call("search_orders", {"orders": ["A1001"]}, email="mia@example.com")
_ITEM = {"item_id": "LAMP-2", "title": "desk lamp", "quantity": 2, "price": 49.9}
_ORDER = call(
    "get_order", {"order_id": "A1001", "status": "delivered", "items": [_ITEM], "total": 99.8}, order_id="A1001"
)
_POLICY = call("get_refund_policy", {"window_days": 30, "needs_permission": True}, category="lighting")
_ALLOWED = {"allowed": True, "max_amount": 49.9, "reason": "one of two items damaged"}
_PERMISSION = call("check_permission", _ALLOWED, order_id="A1001", action="refund")
_PAID = {"status": "ok", "refund_id": "R-7001"}
_REFUND = call("refund_item", _PAID, order_id="A1001", item_id="LAMP-2", amount=49.9)

LAMP = Task(
    task_id="L1-061",
    title="refund only the damaged lamp",
    script="One of two desk lamps arrived broken (mia@example.com). You want that lamp refunded.",
    style="verdict",
    checks=("state", "answer"),
    trials=(
        passed(
            user("Hi, one of the two desk lamps I ordered arrived broken. My email is mia@example.com."),
            _SEARCH,
            _ORDER,
            _POLICY,
            _PERMISSION,
            agent("I am sorry about that. I can refund 49.90 for the broken lamp of order A1001. Shall I?"),
            user("Yes, please."),
            _REFUND,
            agent("Done: 49.90 is on its way back to your card."),
            user("Great, thank you!"),
        ),
        failed(
            user("Hello! I got two desk lamps from you and one is smashed. I'm mia@example.com."),
            _SEARCH,
            _ORDER,
            _POLICY,
            call("refund_item", _PAID, order_id="A1001", item_id="LAMP-2", amount=99.8).root(),
            agent("Sorry for the trouble. I have refunded 99.80 for order A1001."),
            user("Oh, all of it? Okay, thanks."),
            kinds="missing_step wrong_argument",
            why="It refunds without check_permission, which both passes call first, and so pays back the "
            "whole order instead of the allowed 49.90.",
            tags="skipped_check",
        ),
        passed(
            user("One of my desk lamps came in pieces. Can I get my money back for it? mia@example.com"),
            _SEARCH,
            _POLICY,
            _ORDER.stringified(),
            think("Two lamps, one broken. The policy asks for a permission before a refund."),
            _PERMISSION,
            _REFUND,
            agent("I have refunded 49.90 for the broken lamp. It takes three to five days to arrive."),
            user("Perfect, bye."),
            tags="reordered_reads stringified think",
        ),
        failed(
            user("Hi there, a desk lamp from my last order is broken, I'd like a refund. mia@example.com"),
            _SEARCH,
            _ORDER,
            agent("I found order A1001 with two desk lamps, delivered. Thank you for telling us!").root(),
            user("Um, okay. Bye then."),
            kinds="early_stop missing_step",
            why="It looks the order up and ends the conversation without the refund.",
            tags="early_stop",
        ),
    ),
)

# L1-066: the return window of the blender has closed.

_BLENDER = call(
    "get_order", {"order_id": "A1066", "item_id": "BLEND-1", "delivered": "2025-01-10"}, order_id="A1066"
)
_CLOSED = {"eligible": False, "closed_on": "2025-02-09", "exception": "none"}
_WINDOW = call("check_return_window", _CLOSED, order_id="A1066", item_id="BLEND-1")
_CLEAN = call("get_refund_policy", {"window_days": 30, "needs_permission": False}, category="kitchen")

BLENDER = Task(
    task_id="L1-066",
    title="return of a blender after the window",
    script="You want to send the blender of order A1066 back. Accept it if that is not possible.",
    trials=(
        passed(
            user("I'd like to return the blender from order A1066."),
            _BLENDER,
            _WINDOW,
            agent(
                "I am sorry, the return window for this blender closed on 2025-02-09, so I cannot take it back."
            ),
            user("That's a pity, but I understand."),
        ),
        passed(
            user("Can I send my blender back? The order is A1066."),
            _BLENDER,
            _CLEAN,
            _WINDOW,
            agent("Unfortunately not: returns were possible until 2025-02-09."),
            user("Okay. Thanks anyway."),
            tags="extra_read",
        ),
        failed(
            user("Hi, I want to give back the blender I bought, order number A1066."),
            _BLENDER,
            _WINDOW,
            agent(
                "Good news: the blender is eligible. I will open a return for order A1066, all right?"
            ).root(),
            user("Lovely, yes."),
            call("start_return", {"return_id": "RT-66"}, order_id="A1066", item_id="BLEND-1").near(),
            agent("The return is open. A label is in your inbox."),
            user("Thank you!"),
            kinds="misread_result extra_write wrong_answer",
            why="check_return_window says not eligible; the agent announces eligible and opens a return.",
            tags="misread_result",
        ),
        passed(
            user("Hello, order A1066, the blender. I don't need it any more, can it go back?"),
            _BLENDER,
            _WINDOW,
            _WINDOW,
            agent("I checked twice: the window closed on 2025-02-09. A return is no longer possible, sorry."),
            user("Alright, never mind."),
            tags="repeated_read",
        ),
    ),
)

# L1-073: what was paid, not the list price, is refunded.

_HEADPHONES = call(
    "get_order",
    {"order_id": "A1073", "item_id": "HP-9", "list_price": 80.0, "coupon": "FALL15", "paid": 68.0},
    order_id="A1073",
)
_RECEIVED = call(
    "get_return", {"return_id": "RT-73", "received": True, "condition": "unused"}, return_id="RT-73"
)
_PAID_BACK = {"status": "ok", "refund_id": "R-7073"}
_REFUND_68 = call("refund_item", _PAID_BACK, order_id="A1073", item_id="HP-9", amount=68.0)

HEADPHONES = Task(
    task_id="L1-073",
    title="refund of headphones bought with a coupon",
    script="You sent the headphones of order A1073 back (return RT-73) and ask for the refund.",
    style="both",
    metered=True,
    trials=(
        passed(
            user("I returned my headphones, return RT-73, order A1073. When do I get the money?"),
            _HEADPHONES,
            _RECEIVED,
            agent("The return has arrived. I will refund the 68.00 you paid, all right?"),
            user("Yes, thanks."),
            _REFUND_68,
            agent("68.00 is on its way."),
            user("Good, bye."),
        ),
        passed(
            user("My return RT-73 for order A1073 should have reached you. Please refund me."),
            _RECEIVED,
            _HEADPHONES,
            _REFUND_68,
            agent("It has, thank you. I have refunded 68.00, the price after your coupon."),
            user("Great."),
            tags="reordered_reads",
        ),
        failed(
            user("Hello, I sent headphones back: order A1073, return RT-73. Could you refund them?"),
            broken("get_order", "order A1037 belongs to another customer", order_id="A1037"),
            _HEADPHONES,
            _RECEIVED,
            agent("Your parcel is here. I will refund 80.00 for the headphones. Is that fine?").root(),
            user("Sure, that is fine."),
            call("refund_item", _PAID_BACK, order_id="A1073", item_id="HP-9", amount=80.0).near(),
            agent("Done, 80.00 goes back to your card."),
            user("Thanks a lot."),
            kinds="wrong_argument",
            why="It announces and refunds the list price 80.00; every pass refunds the 68.00 paid. The "
            "mistyped order id before that was put right.",
            tags="wrong_amount early_recovered",
        ),
        passed(
            user("Order A1073, return RT-73. I'd like my money back for the headphones."),
            _HEADPHONES,
            broken("get_return", "temporarily unavailable, try again", return_id="RT-73"),
            _RECEIVED,
            call("refund_item", _PAID_BACK, amount=68.0, item_id="HP-9", order_id="A1073"),
            agent("The headphones are back with us and 68.00 is refunded."),
            user("Wonderful."),
            tags="retry key_order",
        ),
    ),
)

# L1-130: the faulty kettle was in order A1301; A1302 is a gift that must not be touched.

_TWO = call("search_orders", {"orders": ["A1301", "A1302"]}, email="ole@example.com")
_FAULTY = call(
    "get_order", {"order_id": "A1301", "status": "delivered", "items": ["KETTLE-3", "MUG-8"]}, order_id="A1301"
)
_GIFT = call("get_order", {"order_id": "A1302", "status": "packed", "items": ["KETTLE-3"]}, order_id="A1302")
_OK = {"status": "ok", "refund_id": "R-7130"}
_REFUND_KETTLE = call("refund_item", _OK, order_id="A1301", item_id="KETTLE-3", amount=35.0)

KETTLE = Task(
    task_id="L1-130",
    title="refund the delivered kettle, keep the gift order",
    script="The kettle (35.00) delivered with your mugs leaks. You want it refunded. Another one, still "
    "packed, is a gift and stays.",
    style="both",
    trials=(
        passed(
            user("The kettle that came with my mugs leaks. I'd like a refund. ole@example.com"),
            _TWO,
            _FAULTY,
            _GIFT,
            agent("That is the kettle of order A1301. I will refund 35.00 for it, okay?"),
            user("Yes, that one. The other order is a gift."),
            _REFUND_KETTLE,
            agent("35.00 is refunded. Your gift order is unchanged."),
            user("Thanks!"),
        ),
        failed(
            user("Hi, my new kettle leaks, the one I got together with mugs. Refund please. ole@example.com"),
            _TWO,
            _GIFT,
            _FAULTY,
            call("refund_item", _OK, order_id="A1302", item_id="KETTLE-3", amount=35.0).root(),
            agent("I have refunded 35.00 for the kettle."),
            user("Thank you."),
            kinds="wrong_argument",
            why="It refunds the kettle of A1302, the gift that is still packed, instead of A1301.",
            tags="wrong_order_id",
        ),
        failed(
            user("Hello, ole@example.com here. The kettle that was delivered with the mugs is leaking."),
            _TWO,
            _FAULTY,
            _GIFT,
            agent("To get your money back I will cancel order A1301. Shall I go ahead?").root(),
            user("If that is how it works, yes."),
            call("cancel_order", {"status": "cancelled"}, order_id="A1301").near(),
            agent("Order A1301 is cancelled."),
            user("Okay, thanks."),
            kinds="wrong_tool",
            why="It announces and makes a cancellation of the whole delivered order instead of the refund.",
            tags="wrong_tool",
        ),
        passed(
            user("My kettle drips. It arrived in the same box as the mugs; can you refund it? ole@example.com"),
            _TWO,
            _GIFT.beside(1),
            _FAULTY.beside(1),
            _REFUND_KETTLE.stringified(),
            agent("Sorry about the leak. I have refunded the 35.00 from order A1301."),
            user("That was quick."),
            tags="reordered_reads stringified parallel",
        ),
    ),
)

TASKS = (LAMP, BLENDER, HEADPHONES, KETTLE)
