"""What passes teach about an argument, counted over all tasks of a report."""

from __future__ import annotations

import pytest

from tests.divergence.made import Line, agent, analysed, call, of, records, user
from trajdiff.divergence.argument_roles import Role, role_of


@pytest.mark.parametrize(
    ("pairs", "agree", "role"),
    [
        (0, 0, Role.UNSEEN),
        (8, 8, Role.INVARIANT),  # 9/10
        (7, 7, Role.MIXED),  # 8/9
        (40, 36, Role.MIXED),  # 37/42
        (40, 37, Role.INVARIANT),  # 38/42
        (2, 1, Role.VARIABLE),  # 2/4
        (1, 0, Role.VARIABLE),  # 1/3
    ],
)
def test_roles_by_smoothed_share(pairs: int, agree: int, role: Role) -> None:
    assert role_of(pairs, agree).role is role


def _refund(amount: float, note: str) -> list[Line]:
    return [
        user("Please refund my lamp."),
        call("get_order", {"order_id": "A-1001", "lamp": 49.9, "all": 99.8}, order_id="A-1001"),
        call("refund_item", {"status": "ok"}, order_id="A-1001", amount=amount, note=note),
        agent("Done."),
    ]


def test_counts_are_taken_over_all_tasks_and_shown_beside_the_argument() -> None:
    passes = [_refund(49.9, note) for note in ("lamp broke", "arrived broken", "glass in pieces")]
    rows = records(passes, [_refund(99.8, "lamp broke")])
    rows += records(passes, [], task_id="T2")
    said = of(analysed(rows))
    # Two pairs a task (each pass against the first), two tasks: 4 of 4, smoothed 5/6.
    assert said.argument == "amount"
    assert any("amount is the same in 4 of 4 aligned pairs" in line for line in said.evidence), said.evidence


def test_one_pass_teaches_nothing() -> None:
    said = of(analysed(records([_refund(49.9, "lamp broke")], [_refund(99.8, "lamp broke")])))
    assert any("it is not known whether it may differ" in line for line in said.evidence), said.evidence


def test_support_of_a_nested_argument_counts_its_values() -> None:
    """An argument inside a list: only trials that write the same values there show the deviation."""

    def booked(*numbers: str) -> list[Line]:
        legs = [{"number": number, "day": "2024-05-24"} for number in numbers]
        return [
            user("Please take the cheapest way."),
            call("search_trips", ["R110", "R172", "R132"], day="2024-05-24"),
            agent(f"The cheapest is {' and '.join(numbers)}. Shall I book it?"),
            user("Yes, please."),
            call("book_trip", {"status": "ok"}, trip_id="T-77", legs=legs),
            agent("Booked."),
        ]

    said = of(
        analysed(
            records([booked("R110", "R172")] * 2, [booked("R110", "R132"), booked("R110", "R172", "R199")])
        )
    )
    assert said.support is not None
    assert (said.support.failed_with, said.support.failed) == (1, 2)
    assert (said.support.passed_with, said.support.passed) == (0, 2)


def test_coarser_comparisons_are_told() -> None:
    said = of(analysed(records([_refund(49.9, "lamp broke")] * 2, [_refund(99.8, "lamp broke")])))
    (line,) = (line for line in said.evidence if line.startswith("writes that stand"))
    assert line.endswith(
        "different in full, the same as a reference by tool and record, the same as a reference by tool"
    )
