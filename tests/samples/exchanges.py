"""Exchanges: another size of a jacket, another colour of a bag."""

from __future__ import annotations

from tests.samples.notation import Task, agent, broken, call, failed, passed, think, user

# L1-045: two ways lead to the exchange: over the email, or over the customer and the product search.

_BY_MAIL = call("search_orders", {"orders": ["A1045"]}, email="lea@example.com")
_CUSTOMER = call("get_customer", {"customer_id": "C-45", "orders": ["A1045"]}, email="lea@example.com")
_JACKET = call("get_order", {"order_id": "A1045", "items": ["JKT-M"], "status": "delivered"}, order_id="A1045")
_VARIANTS = call(
    "list_variants",
    {"JKT-S": "small", "JKT-M": "medium", "JKT-L": "large", "JKT-XL": "extra large"},
    product="JKT",
)
_FIND = call("search_products", {"products": ["JKT-L"]}, query="jacket large")
_CHANGED = {"status": "ok", "exchange_id": "X-45"}
_TO_LARGE = call("exchange_item", _CHANGED, order_id="A1045", item_id="JKT-M", new_item_id="JKT-L")
_VERIFIED_45 = call("verify_customer", {"verified": True, "customer_id": "C-45"}, postcode="YO1 7HH")

JACKET = Task(
    task_id="L1-045",
    title="exchange a jacket for the large size",
    script="The medium jacket you got (lea@example.com) is too small. You want it in large. Postcode YO1 7HH.",
    style="verdict",
    metered=True,
    trials=(
        passed(
            user("My jacket is too small, I need it in large. lea@example.com"),
            agent("Sure. What is your postcode?"),
            user("YO1 7HH."),
            _VERIFIED_45,
            _BY_MAIL,
            _JACKET,
            _VARIANTS,
            agent("I can exchange JKT-M for JKT-L, the large one. Okay?"),
            user("Yes, please."),
            _TO_LARGE,
            agent("Done. The large jacket, JKT-L, is on its way."),
            user("Thanks!"),
        ),
        failed(
            user("Hello, I'd like to swap my medium jacket for a large. Email lea@example.com."),
            agent("Happy to help. May I have your postcode first?"),
            user("It is YO1 7HH."),
            _VERIFIED_45,
            _CUSTOMER,
            _JACKET,
            _FIND,
            agent("Your exchange is arranged: the large jacket JKT-L will replace JKT-M.").root(),
            user("Great, thank you."),
            kinds="missing_step early_stop",
            why="It reads all it needs and says that the exchange is arranged, but never calls exchange_item.",
            tags="missing_write",
        ),
        passed(
            user("The medium jacket does not fit. Could I have large? lea@example.com, postcode YO1 7HH."),
            _VERIFIED_45,
            _CUSTOMER,
            _JACKET,
            _FIND,
            _TO_LARGE,
            agent("I have exchanged JKT-M for JKT-L for you."),
            user("Perfect."),
            tags="alternative_path",
        ),
        failed(
            user("Please exchange my jacket, medium is too small and I want large. lea@example.com"),
            agent("Of course. Please tell me your postcode."),
            user("YO1 7HH, please."),
            _VERIFIED_45,
            _BY_MAIL,
            _JACKET,
            _VARIANTS,
            think("Too small, so a bigger one. The biggest is JKT-XL."),
            agent("I will send you JKT-XL for JKT-M. Is that all right?").root(),
            user("If that is the right one, yes."),
            call("exchange_item", _CHANGED, order_id="A1045", item_id="JKT-M", new_item_id="JKT-XL").near(),
            agent("JKT-XL is on its way."),
            user("Thanks."),
            kinds="wrong_argument",
            why="It announces and sends extra large; the user asked for large and every pass sends that.",
            tags="wrong_variant",
        ),
    ),
)

# L1-088: a bag in blue; one trial first reads the wrong product, another user wants something else.

_BAG = call("get_order", {"order_id": "A1088", "items": ["BAG-RED"], "status": "delivered"}, order_id="A1088")
_COLOURS = call("list_variants", {"BAG-RED": 4, "BAG-BLUE": 2, "BAG-NAVY": 7}, product="BAG")
_SWAPPED = {"status": "ok", "exchange_id": "X-88"}
_TO_BLUE = call("exchange_item", _SWAPPED, order_id="A1088", item_id="BAG-RED", new_item_id="BAG-BLUE")
_VERIFIED_88 = call("verify_customer", {"verified": True, "customer_id": "C-88"}, postcode="OX1 1DP")

BAG = Task(
    task_id="L1-088",
    title="exchange a red bag for a blue one",
    script="You want the red bag of order A1088 in blue. No refund. Postcode OX1 1DP.",
    trials=(
        failed(
            user("I'd like my bag in blue rather than red. It's order A1088."),
            agent("Of course. Please tell me your postcode."),
            user("OX1 1DP, please."),
            _VERIFIED_88,
            _BAG,
            call("list_variants", {"BAGEL-1": 9}, product="BAGEL"),
            _COLOURS,
            call("exchange_item", _SWAPPED, order_id="A1088", item_id="BAG-RED", new_item_id="BAG-NAVY").root(),
            agent("Your bag is exchanged. The new one arrives this week."),
            user("Thank you."),
            kinds="wrong_argument",
            why="It exchanges for BAG-NAVY although BAG-BLUE was asked for and is in the list; the look at "
            "the wrong product before that was put right.",
            tags="wrong_variant early_recovered",
        ),
        passed(
            user("Order A1088: can I have the bag in blue instead of red?"),
            agent("Sure. What is your postcode?"),
            user("OX1 1DP."),
            _VERIFIED_88,
            _BAG,
            _COLOURS,
            agent("BAG-BLUE is in stock. Shall I exchange it?"),
            user("Yes."),
            _TO_BLUE,
            agent("You will get BAG-BLUE this week."),
            user("Thanks!"),
        ),
        passed(
            user("The bag I got with A1088 is red, but I want a blue one."),
            agent("Happy to help. May I have your postcode first?"),
            user("It is OX1 1DP."),
            _VERIFIED_88,
            _COLOURS,
            _BAG,
            broken(
                "exchange_item",
                "busy, nothing was changed, try again",
                order_id="A1088",
                item_id="BAG-RED",
                new_item_id="BAG-BLUE",
            ),
            _TO_BLUE,
            agent("Exchanged: BAG-BLUE is coming to you."),
            user("Super."),
            tags="reordered_reads retry",
        ),
        failed(
            user("Hi, it's about the red bag, order A1088. My postcode is OX1 1DP."),
            _VERIFIED_88,
            _BAG,
            agent("What can I do about it?"),
            user("I'd rather have my money back, please.").root(),
            call(
                "refund_item", {"status": "ok", "refund_id": "R-88"}, order_id="A1088", item_id="BAG-RED"
            ).near(),
            agent("The bag is refunded."),
            user("Thank you."),
            kinds="user_deviation wrong_tool",
            actor="user",
            why="The simulated user asks for its money back; its script and both passes ask for a blue bag.",
            tags="user_deviation",
        ),
    ),
)

TASKS = (JACKET, BAG)
