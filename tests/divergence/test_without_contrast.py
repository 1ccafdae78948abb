"""Tasks without contrast: how all trials fail, what another run or agent did, near misses of passing trials."""

from __future__ import annotations

from collections.abc import Sequence

from tests.divergence.desk import (
    ASK,
    BYE,
    DONE,
    FIRST,
    GUARD,
    LOOK,
    OFFER,
    OPENING,
    REFUND,
    SECOND,
    YES,
    refund,
)
from tests.divergence.made import Line, Steps, agent, analysed, broken, call, corpus, of, record, records, user
from trajdiff.analysis import Analysis, analyse
from trajdiff.divergence.borrowed import References
from trajdiff.divergence.finding import FindingKind, Grade, Kind, Reason, TaskFinding
from trajdiff.settings import Settings

WRONG = (*OPENING, OFFER, YES, refund(94.9), DONE, BYE)
NOTHING = (*OPENING, agent("I cannot refund that."), BYE)


def failing(*trials: Steps) -> TaskFinding:
    return analysed(records([], trials)).findings["T1"]


def shown(*trials: Steps) -> TaskFinding:
    """The finding of a task that always passes."""
    return analysed(records(trials, [])).findings["T1"]


# All fail


def test_trials_that_fail_alike() -> None:
    finding = failing(WRONG, (user("Money back for A1001."), *WRONG[1:]), WRONG)
    assert finding.kind is FindingKind.NEVER_PASS
    assert finding.text == "never passes; 3/3 fail alike at refund_item"
    assert [way.trials for way in finding.ways] == [("f0", "f1", "f2")]
    # Each trial's own place: message 5 holds the call.
    assert [(at.trial_id, at.step) for at in finding.ways[0].at] == [("f0", 5), ("f1", 5), ("f2", 5)]
    assert all(said.abstained for said in finding.divergences), "failing alike is no claim"


def test_trials_that_fail_in_two_ways() -> None:
    finding = failing(NOTHING, WRONG, WRONG)
    assert finding.text == "never passes; 3 trials fail in 2 ways, parting after check_permission"
    assert [(way.trials, way.writes) for way in finding.ways] == [
        (("f1", "f2"), ("refund_item",)),
        (("f0",), ()),
    ]
    assert "1/3: nothing changed, then user_done (trials f0)" in finding.notes


def test_another_ending_is_another_way() -> None:
    made = [record("f0", WRONG, "fail"), record("f1", WRONG, "fail", termination="agent_done")]
    finding = analysed(made).findings["T1"]
    assert [way.ending for way in finding.ways] == ["user_done", "agent_done"]


def test_trials_that_fail_in_four_ways() -> None:
    others = [
        (*OPENING, call(tool, {"ok": True}, order_id="A1001"), BYE)
        for tool in ("cancel_order", "create_return", "send_label", "update_order")
    ]
    finding = failing(*others)
    assert finding.text == "never passes; 4 trials fail in 4 different ways, parting after check_permission"


def test_where_arguments_always_differ_the_tools_are_compared() -> None:
    finding = failing(*[(*OPENING, OFFER, YES, refund(amount), DONE, BYE) for amount in (1, 2, 3)])
    assert [way.trials for way in finding.ways] == [("f0", "f1", "f2")]
    assert "(other arguments)" in finding.ways[0].text


def test_one_failing_trial_is_no_group() -> None:
    assert failing(WRONG).ways == ()
    assert failing(WRONG).text == "never passes"


def test_trials_beside_a_pass_are_not_grouped() -> None:
    assert analysed(records([FIRST], [WRONG, WRONG])).findings["T1"].ways == ()


def test_expected_actions_are_a_reference() -> None:
    task = {"expected_actions": [{"name": "refund_item", "arguments": {"order_id": "A1001", "sku": "LAMP-1"}}]}
    finding = analysed(records([], [WRONG, WRONG], task=task)).findings["T1"]
    assert {said.grade for said in finding.divergences} == {Grade.C}
    assert finding.ways == ()


def test_a_finding_inside_one_trial_is_of_grade_d() -> None:
    looks = [call("search_orders", [], user_id="U-71")] * 4
    finding = failing((ASK, *looks, agent("I find nothing.")), NOTHING)
    said = finding.divergences[0]
    assert (said.kind, said.grade) == (Kind.LOOP, Grade.D)
    assert finding.divergences[1].abstained
    assert finding.text == "never passes; search_orders repeated 4 times, same arguments and result"
    assert len(finding.ways) == 2


def test_a_write_that_never_succeeds_is_an_error_without_recovery() -> None:
    refused = broken("refund_item", "Error: payment service busy", order_id="A1001", sku="LAMP-1", amount=49.9)
    said = of(analysed(records([], [(*OPENING, refused, agent("Sorry."), user("Oh."), agent("Bye."), BYE)])))
    assert (said.kind, said.grade) == (Kind.UNRECOVERED_ERROR, Grade.D)
    assert said.root is not None
    assert said.root.step == 3
    # Where it is done later, the error is recovered.
    again = (*OPENING, refused, REFUND, DONE, BYE)
    assert of(analysed(records([], [again]))).abstained


