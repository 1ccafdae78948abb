"""Further tasks of the same shop, for the file in τ²-bench shape: points, quantities, a phone number, pens."""

from __future__ import annotations

from tests.samples.notation import Task, agent, broken, call, expected, failed, passed, think, user

_HELLO = agent("Hi! How can I help you today?")

# L1-140: how many loyalty points are there; always passes.

_ACCOUNT = call("get_customer", {"customer_id": "C-140", "points": 320}, customer_id="C-140")
_WORTH = call("lookup_faq", {"answer": "100 points are worth 1.00."}, topic="points")

BONUS = Task(
    task_id="L1-140",
    title="loyalty points",
    script="You are customer C-140. Ask how many points you have and what they are worth.",
    expected_actions=(),
    expected_outputs=("320", "3.20"),
    trials=(
        passed(
            _HELLO,
            user("C-140. How many points do I have, and what are they worth?"),
            _ACCOUNT,
            _WORTH,
            agent("You have 320 points, worth 3.20."),
            user("Thanks."),
        ),
        passed(
            _HELLO,
            user("I'd like to know my points and their value. Customer C-140."),
            _WORTH,
            _ACCOUNT,
            agent("There are 320 points on your account. That makes 3.20."),
            user("Good, bye."),
            tags="reordered_reads",
        ),
        passed(
            _HELLO,
            user("What are my points worth? I am C-140."),
            _ACCOUNT.beside(1),
            _WORTH.beside(1),
            agent("Your 320 points are worth 3.20."),
            user("Not bad."),
            tags="parallel",
        ),
        passed(
            _HELLO,
            user("Points for customer C-140, please: how many, and how much money is that?"),
            broken("get_customer", "Error: temporarily unavailable, try again", customer_id="C-140"),
            _ACCOUNT,
            _WORTH,
            agent("320 points, that is 3.20."),
            user("Thank you."),
            tags="retry",
        ),
    ),
)

# L1-141: six glasses instead of four.

_GLASSES = call("get_order", {"order_id": "A1141", "item_id": "GLASS-2", "quantity": 4}, order_id="A1141")
_GLASS_STOCK = call("check_stock", {"product_id": "GLASS-2", "available": 40}, product_id="GLASS-2")
_SIX = call("update_quantity", {"status": "ok", "quantity": 6}, order_id="A1141", item_id="GLASS-2", quantity=6)

GLASSES = Task(
    task_id="L1-141",
    title="six glasses instead of four",
    script="Order A1141 has four glasses. You want six in all.",
    expected_actions=(expected("update_quantity", order_id="A1141", item_id="GLASS-2", quantity=6),),
    trials=(
        passed(
            _HELLO,
            user("I ordered four glasses, A1141, but need six in all."),
            _GLASSES,
            _GLASS_STOCK,
            _SIX,
            agent("Order A1141 has 6 glasses now."),
            user("Thank you."),
        ),
        passed(
            _HELLO,
            user("Can you make it six glasses in A1141 instead of four?"),
            _GLASS_STOCK,
            _GLASSES,
            agent("Yes. Shall I set the quantity to 6?"),
            user("Please do."),
            _SIX,
            agent("Done, 6 glasses."),
            user("Great."),
            tags="reordered_reads",
        ),
        failed(
            _HELLO,
            user("About A1141: I'd like six glasses in all, not four."),
            _GLASSES,
            _GLASS_STOCK,
            agent("I will add 6 glasses to your 4, so that you have 10. Is that okay?").root(),
            user("I guess so, yes."),
            call(
                "update_quantity",
                {"status": "ok", "quantity": 10},
                order_id="A1141",
                item_id="GLASS-2",
                quantity=10,
            ).near(),
            agent("Order A1141 has 10 glasses now."),
            user("All right."),
            kinds="wrong_argument",
            why="It announces and sets 10 glasses; the user wanted six in all, and every pass sets 6.",
            tags="wrong_amount",
        ),
        passed(
            _HELLO,
            user("Six glasses in all please for order A1141. I only took four."),
            think("Four now, six wanted in all."),
            _GLASSES,
            _GLASS_STOCK,
            _SIX,
            agent("I have changed A1141 to 6 glasses."),
            user("Perfect."),
            tags="think",
        ),
    ),
)

# L1-142: a phone number changes only after the customer was verified.

_VERIFY = call("verify_identity", {"verified": True}, customer_id="C-142", pin="4711")
_PROFILE = call("get_customer", {"customer_id": "C-142", "phone": "555-0100"}, customer_id="C-142")
_PHONE = call("update_phone", {"status": "ok"}, customer_id="C-142", phone="555-0142")

