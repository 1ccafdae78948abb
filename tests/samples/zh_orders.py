"""订单：查询、发票、取消、补发 (Chinese: look-up, invoice, cancellation, a replacement)."""

from __future__ import annotations

from tests.samples.notation import Task, agent, broken, call, failed, passed, think, user

# L1-005: 查询物流; one user types the order number in full-width characters.

_ORDER = call("get_order", {"order_id": "A2005", "status": "已发货", "shipment": "P-52"}, order_id="A2005")
_SHIPMENT = call("get_shipment", {"shipment": "P-52", "arrives": "2025-03-09"}, shipment="P-52")

TRACKING = Task(
    task_id="L1-005",
    title="查询订单什么时候送到",
    script="询问订单 A2005 什么时候送到。",
    expected_outputs=("2025-03-09",),
    trials=(
        passed(
            user("你好，订单A2005什么时候能到？"),
            _ORDER,
            _SHIPMENT,
            agent("您的包裹预计2025-03-09送达。"),
            user("好的，谢谢。"),
        ),
        passed(
            user("帮我查一下Ａ２００５到哪儿了，大概几号到？"),
            _ORDER,
            _ORDER,
            _SHIPMENT,
            agent("已经发货了，预计２０２５－０３－０９送到。"),
            user("明白了，谢谢！"),
            tags="full_width repeated_read",
        ),
        passed(
            user("我的快递还没收到，订单号是A2005。"),
            think("先查订单，再查物流。"),
            _ORDER,
            broken("get_shipment", "物流接口繁忙，请重试", shipment="P-52"),
            _SHIPMENT,
            agent("包裹P-52正在路上，2025-03-09会送到您手里。"),
            user("行，我再等等。"),
            tags="think retry",
        ),
        passed(
            user("请问A2005预计哪天送达？"),
            _ORDER.stringified(),
            _SHIPMENT,
            agent("预计送达日期是2025-03-09。"),
            user("谢谢。"),
            tags="stringified",
        ),
    ),
)

# L1-031: 取消没有付款的那一单; one trial cancels the other order.

_LIST = call("search_orders", {"orders": ["A2310", "A2311"]}, phone="13800000031")
_UNPAID = call("get_order", {"order_id": "A2310", "status": "待付款", "items": ["雨伞"]}, order_id="A2310")
_PAID = call("get_order", {"order_id": "A2311", "status": "已付款", "items": ["雨鞋"]}, order_id="A2311")
_CANCEL = call("cancel_order", {"status": "已取消"}, order_id="A2310")

UMBRELLA = Task(
    task_id="L1-031",
    title="取消待付款的订单",
    script="手机号13800000031。取消还没付款的雨伞订单，雨鞋那一单保留。",
    style="both",
    trials=(
        passed(
            user("我想取消那把雨伞，还没付款。手机号13800000031。"),
            _LIST,
            _UNPAID,
            _PAID,
            agent("雨伞是订单A2310，现在为您取消，可以吗？"),
            user("可以。"),
            _CANCEL,
            agent("订单A2310已取消。"),
            user("谢谢。"),
        ),
        passed(
            user("雨伞不要了，请把没付款的那单取消。我的手机是１３８００００００３１。"),
            _LIST,
            _PAID,
            _UNPAID,
            _CANCEL,
            agent("已经帮您取消A2310，雨鞋订单不受影响。"),
            user("太好了。"),
            tags="reordered_reads full_width",
        ),
        failed(
            user("你好，请取消我的雨伞订单，还没付钱。手机13800000031。"),
            _LIST,
            _UNPAID,
            _PAID,
            call("cancel_order", {"status": "已取消"}, order_id="A2311").root(),
            agent("订单已经取消了。"),
            user("好，谢谢。"),
            kinds="wrong_argument",
            why="It cancels A2311, the paid rain boots, instead of A2310, the unpaid umbrella.",
            tags="wrong_order_id",
        ),
        passed(
            user("手机号13800000031，有一单雨伞没付款，麻烦取消。"),
            _LIST,
            think("待付款的是A2310。"),
            _UNPAID.beside(1),
            _PAID.beside(1),
            _CANCEL,
            agent("没问题，A2310已为您取消。"),
            user("多谢！"),
            tags="think parallel",
        ),
    ),
)

# L1-037: 补开发票; the brackets of the title may be full-width or half-width.

_BOOKS = call("get_order", {"order_id": "A2037", "status": "已完成", "total": 260}, order_id="A2037")
_INVOICE = call("create_invoice", {"invoice_id": "F-37"}, order_id="A2037", title="晨光书店(上海)", amount=260)

