"""What a log holds and no step can show is kept or told: calls that are no objects, trials without steps."""
# ruff: noqa: N802 - tests are named after the failure cases they hold

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.importers import fixtures_inspect as inspect_logs
from tests.importers import fixtures_swe as swe
from tests.importers.fixtures import (
    ATIF,
    calls,
    chat_result,
    evalkit_sample,
    held,
    jsonl,
    names,
    only_trial,
    put,
    read,
    record,
    said,
    simulation,
    slugs,
    tau2_results,
    tau_crash,
    tau_trial,
    told,
)
from trajdiff.errors import InputError
from trajdiff.importers import ReadOptions, load, validate


def asked(*entries: Any) -> list[dict[str, Any]]:
    return [said("user", "A lamp."), {"role": "assistant", "content": None, "tool_calls": list(entries)}]


def atif(*entries: Any) -> dict[str, Any]:
    return ATIF | {"steps": [{"step_id": 1, "source": "agent", "message": "", "tool_calls": list(entries)}]}


def langchain(*entries: Any) -> list[dict[str, Any]]:
    return [{"type": "human", "content": "A lamp."}, {"type": "ai", "content": "", "tool_calls": list(entries)}]


def inspected(*entries: Any) -> dict[str, Any]:
    sample = inspect_logs.sample(messages=asked(*entries), events=[])
    return inspect_logs.header() | {"samples": [sample]}


ODD: tuple[Any, ...] = (7, [1], "not json", True)
HOLDERS: dict[str, Callable[..., Any]] = {
    "tau-bench": lambda *odd: tau_trial(traj=asked(*odd)),
    "tau2": lambda *odd: tau2_results(simulation(messages=asked(*odd))),
    "chat": lambda *odd: held(messages=asked(*odd)),
    "atif": atif,
    "langchain": langchain,
    "inspect": inspected,
}


@pytest.mark.parametrize("name", sorted(HOLDERS))
def test_calls_that_are_no_objects_are_calls_without_a_name(name: str) -> None:
    corpus = read(HOLDERS[name](*ODD, None))
    (trial,) = corpus.trials
    found = [(one.name, one.arguments.state, one.arguments.raw) for one in calls(trial) if one.arguments]
    assert found == [(None, "invalid", text) for text in ("7", "[1]", "not json", "true")]
    assert "4 calls with arguments that are not a JSON object" in told(corpus, "invalid_arguments").message
    assert len({one.call_uid for one in calls(trial)}) == 4


@pytest.mark.parametrize("name", ["tau-bench", "tau2", "chat"])
def test_a_lone_call_is_read_without_its_list(name: str) -> None:
    whole = HOLDERS[name]()
    call = {"id": "c1", "name": "find_lamp", "arguments": {"size": "tall"}}
    message = {"role": "assistant", "content": None, "tool_calls": call}
    key = {"tau-bench": "traj", "chat": "messages"}.get(name)
    (whole if key else whole["simulations"][0])[key or "messages"] = [message, chat_result("7")]
    assert [(one.name, one.source.pointer[-11:]) for one in calls(only_trial(whole))] == [
        ("find_lamp", ".tool_calls")
    ]


EMPTY = {
    "tau-bench": [tau_trial(), tau_trial(trial=1, traj=[])],
    "tau2": tau2_results(simulation(), simulation("s2", trial=1, messages=[])),
    "trajdiff": jsonl(record(), record(trial_id="1", steps=[])),
    "chat": jsonl(held(trial=0), held(trial=1, messages=[])),
    "evalkit": jsonl(evalkit_sample("q0", "C"), evalkit_sample("q1", "I", messages=[])),
    "inspect": inspect_logs.header()
    | {"samples": [inspect_logs.sample(), inspect_logs.sample(epoch=2, messages=[], events=[])]},
}


@pytest.mark.parametrize("name", sorted(EMPTY))
def test_a_trial_without_steps_is_told_by_every_importer(name: str) -> None:
    corpus = read(EMPTY[name])
    bare = [trial for trial in corpus.trials if not trial.comparable]
    assert len(bare) == 1
    notes = [one for one in corpus.diagnostics if one.slug in ("no_steps", "no_messages")]
    assert len(notes) == 1
    assert bare[0].task_id in notes[0].message


def test_FIL_06_failures_without_a_trace_are_told_and_count() -> None:
    corpus = read([tau_trial(), *(tau_crash(trial=number) for number in range(1, 12))])
    assert len(corpus.trials) == 12
    note = told(corpus, "no_steps")
    assert note.message == "11 trials hold no steps: 4/1, 4/2, 4/3, 4/4, 4/5, 4/6, 4/7, 4/8, …"
    assert "not compared" in note.details[0]


