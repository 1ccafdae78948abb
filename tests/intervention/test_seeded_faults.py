"""Each seeded fault of the shop: the found divergence is pinned, failures go away, the placebo does nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.intervention.shop import TASKS, book_of, run_arm, trials_in
from trajdiff.demo.shop import chance
from trajdiff.divergence.finding import Kind
from trajdiff.errors import UsageError
from trajdiff.intervention.asking import pin_step
from trajdiff.intervention.evaluation import by_arm, evaluate
from trajdiff.intervention.outcome import Conclusion, Outcome
from trajdiff.intervention.pinning import Pinned, pin_divergence
from trajdiff.intervention.placebo import placebo_for
from trajdiff.record import Pin
from trajdiff.running import seed_of

N = 16
DRAWN = {"date": "parse_date"}
KINDS = {
    "date": (Kind.RESULT_DIFFERENCE, "result", "parse_date"),
    "permission": (Kind.MISSING_STEP, "call", "check_permission"),
    "retry": (Kind.EXTRA_WRITE, "block", "no second charge_card"),
    "error": (Kind.UNRECOVERED_ERROR, "call", "ship_replacement"),
    "silence": (Kind.EARLY_STOP, "call", "close_ticket"),
}


def outcome_of(folder: Path, task: str, pinned: Pinned, placebo: Pinned | None, trials: int = N) -> Outcome:
    arms = [("control", ()), ("pinned", pinned.pins)] + ([("placebo", placebo.pins)] if placebo else [])
    files = [run_arm(folder, task, trials, arm=name, pins=pins, salt="test:") for name, pins in arms]
    return evaluate(by_arm(trials_in(*files)), label=pinned.label, text=pinned.text, ref=pinned.ref)


@pytest.mark.parametrize("fault", TASKS)
def test_pinning_the_divergence_recovers_the_fault(fault: str, tmp_path: Path) -> None:
    task = TASKS[fault]
    book = book_of(run_arm(tmp_path, task, 8), task)
    lead = book.finding.lead
    assert lead is not None
    pinned = pin_divergence(book, lead)
    kind, pin_kind, label = KINDS[fault]
    assert (lead.kind, pinned.pins[0].kind, pinned.label) == (kind, pin_kind, label)
    assert pinned.divergence == lead.identity
    placebo = placebo_for(book, pinned)
    assert placebo is not None
    assert placebo.label not in pinned.label

    # What must come out follows from the seeds alone: the fault strikes where its draw is below one half.
    struck = sum(chance(seed_of(348, "test:" + task, n), DRAWN.get(fault, fault), 0.5) for n in range(N))
    assert struck >= 6
    outcome = outcome_of(tmp_path / "arms", task, pinned, placebo)
    counts = {arm.name: (arm.failures, arm.trials) for arm in outcome.arms}
    assert counts == {"control": (struck, N), "pinned": (0, N), "placebo": (struck, N)}
    effect, none = outcome.effect("pinned"), outcome.effect("placebo")
    assert effect is not None
    assert none is not None
    assert (effect.only_control, effect.only_arm, effect.pairs) == (struck, 0, N)
    assert effect.difference == pytest.approx(struck / N)
    assert effect.p == pytest.approx(2 / 2**struck)
    assert 0 < effect.low < effect.difference < effect.high <= 1
    assert (none.difference, none.p) == (0, 1)
    assert none.low < 0 < none.high
    assert outcome.conclusion is Conclusion.FEWER
    arm = outcome.arm("pinned")
    assert arm is not None
    everywhere = pin_kind == "result"
    assert arm.fired == (N if everywhere else struck)
    assert arm.needless == (N - struck if pin_kind == "call" else 0)


def test_pinning_an_unrelated_step_shows_nothing_and_an_unreached_one_says_so(tmp_path: Path) -> None:
    task = TASKS["date"]
    book = book_of(run_arm(tmp_path, task, 8), task)
    reference = book.reference
    assert reference is not None
    looked = next(step for step in reference.steps if step.name == "get_order")
    assert looked.source.message_index is not None
    unrelated = pin_step(book, reference.trial_id, looked.source.message_index, kind="result")
    other = placebo_for(book, unrelated)
    assert other is not None
    assert [pin.tool for pin in other.pins] != ["get_order"], "the placebo is another step than the pinned one"
    outcome = outcome_of(tmp_path / "one", task, unrelated, None, 8)
    assert outcome.conclusion is Conclusion.NOT_SHOWN
    never = Pinned(pins=(Pin(kind="block", tool="refund_item"),), label="x", text="x", ref="x")
    outcome = outcome_of(tmp_path / "two", task, never, None, 8)
    assert outcome.conclusion is Conclusion.NOT_REACHED
    harm = Pinned(
        pins=(Pin(kind="result", tool="parse_date", value="2027-01-01"),), label="x", text="x", ref="x"
    )
    outcome = outcome_of(tmp_path / "three", task, harm, None, N)
    assert outcome.conclusion is Conclusion.MORE


def test_steps_that_a_user_names(tmp_path: Path) -> None:
    task = TASKS["date"]
    book = book_of(run_arm(tmp_path, task, 8), task)
    lead = book.finding.lead
    assert lead is not None
    assert lead.root is not None
    assert lead.manifest is not None
    trial = lead.root.trial_id
    assert lead.root.message is not None
    assert lead.manifest.message is not None
    assert pin_step(book, trial, lead.root.message) == pin_divergence(book, lead)
    (write,) = pin_step(book, trial, lead.manifest.message).pins
    assert (write.kind, write.tool, write.path, write.value) == (
        "argument",
        "move_delivery",
        "day",
        "2027-05-04",
    )
    (note,) = pin_step(book, trial, lead.root.message, kind="note", value="day first", given=True).pins
    assert (note.kind, note.tool, note.value) == ("note", "get_order", "day first")
    (said,) = pin_step(book, trial, 0, kind="user_message", value="on 05/04", given=True).pins
    assert (said.at, said.value) == ("user", "on 05/04")
    (stop,) = pin_step(book, trial, lead.manifest.message, kind="block").pins
    assert (stop.kind, stop.tool, stop.occurrence) == ("block", "move_delivery", 0)
    value = {"name": "get_order", "arguments": {"order_id": "D-1"}}
    (call,) = pin_step(book, trial, lead.root.message, kind="call", value=value, given=True).pins
    assert (call.kind, call.name, call.tool, call.arguments) == (
        "call",
        "get_order",
        "parse_date",
        {"order_id": "D-1"},
    )
    (other,) = pin_step(book, trial, lead.root.message, kind="replace", value=value, given=True).pins
    assert (other.kind, other.name, other.tool) == ("replace", "get_order", "parse_date")
    for message, kind, problem in (
        (99, None, "no step"),
        (0, "block", "cannot be pinned as block"),
        (lead.root.message, "user_message", "cannot be pinned as user_message"),
        (lead.root.message, "note", "cannot be pinned as note"),
    ):
        with pytest.raises(UsageError, match=problem):
            pin_step(book, trial, message, kind=kind)
    with pytest.raises(UsageError, match="must be a JSON object"):
        pin_step(book, trial, lead.root.message, kind="call", value=3, given=True)


def test_a_task_without_a_divergence_has_nothing_to_pin(tmp_path: Path) -> None:
    book = book_of(run_arm(tmp_path, "ask-delivery", 4), "ask-delivery")
    with pytest.raises(UsageError, match="no divergence to pin"):
        pin_divergence(book, book.finding.lead)
