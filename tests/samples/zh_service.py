"""售后：退款、地址、送货时间、常见问题、保修 (Chinese: refund, address, delivery day, FAQ, warranty)."""

from __future__ import annotations

from tests.samples.notation import Task, agent, call, failed, passed, think, user

# L1-014: 退款不含运费; one trial pays the shipping back too, one never checks and stops.

_SHIRT = call(
    "get_order", {"order_id": "A2014", "item_id": "SHIRT-4", "price": 99, "shipping": 10}, order_id="A2014"
)
_RULE = call("get_refund_policy", {"shipping_refunded": False, "window_days": 7}, category="服装")
_DONE = {"status": "成功", "refund_id": "R-14"}
_REFUND = call("refund_item", _DONE, order_id="A2014", item_id="SHIRT-4", amount=99)

SHIRT = Task(
    task_id="L1-014",
    title="衬衫退款",
    script="订单A2014的衬衫不合身，已经寄回，要求退款。",
    style="verdict",
    checks=("state", "answer"),
    trials=(
        passed(
            user("订单A2014的衬衫我寄回去了，请退款。"),
            _SHIRT,
            _RULE,
            agent("可退99元，运费不退，您同意吗？"),
            user("同意。"),
            _REFUND,
            agent("99元已退回，请注意查收。"),
            user("谢谢。"),
        ),
        failed(
            user("衬衫不合身，已经退回，订单A2014，什么时候退钱？"),
            _SHIRT,
            _RULE,
            agent("我将为您退款109元，可以吗？").root(),
            user("可以，谢谢。"),
            call("refund_item", _DONE, order_id="A2014", item_id="SHIRT-4", amount=109).near(),
            agent("109元已经退回。"),
            user("太好了。"),
            kinds="wrong_argument misread_result",
            why="It announces and refunds 109 with shipping; the policy excludes it and passes refund 99.",
            tags="wrong_amount",
        ),
        passed(
            user("你好，A2014那件衬衫太小，已寄回。麻烦退款。"),
            _RULE,
            _SHIRT,
            _REFUND,
            agent("已经为您退款９９元，运费按规定不退。"),
            user("好的。"),
            tags="reordered_reads full_width",
        ),
        failed(
            user("请把A2014的衬衫钱退给我，货已经寄回了。"),
            _SHIRT,
            _RULE,
            agent("您的退款已处理完毕。").root(),
            user("好，谢谢。"),
            kinds="missing_step early_stop",
            why="It says that the refund is done without calling refund_item.",
            tags="missing_write",
        ),
    ),
)

# L1-019: 改地址; one simulated user gives another flat.

_SENDING = call(
    "get_order", {"order_id": "A2019", "status": "待发货", "address": "北京路1号"}, order_id="A2019"
)
_MOVE = call("update_address", {"status": "成功"}, order_id="A2019", address="中山路88号5栋")

FLAT = Task(
    task_id="L1-019",
    title="修改收货地址",
    script="把订单A2019的地址改成中山路88号5栋。客服问了再说。",
    trials=(
        passed(
            user("我要改订单A2019的收货地址。"),
            _SENDING,
            agent("好的，请告诉我新地址。"),
            user("中山路88号5栋。"),
            _MOVE,
            agent("地址已改为中山路88号5栋。"),
            user("谢谢。"),
        ),
        failed(
            user("A2019的地址写错了，想改一下。"),
            _SENDING,
            agent("请问新的地址是什么？"),
            user("中山路88号6栋。").root(),
            call("update_address", {"status": "成功"}, order_id="A2019", address="中山路88号6栋").near(),
            agent("已经改成中山路88号6栋。"),
            user("好的。"),
            kinds="user_deviation",
            actor="user",
            why="The simulated user says building 6; its script and every pass say 5.",
            tags="user_deviation",
        ),
        passed(
            user("你好，能帮我换个收货地址吗？订单A2019。"),
            _SENDING,
            _SENDING,
            agent("可以，寄到哪里呢？"),
            user("中山路８８号５栋。"),
            _MOVE,
            agent("改好了：中山路88号5栋。"),
            user("多谢。"),
            tags="full_width repeated_read",
        ),
        passed(
            user("搬家了，A2019请寄到新地址。"),
            agent("没问题，新地址是？"),
            user("寄到中山路88号5栋。"),
            _SENDING,
            _MOVE.stringified(),
            agent("已更新，包裹会送到中山路88号5栋。"),
            user("太好了。"),
            tags="reordered_reads stringified",
        ),
    ),
)

# L1-058: 下周三送货; the same words come back as another day in one trial.

_FRIDGE = call(
    "get_order", {"order_id": "A2058", "items": ["冰箱"], "delivery": "2025-03-08"}, order_id="A2058"
)
_WEDNESDAY = call("parse_date", {"date": "2025-03-12"}, text="下周三")
_BOOK = call("reschedule_delivery", {"status": "成功"}, order_id="A2058", date="2025-03-12")