REPORT = {"resolved_ids": ["acme-1"], "unresolved_ids": ["acme-2"], "submitted_ids": ["acme-1", "acme-2"]}


@pytest.mark.parametrize("suffix", [".traj", ".traj.json"])
def test_FIL_05_an_empty_trajectory_file_is_a_trial_without_steps(suffix: str, tmp_path: Path) -> None:
    for name in ("acme-1", "acme-2", "acme-3"):
        put(tmp_path, f"{name}/{name}{suffix}", b"")
    put(tmp_path, "model.run.json", REPORT)
    corpus = load([str(tmp_path)])
    assert names(corpus) == ["acme-1/0", "acme-2/0", "acme-3/0"]
    assert [trial.verdict for trial in corpus.trials] == ["pass", "fail", "unscored"]
    assert not any(trial.comparable for trial in corpus.trials)
    assert slugs(corpus).count("empty_trace") == 3
    assert not [one for one in corpus.diagnostics if one.severity == "error"]
    checked = {Path(one.path).name: (one.valid, one.trials) for one in validate([str(tmp_path / "acme-1")])}
    assert checked == {f"acme-1{suffix}": (True, 1)}


def test_an_empty_trajectory_takes_names_and_verdict_of_a_manifest(tmp_path: Path) -> None:
    put(tmp_path, "runs/one.traj", b"")
    row = b'[[trial]]\npath = "runs/one.traj"\ntask = "L1"\ntrial = "3"\nverdict = "fail"\n'
    manifest = put(tmp_path, "trials.toml", row)
    corpus = load([str(tmp_path / "runs")], ReadOptions(outcomes=(str(manifest),)))
    assert [(one.task_id, one.trial_id, one.verdict) for one in corpus.trials] == [("L1", "3", "fail")]


def test_an_empty_file_of_another_name_is_listed_as_before(tmp_path: Path) -> None:
    put(tmp_path, "a.json", [tau_trial()])
    put(tmp_path, "b.jsonl", b"")
    assert slugs(load([str(tmp_path)])) == ["empty_file"]


@pytest.mark.parametrize(("suite", "shown"), [(5, "5"), ("5", "5"), (5.0, "5")])
def test_a_suite_is_an_id_like_others(suite: Any, shown: str) -> None:
    corpus = read(jsonl(record(suite="5"), record(trial_id="1", suite=suite)))
    assert names(corpus) == ["L1/0", "L1/1"]
    assert {trial.suite for trial in corpus.trials} == {shown}


@pytest.mark.parametrize("suite", ["", [], {"name": "x"}, True])
def test_a_suite_that_names_nothing_is_told(suite: Any) -> None:
    corpus = read(jsonl(record(suite="shop"), record(trial_id="1", suite=suite)))
    assert len(corpus.tasks) == 2
    assert told(corpus, "no_suite").pointer == "line 2 $.suite"


@pytest.mark.parametrize(
    ("field", "slug"), [("verdict", "unknown_verdict"), ("termination", "unknown_termination")]
)
def test_an_unknown_word_has_its_place(field: str, slug: str) -> None:
    found = told(read(jsonl(record(**{field: "perhaps"}))), slug)
    assert found.pointer == f"$.{field}"
    assert not [one for one in found.details if one.startswith(".")]


@pytest.mark.parametrize("key", ["history", "trajectory"])
def test_what_is_no_list_of_a_swe_agent_is_told(key: str) -> None:
    found = told(read(swe.traj(**{key: "x"})), "not_a_list")
    assert (found.pointer, found.message) == (f"$.{key}", f"{key} is not a list: none of it is read")


def test_a_first_message_of_no_known_role_is_kept_before_text_actions() -> None:
    whole = swe.traj()
    whole["history"][0]["role"] = 5
    assert "unknown_message" in slugs(read(whole))
    assert len(only_trial(whole).steps) == len(only_trial(swe.traj()).steps)


def test_glued_trajectories_of_mini_swe_agent_are_trials_each() -> None:
    corpus = read(jsonl(swe.mini(instance_id="a"), swe.mini(instance_id="b")))
    assert names(corpus) == ["a/0", "b/0"]
    assert [trial.source.line for trial in corpus.trials] == [1, 2]


def test_glued_results_of_tau2_are_not_taken_for_simulations() -> None:
    with pytest.raises(InputError, match="not recognised"):
        read(jsonl(tau2_results(simulation()), tau2_results(simulation())))
