"""Divergences that recur over tasks: grouped by kind, tool and place, each with its tasks."""

from __future__ import annotations

from tests.divergence.desk import ASK, BYE, DONE, FIRST, LOOK, OFFER, OPENING, SECOND, YES, refund
from tests.divergence.made import Steps, analysed, call, corpus, record, user
from trajdiff.report import Recurring, build_report
from trajdiff.settings import Settings

SKIPPED = (ASK, LOOK, OFFER, YES, refund(94.9), DONE, BYE)
#: The same check missing before another write.
RETURN = call("create_return", {"return_id": "B-1", "ok": True}, order_id="A1001")
GUARD = FIRST[2]
RETURNS = (ASK, LOOK, GUARD, RETURN, DONE, BYE), (user("Take A1001 back."), LOOK, GUARD, RETURN, DONE, BYE)
OTHER = call("create_return", {"return_id": "B-1", "ok": True}, order_id="A1001", parts=2)


def recurring(tasks: dict[str, tuple[tuple[Steps, ...], tuple[Steps, ...]]]) -> tuple[Recurring, ...]:
    made = []
    for task_id, (passes, failing) in tasks.items():
        made += [record(f"p{n}", steps, task_id=task_id) for n, steps in enumerate(passes)]
        made += [record(f"f{n}", steps, "fail", task_id=task_id) for n, steps in enumerate(failing)]
    return build_report(corpus(made), analysed(made), Settings()).recurring


def test_a_missing_step_is_grouped_by_what_went_ahead_without_it() -> None:
    found = recurring(
        {
            "T1": ((FIRST, SECOND), (SKIPPED, SKIPPED)),
            "T2": ((FIRST, SECOND), (SKIPPED,)),
            "T3": (RETURNS, ((ASK, LOOK, OTHER, DONE, BYE),)),
            "T4": (RETURNS, ((ASK, LOOK, OTHER, DONE, BYE),)),
        }
    )
    rows = [(one.headline, one.place, one.trials, one.tasks) for one in found]
    assert rows == [
        (
            "check_permission missing before refund_item",
            "refund_item",
            ("T1/f0", "T1/f1", "T2/f0"),
            ("T1", "T2"),
        ),
        ("check_permission missing before create_return", "create_return", ("T3/f0", "T4/f0"), ("T3", "T4")),
    ]


def test_other_kinds_are_grouped_by_tool_and_argument() -> None:
    wrong = (*OPENING, OFFER, YES, refund(94.9), DONE, BYE)
    other = (*OPENING, OFFER, YES, refund(12), DONE, BYE)
    found = recurring({"T1": ((FIRST, SECOND), (wrong,)), "T2": ((FIRST, SECOND), (other,))})
    assert [(one.headline, one.place, one.tasks) for one in found] == [
        ("refund_item with another amount", None, ("T1", "T2"))
    ]


def test_what_is_found_in_one_task_does_not_recur() -> None:
    assert recurring({"T1": ((FIRST, SECOND), (SKIPPED, SKIPPED))}) == ()
