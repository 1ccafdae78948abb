"""The user's part and how a trial ends: deviations from the script, refusals, loops, limits, crashes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import pytest

from tests.divergence.desk import (
    ASK,
    BYE,
    DONE,
    FIRST,
    LOOK,
    MOVES,
    OFFER,
    OPENING,
    PASSES,
    REFUND,
    REFUSED,
    YES,
    refund,
    set_address,
)  # fmt: skip
from tests.divergence.made import (
    Line,
    Steps,
    agent,
    analysed,
    broken,
    call,
    check_blamed,
    check_spared,
    marked,
    of,
    record,
    records,
    user,
)  # fmt: skip
from trajdiff.divergence.finding import Divergence, FindingKind, Grade, Kind, Reason

Trial: TypeAlias = "Sequence[Line]"

# Users

SCRIPT: dict[str, Any] = {"task": {"script": "You want order A1001 sent to 14 Mill Lane."}}
MISSPOKEN = (
    user("Send order A1001 to 41 Mill Lane.").root(),
    LOOK,
    set_address("41 Mill Lane").near(),
    agent("The address is 41 Mill Lane now."),
)


@pytest.mark.parametrize("more", [{}, SCRIPT], ids=["no script", "against its script"])
def test_a_user_who_gives_another_value(more: dict[str, Any]) -> None:
    said = check_blamed(MOVES, MISSPOKEN, "user_deviation", "user", **more)
    assert said.argument == "street"
    assert said.provenance is not None
    assert (said.provenance.origin, said.provenance.message) == ("user_message", 0)


def test_a_user_who_puts_it_right_in_time() -> None:
    failing = (
        user("Send order A1001 to 41 Mill Lane."), LOOK, agent("To 41 Mill Lane?"),
        user("Sorry, 14 Mill Lane."), set_address("14 Mill Lane"), agent("Done."),
    )  # fmt: skip
    check_spared(MOVES, failing)


def test_a_user_who_agrees_to_what_the_agent_made_up() -> None:
    """The agent said the value first: the user's echo is no deviation."""
    failing = (
        MOVES[0][0], LOOK, agent("I will send it to 41 Mill Lane, okay?").root(), user("Yes, 41 Mill Lane."),
        set_address("41 Mill Lane").near(), agent("Done."),
    )  # fmt: skip
    check_blamed(MOVES, failing, "wrong_argument", **SCRIPT)


def test_a_user_who_stays_with_the_script_is_never_blamed() -> None:
    script: dict[str, Any] = {
        "task": {"script": "You want A1001 sent to 14 Mill Lane. You once lived at 41 Mill Lane."}
    }
    failing = (
        user("Send order A1001 to 14 Mill Lane. I used to live at 41 Mill Lane."), LOOK,
        set_address("41 Mill Lane").root(), agent("Done."),
    )  # fmt: skip
    said = check_blamed(MOVES, failing, "wrong_argument", **script)
    assert said.actor == "agent"


def test_a_user_who_leaves_no_turn_for_what_was_offered() -> None:
    failing = (*OPENING, OFFER, user("Yes please. I have to go now, bye.").root())
    said = check_blamed(PASSES, failing, "user_deviation", "user")
    assert said.tool == "refund_item"


def test_an_agent_that_lets_its_turn_pass() -> None:
    failing = (*OPENING, OFFER, YES, agent("Your 49.90 have been refunded.").root(), BYE)
    check_blamed(PASSES, failing, "early_stop missing_step")


def test_a_user_with_another_wish() -> None:
    def exchange(item: str) -> Line:
        return call("exchange_item", {"ok": True}, order_id="A1001", new_item_id=item)

    ask = user("I want the blue bag instead, order A1001.")
    passes = [
        (ask, LOOK, agent("Shall I send BAG-7?"), YES, exchange("BAG-7"), agent("Done.")),
        (user("A1001: please a blue bag instead."), LOOK, agent("BAG-7, right?"), YES, exchange("BAG-7"), BYE),
    ]
    failing = (
        ask, LOOK, agent("Shall I send BAG-7?"), user("No, I want my money back as a refund instead.").root(),
        refund(49.9).near(), agent("Refunded."),
    )  # fmt: skip
    check_blamed(passes, failing, "user_deviation wrong_tool", "user")


DAMAGED, NOT_THEN = agent("Is the lamp damaged?"), agent("Then I cannot refund it.")
SAID_YES = [(ASK, LOOK, DAMAGED, user(yes), REFUND, DONE) for yes in ("Yes, it is.", "Yes, it came damaged.")]


