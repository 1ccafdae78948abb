"""OpenHands: generations of events, repeated instances, attempts, errors and reports."""
# ruff: noqa: N802 - tests are named after the failure cases they hold

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.importers.fixtures import calls, jsonl, only_trial, put, read, results, slugs, told
from tests.importers.fixtures_swe import row, v0_events, v1_events
from trajdiff.importers import load
from trajdiff.model import Trial

GENERATIONS: dict[str, Any] = {
    "V1": row(),
    "V0": row(history=v0_events()),
    "bare V0": v0_events(),
    "bare V1": v1_events(),
    "lines of V0": jsonl(*v0_events()),
}


@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_generation_gives_the_same_calls(generation: str) -> None:
    trial = only_trial(GENERATIONS[generation])
    assert [one.arguments.parsed for one in calls(trial) if one.arguments] == [
        {"command": "ls"},
        {"command": "make"},
    ]
    assert results(trial) == ["lamp.py", "no rule"]
    assert [one.failed for one in calls(trial)] == [False, True]
    assert [(one.actor, one.text) for one in trial.steps[:3]] == [
        ("system", "Use the shell."), ("user", "Fix the lamp."), ("agent", "Look."),
    ]  # fmt: skip
    # Both calls came from one response.
    assert [one.call_uid for one in calls(trial)] == ["2.0", "2.1"]
    assert {one.parallel_group for one in calls(trial)} == {2}
    assert trial.verdict == "unscored"


def test_the_oldest_histories_are_pairs() -> None:
    history = [
        [{"action": "message", "content": "Fix it."}, {"observation": "null"}],
        [
            {"action": "run", "command": "ls", "thought": "Look."},
            {"observation": "run", "content": "x", "exit_code": 1},
        ],
        [{"action": "finish", "outputs": {}, "thought": "Done."}, {"observation": "null"}],
    ]
    trial = only_trial(row(history=history))
    assert [(one.name, one.failed) for one in calls(trial)] == [("run", True), ("finish", False)]
    assert trial.termination.reason == "agent_done"
    assert trial.steps[0].actor == "user"


def test_rows_name_their_instance_and_model() -> None:
    trial = only_trial(row())
    assert (trial.task_id, trial.cost_usd, trial.provenance.model) == ("i1", 0.25, "m-1")
    assert (trial.provenance.agent, dict(trial.provenance.sampling)) == ("CodeAct", {"temperature": 0})


def test_of_repeated_instances_the_last_row_counts() -> None:
    corpus = read(jsonl(row("a", attempt=1), row("b"), row("a", history=[], attempt=2)))
    assert [(one.task_id, len(calls(one)), one.metadata["attempt"]) for one in corpus.trials] == [
        ("a", 0, 2),
        ("b", 2, 1),
    ]
    assert told(corpus, "superseded_trial").task_id == "a"


def test_TRI_07_attempt_files_are_retries_of_the_final_output(tmp_path: Path) -> None:
    put(tmp_path, "output.critic_attempt_1.jsonl", jsonl(row(history=[])))
    put(tmp_path, "output.jsonl", jsonl(row()))
    corpus = load([str(tmp_path)])
    assert [len(calls(one)) for one in corpus.trials] == [2]
    assert "retries" in slugs(corpus)


@pytest.mark.parametrize(
    ("error", "verdict", "reason"),
    [
        (None, "unscored", "unknown"),
        ("RuntimeError: agent reached maximum iteration", "unscored", "max_steps"),
        ("RuntimeError: container died", "infra", "infra_error"),
    ],
)
def test_errors(error: Any, verdict: str, reason: str) -> None:
    trial: Trial = only_trial(row(error=error))
    assert (trial.verdict, trial.termination.reason, trial.error) == (verdict, reason, error)


def test_the_report_beside_the_output_decides(tmp_path: Path) -> None:
    put(tmp_path, "output.jsonl", jsonl(row("a"), row("b", error="container died"), row("c")))
    put(tmp_path, "output.report.json", {"resolved_ids": ["a"], "unresolved_ids": ["b"], "error_ids": ["c"]})
    assert [one.verdict for one in load([str(tmp_path)]).trials] == ["pass", "fail", "infra"]


def test_rows_without_instance_and_odd_events_are_told() -> None:
    corpus = read(
        jsonl(row(), row(instance=None), row("b", history=["?", {"action": "dance", "source": "user"}]))
    )
    assert sorted(set(slugs(corpus))) == ["bare_trace", "unknown_message", "unreadable_record"]
    assert [len(one.steps) for one in corpus.trials] == [3, 6]


def test_the_published_file_of_the_resolver(shared: Path) -> None:
    corpus = load([str(shared / "data/openhands")])
    found = {one.task_id: (len(calls(one)), one.message_count) for one in corpus.trials}
    assert found == {"neubig/pr-viewer#5": (4, 8), "neubig/pr-viewer#1": (22, 44)}
    assert "orphan_result" not in slugs(corpus)


def test_a_folder_of_events_is_one_trial_in_the_order_of_its_numbers(tmp_path: Path) -> None:
    for number, event in enumerate(v1_events()):
        put(tmp_path, f"acme-7/run_2/events/event-{number:05d}-0a1b2c3d-{number}.json", event)
    put(tmp_path, "acme-7/run_2/base_state.json", {"id": "conversation", "agent": {}})
    corpus = load([str(tmp_path)])
    (trial,) = corpus.trials
    assert slugs(corpus) == ["skipped_file", "bare_trace"]
    assert (trial.task_id, trial.trial_id) == ("acme-7", "2")
    assert results(trial) == ["lamp.py", "no rule"]
    assert {one.parallel_group for one in calls(trial)} == {2}
    assert [Path(one.source.path).name[:11] for one in calls(trial)] == ["event-00002", "event-00003"]
    assert all(one.source.pointer == "$" for one in calls(trial))
    assert load([str(tmp_path / "acme-7/run_2/events")]).trials[0].steps == trial.steps


def test_a_bad_event_file_costs_itself(tmp_path: Path) -> None:
    for number, event in enumerate(v1_events()):
        put(tmp_path, f"events/event-{number:05d}-0a.json", b"{" if number == 3 else event)
    corpus = load([str(tmp_path)])
    assert [one.name for one in calls(corpus.trials[0])] == ["terminal"]
    assert told(corpus, "truncated_json").severity == "warning"
