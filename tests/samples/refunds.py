"""Refunds: the lamp that arrived broken."""

from __future__ import annotations

from tests.samples.notation import Task, agent, call, failed, passed, think, user

# L1-061: one lamp of a set of two is broken; only half of the order may be refunded.

_SEARCH = call(
    "search_orders", {"orders": [{"order_id": "A1001", "placed": "2025-02-20"}]}, email="mia@example.com"
)
_ORDER = call(
    "get_order",
    {
        "order_id": "A1001",
        "status": "delivered",
        "items": [{"item_id": "LAMP-2", "title": "desk lamp", "quantity": 2, "price": 49.9}],
        "total": 99.8,
    },
    order_id="A1001",
)
_POLICY = call("get_refund_policy", {"window_days": 30, "needs_permission": True}, category="lighting")
_PERMISSION = call(
    "check_permission",
    {"allowed": True, "max_amount": 49.9, "reason": "one of two items damaged"},
    order_id="A1001",
    action="refund",
)
_REFUND = call(
    "refund_item",
    {"status": "ok", "refund_id": "R-7001"},
    order_id="A1001",
    item_id="LAMP-2",
    amount=49.9,
)

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
            call(
                "refund_item",
                {"status": "ok", "refund_id": "R-7001"},
                order_id="A1001",
                item_id="LAMP-2",
                amount=99.8,
            ).root(),
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

TASKS = (LAMP,)
