"""Levels below writes that speak from one pass, what they have to be tried on, and what makes a grade A."""

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
    OFFER,
    OPENING,
    PASSES,
    REFUND,
    SECOND,
    YES,
    refund,
)
from tests.divergence.made import (
    Line,
    agent,
    analysed,
    broken,
    call,
    check_blamed,
    corpus,
    marked,
    of,
    records,
    user,
)
from trajdiff.analysis import Analysis, judge_as_failed
from trajdiff.divergence.finding import Divergence, Grade, Kind
from trajdiff.settings import Settings

Trial: TypeAlias = "Sequence[Line]"


def _analysed(passes: Sequence[Trial], failing: Trial, *, held_out: int = 10) -> Analysis:
    """The analysis beside other tasks with so many passing trials, two a task."""
    others = [row for n in range(held_out // 2) for row in records(PASSES, [], task_id=f"other-{n}")]
    return analysed([*records(passes, [failing]), *others])


def blamed(passes: Sequence[Trial], failing: Trial, kind: Kind) -> Divergence:
    """The failing trial is blamed at its marked step, with this kind, and no passing trial is."""
    found = _analysed(passes, failing)
    said = of(found)
    assert said.root is not None, said.sentence
    assert said.manifest is not None
    assert (said.root.message, said.manifest.message) == (marked(failing).root, marked(failing).manifest)
    assert said.kind is kind
    assert found.self_check.false_alarms == 0
    return said


def spared(passes: Sequence[Trial], failing: Trial) -> None:
    """Nothing is claimed, although the levels may be used."""
    found = _analysed(passes, failing)
    assert "endings" in found.levels
    assert of(found).abstained, of(found).sentence


# Answers: the same sentence with another number

HOW_LONG = user("How long are points of U-8 valid?")
POINTS = call("get_points", {"user": "U-8", "valid": 24, "old": 36, "left": 1500}, user_id="U-8")


def told(months: str, left: str = "1500") -> Trial:
    return (HOW_LONG, POINTS, agent(f"Points are valid for {months} months and you have {left} left."), BYE)


AGREED = (told("24"), (user("U-8: until when may I use my points?"), *told("24")[1:]))


def test_the_same_sentence_with_another_number() -> None:
    failing = (*told("24")[:2], agent("Points are valid for 48 months and you have 1500 left.").root(), BYE)
    said = blamed(AGREED, failing, Kind.WRONG_ANSWER)
    assert "24" in said.headline
    assert "48" in said.headline
    assert said.grade is Grade.B


def test_another_number_than_a_result_has_is_misread() -> None:
    failing = (*told("24")[:2], agent("Points are valid for 24 months and you have 5100 left.").root(), BYE)
    assert blamed(AGREED, failing, Kind.MISREAD_RESULT).tool == "get_points"


@pytest.mark.parametrize(
    "failing",
    [
        told("36"),
        (HOW_LONG, POINTS, agent("That depends on many things, 48 of them in all."), BYE),
        (*told("48")[:3], user("Really?"), agent("Sorry: 24 months it is."), BYE),
        (HOW_LONG, POINTS, agent("Please see the terms."), BYE),
        told("twenty-four, or 24,"),
    ],
    ids=["it was read", "another sentence", "put right", "less", "the same in words"],
)
def test_no_other_answer(failing: Trial) -> None:
    assert _claimed(AGREED, failing) is None


def test_one_pass_shows_no_other_answer() -> None:
    spared(AGREED[:1], told("48"))
    assert _claimed(AGREED[:1], told("48")) is None


def _claimed(passes: Sequence[Trial], failing: Trial) -> Divergence | None:
    """What answers say, were no other level to say it, whether or not the passes trip over them."""
    made = corpus(records(passes, [failing]))
    return judge_as_failed(made, Settings(), [("T1", "f0")], ["answers"])["T1", "f0"]


def test_passes_that_disagree_in_a_number_say_nothing_about_it() -> None:
    assert _claimed([told("24"), told("24")], told("48")) is not None
    assert _claimed([told("24"), told("25")], told("48")) is None


def test_passes_that_agree_in_one_of_two_numbers() -> None:
    said = _claimed([told("24"), told("25")], told("26", "5100"))
    assert said is not None
    assert (said.kind, said.tool) == (Kind.MISREAD_RESULT, "get_points")
    assert "1500" in said.headline


def test_another_number_in_chinese() -> None:
    ask, look = user("U-8的积分有效期多久？"), call("get_points", {"user": "U-8", "months": 24}, user_id="U-8")
    said = agent("您好，您的会员积分自获得之日起在24个月之内都是有效的。")
    passes = [(one, look, said, user("谢谢。")) for one in (ask, user("我是U-8，积分什么时候过期？"))]
    wrong = agent("您好，您的会员积分自获得之日起在48个月之内都是有效的。").root()
    blamed(passes, (ask, look, wrong, user("谢谢。")), Kind.WRONG_ANSWER)
    found = _claimed(passes, (ask, look, wrong, user("谢谢。")))
    assert found is not None
    assert found.root is not None
    assert found.root.message == 3


# Endings: repeating itself, or left at a refusal

WHERE = user("Where is my parcel? I am Ann Lee, order A1001.")
NO_ONE = call("find_customer", [], name="Ann Lee")
SORRY = agent("I cannot find it.")
SEEN = ((WHERE, LOOK, agent("It was delivered."), BYE),)


def test_a_loop_as_the_last_act() -> None:
    assert blamed(SEEN, (WHERE, NO_ONE.root(), NO_ONE, NO_ONE, SORRY.near(), BYE), Kind.LOOP).grade is Grade.B


@pytest.mark.parametrize(
    "failing",
    [
        (WHERE, NO_ONE, NO_ONE, SORRY, BYE),
        (WHERE, NO_ONE, NO_ONE, NO_ONE, LOOK, SORRY, BYE),
        (WHERE, LOOK, NO_ONE, NO_ONE, NO_ONE, SORRY, BYE),
    ],
    ids=["twice", "left again", "it looked where passes look"],
)
def test_no_loop_as_the_last_act(failing: Trial) -> None:
    spared(SEEN, failing)


LOCKED = broken("get_order", "Error: locked", order_id="A1001")


def test_a_refused_call_that_every_pass_gets_through() -> None:
    said = blamed(SEEN, (WHERE, LOCKED, SORRY.root(), BYE), Kind.UNRECOVERED_ERROR)
    assert said.tool == "get_order"
    assert said.support is not None
    assert (said.support.failed_with, said.support.passed_with) == (1, 0)


def test_a_refused_call_that_the_trial_gets_through_later() -> None:
    spared(SEEN, (WHERE, LOCKED, LOOK, agent("It has come."), BYE))


def test_a_refused_call_that_it_got_through_before() -> None:
    spared(SEEN, (WHERE, LOOK, LOCKED, agent("It has come."), BYE))


def test_a_refused_call_that_passes_never_make() -> None:
    spared(SEEN, (WHERE, LOOK, broken("get_map", "Error: none", city="Rome"), agent("It has come."), BYE))


# They have to be tried on ten passes


@pytest.mark.parametrize(("held_out", "claims"), [(0, False), (8, False), (10, True), (12, True)])
def test_levels_from_one_pass_are_tried_on_ten(held_out: int, claims: bool) -> None:
    found = _analysed(SEEN, (WHERE, LOCKED, SORRY, BYE), held_out=held_out)
    assert found.self_check.passing_trials == held_out
    assert ("endings" in found.levels) is claims
    assert of(found).abstained is not claims


def test_a_level_that_passes_trip_over_is_not_used() -> None:
    """Three tasks in whose passes the same call is refused at the end or not: such an end says nothing."""
    parted = [SEEN[0], (WHERE, LOCKED, SORRY, BYE)]
    vary = [row for n in range(3) for row in records(parted, [], task_id=f"vary-{n}")]
    others = [row for n in range(5) for row in records(PASSES, [], task_id=f"other-{n}")]
    found = analysed([*records(SEEN, [parted[1]]), *others, *vary])
    assert "endings" not in found.levels
    assert of(found).abstained


def test_what_a_level_that_is_not_used_would_have_said_is_told() -> None:
    """Passes of other tasks take a look or not: that these two take it says nothing, and readers are told."""
    map_of = call("get_map", {"city": "Rome"}, city="Rome")
    looked = [(ask, LOOK, map_of, agent("It has come."), BYE) for ask in (WHERE, user("A1001: where is it?"))]
    without = (WHERE, LOOK, agent("I do not know."), BYE)
    vary = [
        row
        for n in range(6)
        for row in records([*looked, (*looked[0][:2], *looked[0][3:])], [], task_id=f"vary-{n}")
    ]
    alone, beside = of(analysed(records(looked, [without]))), analysed([*records(looked, [without]), *vary])
    assert (alone.kind, alone.tool) == (Kind.MISSING_STEP, "get_map")
    assert "reads" not in beside.levels
    said = of(beside)
    assert said.abstained
    assert 'only the level "reads" tells it apart (get_map missing)' in said.sentence.replace("Only", "only")


# Grades

WRONG_CALL = (*OPENING, OFFER, YES, refund(94.9).root(), DONE, BYE)
WRONG_OFFER = (*OPENING, agent("I can refund 94.90. Shall I?").root(), YES, refund(94.9).near(), DONE, BYE)


def test_what_stands_in_a_message_is_never_grade_a() -> None:
    assert check_blamed(PASSES, WRONG_CALL, "wrong_argument").grade is Grade.A
    said = check_blamed(PASSES, WRONG_OFFER, "wrong_argument")
    assert said.grade is Grade.B
    assert [line for line in said.evidence if line.startswith("grade")] == [
        "grade B: the place rests on what a message says, not on a call"
    ]


QUOTE = call("get_quote", {"amount": 49.9}, sku="LAMP-1")
QUOTED = [(*OPENING, OFFER, YES, QUOTE, REFUND, DONE, BYE), (*SECOND[:5], QUOTE, *SECOND[5:])]


def test_leaving_out_one_of_two_passes_takes_no_rule_away() -> None:
    """That the quote is needed takes two passes to know: with either left out it still is."""
    said = check_blamed(QUOTED, WRONG_CALL, "missing_step")
    assert said.tool == "get_quote"
    assert said.grade is Grade.A


def test_another_answer_without_one_of_the_passes() -> None:
    """The second pass alone has the street of the failing trial's address book: without it, another place."""

    def move(street: str) -> Line:
        return call("update_address", {"ok": True}, order_id="A1001", street=street)

    ask: Any = user("Send A1001 to my address.")
    passes = [
        (ask, LOOK, move("14 Mill Lane"), agent("Done, 14 Mill Lane.")),
        (ask, LOOK, move("14 Mill Lane"), agent("14 Mill Lane, not 41 Mill Lane.")),
    ]
    failing = (
        ask,
        LOOK,
        agent("Is it 41 Mill Lane?"),
        user("Hm."),
        move("41 Mill Lane").root(),
        agent("Done."),
    )
    said = check_blamed(passes, failing, "wrong_argument")
    assert said.grade is Grade.B
    assert "grade B: another answer when one passed trial is left out" in said.evidence


def test_one_pass_is_never_grade_a() -> None:
    said = check_blamed([FIRST], (ASK, *WRONG_CALL[1:]), "wrong_argument")
    assert said.grade is Grade.B
    assert "grade B: only one passed trial" in said.evidence
