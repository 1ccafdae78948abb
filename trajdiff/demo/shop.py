"""The shop: tools over its database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from trajdiff import record
from trajdiff.demo.stock import FILE


class Shop:
    """The database of one trial. ``misreads_dates``: the date tool takes the day for the month."""

    def __init__(self, folder: str | Path, seed: int = 0, *, misreads_dates: bool = False) -> None:
        self.db = sqlite3.connect(Path(folder) / FILE, isolation_level=None)
        self.db.row_factory = sqlite3.Row
        self.seed = seed
        self.misreads_dates = misreads_dates

    def close(self) -> None:
        """Close the database."""
        self.db.close()

    def _row(self, query: str, *values: Any) -> dict[str, Any]:
        found = self.db.execute(query, values).fetchone()
        if found is None:
            raise LookupError(f"nothing found for {values[0]}")
        return dict(found)

    @record.tool(effect="read")
    def get_order(self, order_id: str) -> dict[str, Any]:
        """An order."""
        return self._row("select * from orders where id = ?", order_id)

    @record.tool(effect="read")
    def get_customer(self, customer_id: str) -> dict[str, Any]:
        """A customer."""
        return self._row("select * from customers where id = ?", customer_id)

    @record.tool(effect="read")
    def parse_date(self, text: str) -> str:
        """A date such as 04/05 (4 May) as the shop writes it."""
        first, second = text.split("/")
        if self.misreads_dates and chance(self.seed, "parse_date", 0.5):
            first, second = second, first
        return f"2027-{int(second):02d}-{int(first):02d}"

    @record.tool(effect="write")
    def move_delivery(self, order_id: str, day: str) -> dict[str, Any]:
        """Deliver an order on another day."""
        self.db.execute("update orders set day = ? where id = ?", (day, order_id))
        return {"status": "moved", "order_id": order_id, "day": day}

    @record.tool(effect="write")
    def check_permission(self, order_id: str, amount: float) -> dict[str, Any]:
        """Whether a refund is allowed; the shop keeps the approval."""
        self.db.execute("insert into approvals values (?, ?)", (order_id, amount))
        return {"allowed": True}

    @record.tool(effect="write")
    def refund_item(self, order_id: str, amount: float) -> dict[str, Any]:
        """Pay money back; the shop notes whether it was approved."""
        known = self.db.execute("select 1 from approvals where order_id = ?", (order_id,)).fetchone()
        values = (order_id, amount, int(known is not None))
        self.db.execute("insert into refunds (order_id, amount, approved) values (?, ?, ?)", values)
        return {"status": "refunded", "amount": amount}

    @record.tool(effect="write")
    def charge_card(self, order_id: str, amount: float) -> dict[str, Any]:
        """Charge an order. The first answer gets lost on its way, though the card was charged."""
        self.db.execute("insert into charges (order_id, amount) values (?, ?)", (order_id, amount))
        (count,) = self.db.execute("select count(*) from charges where order_id = ?", (order_id,)).fetchone()
        if count == 1:
            raise TimeoutError("no answer from the bank")
        return {"status": "charged", "amount": amount}

    @record.tool(effect="read")
    def get_charges(self, order_id: str) -> list[dict[str, Any]]:
        """What was charged for an order."""
        rows = self.db.execute("select amount from charges where order_id = ?", (order_id,))
        return [dict(row) for row in rows]

    @record.tool(effect="write")
    def ship_replacement(self, order_id: str) -> dict[str, Any]:
        """Send an item again. The warehouse is busy at the first try."""
        if self.get_status(order_id) == "delivered":
            self.db.execute("update orders set status = 'asked' where id = ?", (order_id,))
            raise RuntimeError("the warehouse is busy, try again")
        self.db.execute("update orders set status = 'replaced' where id = ?", (order_id,))
        return {"status": "shipped", "order_id": order_id}

    def get_status(self, order_id: str) -> str:
        """The status of an order; no tool."""
        return str(self._row("select status from orders where id = ?", order_id)["status"])

    @record.tool(effect="read")
    def get_ticket(self, ticket_id: str) -> dict[str, Any]:
        """A ticket."""
        return self._row("select * from tickets where id = ?", ticket_id)

    @record.tool(effect="write")
    def cancel_subscription(self, ticket_id: str) -> dict[str, Any]:
        """End the subscription of a ticket."""
        self.db.execute("update tickets set subscription = 'ended' where id = ?", (ticket_id,))
        return {"status": "ended"}

    @record.tool(effect="write")
    def close_ticket(self, ticket_id: str) -> dict[str, Any]:
        """Close a ticket."""
        self.db.execute("update tickets set status = 'closed' where id = ?", (ticket_id,))
        return {"status": "closed"}

    def tools(self) -> dict[str, Callable[..., Any]]:
        """The tools by name."""
        names = ("get_order", "get_customer", "parse_date", "move_delivery", "check_permission", "refund_item")
        more = ("charge_card", "get_charges", "ship_replacement", "get_ticket", "cancel_subscription")
        return {name: getattr(self, name) for name in (*names, *more, "close_ticket")}

    def state(self) -> dict[str, list[list[Any]]]:
        """Every table with its rows, for comparing two ends."""
        tables = ("approvals", "charges", "orders", "refunds", "tickets")
        return {t: [list(row) for row in self.db.execute(f"select * from {t} order by 1")] for t in tables}


def chance(seed: int, name: str, probability: float) -> bool:
    """A choice that depends on the seed and its own name only, so that no other choice shifts it."""
    return Random(f"{seed}:{name}").random() < probability
