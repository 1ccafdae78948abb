"""What a failing trial is compared with: passes, recorded reference calls, nothing; and what each is worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.divergence.desk import (
    ASK,
    BYE,
    DONE,
    FIRST,
    GUARD,
    LOOK,
    OFFER,
    OPENING,
    PASSES,
    REFUND,
    SECOND,
    YES,
    refund,
    set_address,
)  # fmt: skip
from tests.divergence.made import (
    Line,
    agent,
    analysed,
    call,
    check_blamed,
    check_spared,
    judged,
    of,
    record,
    records,
    user,
)  # fmt: skip
from trajdiff.divergence.finding import FindingKind, Grade, Kind, Reason

WRONG = (*OPENING, OFFER, YES, refund(94.9).root(), DONE, BYE)
#: The same task served in wholly another way.
NOTE = (user("Delete note Z9."), call("delete_note", {"ok": True}, note_id="Z9"), agent("Deleted."))

# Passes


def test_two_agreeing_passes_give_grade_a() -> None:
    said = check_blamed(PASSES, WRONG, "wrong_argument")
    assert said.grade is Grade.A
    assert said.support is not None
    assert (said.support.failed_with, said.support.failed) == (1, 1)
    assert (said.support.passed_with, said.support.passed) == (0, 2)


def test_one_pass_gives_grade_b() -> None:
    assert check_blamed([FIRST], WRONG, "wrong_argument").grade is Grade.B


def test_passes_that_do_not_agree_give_grade_b() -> None:
    more = (*SECOND[:6], call("send_note", {"ok": True}, order_id="A1001", text="sorry"), *SECOND[6:])
    assert check_blamed([FIRST, more], WRONG, "wrong_argument").grade is Grade.B


def test_two_passes_that_share_nothing() -> None:
    """The nearer one is the reference, nothing is certain; a pass without common ground accuses no other."""
    found = analysed(records([FIRST, NOTE], [WRONG]))
    said = of(found)
    assert said.kind is Kind.WRONG_ARGUMENT
    assert said.grade is Grade.B
    assert said.root_sides[0].trial_id == "p0"
    assert found.self_check.passing_trials == 2
    assert found.self_check.false_alarms == 0


REFUSALS = ((ASK, LOOK, agent("That is too late."), BYE), (ASK, LOOK, agent("Too late, sorry.")))
WEATHER = (agent("Hm."), call("get_weather", {"sky": "clear"}, city="Rome"))


def test_no_common_ground_is_said() -> None:
    assert check_spared(REFUSALS[:1], WEATHER).reason is Reason.NO_COMMON_GROUND


@pytest.mark.parametrize(("passes", "failing"), [(PASSES, NOTE), (REFUSALS, WEATHER)], ids=["writes", "reads"])
def test_a_failing_trial_that_shares_nothing_with_any_pass(
    passes: Sequence[Sequence[Line]], failing: Sequence[Line]
) -> None:
    assert check_spared(passes, failing).reason is Reason.NO_COMMON_GROUND


def test_failures_alike_are_one_group() -> None:
    third = (*OPENING, OFFER, YES, set_address("41 Mill Lane"), REFUND, DONE, BYE)
    found = analysed(records(PASSES, [WRONG, third, WRONG]))
    first, other, second = (of(found, name) for name in ("f0", "f1", "f2"))
    assert first.identity == second.identity != other.identity
    assert first.group == second.group == ("f0", "f2")
    assert len({d.row_id for d in (first, other, second)}) == 3
    assert first.support is not None
    assert (first.support.failed_with, first.support.failed) == (2, 3)
    # Five trials, two passed: ten splits, one of them the most extreme, none its mirror image.
    assert first.support.smallest_p == pytest.approx(1 / 10)
    finding = found.findings["T1"]
    assert finding.lead == first
    assert finding.other_groups == 1


# Failing trials with little or nothing in them


def test_without_steps() -> None:
    found = analysed([*records(PASSES, []), record("f0", [], "fail")])
    assert of(found).reason is Reason.NOT_COMPARABLE
    assert found.findings["T1"].kind is FindingKind.ABSTAINED


@pytest.mark.parametrize("step", [agent("Hello, how can I help?"), LOOK], ids=["a message", "a call"])
def test_with_one_step(step: Line) -> None:
    check_blamed(PASSES, [step.root()], "early_stop missing_step")


def test_where_the_agent_never_acted() -> None:
    said = judged(PASSES, [ASK])
    assert not said.abstained or "changes nothing" not in said.sentence


def test_without_any_call() -> None:
    """DIV-05: never a perfect match."""
    failing = (ASK, agent("Done, 49.90 is refunded.").root(), BYE)
    check_blamed(PASSES, failing, "early_stop missing_step")


# Trials that are no reference


def test_unscored_trials_are_no_reference() -> None:
    alone = analysed([record("u0", FIRST, "unscored"), record("f0", WRONG, "fail")])
    assert of(alone).reason is Reason.NO_PASSING_TRIAL
    assert alone.findings["T1"].reference is None
    assert alone.self_check.passing_trials == 0


def test_unscored_trials_are_no_support() -> None:
    plain, beside = (
        analysed([*records(PASSES, [WRONG]), *more]) for more in ([], [record("u0", WRONG, "unscored")])
    )
    assert of(plain).support == of(beside).support
    assert of(plain).grade == of(beside).grade
    assert [d.trial_id for d in beside.findings["T1"].divergences] == ["f0"]


def test_nobody_judged() -> None:
    found = analysed([record(f"u{n}", FIRST, "unscored") for n in range(2)])
    assert found.findings["T1"].kind is FindingKind.NOT_COMPARED
    assert found.findings["T1"].divergences == ()


def test_a_pass_without_steps_is_no_reference() -> None:
    found = analysed([record("p0", []), record("f0", WRONG, "fail")])
    assert of(found).reason is Reason.NO_PASSING_TRIAL
    assert "passed trial has steps" in of(found).sentence


def test_a_task_that_always_passes() -> None:
    found = analysed(records(PASSES, []))
    assert found.findings["T1"].kind is FindingKind.ALWAYS_PASS
    assert found.findings["T1"].divergences == ()
    assert found.self_check.false_alarms == 0


# Tasks that never pass


def _gold(*actions: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"task": {"expected_actions": [{"name": name, "arguments": given} for name, given in actions]}}


WANTED = _gold(
    ("get_order", {"order_id": "A1001"}),
    ("refund_item", {"order_id": "A1001", "sku": "LAMP-1", "amount": 49.9}),
)
MOVED = set_address("Mill Lane 1")
NEVER: dict[str, tuple[str, dict[str, Any], Sequence[Line]]] = {
    "a wrong amount": ("wrong_argument", WANTED, (ASK, LOOK, OFFER, YES, refund(94.9).root(), DONE)),
    "a write left out": ("early_stop missing_step", WANTED, (ASK, LOOK, GUARD, agent("Done.").root(), BYE)),
    "a write too many": ("extra_write", WANTED, (ASK, LOOK, REFUND, MOVED.root(), DONE)),
    "any write where none is expected": ("extra_write", _gold(), (ASK, LOOK, REFUND.root(), DONE)),
}


@pytest.mark.parametrize(("kind", "gold", "failing"), NEVER.values(), ids=NEVER)
def test_recorded_reference_calls_give_grade_c(
    kind: str, gold: dict[str, Any], failing: Sequence[Line]
) -> None:
    said = check_blamed([], failing, kind, **gold)
    assert said.grade is Grade.C
    assert said.support is not None
    assert (said.support.passed_with, said.support.passed, said.support.smallest_p) == (0, 0, None)
    assert any("expected actions" in line for line in said.evidence)
    assert said.passed_root is None


GOLD_MET: dict[str, tuple[dict[str, Any], Sequence[Line]]] = {
    "all expected writes, without the reads": (WANTED, (ASK, OFFER, YES, REFUND, DONE)),
    "none expected, none made": (_gold(), (ASK, LOOK, agent("That is too late."), BYE)),
    "expected writes in another order": (
        _gold(("set_plan", {"user_id": "U-71"}), ("add_note", {"order_id": "A1001"})),
        (
            call("add_note", {"ok": True}, order_id="A1001"),
            call("set_plan", {"ok": True}, user_id="U-71"),
            agent("Both done."),
        ),
    ),
}


@pytest.mark.parametrize(("gold", "failing"), GOLD_MET.values(), ids=GOLD_MET)
def test_met_reference_calls_accuse_nobody(gold: dict[str, Any], failing: Sequence[Line]) -> None:
    found = analysed(records([], [failing], **gold))
    assert of(found).abstained
    assert found.findings["T1"].kind is FindingKind.NEVER_PASS


def test_reference_calls_are_not_used_where_a_trial_passes() -> None:
    said = check_blamed(PASSES, WRONG, "wrong_argument", **_gold())
    assert said.grade is Grade.A


def test_without_any_reference_nothing_is_claimed() -> None:
    said = check_spared([], WRONG)
    assert said.reason is Reason.NO_PASSING_TRIAL
