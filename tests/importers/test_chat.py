"""Bare chat messages: every way of writing them, what stands beside them, and names from paths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.importers.fixtures import (
    LAMP,
    calls,
    chat_call,
    chat_result,
    held,
    jsonl,
    names,
    only_trial,
    put,
    read,
    results,
    said,
    slugs,
    told,
)
from trajdiff.importers import load
from trajdiff.importers.path_names import names_of
from trajdiff.model import StepKind

WAYS: dict[str, Any] = {
    "list": list(LAMP),
    "lines": jsonl(*LAMP),
    "object": {"messages": list(LAMP)},
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_writing_gives_the_same_steps(way: str) -> None:
    corpus = read(WAYS[way])
    (trial,) = corpus.trials
    assert [one.name for one in calls(trial)] == ["find_lamp", "sell_lamp"]
    assert results(trial) == ['{"lamp": 7}', "Error: no stock"]
    assert [one.text for one in trial.steps if one.kind is StepKind.MESSAGE] == [
        "Look lamps up before you sell them.", "I want the tall lamp.", "One moment.", "It is sold out.",
        "Pity. ###STOP###",
    ]  # fmt: skip
    assert (trial.verdict, trial.message_count) == ("unscored", 8)
    assert told(corpus, "bare_trace").severity == "note"


def test_lines_keep_the_line_of_every_message() -> None:
    trial = only_trial(jsonl(*LAMP))
    assert [one.source.line for one in trial.steps[:3]] == [1, 2, 3]
    assert [one.result_source.line for one in calls(trial) if one.result_source] == [4, 6]


def test_what_stands_beside_the_messages_is_used() -> None:
    trial = only_trial(
        held(exit_status="length", model="m-1", usage={"prompt_tokens": 9, "completion_tokens": 2}, seed=4)
    )
    assert (trial.task_id, trial.trial_id, trial.ordinal, trial.verdict) == ("t7", "2", 2, "pass")
    assert (trial.termination.reason, trial.termination.raw) == ("token_limit", "length")
    assert (trial.provenance.model, trial.provenance.seed, trial.usage.input) == ("m-1", 4, 9)


@pytest.mark.parametrize(
    ("beside", "scorer", "verdict"),
    [
        ({"reward": 0.5}, None, "fail"),
        ({"reward": None, "passed": True}, None, "pass"),
        ({"reward": None, "pass": None}, None, "unscored"),
        ({"reward": None, "success": True}, None, "unscored"),
        ({"reward": None, "success": True}, "success", "pass"),
        ({"reward": 1, "grade": {"style": 0}}, "grade.style", "fail"),
        ({"reward": None, "error": "host down"}, None, "infra"),
    ],
)
def test_outcomes(beside: dict[str, Any], scorer: str | None, verdict: str) -> None:
    assert only_trial(held(**beside), scorer=scorer).verdict == verdict


def test_calls_in_all_dialects() -> None:
    messages = [
        said("developer", "Be kind."),
        {"role": "assistant", "content": None, "function_call": {"name": "old", "arguments": "{}"}},
        {"role": "function", "name": "old", "content": "1"},
        {
            "role": "assistant",
            "tool_calls": [{"id": "x", "type": "custom", "custom": {"name": "py", "input": "1+1"}}],
        },
        chat_result("2", "x"),
        {
            "role": "assistant",
            "tool_calls": ['{"id": "y", "function": {"name": "twice", "arguments": "{\\"a\\": 1}"}}'],
        },
        chat_result("3", "y"),
        {"role": "assistant", "content": None, "refusal": "I may not."},
        chat_call("none", ""),
    ]
    trial = only_trial(messages)
    assert [one.name for one in calls(trial)] == ["old", "py", "twice", "none"]
    assert results(trial) == ["1", "2", "3", None]
    assert [one.arguments.parsed for one in calls(trial) if one.arguments] == [
        {},
        {"input": "1+1"},
        {"a": 1},
        {},
    ]
    assert trial.steps[0].actor == "system"
    assert "I may not." in [one.text for one in trial.steps]


def test_records_without_a_name_are_no_trials_of_one_task() -> None:
    assert names(read([{"messages": list(LAMP)}, {"messages": list(LAMP)}])) == ["trace#1/0", "trace#2/0"]


def test_a_record_without_messages_is_told() -> None:
    corpus = read(jsonl(held(), {"task_id": "t8", "messages": None}))
    assert names(corpus) == ["t7/2"]
    assert slugs(corpus) == ["unreadable_record"]


def test_a_cut_line_costs_one_message() -> None:
    corpus = read(jsonl(*LAMP)[:-20])
    assert [one.message_count for one in corpus.trials] == [7]
    assert "the last line is cut" in told(corpus, "unreadable_record").message


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("task37/attempt_1.jsonl", ("task37", "1", 1)),
        ("runs/lamp/trial-10/messages.json", ("lamp", "10", 10)),
        ("runs/trial_3/lamp.json", ("lamp", "3", 3)),
        ("lamp_run_07.json", ("lamp", "7", 7)),
        ("out/lamp__1234567/trajectory.json", ("lamp__1234567", "", -1)),
        ("lamp-2.json", ("lamp-2", "", -1)),
        ("proj/8b2a4c1e-0000-4000-8000-1234567890ab.jsonl", ("proj", "", -1)),
        ("-", ("trace", "", -1)),
        ("trial-1.json", ("trial-1", "1", 1)),
        ("/a/b/lamp/agent/trajectory.json.gz", ("lamp", "", -1)),
    ],
)
def test_names_come_from_the_parts_of_the_path(path: str, wanted: tuple[str, str, int]) -> None:
    found = names_of(path)
    assert (found.task_id, found.trial_id, found.ordinal) == wanted


def test_a_folder_of_files_is_numbered_by_its_names(tmp_path: Path) -> None:
    for number in (2, 10, 1):
        put(tmp_path, f"lamp/attempt_{number}.json", list(LAMP))
    assert names(load([str(tmp_path)])) == ["lamp/1", "lamp/2", "lamp/10"]


def test_the_published_messages_agree_with_the_file_they_come_from(shared: Path) -> None:
    bare = load([str(shared / "data/openai_chat")])
    whole = load([str(shared / "data/tau_bench/gpt-4o-airline.json")])
    by_calls = {
        tuple((one.name, repr(one.arguments and one.arguments.parsed)) for one in calls(trial))
        for trial in whole.trials
        if trial.task_id in ("37", "39", "41", "43", "44")
    }
    assert (len(bare.tasks), len(bare.trials)) == (5, 20)
    for trial in bare.trials:
        made = calls(trial)
        assert tuple((one.name, repr(one.arguments and one.arguments.parsed)) for one in made) in by_calls
        assert all(one.result is not None for one in made)


def test_the_state_of_a_langgraph_thread_is_read_by_its_values() -> None:
    messages = [
        {"type": "human", "content": "A lamp."},
        {"type": "ai", "content": "", "tool_calls": [{"name": "find", "args": {"x": 1}, "id": "c1"}]},
        {"type": "tool", "content": "7", "tool_call_id": "c1", "name": "find", "status": "success"},
    ]
    state = {"values": {"messages": messages}, "next": [], "config": {"configurable": {"thread_id": "t"}}}
    for whole in (state, [state]):
        trial = only_trial(whole)
        assert results(trial) == ["7"]
        assert calls(trial)[0].source.pointer.endswith(".values.messages[1]")


@pytest.mark.parametrize(
    ("said", "verdict", "rule"),
    [
        ({"reward": 1, "passed": True}, "pass", "reward = 1"),
        ({"reward": 0.5, "passed": True}, "unscored", "several scores, none chosen"),
        ({"score": 0.9, "pass": False}, "fail", "reward = 1"),
    ],
)
def test_outcomes_that_contradict_each_other_wait_for_a_choice(
    said: dict[str, Any], verdict: str, rule: str
) -> None:
    trial = only_trial(held(**{"reward": None, **said}))
    assert (trial.verdict, trial.judgement.rule) == (verdict, rule)
    assert only_trial(held(**{"reward": None, **said}), scorer=next(reversed(said))).verdict != "unscored"