def test_a_cut_record_is_a_truncation() -> None:
    said = of(analysed([record("f0", (*OPENING, REFUND), "fail", termination="incomplete")]))
    assert (said.kind, said.grade) == (Kind.EARLY_STOP, Grade.D)


# Borrowed references


def against(
    passes: Sequence[Steps], trial: Steps, own: Sequence[Steps] = (), *, first: bool = False
) -> Analysis:
    other = corpus(record(f"r{n}", steps, provenance={"model": "m-2"}) for n, steps in enumerate(passes))
    here = corpus(records(own, [trial]))
    references = References(borrowed={"T1": other.tasks[0].trials}, first=first)
    return analyse(here, Settings(), references=references)


def test_another_run_is_a_reference_of_grade_c() -> None:
    analysis = against([FIRST, SECOND], WRONG)
    said = of(analysis)
    assert (said.kind, said.grade) == (Kind.WRONG_ARGUMENT, Grade.C)
    assert said.root is not None
    assert said.root.step == 5
    assert said.support is not None
    assert (said.support.passed, said.support.passed_with, said.support.smallest_p) == (0, 0, None)
    assert "T1/r0@" in said.sentence
    # The trial that was borrowed is no trial of the task.
    assert said.passed_root is None


def test_the_same_path_as_a_borrowed_pass_is_no_claim() -> None:
    said = of(against([FIRST], FIRST))
    assert said.reason is Reason.SAME_PATH


def test_passes_of_the_task_come_before_borrowed_ones_unless_asked_for() -> None:
    other = (*OPENING, OFFER, YES, refund(10), DONE, BYE)
    assert of(against([other], WRONG, [FIRST, SECOND])).grade is Grade.A
    assert of(against([other], WRONG, [FIRST, SECOND], first=True)).grade is Grade.C


def test_one_pass_of_the_task_as_reference() -> None:
    here = corpus(records([FIRST, SECOND], [WRONG]))
    analysis = analyse(here, Settings(), references=References(own={"T1": "p1"}))
    assert analysis.findings["T1"].reference == "p1"
    assert of(analysis).grade is Grade.B


def test_another_agent_of_the_same_input_is_borrowed_without_asking() -> None:
    here = corpus(
        [
            record("0", WRONG, "fail", provenance={"model": "m-1"}),
            record("0", FIRST, provenance={"model": "m-2"}),
        ]
    )
    analysis = analyse(here, Settings())
    (failed,) = (f for f in analysis.findings.values() if f.kind is FindingKind.NEVER_PASS)
    assert failed.divergences[0].grade is Grade.C
    assert "m-2" in failed.divergences[0].evidence[-1]


# All pass

SHORT = (ASK, LOOK, OFFER, YES, REFUND, DONE, BYE)


def test_a_skipped_guard_is_a_near_miss() -> None:
    finding = shown(FIRST, SECOND, SHORT)
    assert finding.kind is FindingKind.ALWAYS_PASS
    assert [(near.trial_id, near.kind) for near in finding.near_misses] == [("p2", "guard_skipped")]
    assert finding.near_misses[0].text == "check_permission skipped before refund_item"
    assert finding.near_misses[0].step.step == 4
    assert finding.divergences == ()


def test_a_write_that_was_undone_is_a_near_miss() -> None:
    def refunded(*more: Line) -> Steps:
        return (ASK, LOOK, GUARD, *more, REFUND, DONE, BYE)

    wrong = call("create_return", {"return_id": "B-9"}, order_id="A1001")
    undone = call("delete_return", {"return_id": "B-9"}, return_id="B-9")
    finding = shown(refunded(), refunded(), refunded(wrong, undone))
    assert [(near.trial_id, near.kind) for near in finding.near_misses] == [("p2", "write_undone")]


def test_a_needless_repetition_is_a_near_miss() -> None:
    finding = shown(FIRST, SECOND, (*OPENING, LOOK, LOOK, LOOK, *FIRST[3:]))
    assert [(near.trial_id, near.kind) for near in finding.near_misses] == [("p2", "repeated")]


def test_variation_is_no_near_miss() -> None:
    reordered = (ASK, GUARD, LOOK, *FIRST[3:])
    extra = (*OPENING, call("get_policy", "60 days"), *FIRST[3:])
    assert shown(FIRST, SECOND, reordered, extra).near_misses == ()
    # Two passes do not say what is usual.
    assert shown(FIRST, SHORT).near_misses == ()
    # Mixed tasks have divergences instead.
    assert analysed(records([FIRST, SECOND, SHORT], [WRONG])).findings["T1"].near_misses == ()
