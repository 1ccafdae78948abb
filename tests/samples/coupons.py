"""Coupons: one that was used before the trial began, two ways to help, and the order of two writes."""

from __future__ import annotations

from tests.samples.notation import Task, agent, broken, call, failed, passed, think, user

# L1-034: the coupon is fresh in three trials; in one the shop still remembers an earlier trial.

_CART = call("get_cart", {"cart_id": "K-34", "total": 50.0}, cart_id="K-34")
_FRESH = call("check_coupon", {"valid": True, "discount": "10 %"}, code="SPRING10")
_USED = call("check_coupon", {"valid": False, "reason": "redeemed with cart K-34"}, code="SPRING10")
_APPLY = call("apply_coupon", {"status": "ok", "total": 45.0}, cart_id="K-34", code="SPRING10")
_VERIFIED_34 = call("verify_customer", {"verified": True, "customer_id": "C-34"}, postcode="EH1 2NG")

COUPON = Task(
    task_id="L1-034",
    title="use a coupon",
    script="You want to use coupon SPRING10 for cart K-34. Postcode EH1 2NG.",
    style="both",
    trials=(
        passed(
            user("Please use SPRING10 for my cart K-34. My postcode is EH1 2NG."),
            _VERIFIED_34,
            _CART,
            _FRESH,
            _APPLY,
            agent("With SPRING10 your total is 45.00."),
            user("Thanks."),
        ),
        passed(
            user("I have a coupon, SPRING10. Can you take it for cart K-34?"),
            agent("Of course. Please tell me your postcode."),
            user("EH1 2NG, please."),
            _VERIFIED_34,
            _FRESH,
            _CART,
            agent("It is valid and gives you 10 %. Shall I apply it?"),
            user("Yes please."),
            _APPLY,
            agent("Applied, you pay 45.00 now."),
            user("Nice."),
            tags="reordered_reads",
        ),
        failed(
            user("Cart K-34, coupon SPRING10, please."),
            agent("Sure. What is your postcode?"),
            user("EH1 2NG."),
            _VERIFIED_34,
            _CART,
            _USED.root().near_result(),
            agent("I am sorry, this coupon has already been redeemed."),
            user("Really? Okay then."),
            kinds="result_difference",
            actor="environment",
            why="The same check of the same coupon says redeemed here, before this trial wrote anything; every "
            "pass gets valid.",
            tags="result_difference",
        ),
        passed(
            user("Could you apply the code SPRING10 to K-34?"),
            agent("Happy to help. May I have your postcode first?"),
            user("It is EH1 2NG."),
            _VERIFIED_34,
            _CART,
            _CART,
            _FRESH,
            _APPLY.stringified(),
            agent("Done, the new total is 45.00."),
            user("Thank you."),
            tags="repeated_read stringified",
        ),
    ),
)

# L1-040: a forgotten coupon can be made good in two ways, and the shop accepts both.

_LATE = call("get_order", {"order_id": "A1040", "coupon": None, "total": 30.0}, order_id="A1040")
_GOOD = call("check_coupon", {"valid": True, "discount": "5.00"}, code="HELLO5")
_ADD = call("apply_coupon", {"status": "ok", "total": 25.0}, order_id="A1040", code="HELLO5")
_PAY = call("issue_credit", {"status": "ok", "credit": 5.0}, order_id="A1040", amount=5.0)
_VERIFIED_40 = call("verify_customer", {"verified": True, "customer_id": "C-40"}, postcode="CF10 3AT")

