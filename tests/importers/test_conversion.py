"""Any recording written as trajdiff/1 or ATIF and read again is the same corpus but for its places."""
# ruff: noqa: N802 - tests are named after the failure cases they hold

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import run
from tests.importers.fixtures import SAMPLES, put, read, record, simulation, tau2_results
from trajdiff.analysis import analyse
from trajdiff.frozen import field_names, is_frozen_value, replace
from trajdiff.importers import ReadOptions, converted, converted_to_atif, load
from trajdiff.model import Corpus, SourceRef, StepKind
from trajdiff.render.marks import UNICODE
from trajdiff.render.registry import by_name
from trajdiff.render.view import View
from trajdiff.report import build_report
from trajdiff.settings import Settings

#: What differs by nature: files, paths, places, and what was said about the first file.
PLACES = frozenset(
    {"path", "json_path", "source", "ref", "sha256", "inputs", "warnings", "line", "format", "recognised_by"}
)


def again(corpus: Corpus, **options: Any) -> Corpus:
    data = converted(corpus).encode("utf-8", "backslashreplace")
    for line in data.splitlines():
        json.loads(line, parse_constant=pytest.fail)
    return load(["-"], ReadOptions(stdin=data, **options))


def bare(value: Any) -> Any:
    """A value of the model without places; a message keeps its number."""
    if isinstance(value, SourceRef):
        return value.message_index
    if is_frozen_value(value):
        return {name: bare(getattr(value, name)) for name in field_names(value)}
    if isinstance(value, dict):
        return {str(key): bare(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [bare(one) for one in value]
    return str(value) if isinstance(value, str) else repr(value)


def unplaced(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: unplaced(one) for key, one in value.items() if key not in PLACES}
    return [unplaced(one) for one in value] if isinstance(value, list) else value


def reported(corpus: Corpus) -> tuple[str, Any]:
    """The report as text, and as JSON without places."""
    settings = Settings()
    made = build_report(corpus, analyse(corpus, settings), settings, name="shop")
    view = View(width=100, color=False, marks=UNICODE)
    text, data = (by_name("report", form).render(made, view) for form in ("text", "json"))
    assert isinstance(text, str)
    return text, unplaced(json.loads(data))


def assert_same(corpus: Corpus, **options: Any) -> None:
    other = again(corpus, **options)
    assert bare(other.tasks) == bare(corpus.tasks)
    assert reported(other) == reported(corpus)
    # The second time nothing changes at all, not even the file.
    assert converted(again(other, **options)) == converted(other)
    as_atif = through_atif(corpus, **options)
    with_trials = [task for task in corpus.tasks if task.trials]
    assert bare(as_atif.tasks) == bare(with_trials)
    if len(with_trials) == len(corpus.tasks):
        assert reported(as_atif) == reported(corpus)


def through_atif(corpus: Corpus, **options: Any) -> Corpus:
    """The corpus written as ATIF and read again; every line is what the format asks for."""
    data = converted_to_atif(corpus).encode("utf-8", "backslashreplace")
    for line in data.splitlines():
        trajectory = json.loads(line, parse_constant=pytest.fail)
        assert_is_atif(trajectory)
    return load(["-"], ReadOptions(stdin=data, **options))


def assert_is_atif(trajectory: dict[str, Any]) -> None:
    """The rules of the official models: ids from 1, calls and thoughts of agents only, results linked."""
    assert trajectory.keys() <= {"schema_version", "session_id", "agent", "steps", "final_metrics", "extra"}
    assert {"name", "version"} <= trajectory["agent"].keys() <= {"name", "version", "model_name"}
    assert [step["step_id"] for step in trajectory["steps"]] == list(range(1, len(trajectory["steps"]) + 1))
    assert trajectory["steps"]
    for step in trajectory["steps"]:
        assert isinstance(step["message"], str)
        assert step["source"] == "agent" or not step.keys() & {"tool_calls", "reasoning_content"}
        ids = [call["tool_call_id"] for call in step.get("tool_calls", ())]
        assert len(set(ids)) == len(ids)
        assert all(isinstance(call["arguments"], dict) for call in step.get("tool_calls", ()))
        for result in step.get("observation", {}).get("results", ()):
            assert result.get("source_call_id") in (None, *ids)


@pytest.mark.parametrize(
    "data",
    [pytest.param(data, id=f"{name}-{n}") for name, many in SAMPLES.items() for n, data in enumerate(many)],
)
def test_every_format_survives_conversion(data: bytes) -> None:
    assert_same(read(data))


def test_missing_trials_tasks_that_never_ran_and_plans_survive(tmp_path: Path) -> None:
    content = tau2_results(simulation("s1", trial=0), simulation("s2", trial=2), num_trials=4)
    content["tasks"].append({"id": "t2", "user_scenario": None})
    put(tmp_path, "a.json", content)
    corpus = load([str(tmp_path)])
    assert [(task.task_id, task.missing) for task in corpus.tasks] == [
        ("t1", ("1", "3")),
        ("t2", ("0", "1", "2", "3")),
    ]
    assert_same(corpus)


def test_a_lost_trial_keeps_its_name(tmp_path: Path) -> None:
    """It is known from a side file only, and no free number would give it again."""
    put(tmp_path, "a.json", [record(trial_id="0")])
    (tmp_path / "o.csv").write_text("task,trial,passed\nL1,0,true\nL1,late-3,false\n")
    corpus = load([str(tmp_path / "a.json")], ReadOptions(outcomes=(str(tmp_path / "o.csv"),)))
    assert corpus.tasks[0].missing == ("late-3",)
    assert_same(corpus)


def test_groups_suites_and_repeated_numbers_survive() -> None:
    trials = [
        record("3", "0", suite="shop", provenance={"model": "m1"}),
        record("3", "0", suite="shop", provenance={"model": "m2"}),
        record("3", "0", suite="bank", provenance={"model": "m1", "seed": 1}),
        record("3", "0", suite="bank", provenance={"model": "m1", "seed": 2}, reward=0.0),
    ]
    corpus = read(trials)
    assert [task.task_id for task in corpus.tasks] == ["bank/3", "shop/3 [m1]", "shop/3 [m2]"]
    assert_same(corpus)
    assert_same(read(trials, group_by=()), group_by=())


def test_odd_texts_and_numbers_survive() -> None:
    odd = {"x": float("nan"), "y": float("-inf"), "z": 10**30, "t": "\ud83d \u2028 \u0000 退款"}
    steps = [
        {"actor": "user", "text": odd["t"]},
        {"name": "light", "arguments": '{"a": NaN, "a": 1}', "result": {"text": "x", "is_error": True}},
        {"name": "light", "arguments": "{cut"},
        {"name": "light"},
        {"name": "light", "arguments": None, "result": ""},
    ]
    verdict = {"state": "unscored", "raw": {"judge": float("nan")}, "rule": "no number"}
    corpus = read(
        [
            record("退款/重复", "[a] 1", 0.25, steps=steps, sub_scores=odd, error="e\ud83d"),
            record("退款/重复", "2", verdict=verdict),
        ]
    )
    assert repr(corpus.trials[1].judgement.raw) == "{'judge': nan}"
    assert repr(again(corpus).trials[1].judgement.raw) == "{'judge': nan}"
    assert_same(corpus)


def test_threshold_and_expected_number_can_be_given_again() -> None:
    corpus = read([record(trial_id=str(n), reward=0.5) for n in range(2)], threshold=0.4, expected_trials=3)
    assert [str(trial.verdict) for trial in corpus.trials] == ["pass", "pass"]
    assert_same(corpus)
    assert again(corpus, threshold=0.9).trials[0].verdict == "fail"


def test_the_samples_of_the_project_survive(project: Path) -> None:
    corpus = load([str(project / "sample_traces")])
    other = again(corpus)
    assert bare(other.tasks) == bare(corpus.tasks)
    assert reported(other) == reported(corpus)


def test_a_trial_that_changes_on_the_way_would_be_seen() -> None:
    """The comparison of this file is no formality: one changed word makes it fail."""
    corpus = read([record()])
    (task,) = corpus.tasks
    changed = replace(task, trials=(replace(task.trials[0], error="boom"),))
    assert bare(changed) != bare(task)


def test_DSP_02_everything_a_step_can_hold_survives_both_ways() -> None:
    """Of every kind one, with all that ATIF has no place for; the answers of parallel calls out of order."""
    steps = [
        {"actor": "system", "text": "Be brief.", "message": 0},
        {"actor": "user", "text": "A lamp.", "message": 1, "started_at": "2025-01-01T00:00:00"},
        {"kind": "reasoning", "text": "Hm.", "message": 2, "model": "m-2", "started_at": "2025-01-01T00:00:01"},
        {"actor": "agent", "text": "", "message": 2},
        {"name": "a", "arguments": {"x": 1}, "result": "1", "message": 3, "result_message": 5, "call_id": "c",
         "call_uid": "odd", "parallel_group": 3, "effect_hint": "read", "started_at": "2025-01-01T00:00:02",
         "candidates": [{"name": "b", "arguments": {}, "score": 0.5, "reason": "near"}],
         "choice_reason": "why"},
        {"name": "b", "arguments": '{"cut": ', "message": 3, "result_message": 4, "call_id": "c",
         "result": {"text": "bad", "is_error": True, "error_rule": "flag", "truncated": True},
         "parallel_group": 3},
        {"name": "c", "message": 6, "text": "said with it"},
        {"name": "d", "arguments": "{}", "arguments_state": "invalid", "message": 7, "result": ""},
        {"actor": "user", "name": "look", "arguments": {}, "result": "dark", "message": 8, "result_message": 9},
        {"actor": "subagent:x", "name": "dig", "arguments": "", "result": "earth", "message": 10},
        {"kind": "orphan_result", "name": "e", "call_id": "z", "result": "late", "message": 12},
        {"kind": "compaction", "actor": "environment", "text": "shorter", "message": 13},
        {"kind": "error", "actor": "environment", "name": "net", "text": "gone", "message": 14},
        {"actor": "agent", "text": "Bye.", "message": 15, "model": "m-3"},
    ]  # fmt: skip
    corpus = read([record(steps=steps, verdict="fail", reward=0.2), record(trial_id="1", steps=[])])
    trial = corpus.trials[0]
    assert {step.kind for step in trial.steps} == set(StepKind)
    refused = trial.steps[7].arguments
    assert refused is not None
    assert (refused.state, refused.raw) == ("invalid", "{}")
    assert_same(corpus)


def test_a_call_that_its_producer_refused_stays_refused(shared: Path) -> None:
    log = str(shared / "data/inspect_ai/shop_support.eval")
    assert_same(load([log], ReadOptions(scorer="resolved")), scorer="resolved")


def test_DSP_02_the_command_writes_atif_that_is_read_again(tmp_path: Path) -> None:
    put(tmp_path, "a.json", tau2_results(simulation(), simulation("s2", trial=1, reward=0.0)))
    target = tmp_path / "atif.jsonl"
    assert run("convert", str(tmp_path / "a.json"), "--as", "atif", "--to", str(target)).code == 0
    read_again = load([str(target)])
    assert read_again.files[0].format == "ATIF trajectory"
    assert bare(read_again.tasks) == bare(load([str(tmp_path / "a.json")]).tasks)