PHONE = Task(
    task_id="L1-142",
    title="change a phone number",
    script="You are customer C-142, pin 4711. Your new phone number is 555-0142.",
    expected_actions=(
        expected("verify_identity", customer_id="C-142", pin="4711"),
        expected("update_phone", customer_id="C-142", phone="555-0142"),
    ),
    trials=(
        passed(
            _HELLO,
            user("C-142, pin 4711. My new phone number is 555-0142."),
            _VERIFY,
            _PROFILE,
            _PHONE,
            agent("Your number is 555-0142 now."),
            user("Thanks."),
        ),
        failed(
            _HELLO,
            user("Please save my new number 555-0142. I'm C-142, pin 4711."),
            _PROFILE,
            _PHONE.root(),
            agent("I have saved 555-0142."),
            user("Great."),
            kinds="missing_step",
            why="It changes the number without verify_identity, which both passes call first.",
            tags="skipped_check",
        ),
        failed(
            _HELLO,
            user("Customer C-142, pin 4711. I have a new number: 555-0124.").root(),
            _VERIFY,
            _PROFILE,
            call("update_phone", {"status": "ok"}, customer_id="C-142", phone="555-0124").near(),
            agent("Your new number 555-0124 is saved."),
            user("Thank you."),
            kinds="user_deviation",
            actor="user",
            why="The simulated user says 555-0124; its script and both passes say 555-0142.",
            tags="user_deviation",
        ),
        passed(
            _HELLO,
            user("New phone number, 555-0142. My customer number is C-142 and the pin 4711."),
            _PROFILE,
            _VERIFY,
            agent("Thank you. Shall I change 555-0100 to 555-0142?"),
            user("Yes."),
            _PHONE,
            agent("Changed to 555-0142."),
            user("Good."),
            tags="reordered_reads",
        ),
    ),
)

# L1-143: two of three items are cancelled; the list of ids may stand in any order.

_PENS = call("get_order", {"order_id": "A1143", "items": ["PEN-1", "INK-2", "BOOK-3"]}, order_id="A1143")
_CANCELLED = {"status": "ok", "left": ["BOOK-3"]}

PENS = Task(
    task_id="L1-143",
    title="cancel two items of three",
    script="In order A1143 you want to cancel the pen and the ink. The book stays.",
    expected_actions=(expected("cancel_items", order_id="A1143", item_ids=["PEN-1", "INK-2"]),),
    trials=(
        passed(
            _HELLO,
            user("Cancel the pen and the ink in A1143, please."),
            _PENS,
            call("cancel_items", _CANCELLED, order_id="A1143", item_ids=["PEN-1", "INK-2"]),
            agent("Pen and ink are cancelled, the book stays."),
            user("Thanks."),
        ),
        failed(
            _HELLO,
            user("I don't want the pen and the ink of A1143 any more."),
            _PENS,
            call(
                "cancel_items",
                {"status": "ok", "left": ["INK-2", "BOOK-3"]},
                order_id="A1143",
                item_ids=["PEN-1"],
            ).root(),
            agent("That is cancelled."),
            user("Thank you."),
            kinds="wrong_argument",
            why="It cancels the pen only; both passes cancel the pen and the ink.",
            tags="wrong_argument",
        ),
        passed(
            _HELLO,
            user("From order A1143 please remove ink and pen, keep the book."),
            _PENS,
            call("cancel_items", _CANCELLED, order_id="A1143", item_ids=["INK-2", "PEN-1"]),
            agent("Done. Only the book is left."),
            user("Wonderful."),
            tags="list_order",
        ),
        failed(
            _HELLO,
            user("A1143: cancel pen and ink."),
            _PENS,
            broken(
                "cancel_items", "Error: item_ids must be a list", order_id="A1143", item_ids="pen and ink"
            ).root(),
            broken(
                "cancel_items", "Error: item_ids must be a list", order_id="A1143", item_ids="pen and ink"
            ).near(),
            broken(
                "cancel_items", "Error: item_ids must be a list", order_id="A1143", item_ids="pen and ink"
            ).near(),
            broken(
                "cancel_items", "Error: item_ids must be a list", order_id="A1143", item_ids="pen and ink"
            ).near(),
            kinds="loop unrecovered_error wrong_argument missing_step",
            why="It repeats a call with an argument that the tool refuses until the step limit.",
            end="max_steps",
            tags="loop",
        ),
    ),
)

TASKS = (BONUS, GLASSES, PHONE, PENS)