def test_a_user_who_says_no_where_passes_say_yes() -> None:
    failing = (ASK, LOOK, DAMAGED, user("No, it is fine.").root(), NOT_THEN, user("Okay, bye."))
    said = check_blamed(SAID_YES, failing, "user_deviation", "user")
    assert said.tool == "refund_item"
    assert "no to what" in said.sentence


@pytest.mark.parametrize(
    "answer",
    ["Well, it came damaged.", "No doubt, yes, it is.", "No idea?"],
    ids=["neither", "a yes", "a question"],
)
def test_what_is_no_no(answer: str) -> None:
    failing = (ASK, LOOK, DAMAGED, user(answer), NOT_THEN.root(), user("Oh."), agent("Sorry."), BYE)
    check_blamed(SAID_YES, failing, "missing_step early_stop")


def test_a_no_to_a_question_of_the_trials_own() -> None:
    other = agent("Is the lamp damaged in any way, and if so, how?")
    failing = (ASK, LOOK, other, user("No, I do not."), NOT_THEN.root(), user("Oh."), agent("Sorry."), BYE)
    check_blamed(SAID_YES, failing, "missing_step early_stop")


def test_a_no_that_a_pass_says_too() -> None:
    passes = [*SAID_YES, (ASK, LOOK, DAMAGED, user("No, I just do not like it."), REFUND, DONE)]
    failing = (ASK, LOOK, DAMAGED, user("No, it is fine."), NOT_THEN.root(), user("Oh."), agent("Sorry."), BYE)
    check_blamed(passes, failing, "missing_step early_stop")


def test_a_no_that_is_taken_back_in_time() -> None:
    failing = (ASK, LOOK, DAMAGED, user("No, it is fine."), agent("Sure?"), user("Yes, it is."), REFUND, DONE)
    check_spared(SAID_YES, failing)


def test_a_no_in_chinese() -> None:
    ask, asked, then = user("A1001退款。"), agent("请问商品有损坏吗？"), agent("那就不能退款了。")
    passes = [(ask, LOOK, asked, user(yes), REFUND, agent("已退。")) for yes in ("是的，坏了。", "对，是的。")]
    failing = (ask, LOOK, asked, user("没有，完好无损。").root(), then, user("知道了。"))
    check_blamed(passes, failing, "user_deviation", "user")
    greeted = (ask, LOOK, asked, user("您好，请快一点。"), then.root(), user("知道了。"), agent("再见。"))
    check_blamed(passes, greeted, "missing_step early_stop")


@pytest.mark.parametrize("reason", ["user_sim_error", "infra_error"])
def test_an_agent_whose_turn_never_came_did_not_stop_early(reason: str) -> None:
    said = _ended(PASSES, (*OPENING, OFFER), reason)
    assert said.actor != "agent"


# Refusals


@pytest.mark.parametrize(
    "text",
    ["Unfortunately I cannot refund the lamp of A1001.", "Unfortunately 49.90 for the lamp is not possible."],
)
def test_an_agent_that_refuses_where_passes_offer(text: str) -> None:
    """However alike its words are to the offer's."""
    failing = (*OPENING, agent(text).root(), user("Oh."), agent("Sorry."), BYE)
    check_blamed(PASSES, failing, "missing_step early_stop")


def test_a_user_who_accepts_a_refusal_is_not_to_blame() -> None:
    refusal = agent("Unfortunately I cannot refund the lamp of A1001.").root()
    check_blamed(PASSES, (*OPENING, refusal, user("Okay, thanks. Bye.")), "missing_step early_stop")


def test_a_refused_call_repeated_with_success() -> None:
    said = check_spared(PASSES, (*FIRST[:5], REFUSED, REFUND, DONE, BYE))
    (repair,) = said.recovered
    assert repair.closed_by == "refund_item"


def test_a_refused_call_given_up() -> None:
    sorry = agent("Sorry, the refund does not work. Please try later.").root()
    said = check_blamed(PASSES, (*FIRST[:5], REFUSED, sorry, BYE), "unrecovered_error early_stop")
    assert said.tool == "refund_item"


# Loops and limits

NO_ONE = call("find_customer", [], name="Ann Lee")
FOUND = call("find_customer", [{"id": "U7"}], phone="555-0142")
ANN = user("I am Ann Lee, phone 555-0142, refund A1001.")
SEARCHES = (
    (ANN, FOUND, LOOK, REFUND, DONE),
    (user("Refund A1001. 555-0142."), NO_ONE, FOUND, LOOK, REFUND, DONE),
)


def _ended(passes: Sequence[Steps], failing: Steps, reason: str) -> Divergence:
    made = records(passes, [failing])
    return of(analysed([*made[:-1], made[-1] | {"termination": reason}]))