INVOICE = Task(
    task_id="L1-037",
    title="补开发票",
    script="为订单A2037补开发票，抬头是“晨光书店(上海)”。",
    metered=True,
    trials=(
        passed(
            user("订单A2037需要补开发票，抬头：晨光书店(上海)。"),
            _BOOKS,
            _INVOICE,
            agent("发票F-37已开好，金额260元。"),
            user("谢谢。"),
        ),
        passed(
            user("麻烦给A2037开张发票，抬头写晨光书店（上海）。"),
            _BOOKS,
            call(
                "create_invoice", {"invoice_id": "F-37"}, order_id="A2037", title="晨光书店（上海）", amount=260
            ),
            agent("已为您开具发票F-37，共２６０元。"),
            user("好的。"),
            tags="full_width",
        ),
        passed(
            user("我要发票，订单A2037，公司名晨光书店(上海)。"),
            call("lookup_faq", {"answer": "完成后30天内可以开票。"}, topic="发票"),
            _BOOKS,
            agent("金额是260元，抬头晨光书店(上海)，确认开票吗？"),
            user("确认。"),
            _INVOICE,
            agent("开好了，发票号F-37。"),
            user("辛苦了。"),
            tags="extra_read",
        ),
        passed(
            user("可以补发票吗？A2037，抬头晨光书店(上海)。"),
            _BOOKS,
            call(
                "create_invoice", {"invoice_id": "F-37"}, amount=260, title="晨光书店(上海)", order_id="A2037"
            ),
            agent("可以，已经开了260元的发票F-37。"),
            user("收到，谢谢！"),
            tags="key_order",
        ),
    ),
)

# L1-043: 补发一个杯子; one trial sends two.

_CUP = call("get_order", {"order_id": "A2043", "items": ["马克杯"], "status": "已签收"}, order_id="A2043")
_PHOTO = call("check_permission", {"allowed": True, "quantity": 1}, order_id="A2043", action="补发")
_RESEND = call("create_reshipment", {"reshipment_id": "S-43"}, order_id="A2043", item="马克杯", quantity=1)
_VERIFIED_43 = call("verify_customer", {"verified": True, "customer_id": "C-43"}, postcode="200030")

CUP = Task(
    task_id="L1-043",
    title="补发摔坏的杯子",
    script="订单A2043的马克杯收到时碎了，要求补发一个。邮编200030。",
    trials=(
        passed(
            user("订单A2043的马克杯碎了，能补发一个吗？"),
            agent("好的，请提供您的邮编。"),
            user("200030。"),
            _VERIFIED_43,
            _CUP,
            _PHOTO,
            _RESEND,
            agent("已为您补发一个马克杯，单号S-43。"),
            user("谢谢。"),
        ),
        failed(
            user("收到的马克杯是碎的，订单A2043，请再寄一个。"),
            agent("为了核实身份，请问邮编是多少？"),
            user("邮编是200030。"),
            _VERIFIED_43,
            _CUP,
            _PHOTO,
            _RESEND,
            agent("补发已经提交。"),
            user("真的提交了吗？"),
            call(
                "create_reshipment", {"reshipment_id": "S-44"}, order_id="A2043", item="马克杯", quantity=1
            ).root(),
            agent("是的，已经提交，请放心。"),
            user("好的，谢谢。"),
            kinds="duplicate_write extra_write",
            why="Asked whether it is done, it makes the reshipment a second time although the first succeeded.",
            tags="duplicate_write",
        ),
        passed(
            user("A2043里的马克杯破了，希望补寄一个新的。邮编200030。"),
            _VERIFIED_43,
            _PHOTO,
            _CUP,
            _RESEND,
            agent("非常抱歉。新的杯子已安排，补发单号S-43。"),
            user("确定安排了吗？"),
            agent("确定，S-43已生成。"),
            user("好，多谢。"),
            tags="reordered_reads",
        ),
        passed(
            user("杯子碎了！订单A2043，请补发。"),
            agent("请先告诉我邮编，好吗？"),
            user("好，200030。"),
            _VERIFIED_43,
            _CUP,
            think("政策要求先确认权限。"),
            _PHOTO,
            _RESEND.stringified(),
            agent("抱歉给您添麻烦了，S-43是您的补发单。"),
            user("没关系，谢谢。"),
            tags="think stringified",
        ),
    ),
)

TASKS = (TRACKING, UMBRELLA, INVOICE, CUP)