FRIDGE = Task(
    task_id="L1-058",
    title="冰箱改到下周三送",
    script="订单A2058的冰箱改到下周三送货。",
    trials=(
        passed(
            user("冰箱能改到下周三送吗？订单A2058。"),
            _FRIDGE,
            _WEDNESDAY,
            _BOOK,
            agent("已改到3月12日送货。"),
            user("谢谢。"),
        ),
        passed(
            user("A2058的冰箱，请下周三再送。"),
            _WEDNESDAY,
            _FRIDGE,
            agent("下周三是3月12日，确认改期吗？"),
            user("确认。"),
            _BOOK,
            agent("好的，3月12日给您送到。"),
            user("好。"),
            tags="reordered_reads",
        ),
        passed(
            user("我下周三才在家，冰箱（Ａ２０５８）那天送行吗？"),
            _FRIDGE,
            think("把“下周三”换成日期。"),
            _WEDNESDAY,
            _BOOK,
            agent("可以，改为３月１２日。"),
            user("麻烦了。"),
            tags="think full_width",
        ),
        failed(
            user("请把A2058的冰箱改成下周三送。"),
            _FRIDGE,
            call("parse_date", {"date": "2025-03-05"}, text="下周三").root().near_result(),
            call("reschedule_delivery", {"status": "成功"}, order_id="A2058", date="2025-03-05").near(),
            agent("送货时间已经改好。"),
            user("谢谢。"),
            kinds="result_difference",
            actor="environment",
            why="parse_date gets the same words as in the passes and answers with another day, which the "
            "agent then books.",
            tags="date_parsed result_difference",
        ),
    ),
)

# L1-064: 会员积分; the right entry is read and told wrongly.

_POINTS = call("lookup_faq", {"answer": "积分有效期24个月，优惠券有效期6个月。"}, topic="会员积分")

POINTS = Task(
    task_id="L1-064",
    title="积分有效期",
    script="询问会员积分的有效期。",
    expected_outputs=("24个月",),
    checks=("answer",),
    trials=(
        passed(user("会员积分多久过期？"), _POINTS, agent("积分有效期是24个月。"), user("知道了，谢谢。")),
        passed(
            user("请问积分会过期吗？"),
            call("lookup_faq", {"answer": "请选择具体问题。"}, topic="会员"),
            _POINTS,
            agent("会的，24个月后过期。"),
            user("好的。"),
            tags="extra_read",
        ),
        failed(
            user("我的积分能用多长时间？"),
            _POINTS,
            agent("积分有效期是6个月。").root(),
            user("这么短啊，好吧。"),
            kinds="wrong_answer misread_result",
            why="It reads the right entry and tells the 6 months of coupons instead of 24 for points.",
            tags="wrong_answer",
        ),
        passed(
            user("积分的有效期是多少个月？"),
            _POINTS,
            _POINTS,
            agent("从获得之日起24个月内有效。"),
            user("谢谢！"),
            tags="repeated_read",
        ),
    ),
)

# L1-091: 保修期已过; one trial promises a free repair, one asks the same thing for ever.

_COOKER = call(
    "get_order", {"order_id": "A2091", "items": ["电饭煲"], "bought": "2022-11-01"}, order_id="A2091"
)
_EXPIRED = call("check_warranty", {"covered": False, "ended": "2023-11-01"}, order_id="A2091")
_QUOTE = call("create_repair", {"repair_id": "W-91"}, order_id="A2091", payment="自费")

COOKER = Task(
    task_id="L1-091",
    title="电饭煲维修",
    script="订单A2091的电饭煲坏了，想维修。过保就自费。",
    trials=(
        passed(
            user("电饭煲坏了，订单A2091，能修吗？"),
            _COOKER,
            _EXPIRED,
            agent("保修到2023-11-01，已经过期，需要自费维修，可以吗？"),
            user("可以。"),
            _QUOTE,
            agent("自费维修单W-91已建好。"),
            user("谢谢。"),
        ),
        failed(
            user("A2091的电饭煲不加热了，想送修。"),
            _COOKER,
            _EXPIRED,
            agent("您的电饭煲还在保修期内，我为您安排免费维修，好吗？").root(),
            user("好啊，谢谢。"),
            call("create_repair", {"repair_id": "W-91"}, order_id="A2091", payment="免费").near(),
            agent("免费维修已安排。"),
            user("太好了。"),
            kinds="misread_result wrong_argument",
            why="check_warranty says not covered; the agent announces a free repair and books it.",
            tags="misread_result",
        ),
        failed(
            user("电饭煲出故障了，订单号A2091。"),
            _COOKER,
            _EXPIRED,
            _EXPIRED.root(),
            _EXPIRED.near(),
            _EXPIRED.near(),
            _EXPIRED.near(),
            kinds="loop missing_step",
            why="It repeats the same warranty check until the step limit and never creates the repair.",
            end="max_steps",
            tags="loop",
        ),
        passed(
            user("我要修电饭煲，A2091。过保的话我自己付钱。"),
            _EXPIRED,
            _COOKER,
            _QUOTE,
            agent("保修2023-11-01已结束，已为您登记自费维修W-91。"),
            user("行，谢谢。"),
            tags="reordered_reads",
        ),
    ),
)

TASKS = (SHIRT, FLAT, FRIDGE, POINTS, COOKER)
