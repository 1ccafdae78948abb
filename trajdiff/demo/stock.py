"""What lies in the shop: its database at the start, and what each task must have changed at the end."""

from __future__ import annotations

import sqlite3
from pathlib import Path

FILE = "shop.sqlite"

_TABLES = """
create table orders (id text primary key, customer text, item text, total real, day text, status text);
create table customers (id text primary key, name text);
create table refunds (id integer primary key, order_id text, amount real, approved integer);
create table approvals (order_id text, amount real);
create table charges (id integer primary key, order_id text, amount real);
create table tickets (id text primary key, customer text, subscription text, status text);
insert into orders values
  ('D-1', 'C-1', 'desk', 249.0, '2027-04-20', 'packed'),
  ('L-2', 'C-2', 'lamp', 49.9, '2027-03-02', 'delivered'),
  ('I-3', 'C-1', 'chair', 120.0, '2027-03-30', 'unpaid'),
  ('M-4', 'C-3', 'mug', 12.5, '2027-03-01', 'delivered'),
  ('T-6', 'C-2', 'table', 310.0, '2027-05-11', 'packed');
insert into customers values ('C-1', 'Ada'), ('C-2', 'Bo'), ('C-3', 'Cem');
insert into tickets values ('K-5', 'C-3', 'active', 'open');
"""


def reset(folder: str | Path) -> None:
    """A fresh database, byte for byte the same each time."""
    file = Path(folder) / FILE
    file.unlink(missing_ok=True)
    db = sqlite3.connect(file, isolation_level=None)
    db.executescript(_TABLES)
    db.close()


#: What the database must say at the end of each task: a query that gives 1.
GOALS = {
    "move-delivery": "select day = '2027-05-04' from orders where id = 'D-1'",
    "refund-lamp": "select count(*) = 1 and sum(amount) = 49.9 and min(approved) = 1 from refunds",
    "pay-invoice": "select count(*) = 1 from charges where order_id = 'I-3'",
    "replace-mug": "select status = 'replaced' from orders where id = 'M-4'",
    "close-ticket": "select status = 'closed' and subscription = 'ended' from tickets where id = 'K-5'",
    "ask-delivery": "select count(*) = 0 from refunds",
}


def passed(folder: str | Path, task: str) -> bool:
    """Whether the database is as the task wants it."""
    db = sqlite3.connect(Path(folder) / FILE)
    try:
        found = db.execute(GOALS[task]).fetchone()
    finally:
        db.close()
    return found is not None and found[0] == 1
