"""Tasks that no trial passes: one that fails alike four times, one that fails in four ways."""

from __future__ import annotations

from tests.samples.notation import Task, agent, call, expected, failed, think, user

# L1-008: every trial hands over instead of changing the payment method itself.

_CARD = call("get_order", {"order_id": "A1008", "status": "pending", "payment": "card-1"}, order_id="A1008")
_METHODS = call("list_payment_methods", {"methods": ["card-1", "card-2"]}, customer_id="C-8")
_HAND_OVER = call("transfer_to_human", {"status": "queued"}, reason="payment method")
_ALIKE = "It hands over to a person instead of calling change_payment, like all trials of this task."

PAYMENT = Task(
    task_id="L1-008",
    title="pay with the other card",
    script="You are customer C-8. Order A1008 shall be paid with card-2.",
    expected_actions=(expected("change_payment", order_id="A1008", method="card-2"),),
    trials=(
        failed(
            user("C-8 here. Please charge order A1008 to card-2 instead."),
            _CARD,
            _METHODS,
            _HAND_OVER.root(),
            agent("A colleague will take care of it.").near(),
            kinds="missing_step wrong_tool early_stop",
            why=_ALIKE,
            tags="never_pass_alike",
        ),
        failed(
            user("I am customer C-8 and want A1008 on my other card, card-2."),
            _METHODS,
            _CARD,
            _HAND_OVER.root(),
            agent("I have passed you on to a colleague.").near(),
            kinds="missing_step wrong_tool early_stop",
            why=_ALIKE,
            tags="never_pass_alike",
        ),
        failed(
            user("Could A1008 be paid with card-2? My number is C-8."),
            _CARD,
            _METHODS,
            think("Payment sounds sensitive. Better a person."),
            _HAND_OVER.root(),
            agent("Someone from the payment team will contact you.").near(),
            kinds="missing_step wrong_tool early_stop",
            why=_ALIKE,
            tags="never_pass_alike",
        ),
        failed(
            user("Change the card for A1008 to card-2, please. Customer C-8."),
            _CARD,
            _CARD,
            _METHODS,
            _HAND_OVER.root(),
            agent("Please hold on, a colleague takes over.").near(),
            kinds="missing_step wrong_tool early_stop",
            why=_ALIKE,
            tags="never_pass_alike",
        ),
    ),
)

# L1-012: a rug goes back; four trials miss the goal in four ways.

_RUG = call(
    "get_order",
    {"order_id": "A1012", "items": [{"item_id": "RUG-1", "paid": 120.0}, {"item_id": "RUG-2", "paid": 90.0}]},
    order_id="A1012",
)
_RULES = call("get_refund_policy", {"window_days": 30, "label": "required"}, category="textiles")
_LABEL = call("send_label", {"label_id": "L-12"}, order_id="A1012", item_id="RUG-1")
_OK = {"status": "ok", "refund_id": "R-12"}
_BACK = call("refund_item", _OK, order_id="A1012", item_id="RUG-1", amount=120.0)

RUG = Task(
    task_id="L1-012",
    title="send a rug back",
    script="RUG-1 of order A1012 sheds. You want to send it back and get your 120.00.",
    expected_actions=(
        expected("send_label", order_id="A1012", item_id="RUG-1"),
        expected("refund_item", order_id="A1012", item_id="RUG-1", amount=120.0),
    ),
    style="both",
    trials=(
        failed(
            user("RUG-1 from A1012 loses its hair. I want to return it for a refund."),
            _RUG,
            _RULES,
            _LABEL,
            call("refund_item", _OK, order_id="A1012", item_id="RUG-1", amount=102.0).root(),
            agent("A label is on its way and 102.00 is refunded."),
            user("Thanks."),
            kinds="wrong_argument",
            why="It refunds 102.00; the reference call refunds 120.00.",
            tags="wrong_amount",
        ),
        failed(
            user("Please take RUG-1 back, order A1012. It sheds."),
            _RULES,
            _RUG,
            _BACK,
            agent("I have refunded 120.00.").root(),
            user("And the rug? Well, thank you."),
            kinds="missing_step early_stop",
            why="It refunds but never sends the label that the reference calls contain.",
            tags="missing_write",
        ),
        failed(
            user("I'm unhappy with the shedding rug RUG-1 in A1012. Can it go back?"),
            _RUG,
            _RULES,
            call("send_label", {"label_id": "L-12"}, order_id="A1012", item_id="RUG-2").root(),
            call("refund_item", _OK, order_id="A1012", item_id="RUG-2", amount=90.0).near(),
            agent("You will get a label for the rug and 90.00 back."),
            user("Okay."),
            kinds="wrong_argument",
            why="It takes back RUG-2 instead of RUG-1.",
            tags="wrong_variant",
        ),
        failed(
            user("Order A1012, RUG-1: it sheds everywhere, I want to return it."),
            _RUG,
            agent("I am sorry to hear that. Vacuuming often helps!").root(),
            user("Hm. Bye."),
            kinds="early_stop missing_step",
            why="It gives advice and ends without label and refund.",
            tags="early_stop",
        ),
    ),
)

TASKS = (PAYMENT, RUG)
