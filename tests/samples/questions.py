"""Questions: look-ups and the FAQ, where what is said decides and hardly anything is written."""

from __future__ import annotations

from tests.samples.notation import Task, agent, broken, call, crashed, failed, passed, think, unscored, user

# L1-003: where is my order?

_TRACK = call("get_order", {"order_id": "A1003", "status": "shipped", "shipment": "P-31"}, order_id="A1003")
_P31 = call("get_shipment", {"shipment": "P-31", "arrives": "2025-03-07"}, shipment="P-31")

WHERE = Task(
    task_id="L1-003",
    title="when does the order arrive",
    script="Ask when order A1003 arrives.",
    expected_outputs=("2025-03-07",),
    trials=(
        passed(
            user("When will order A1003 be here?"),
            _TRACK,
            _P31,
            agent("It should arrive on 2025-03-07."),
            user("Thanks."),
        ),
        passed(
            user("Hi, I'm waiting for A1003. Any news?"),
            _TRACK,
            _TRACK,
            _P31,
            agent("Parcel P-31 is on its way and due on 2025-03-07."),
            user("Good to know."),
            tags="repeated_read",
        ),
        passed(
            user("Could you tell me the delivery date of order A1003?"),
            _TRACK.stringified(),
            broken("get_shipment", "carrier busy, try again", shipment="P-31"),
            _P31,
            agent("The carrier says 2025-03-07."),
            user("Thank you very much."),
            tags="stringified retry",
        ),
        passed(
            user("A1003: when is it coming?"),
            think("The order names the shipment, the shipment has the date."),
            _TRACK,
            _P31,
            call("lookup_faq", {"answer": "Parcels come between 8 and 18 h."}, topic="delivery hours"),
            agent("On 2025-03-07, between 8 and 18 h."),
            user("Perfect."),
            tags="think extra_read",
        ),
    ),
)

# L1-022: four times the same calls, results and facts; one trial was failed all the same.

_GIFT_FAQ = call("lookup_faq", {"answer": "Up to 2 gift cards per order."}, topic="gift cards")
_NOTE = call("send_message", {"status": "sent"}, to="ann@example.com", template="gift-card-rules")

GIFT_CARDS = Task(
    task_id="L1-022",
    title="how many gift cards",
    script="Ask how many gift cards can be used and have the rules mailed to ann@example.com.",
    checks=("state", "answer", "tone"),
    trials=(
        passed(
            user("How many gift cards can I use? Please mail the rules to ann@example.com."),
            _GIFT_FAQ,
            _NOTE,
            agent("You can use up to 2 gift cards per order. The rules are in your inbox."),
            user("Thank you."),
        ),
        passed(
            user("Can I pay with several gift cards? I'd like the rules by mail, ann@example.com."),
            _GIFT_FAQ,
            _NOTE,
            agent("Yes, up to 2 per order. I have mailed you the rules."),
            user("Thanks a lot."),
        ),
        failed(
            user("What is the limit for gift cards? And mail me the rules please: ann@example.com."),
            _GIFT_FAQ,
            _NOTE,
            agent("Up to 2 gift cards per order. The rules have been mailed to you."),
            user("Great, thanks."),
            kinds="same_path_other_outcome",
            actor="grader",
            why="Same calls, results and stated facts as the three passes; only the verdict differs.",
            tags="same_path",
            scores={"state": 1.0, "answer": 1.0, "tone": 0.0},
        ),
        passed(
            user("Hi! Gift cards: how many per order? Send the rules to ann@example.com, please."),
            _GIFT_FAQ,
            _NOTE,
            agent("You may combine up to 2 gift cards in one order. I sent you the rules."),
            user("Nice, thank you."),
        ),
    ),
)

# L1-029: opening hours; always passes.

_HOURS = call("lookup_faq", {"answer": "Monday to Saturday, 9 to 19 h."}, topic="showroom hours")

SHOWROOM = Task(
    task_id="L1-029",
    title="showroom hours",
    script="Ask when the showroom is open.",
    style="both",
    trials=(
        passed(
            user("When is your showroom open?"),
            _HOURS,
            agent("Monday to Saturday, 9 to 19 h."),
            user("Thanks."),
        ),
        passed(
            user("Opening hours of the showroom, please?"),
            call("lookup_faq", {"answer": "See each topic."}, topic="overview"),
            _HOURS,
            agent("From Monday to Saturday you are welcome from 9 to 19 h."),
            user("See you."),
            tags="extra_read",
        ),
        passed(
            user("I'd like to visit the showroom. When can I come?"),
            _HOURS,
            agent("Any day but Sunday, 9 to 19 h (Monday to Saturday)."),
            user("Great."),
        ),
        passed(
            user("Is there a time when the showroom is closed?"),
            think("Look up the hours."),
            _HOURS,
            agent("It is open Monday to Saturday, 9 to 19 h, and closed on Sunday."),
            user("Okay, thank you."),
            tags="think",
        ),
    ),
)

