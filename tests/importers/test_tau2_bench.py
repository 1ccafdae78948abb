"""tau2 and tau3 results: one file, the folder layout, trimmed copies, voice runs, a task's export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.importers.fixtures import (
    CART,
    SAMPLES,
    calls,
    names,
    only_trial,
    put,
    read,
    results,
    simulation,
    slugs,
    tau2_call,
    tau2_result,
    tau2_results,
    tau2_task,
    told,
)
from trajdiff.errors import InputError
from trajdiff.importers import ReadOptions, load
from trajdiff.model import Corpus, Effect, ExpectedAction, Usage


def test_a_simulation_with_everything_it_records() -> None:
    corpus = read(tau2_results(simulation()))
    (trial,) = corpus.trials
    assert [(step.actor, step.kind.value, step.name, step.source.message_index) for step in trial.steps] == [
        ("agent", "message", None, 0),
        ("user", "message", None, 1),
        ("agent", "tool_call", "get_cart", 2),
        ("agent", "tool_call", "get_user", 2),
        ("user", "message", None, 5),
        ("user", "tool_call", "look", 5),
        ("agent", "message", None, 7),
        ("environment", "termination", None, 7),
    ]
    cart, user, look = calls(trial)
    assert [step.result and (step.result.text, step.result.is_error) for step in (cart, user, look)] == [
        ("[1, 2]", False),
        ("no such user", True),
        ("empty", False),
    ]
    assert (cart.parallel_group, user.parallel_group, look.parallel_group) == (2, 2, None)
    assert user.source.pointer == "$.simulations[0].messages[2].tool_calls[1]"
    assert trial.steps[-1].source.pointer == "$.simulations[0].termination_reason"
    assert (trial.suite, trial.producer_id, trial.cost_usd, trial.duration_s) == ("shop", "s1", 0.02, 60.0)
    assert (trial.started_at, trial.ended_at) == ("2025-01-01T10:00:00", "2025-01-01T10:01:00")
    made = trial.provenance
    assert (made.model, made.agent, made.seed, made.environment_version) == ("m-1", "llm_agent", 5, "ab12")
    assert made.sampling == {"temperature": 0.0}
    assert made.prompt_version is not None


def test_tokens_of_the_agent_are_summed_and_those_of_the_user_are_not() -> None:
    assert only_trial(tau2_results(simulation())).usage == Usage(input=220, output=10, cache_read=140)
    assert only_trial(tau2_results(simulation(messages=[]))).usage == Usage()
    total = {"input_tokens": 7, "output_tokens": 3}
    assert only_trial(tau2_results(simulation(agent_usage=total))).usage == Usage(input=7, output=3)


def test_the_definition_of_a_task() -> None:
    task = read(tau2_results(simulation())).tasks[0].task
    assert task.title == "empty a cart"
    assert task.script == "reason for call: Empty the cart.\nknown info: id q"
    assert task.expected_actions == (
        ExpectedAction(name="clear_cart", arguments={"id": "q"}),
        ExpectedAction(name="look", arguments={}, actor="user"),
    )
    assert task.expected_outputs == ("2 items",)
    changed = tau2_results(simulation())
    changed["tasks"][0]["evaluation_criteria"]["communicate_info"] = []
    assert read(changed).tasks[0].task.fingerprint not in (None, task.fingerprint)
    renamed = tau2_results(simulation())
    renamed["tasks"][0]["description"] = None
    assert read(renamed).tasks[0].task.fingerprint == task.fingerprint


def trimmed(messages: Any) -> list[Any]:
    """Messages as published on the leaderboard: without ids, requestors and error flags."""
    gone = ("id", "requestor", "error", "raw_data")
    slim = [{key: value for key, value in message.items() if key not in gone} for message in messages]
    for message in slim:
        if message.get("tool_calls"):
            message["tool_calls"] = [
                {"name": one["name"], "arguments": one["arguments"]} for one in message["tool_calls"]
            ]
    return slim


def test_trimmed_files_pair_by_position_and_take_the_actor_from_the_role() -> None:
    full, slim = (
        only_trial(tau2_results(simulation())),
        only_trial(tau2_results(simulation(messages=trimmed(CART)))),
    )
    assert results(slim) == results(full) == ["[1, 2]", "no such user", "empty"]
    assert [step.actor for step in slim.steps] == [step.actor for step in full.steps]
    assert [step.result and step.result.is_error for step in calls(slim)] == [None, None, None]


def test_the_requestor_of_a_call_says_who_acts() -> None:
    message = {"role": "assistant", "tool_calls": [tau2_call("look", {}, requestor="user")]}
    (step,) = calls(only_trial(tau2_results(simulation(messages=[message]))))
    assert step.actor == "user"


def test_several_results_in_one_message() -> None:
    calls_made = [tau2_call("a", {}, "1"), tau2_call("b", {}, "2")]
    answer = {"role": "tool", "tool_messages": [tau2_result("B", "2"), tau2_result("A", "1", error=True)]}
    messages = [{"role": "assistant", "tool_calls": calls_made}, answer]
    trial = only_trial(tau2_results(simulation(messages=messages)))
    assert results(trial) == ["A", "B"]
    assert calls(trial)[0].result_source.pointer == "$.simulations[0].messages[1].tool_messages[1]"  # type: ignore[union-attr]


def test_results_without_ids_may_name_their_tool() -> None:
    made = [{"name": "a", "arguments": {}}, {"name": "b", "arguments": {}}]
    answers = [{"role": "tool", "name": name, "content": name.upper()} for name in ("b", "a")]
    messages = [{"role": "assistant", "tool_calls": made}, *answers]
    assert results(only_trial(tau2_results(simulation(messages=messages)))) == ["A", "B"]


def test_the_kind_of_a_tool_is_a_hint_for_all_simulations() -> None:
    check = {"action": {"name": "get_cart"}, "action_match": True, "tool_type": "read"}
    first = simulation("s1", reward_info={"reward": 1.0, "action_checks": [check]})
    corpus = read(tau2_results(simulation("s0", trial=1), first))
    assert [calls(trial)[0].effect_hint for trial in corpus.trials] == [Effect.READ, Effect.READ]
    assert calls(corpus.trials[0])[1].effect_hint is None


def test_parts_of_the_score() -> None:
    info = {
        "reward": 1.0,
        "reward_breakdown": {"DB": 1.0},
        "reward_basis": ["DB"],
        "db_check": {"db_match": True},
    }
    info["communicate_checks"] = [{"info": "2 items", "met": True}, {"info": "3 euro", "met": False}]
    trial = only_trial(tau2_results(simulation(reward_info=info)))
    assert trial.sub_scores == {
        "DB": 1.0,
        "reward_basis": ["DB"],
        "db_match": True,
        "communicate_checks": "1/2",
    }
    assert [(one.criterion, one.expected, one.produced) for one in trial.items] == [
        ("communicated", ("2 items", "3 euro"), ("2 items",))
    ]


def test_one_broken_simulation_costs_that_simulation() -> None:
    corpus = read(tau2_results(simulation(), None, {"id": "x"}, "text"))  # type: ignore[arg-type]
    assert names(corpus) == ["t1/0"]
    assert [one.pointer for one in corpus.diagnostics] == [
        "$.simulations[1]",
        "$.simulations[2]",
        "$.simulations[3]",
    ]
    assert corpus.tasks[0].missing == ("1",)


def test_a_header_that_makes_no_sense_is_named() -> None:
    with pytest.raises(InputError, match="simulations is not a list"):
        read(tau2_results() | {"simulations": {"a": 1}})


# The folder layout


def folder(tmp_path: Path, *simulations: dict[str, Any], **more: Any) -> Path:
    head = tau2_results(num_trials=2, **more)
    del head["simulations"]
    put(tmp_path, "run/results.json", head)
    for one in simulations:
        put(tmp_path, f"run/simulations/{one['id']}.json", one)
    return tmp_path / "run"


def shape(corpus: Corpus) -> Any:
    return [
        (trial.trial_id, trial.source.path.rsplit("/run/", 1)[-1], len(trial.steps)) for trial in corpus.trials
    ]


def test_a_folder_is_one_source_whichever_way_it_is_named(tmp_path: Path) -> None:
    run = folder(tmp_path, simulation("s1"), simulation("s10", trial=1))
    put(
        tmp_path,
        "run/hallucination_discarded/results_user_hallucination.json",
        tau2_results(simulation("h", reward=0.0)),
    )
    put(tmp_path, "run/artifacts/x.json", {"a": 1})
    expected = [("0", "simulations/s1.json", 8), ("1", "simulations/s10.json", 8)]
    for named in (str(run), str(run / "results.json"), str(tmp_path), f"{tmp_path}/**/*.json"):
        corpus = load([named])
        assert shape(corpus) == expected, named
        (file,) = corpus.files
        assert (file.path.endswith("run/results.json"), file.trials) == (True, 2)
    assert corpus.tasks[0].expected_n == 2
    assert corpus.trials[0].steps[0].source.pointer == "$.messages[0]"
    assert corpus.trials[0].provenance.model == "m-1"


def test_the_folder_works_from_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder(tmp_path, simulation("s1")))
    assert load(["results.json"]).trials[0].source.path == "simulations/s1.json"
    assert load(["."]).trials[0].source.path == "./simulations/s1.json"


def test_a_simulation_named_by_the_index_without_a_file_is_missing(tmp_path: Path) -> None:
    index = [
        {"id": "s1", "task_id": "t1", "trial": 0},
        {"id": "s2", "task_id": "t1", "trial": 1, "reward": 1.0},
    ]
    corpus = load([str(folder(tmp_path, simulation("s1"), simulation_index=index))])
    (task,) = corpus.tasks
    assert (task.expected_n, task.missing, len(task.trials)) == (2, ("1",), 1)
    assert told(corpus, "missing_simulation").trial_id == "1"


def test_a_broken_simulation_file_costs_that_file(tmp_path: Path) -> None:
    run = folder(tmp_path, simulation("s1"))
    put(run, "simulations/s2.json", b'{"id": "s2", "task_id":')
    corpus = load([str(run)])
    assert names(corpus) == ["t1/0"]
    (problem,) = corpus.diagnostics
    assert (problem.slug, problem.path) == ("truncated_json", f"{run}/simulations/s2.json")
    with pytest.raises(InputError, match="the file is cut"):
        load([str(run)], ReadOptions(on_error="fail"))


def test_a_simulation_file_can_be_read_by_itself(tmp_path: Path) -> None:
    run = folder(tmp_path, simulation("s1"), simulation("s2", trial=1))
    corpus = load([f"{run}/simulations/s2.json"])
    assert names(corpus) == ["t1/1"]
    assert corpus.tasks[0].expected_n is None


# Other shapes


def test_the_export_of_one_task() -> None:
    corpus = read(SAMPLES["tau2"][3])
    (trial,) = corpus.trials
    assert (trial.producer_id, trial.termination.reason, trial.duration_s) == ("s1", "user_done", 3.0)
    assert corpus.tasks[0].task.script == "reason for call: Empty the cart.\nknown info: id q"
    assert results(trial) == ["[1, 2]", "no such user", "empty"]


def tick(number: int, **parts: Any) -> dict[str, Any]:
    """One tick; ``agent`` and ``user`` are what each side says in it."""
    said = {f"{side}_chunk": {"content": parts.pop(side, None)} for side in ("agent", "user")}
    return {"tick_id": number, "timestamp": f"2025-01-01T10:00:{number:02}", **said, **parts}


def test_ticks_of_a_voice_run_are_put_together() -> None:
    ticks = [
        tick(0, agent="Hel"),
        tick(1, agent="lo.", user="I"),
        tick(2, user=" want"),
        tick(3, user=" it."),
        tick(4),
        tick(5, agent_tool_calls=[tau2_call("get_cart", {"id": "q"})], user="Hm"),
        tick(6, agent_tool_results=[tau2_result("[]")]),
        tick(7, user="Well?", agent="Empty."),
    ]
    run = simulation(messages=None, ticks=ticks, mode="full_duplex")
    trial = only_trial(tau2_results(run))
    assert [(step.actor, step.text or step.name) for step in trial.steps[:-1]] == [
        ("agent", "Hello."),
        ("user", "I want it."),
        ("agent", "get_cart"),
        ("user", "Hm"),
        ("agent", "Empty."),
        ("user", "Well?"),
    ]
    assert results(trial) == ["[]"]
    assert calls(trial)[0].source.pointer == "$.simulations[0].ticks[5].agent_tool_calls[0]"
    assert trial.steps[1].source.pointer == "$.simulations[0].ticks[1].user_chunk"
    assert (trial.message_count, trial.metadata["mode"]) == (7, "full_duplex")
    assert not json.loads(json.dumps(run))["messages"]


def test_a_voice_run_without_words_is_a_trial_without_steps() -> None:
    run = simulation(messages=None, ticks=[tick(0), tick(1)], reward=None)
    corpus = read(tau2_results(run))
    assert (corpus.trials[0].comparable, corpus.trials[0].verdict) == (False, "unscored")
    assert slugs(corpus) == ["no_outcome", "no_steps"]


def test_tasks_may_hold_anything() -> None:
    content = tau2_results(simulation())
    content["tasks"] = [None, {"id": None}, {"id": 7, "user_scenario": "Say hello."}, tau2_task()]
    corpus = read(content)
    assert [(task.task_id, task.task.script is not None) for task in corpus.tasks] == [
        ("7", True),
        ("t1", True),
    ]
