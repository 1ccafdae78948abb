"""tau-bench results: what the harness records, and the ways forks and copies of it differ."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.importers.fixtures import (
    LAMP,
    calls,
    chat_call,
    chat_result,
    only_trial,
    put,
    read,
    results,
    said,
    slugs,
    tau_trial,
    told,
)
from trajdiff.importers import load
from trajdiff.model import ExpectedAction, StepKind


def test_a_trial_with_everything_it_records() -> None:
    corpus = read([tau_trial()])
    (task,) = corpus.tasks
    assert task.task.script == "You want the tall lamp."
    assert task.task.expected_actions == (ExpectedAction(name="sell_lamp", arguments={"lamp": 7}),)
    assert task.task.expected_outputs == ("7",)
    assert task.expected_n is None
    (trial,) = task.trials
    assert [(step.actor, step.kind, step.name, step.source.message_index) for step in trial.steps] == [
        ("system", "message", None, 0),
        ("user", "message", None, 1),
        ("agent", "message", None, 2),
        ("agent", "tool_call", "find_lamp", 2),
        ("agent", "tool_call", "sell_lamp", 4),
        ("agent", "message", None, 6),
        ("user", "message", None, 7),
        ("environment", "termination", None, 7),
    ]
    find, sell = calls(trial)
    assert find.result is not None
    assert sell.result is not None
    assert (find.result.is_error, sell.result.is_error) == (False, True)
    assert sell.result.error_rule == 'content starts with "Error"'
    assert sell.source.pointer == "$[0].traj[4].tool_calls[0]"
    assert sell.result_source is not None
    assert (sell.result_source.pointer, sell.result_source.message_index) == ("$[0].traj[5]", 5)
    assert (trial.sub_scores, trial.metadata) == ({"r_actions": 1.0}, {"user_cost": 0.01})


def test_required_outputs_become_items() -> None:
    info = {"reward_info": {"reward": 0.0, "info": {"r_outputs": 0.0, "outputs": {"7": True, "12": False}}}}
    (item,) = only_trial([tau_trial(info=info)]).items
    assert (item.criterion, item.expected, item.produced) == ("outputs", ("7", "12"), ("7",))


def test_no_outputs_recorded_differs_from_none_required() -> None:
    assert read([tau_trial(info={"task": {"outputs": []}})]).tasks[0].task.expected_outputs == ()
    assert read([tau_trial(info={"task": {"instruction": "x"}})]).tasks[0].task.expected_outputs is None


def padded(message: dict[str, Any]) -> dict[str, Any]:
    """The message as tools re-save it: every key there, most of them null."""
    empty = ("name", "tool_call_id", "tool_calls", "function_call", "refusal", "annotations", "audio")
    return dict.fromkeys(empty) | message


def test_copies_padded_with_nulls_read_the_same() -> None:
    plain, full = only_trial([tau_trial()]), only_trial([tau_trial(traj=[padded(one) for one in LAMP])])
    assert full.steps == plain.steps


def test_ids_may_be_missing_or_null() -> None:
    traj = [chat_call("a", "{}", None), chat_result("1", None), chat_call("b", "{}"), chat_result("2", None)]
    traj[2]["tool_calls"][0]["id"] = None
    assert results(only_trial([tau_trial(traj=traj)])) == ["1", "2"]


def action(name: str, arguments: Any, thought: str = "") -> dict[str, Any]:
    return said("assistant", f"{thought}Action:\n" + json.dumps({"name": name, "arguments": arguments}))


def test_actions_written_as_text() -> None:
    traj = [
        said("user", "A lamp, please."),
        action("find_lamp", {"size": "tall"}, "Thought:\nLook first.\n"),
        said("user", "API output: Error: none"),
        action("respond", {"content": "We have none."}),
        said("user", "And Action: now?"),
        said("assistant", "Action: none that I can take."),
    ]
    trial = only_trial([tau_trial(traj=traj)])
    assert [(step.kind.value, step.actor, step.name, step.text) for step in trial.steps[:-1]] == [
        ("message", "user", None, "A lamp, please."),
        ("reasoning", "agent", None, "Thought:\nLook first."),
        ("tool_call", "agent", "find_lamp", None),
        ("message", "agent", None, "We have none."),
        ("message", "user", None, "And Action: now?"),
        ("message", "agent", None, "Action: none that I can take."),
    ]
    (call,) = calls(trial)
    assert (call.arguments and call.arguments.parsed) == {"size": "tall"}
    assert (call.result and (call.result.text, call.result.is_error)) == ("Error: none", True)


def test_a_message_that_is_not_understood_is_kept_and_told_once() -> None:
    traj = [
        {"role": "narrator", "content": "Meanwhile"},
        {"role": "narrator", "x": 1},
        None,
        "text",
        {"content": "c"},
    ]
    corpus = read([tau_trial(traj=[*traj, said("user", "end")])])
    (trial,) = corpus.trials
    assert [step.text for step in trial.steps[:-1]] == [
        "Meanwhile",
        '{"role":"narrator","x":1}',
        "null",
        '"text"',
        "c",
        "end",
    ]
    assert slugs(corpus) == ["unknown_message", "unknown_message"]
    assert trial.steps[5].source.message_index == 5


def test_one_broken_record_costs_that_record() -> None:
    corpus = read([tau_trial(1), None, {"trial": 3, "traj": []}, "x", tau_trial(2)])
    assert [trial.task_id for trial in corpus.trials] == ["1", "2"]
    assert [(one.slug, one.pointer) for one in corpus.diagnostics] == [
        ("unreadable_record", "$[1]"),
        ("unreadable_record", "$[2]"),
        ("unreadable_record", "$[3]"),
    ]


def test_reasoning_beside_a_call_is_a_step() -> None:
    message = chat_call("find", "{}") | {"reasoning_content": "Look first."}
    first, second = only_trial([tau_trial(traj=[message])]).steps[:2]
    assert (first.kind, first.text, second.kind) == (StepKind.REASONING, "Look first.", StepKind.TOOL_CALL)


@pytest.mark.parametrize(
    ("name", "model", "agent", "temperature"),
    [
        ("tool-calling-gpt-x-0.7_range_0-50_user-gpt-y-llm_0105123000.json", "gpt-x", "tool-calling", 0.7),
        ("react-big-model-2-1.0_range_0--1_user-m-llm_0105123000.json", "big-model-2", "react", 1.0),
        ("results.json", None, None, None),
        ("my-run-0.5.json", None, None, None),
    ],
)
def test_model_and_temperature_stand_in_the_file_name(
    name: str, model: str | None, agent: str | None, temperature: float | None, tmp_path: Any
) -> None:
    (trial,) = load([str(put(tmp_path, name, [tau_trial()]))]).trials
    assert (trial.provenance.model, trial.provenance.agent) == (model, agent)
    assert trial.provenance.sampling.get("temperature") == temperature


def test_a_number_that_is_no_number_is_an_id() -> None:
    corpus = read([tau_trial(trial="run-b"), tau_trial(trial=None)])
    assert [(trial.trial_id, trial.ordinal) for trial in corpus.trials] == [("run-b", 0), ("1", 1)]


def test_a_missing_trajectory_keeps_the_verdict() -> None:
    bare = tau_trial(info=None)
    bare["traj"] = {"0": "x"}
    corpus = read([bare])
    assert told(corpus, "no_messages").message == 'trial 0 of task "4": traj is not a list'
    assert corpus.trials[0].verdict == "pass"
