"""LangSmith runs and LangChain messages."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.importers.fixtures import calls, jsonl, only_trial, read, results
from tests.importers.fixtures_spans import AI_CALL, AI_LAST, HUMAN, TOOL_SAID, run, runs


@pytest.mark.parametrize("way", ["list", "lines", "shuffled"])
def test_the_runs_of_a_trace_are_a_trial(way: str) -> None:
    recorded = runs()
    if way == "shuffled":
        random.Random(3).shuffle(recorded)
    trial = only_trial(jsonl(*recorded) if way == "lines" else recorded)
    assert (trial.task_id, trial.verdict, trial.producer_id) == ("ex-1", "pass", "t1")
    assert [(one.actor, one.kind, one.name or one.text) for one in trial.steps[:-1]] == [
        ("user", "message", "Fix the lamp."), ("agent", "tool_call", "look"),
        ("agent", "message", "It is broken."),
    ]  # fmt: skip
    assert results(trial) == ["broken"]
    assert calls(trial)[0].arguments is not None
    assert (trial.cost_usd, trial.usage.input, trial.provenance.model) == (0.25, 30, "m-1")


def test_repetitions_of_an_example_are_ordered_by_their_start() -> None:
    later = [one | {"trace_id": "a", "start_time": f"2026-01-02T00:00:0{n}"} for n, one in enumerate(runs())]
    later[0]["feedback_stats"] = {"correctness": {"avg": 0.0}}
    corpus = read([*later, *runs()])
    assert [(one.trial_id, one.verdict) for one in corpus.trials] == [("0", "pass"), ("1", "fail")]


def test_tool_runs_alone_give_calls_with_arguments_of_python_text() -> None:
    trial = only_trial(
        [run(0, "chain", {}, {}, None), run(1, "tool", {"input": "{'at': 'lamp'}"}, {"output": "x"})]
    )
    (call,) = calls(trial)
    assert (call.arguments and call.arguments.parsed, results(trial)) == ({"at": "lamp"}, ["x"])


def test_several_kinds_of_feedback_need_a_choice() -> None:
    recorded = runs()
    recorded[0]["feedback_stats"] = {"correctness": {"avg": 1.0}, "style": {"avg": 0.2}}
    assert only_trial(recorded).verdict == "unscored"
    assert only_trial(recorded, scorer="style").verdict == "fail"


LANGCHAIN: dict[str, Any] = {
    "flat": [HUMAN, AI_CALL, TOOL_SAID, AI_LAST],
    "with data": [{"type": one["type"], "data": {k: v for k, v in one.items() if k != "type"}}
                  for one in (HUMAN, AI_CALL, TOOL_SAID, AI_LAST)],
    "with kwargs": [{"lc": 1, "type": "constructor", "id": ["langchain", name], "kwargs": one}
                    for name, one in (("HumanMessage", HUMAN), ("AIMessage", AI_CALL),
                                      ("ToolMessage", TOOL_SAID), ("AIMessage", AI_LAST))],
    "held": {"messages": [HUMAN, AI_CALL, TOOL_SAID, AI_LAST]},
}  # fmt: skip


@pytest.mark.parametrize("way", LANGCHAIN)
def test_messages_of_langchain_in_every_dialect(way: str) -> None:
    trial = only_trial(LANGCHAIN[way])
    (call,) = calls(trial)
    assert (call.name, call.failed, results(trial)) == ("look", True, ["broken"])
    assert call.source.pointer in ("$[1]", "$.messages[1]")
    assert [one.text for one in trial.steps if one.text] == ["Fix the lamp.", "It is broken.", "unknown"]


def test_calls_that_could_not_be_parsed_are_invalid_calls() -> None:
    broken = {"type": "ai", "content": "", "tool_calls": [], "invalid_tool_calls": [
        {"name": "add", "args": '{"a": 1,', "id": "x", "error": "cut"}]}  # fmt: skip
    (call,) = calls(only_trial([HUMAN, broken]))
    assert call.arguments is not None
    assert (call.name, call.arguments.state, call.arguments.raw) == ("add", "invalid", '{"a": 1,')