# L1-050: one trial loses its sandbox.

_SIZE = call("get_product", {"product_id": "SHELF-4", "width_cm": 80}, product_id="SHELF-4")
_STOCK = call("check_stock", {"product_id": "SHELF-4", "available": 6}, product_id="SHELF-4")

SHELF = Task(
    task_id="L1-050",
    title="size and stock of a shelf",
    script="Ask how wide shelf SHELF-4 is and whether it is in stock.",
    trials=(
        passed(
            user("How wide is SHELF-4, and do you have it?"),
            _SIZE,
            _STOCK,
            agent("It is 80 cm wide and 6 are in stock."),
            user("Thanks."),
        ),
        passed(
            user("Is the shelf SHELF-4 in stock? And its width?"),
            _STOCK,
            _SIZE,
            agent("Yes, 6 pieces. The width is 80 cm."),
            user("Good."),
            tags="reordered_reads",
        ),
        passed(
            user("I need the width of SHELF-4 and want to know if it is available."),
            _SIZE.beside(1),
            _STOCK.beside(1),
            agent("Width 80 cm; available, 6 left."),
            user("Thank you."),
            tags="parallel",
        ),
        crashed(
            user("Tell me about SHELF-4: width and stock?"),
            _SIZE,
            call("check_stock", product_id="SHELF-4"),
            error="connection to the shop sandbox lost (502 bad gateway)",
            why="The log breaks off at a call that the sandbox never answered.",
        ),
    ),
)

# L1-070: one trial was never judged, one tells another date than the order has.

_CHAIR = call(
    "get_order", {"order_id": "A1070", "status": "in production", "ready": "12 March"}, order_id="A1070"
)

CHAIR = Task(
    task_id="L1-070",
    title="when is the chair ready",
    script="Ask when the made-to-order chair of order A1070 is ready.",
    trials=(
        passed(
            user("When is my chair ready? Order A1070."),
            _CHAIR,
            agent("Your chair will be ready on 12 March."),
            user("Fine."),
        ),
        unscored(
            user("Is the chair of A1070 finished?"),
            _CHAIR,
            agent("Not yet. It is due on 12 March."),
            user("Thanks."),
        ),
        passed(
            user("Any date for the chair in order A1070?"),
            _CHAIR,
            _CHAIR,
            agent("It is being made and should be ready on 12 March."),
            user("Great, thank you."),
            tags="repeated_read",
        ),
        failed(
            user("Hello, how long until my chair is done? A1070."),
            _CHAIR,
            agent("It will be ready on 21 March.").root(),
            user("Okay, thanks."),
            kinds="wrong_answer misread_result",
            why="The order says 12 March and every pass tells that date; this trial says 21 March.",
            tags="wrong_answer",
        ),
    ),
)

# L1-101: the right article is read and told wrongly.

_WARRANTY = call(
    "lookup_faq", {"answer": "Frames: 36 months. Mattresses: 24 months. Cushions: none."}, topic="warranty"
)
_BED = call("get_product", {"product_id": "BED-7", "kind": "frame"}, product_id="BED-7")

WARRANTY = Task(
    task_id="L1-101",
    title="warranty of a bed frame",
    script="Ask how long the warranty of bed frame BED-7 is.",
    expected_outputs=("36 months",),
    checks=("answer",),
    trials=(
        passed(
            user("How long is the warranty on BED-7?"),
            _BED,
            _WARRANTY,
            agent("BED-7 is a frame, so the warranty is 36 months."),
            user("Thanks."),
        ),
        passed(
            user("I bought the bed frame BED-7. What warranty do I have?"),
            _WARRANTY,
            _BED,
            agent("You have 36 months of warranty on the frame."),
            user("Very good."),
            tags="reordered_reads",
        ),
        failed(
            user("Could you tell me the warranty period of BED-7?"),
            _BED,
            _WARRANTY,
            agent("The warranty for BED-7 is 24 months.").root(),
            user("All right, thank you."),
            kinds="wrong_answer misread_result",
            why="Same calls as the passes, but it tells the 24 months of mattresses instead of 36 for frames.",
            tags="wrong_answer",
        ),
        passed(
            user("BED-7: how many months of warranty?"),
            think("Find out what BED-7 is first."),
            _BED,
            _WARRANTY.stringified(),
            agent("36 months, because it is a bed frame."),
            user("Thank you!"),
            tags="think stringified",
        ),
    ),
)

TASKS = (WHERE, GIFT_CARDS, SHOWROOM, SHELF, CHAIR, WARRANTY)
