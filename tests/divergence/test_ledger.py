"""The ledger: which writes still stand at the end, and what they owe against a pass's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import pytest

from tests.divergence.desk import ASK, DONE, LOOK, REFUND, REFUSED, book, refund, set_address, unbook
from tests.divergence.made import Line, call, corpus, record, user
from trajdiff.align.prepared import PreparedTrial, Preparer
from trajdiff.divergence.effects import classify
from trajdiff.divergence.ledger import closest, difference, effective_writes
from trajdiff.settings import Settings


def ready(*trials: Sequence[Line]) -> tuple[PreparedTrial, ...]:
    """Trials of one task, prepared together."""
    found = corpus([record(str(number), steps) for number, steps in enumerate(trials)]).trials
    return Preparer(effect_of=classify(found, Settings()).of).trials(found)


def standing(*steps: Line) -> list[int]:
    """Places in the given steps of the writes that still stand."""
    (trial,) = ready((ASK, *steps))
    return [write.position - 1 for write in effective_writes(trial)]


ADD = call("add_note", {"note_id": "N-5"}, order_id="A1001", text="fragile")
REMOVE = call("remove_note", {"ok": True}, note_id="N-5")
SUBSCRIBE = call("subscribe", {"ok": True}, user_id="U-71", list="news")
UNSUBSCRIBE = call("unsubscribe", {"ok": True}, user_id="U-71", list="news")
UNANSWERED = call("refund_item", order_id="A1001", sku="LAMP-1", amount=49.9)


def plan(name: str, **more: object) -> Line:
    return call("set_plan", {"ok": True}, user_id="U-71", plan=name, **more)


STANDING: dict[str, tuple[tuple[Line, ...], list[int]]] = {
    "reads are no writes": ((LOOK, LOOK), []),
    "a write": ((LOOK, REFUND), [1]),
    "a refused write": ((REFUSED, DONE), []),
    "a refused write, then done": ((REFUSED, REFUND), [1]),
    "an unanswered write": ((UNANSWERED,), []),
    "two bookings": ((book("204", "B-7"), book("205", "B-8")), [0, 1]),
    "a booking that was cancelled": ((book("204", "B-7"), unbook("B-7"), DONE), []),
    "a booking of which another one was cancelled": ((book("204", "B-7"), unbook("B-6")), [0, 1]),
    "the latter of two bookings cancelled": ((book("204", "B-7"), book("205", "B-8"), unbook("B-8")), [0]),
    "the former of two bookings cancelled": ((book("204", "B-7"), book("205", "B-8"), unbook("B-7")), [1]),
    "booked again after it was cancelled": ((book("204", "B-7"), unbook("B-7"), book("204", "B-9")), [2]),
    "cancelled before it was booked": ((unbook("B-7"), book("204", "B-9")), [0, 1]),
    "a note that was removed": ((ADD, REMOVE), []),
    "the last of two writes that one undoes": (
        (ADD, call("create_note", {"note_id": "N-6"}, note_id="N-5"), call("delete_note", 1, note_id="N-5")),
        [0],
    ),
    "opposite words of one entity": ((SUBSCRIBE, UNSUBSCRIBE), []),
    "a state set twice": ((plan("pro"), plan("basic")), [1]),
    "a state set twice to the same": ((plan("pro"), plan("pro")), [1]),
    "states of two users": ((plan("pro"), call("set_plan", 1, user_id="U-72", plan="pro")), [0, 1]),
    "a state of which less was set later": ((plan("pro", seats=3), plan("basic")), [0, 1]),
    "a state of which more was set later": ((plan("basic"), plan("pro", seats=3)), [1]),
    "a refund done twice": ((REFUND, REFUND), [0, 1]),
}


@pytest.mark.parametrize(("steps", "places"), STANDING.values(), ids=STANDING)
def test_standing_writes(steps: tuple[Line, ...], places: list[int]) -> None:
    assert standing(*steps) == places


Debts: TypeAlias = "list[tuple[str, str | None, str | None]]"


def owes(trial: Sequence[Line], reference: Sequence[Line]) -> Debts:
    """Kind of each debt with the tools of the write that was expected and of the one that was found."""
    one, other = ready((ASK, *trial), (ASK, *reference))
    return [
        (
            debt.kind.value,
            debt.expected.step.name if debt.expected else None,
            debt.found.step.name if debt.found else None,
        )
        for debt in difference(one, other).debts
    ]


CANCEL = call("cancel_order", {"ok": True}, order_id="A1001")
OTHER_CANCEL = call("cancel_order", {"ok": True}, order_id="A1002")
COUPON = call("apply_coupon", {"ok": True}, cart_id="K77", code="C9")
PLACE = call("place_order", {"ok": True}, cart_id="K77")

OWED: dict[str, tuple[Sequence[Line], Sequence[Line], Debts]] = {
    "nothing": ((LOOK, REFUND), (REFUND, DONE), []),
    "nothing where nobody writes": ((LOOK,), (DONE,), []),
    "a missing write": ((LOOK,), (REFUND,), [("missing", "refund_item", None)]),
    "an extra write": ((REFUND,), (LOOK,), [("extra", None, "refund_item")]),
    "another argument": ((refund(94.9),), (REFUND,), [("changed", "refund_item", "refund_item")]),
    "a duplicate": ((REFUND, REFUND), (REFUND,), [("duplicate", None, "refund_item")]),
    "another tool for the same entity": ((CANCEL,), (REFUND,), [("other_tool", "refund_item", "cancel_order")]),
    "another tool for another entity": (
        (OTHER_CANCEL,), (REFUND,), [("extra", None, "cancel_order"), ("missing", "refund_item", None)],
    ),
    "another order of writes to one entity": (
        (PLACE, COUPON), (COUPON, PLACE), [("order", "place_order", "place_order")],
    ),
    "another order of writes to two entities": ((OTHER_CANCEL, CANCEL), (CANCEL, OTHER_CANCEL), []),
    "one of two": ((CANCEL,), (CANCEL, OTHER_CANCEL), [("missing", "cancel_order", None)]),
    "the nearest of two is paired": (
        (refund(94.9), CANCEL), (CANCEL, REFUND), [("changed", "refund_item", "refund_item")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("trial", "reference", "debts"), OWED.values(), ids=OWED)
def test_debts(trial: Sequence[Line], reference: Sequence[Line], debts: Debts) -> None:
    assert owes(trial, reference) == debts


def test_a_debt_costs_something_and_no_debt_nothing() -> None:
    for trial, reference, debts in OWED.values():
        one, other = ready((ASK, *trial), (ASK, *reference))
        assert (difference(one, other).cost > 0) == bool(debts)


def test_the_nearest_pass_is_taken_and_the_first_of_equals() -> None:
    trials = ready((ASK, refund(94.9)), (ASK, CANCEL), (ASK, REFUND), (user("Refund please."), REFUND))
    assert closest(trials[0], trials[1:]).reference is trials[2]
    assert closest(trials[0], (trials[3], trials[1], trials[2])).reference is trials[3]


def test_the_same_end_state_by_other_calls_owes_nothing() -> None:
    def state(address: str, gift: bool) -> dict[str, object]:
        return {"order_id": "A1001", "address": address, "gift": gift, "total": 99.8, "items": 2, "paid": True}

    def update(result: dict[str, object], **given: object) -> Line:
        return call("update_order", result, order_id="A1001", **given)

    at_once = (update(state("14 Mill Lane", True), address="14 Mill Lane", gift=True),)
    in_turns = (
        update(state("14 Mill Lane", False), address="14 Mill Lane"),
        update(state("14 Mill Lane", True), gift=True),
    )
    assert owes(in_turns, at_once) == owes(at_once, in_turns) == []
    other = (update(state("14 Mill Lane", False), address="14 Mill Lane"),)
    assert owes(other, at_once) != []


def test_a_bare_ok_says_nothing_about_the_state() -> None:
    assert owes((set_address("41 Mill Lane"),), (set_address("14 Mill Lane"),)) != []
