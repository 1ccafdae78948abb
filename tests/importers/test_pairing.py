"""Which call a result belongs to: cases from the field, and the rule against a slow, literal reading of it."""
# ruff: noqa: N802 - tests are named after the failure cases they hold

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.importers.fixtures import (
    calls,
    chat_call,
    chat_result,
    only_trial,
    read,
    results,
    said,
    slugs,
    tau_trial,
)
from trajdiff.importers.pairing import OpenCalls
from trajdiff.model import StepKind


def trial_of(*messages: dict[str, Any]) -> Any:
    return only_trial([tau_trial(traj=list(messages))])


def both(*pairs: tuple[str, str | None]) -> dict[str, Any]:
    """One message with several parallel calls, given as (name, id)."""
    calls = [chat_call(name, "{}", call_id)["tool_calls"][0] for name, call_id in pairs]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def test_CAL_01_an_id_used_again_in_a_later_turn_is_another_call() -> None:
    trial = trial_of(
        chat_call("find", '{"n": 1}', "x"),
        chat_result("one", "x"),
        chat_call("find", '{"n": 2}', "x"),
        chat_result("two", "x"),
    )
    assert results(trial) == ["one", "two"]
    assert [step.arguments and step.arguments.parsed for step in calls(trial)] == [{"n": 1}, {"n": 2}]
    assert [step.call_uid for step in calls(trial)] == ["0.0", "2.0"]


def test_CAL_02_two_parallel_calls_with_one_id_pair_in_call_order() -> None:
    trial = trial_of(both(("find", "x"), ("find", "x")), chat_result("first", "x"), chat_result("second", "x"))
    assert results(trial) == ["first", "second"]
    assert [step.parallel_group for step in calls(trial)] == [0, 0]


def test_CAL_03_parallel_calls_without_ids_stay_two_and_pair_by_order() -> None:
    trial = trial_of(
        both(("find", None), ("find", None)), chat_result("first", None), chat_result("second", None)
    )
    assert results(trial) == ["first", "second"]


def test_results_that_name_their_tool_find_it_in_any_order() -> None:
    trial = trial_of(
        both(("find", None), ("sell", None)),
        chat_result("sold", None, "sell"),
        chat_result("found", None, "find"),
    )
    assert results(trial) == ["found", "sold"]


def test_CAL_04_a_result_without_a_call_is_kept_and_told() -> None:
    corpus = read(
        [tau_trial(traj=[chat_call("find", "{}", "x"), chat_result("a", "x"), chat_result("b", "x")])]
    )
    (trial,) = corpus.trials
    orphan = trial.steps[1]
    assert (orphan.kind, orphan.result.text if orphan.result else "") == (StepKind.ORPHAN_RESULT, "b")
    assert orphan.source.pointer == "$[0].traj[2]"
    assert slugs(corpus) == ["orphan_result"]


def test_a_result_with_another_id_is_no_answer_while_ids_are_used() -> None:
    trial = trial_of(chat_call("find", "{}", "x"), chat_result("a", "other"))
    assert results(trial) == [None]


def test_a_result_with_an_id_answers_where_no_call_has_one() -> None:
    trial = trial_of(chat_call("find", "{}", None), chat_result("a", "x"))
    assert results(trial) == ["a"]


def test_a_call_nobody_answers_stays_a_call() -> None:
    trial = trial_of(
        chat_call("find", "{}", "x"),
        said("user", "Hello?"),
        chat_call("find", "{}", "y"),
        chat_result("a", "y"),
    )
    assert results(trial) == [None, "a"]


def test_a_message_with_text_and_call_gives_two_steps_of_one_turn() -> None:
    trial = trial_of(chat_call("find", "{}", text="One moment."), chat_result("a"))
    kinds = [(step.kind, step.turn, step.text) for step in trial.steps[:2]]
    assert kinds == [(StepKind.MESSAGE, 0, "One moment."), (StepKind.TOOL_CALL, 0, None)]


# The rule, written down word by word, over random dialogues

Event = tuple[str, int, str | None, str | None]


def literal(events: list[Event]) -> list[int | None]:
    """For every result the place of its call among the calls, by the text of the rule."""
    waiting: list[tuple[int, int, str | None, str | None]] = []
    answers: list[int | None] = []
    made = 0
    for kind, message, call_id, name in events:
        if kind == "call":
            waiting.append((made, message, call_id, name))
            made += 1
            continue
        found = list(waiting)
        if call_id is not None and any(one[2] is not None for one in waiting):
            found = [one for one in waiting if one[2] == call_id]
        latest = max((one[1] for one in found), default=-1)
        found = [one for one in found if one[1] == latest]
        found = [one for one in found if name is not None and one[3] == name] or found
        answers.append(found[0][0] if found else None)
        if found:
            waiting.remove(found[0])
    return answers


IDS = st.sampled_from([None, "a", "b"])
NAMES = st.sampled_from([None, "f", "g"])


@st.composite
def dialogues(draw: st.DrawFn) -> list[Event]:
    events: list[Event] = []
    for message in range(draw(st.integers(1, 8))):
        kind = draw(st.sampled_from(["call", "result"]))
        for _ in range(draw(st.integers(1, 4)) if kind == "call" else 1):
            events.append((kind, message, draw(IDS), draw(NAMES)))
    return events


@given(dialogues())
def test_the_rule_is_kept_on_random_dialogues(events: list[Event]) -> None:
    open_calls: OpenCalls[int] = OpenCalls()
    answers: list[int | None] = []
    made = 0
    for kind, message, call_id, name in events:
        if kind == "call":
            open_calls.add(made, message=message, call_id=call_id, name=name)
            made += 1
        else:
            answers.append(open_calls.take(call_id=call_id, name=name))
    assert answers == literal(events)


def test_very_many_unanswered_calls_cost_no_more_than_their_number() -> None:
    """A hundred thousand of each would take minutes with a list that is searched."""
    open_calls: OpenCalls[int] = OpenCalls()
    for number in range(100_000):
        open_calls.add(number, message=number // 1000, call_id=None, name="f")
    taken = [open_calls.take(call_id=None, name="g") for _ in range(100_000)]
    assert taken[:2] == [99_000, 99_001]
    assert sorted(one for one in taken if one is not None) == list(range(100_000))