def test_a_loop_until_the_step_limit() -> None:
    failing = (ANN, NO_ONE, NO_ONE.root(), NO_ONE, NO_ONE.near())
    said = _ended(SEARCHES, failing, "max_steps")
    assert (said.kind, said.actor, said.tool) == (Kind.LOOP, "agent", "find_customer")
    assert said.root is not None
    assert said.manifest is not None
    assert (said.root.message, said.manifest.message) == (marked(failing).root, marked(failing).manifest)


@pytest.mark.parametrize(("times", "kind"), [(2, Kind.EARLY_STOP), (3, Kind.LOOP)])
def test_a_loop_begins_with_three_equal_calls(times: int, kind: Kind) -> None:
    assert _ended(SEARCHES, (ANN, *[NO_ONE] * times), "max_steps").kind is kind


def test_equal_calls_with_changing_results_are_no_loop() -> None:
    polls = [call("get_status", {"job": "J55", "done": done}, job="J55") for done in (0, 10, 60, 100)]
    check_spared(SEARCHES, (ANN, *polls, *SEARCHES[0][1:]))


def test_a_loop_that_the_trial_left_again_is_repaired() -> None:
    check_spared(SEARCHES, (ANN, NO_ONE, NO_ONE, NO_ONE, *SEARCHES[0][1:]))


def test_a_loop_that_passes_show_too_is_not_what_separates() -> None:
    loops = (ANN, NO_ONE, NO_ONE, NO_ONE, FOUND, LOOK, REFUND, DONE)
    failing = (ANN, NO_ONE, NO_ONE, NO_ONE, FOUND, LOOK, refund(94.9).root(), DONE)
    check_blamed([loops, loops], failing, "wrong_argument")


def test_cut_by_its_limit_without_repeating_itself() -> None:
    failing = (ANN, FOUND, LOOK, agent("Let me see what I can do."))
    said = _ended(SEARCHES, failing, "max_steps")
    assert said.kind is Kind.EARLY_STOP
    assert said.root is not None
    assert said.root.message == 5


def test_an_unknown_ending_is_no_deviation() -> None:
    said = _ended(PASSES, FIRST, "unknown")
    assert said.reason is Reason.SAME_PATH


# Infrastructure

CRASH: dict[str, Any] = {"termination": "infra_error", "error": "sandbox lost\nTraceback"}
WRONG = (*OPENING, OFFER, YES, refund(94.9), DONE, BYE)


def test_a_crash_stands_at_its_last_message_and_counts_for_nothing() -> None:
    found = analysed([*records(PASSES, [WRONG]), record("i0", WRONG[:6], "infra", **CRASH)])
    crash, failing = of(found, "i0"), of(found, "f0")
    assert (crash.kind, crash.actor, crash.reason) == (
        Kind.INFRASTRUCTURE,
        "infrastructure",
        Reason.INFRASTRUCTURE,
    )
    assert (crash.grade, crash.support) == (None, None)
    assert crash.root is not None
    assert crash.root.message == 8, "the refund's result is the last recorded message"
    assert "sandbox lost" in crash.sentence
    assert "Traceback" not in crash.sentence
    assert failing.group == ("f0",)
    assert failing.support is not None
    assert (failing.support.failed, failing.support.passed) == (1, 2)
    assert found.findings["T1"].kind is FindingKind.DIVERGENCE


def test_crashes_alone_are_no_reference() -> None:
    found = analysed([record(f"i{n}", FIRST, "infra", **CRASH) for n in range(3)])
    assert found.findings["T1"].kind is FindingKind.INFRASTRUCTURE
    assert found.findings["T1"].reference is None
    assert found.self_check.passing_trials == 0
    beside = analysed([record("f0", WRONG, "fail"), record("i0", FIRST, "infra", **CRASH)])
    assert of(beside, "f0").reason is Reason.NO_PASSING_TRIAL


def test_a_crash_without_any_step() -> None:
    found = analysed([*records(PASSES, []), record("i0", [], "infra", **CRASH)])
    assert of(found, "i0").root is None
    assert of(found, "i0").kind is Kind.INFRASTRUCTURE


# Inside one trial


def test_findings_inside_a_trial_are_grade_d_at_most() -> None:
    loop = records([], [(ASK, LOOK, LOOK, LOOK, LOOK)], termination="max_steps")
    refused = records([], [(ASK, LOOK, broken("refund_item", "Error: no", order_id="A1001"), agent("Sorry."))])
    cut = records([], [(ASK, LOOK, OFFER)], termination="time_limit")
    for made, kind in ((loop, Kind.LOOP), (refused, Kind.UNRECOVERED_ERROR), (cut, Kind.EARLY_STOP)):
        said = of(analysed(made))
        assert (said.kind, said.grade, said.support) == (kind, Grade.D, None)
        assert "no trial of this task passed" in said.sentence