FORGOTTEN = Task(
    task_id="L1-040",
    title="a coupon that was forgotten",
    script="You forgot to use HELLO5 in order A1040. You want the 5.00, in whatever way. Postcode CF10 3AT.",
    trials=(
        passed(
            user("I forgot my coupon HELLO5 in order A1040. Can I still have the discount?"),
            agent("Of course. Please tell me your postcode."),
            user("CF10 3AT, please."),
            _VERIFIED_40,
            _LATE,
            _GOOD,
            _ADD,
            agent("I have added it: order A1040 is 25.00 now."),
            user("Great."),
        ),
        passed(
            user("Order A1040 should have had HELLO5. Can that be fixed?"),
            agent("Sure. What is your postcode?"),
            user("CF10 3AT."),
            _VERIFIED_40,
            _GOOD,
            _LATE,
            _PAY,
            agent("I have credited 5.00 to you."),
            user("Thanks."),
            tags="reordered_reads alternative_path",
        ),
        passed(
            user("HELLO5 was not used in A1040, my mistake. Anything you can do?"),
            agent("Happy to help. May I have your postcode first?"),
            user("It is CF10 3AT."),
            _VERIFIED_40,
            _LATE,
            _GOOD,
            agent("I can give you 5.00 as a credit. Okay?"),
            user("Sure."),
            _PAY,
            agent("The credit of 5.00 is in your account."),
            user("Lovely."),
            tags="alternative_path",
        ),
        passed(
            user("Hi, could you put HELLO5 on order A1040 afterwards? My postcode is CF10 3AT."),
            _VERIFIED_40,
            think("Is the coupon still good?"),
            _GOOD,
            _LATE,
            _ADD,
            agent("Yes, done. You pay 25.00."),
            user("Thank you."),
            tags="think reordered_reads",
        ),
    ),
)

# L1-055: the coupon has to be in the cart before the order is placed.

_PLANTS = call("get_cart", {"cart_id": "K-55", "total": 60.0}, cart_id="K-55")
_QUARTER = call("check_coupon", {"valid": True, "discount": "25 %"}, code="GREEN25")
_BEFORE = call("apply_coupon", {"status": "ok", "total": 45.0}, cart_id="K-55", code="GREEN25")
_PLACE = call("place_order", {"order_id": "A1055", "charged": 45.0}, cart_id="K-55")
_VERIFIED_55 = call("verify_customer", {"verified": True, "customer_id": "C-55"}, postcode="NE1 4ST")

PLANTS = Task(
    task_id="L1-055",
    title="order with a coupon",
    script="Order cart K-55 with coupon GREEN25. Postcode NE1 4ST.",
    checks=("state",),
    trials=(
        passed(
            user("Please order my cart K-55, with coupon GREEN25."),
            agent("Happy to help. May I have your postcode first?"),
            user("It is NE1 4ST."),
            _VERIFIED_55,
            _PLANTS,
            _QUARTER,
            _BEFORE,
            _PLACE,
            agent("Order A1055 is placed, 45.00 were charged."),
            user("Thanks."),
        ),
        passed(
            user("I want to buy what is in K-55. I have the code GREEN25. My postcode is NE1 4ST."),
            _VERIFIED_55,
            _QUARTER,
            _PLANTS,
            agent("With GREEN25 it will be 45.00. Shall I order?"),
            user("Go ahead."),
            _BEFORE,
            broken("place_order", "busy, nothing was ordered, try again", cart_id="K-55"),
            _PLACE,
            agent("A1055 is on its way, charged 45.00."),
            user("Great."),
            tags="reordered_reads retry",
        ),
        passed(
            user("Check out cart K-55 for me and use GREEN25, please."),
            agent("Of course. Please tell me your postcode."),
            user("NE1 4ST, please."),
            _VERIFIED_55,
            _PLANTS,
            _QUARTER,
            _BEFORE,
            _PLACE,
            agent("You have paid 45.00; the order is A1055."),
            user("Thank you!"),
        ),
        failed(
            user("K-55 is ready to order. My coupon is GREEN25."),
            agent("Sure. What is your postcode?"),
            user("NE1 4ST."),
            _VERIFIED_55,
            _PLANTS,
            _QUARTER,
            call("place_order", {"order_id": "A1055", "charged": 60.0}, cart_id="K-55").root(),
            call(
                "apply_coupon",
                {"status": "ok", "note": "no open cart, kept for later"},
                cart_id="K-55",
                code="GREEN25",
            ).near(),
            agent("Your order A1055 is placed and the coupon is noted."),
            user("Okay."),
            kinds="wrong_order",
            why="It places the order before it applies the coupon, so 60.00 is charged; passes apply it first.",
            tags="wrong_order",
        ),
    ),
)

TASKS = (COUPON, FORGOTTEN, PLANTS)
