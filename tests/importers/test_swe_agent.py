"""SWE-agent and mini-swe-agent: text actions and structured calls, endings, reports beside the files."""
# ruff: noqa: N802 - tests are named after the failure cases they hold

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.importers.fixtures import calls, only_trial, put, results, slugs, told
from tests.importers.fixtures_swe import mini, structured, traj
from trajdiff.importers import load
from trajdiff.model import StepKind


def test_actions_as_text() -> None:
    trial = only_trial(traj())
    assert [one.name for one in calls(trial)] == ["ls", "submit"]
    assert [one.arguments.parsed for one in calls(trial) if one.arguments] == [
        {"command": "ls -a"},
        {"command": "submit"},
    ]
    assert results(trial) == ["lamp.py", ""]
    assert [one.text for one in trial.steps[:3]] == ["Use the shell.", "Fix the lamp.", "Look."]
    assert (trial.usage.input, trial.cost_usd, trial.provenance.tool_version) == (90, 0.5, "1.1.0")
    assert trial.verdict == "unscored"


def test_structured_calls_come_from_the_history_and_demonstrations_do_not() -> None:
    demo = [one | {"is_demo": True} for one in structured()[2:]]
    for whole in (traj(history=[*demo, *structured()]), {"history": structured()}):
        trial = only_trial(whole)
        assert [(one.name, one.call_id) for one in calls(trial)] == [("find", "c1")]
        assert results(trial) == ["lamp.py"]


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("submitted", "agent_done"),
        ("submitted (exit_cost)", "cost_limit"),
        ("exit_context", "context_limit"),
        ("exit_api", "infra_error"),
        ("something new", "unknown"),
        (None, "incomplete"),
    ],
)
def test_endings(status: Any, reason: str) -> None:
    trial = only_trial(traj(info={"exit_status": status, "model_stats": {}}))
    assert (trial.termination.reason, trial.termination.raw) == (reason, status)


def test_attempts_inside_a_file_are_retries() -> None:
    whole = {"attempts": [traj(), traj(trajectory=[{"action": "make", "observation": "ok"}])],
             "info": {"best_attempt_idx": 1, "exit_status": "submitted"}}  # fmt: skip
    trial = only_trial(whole)
    assert [one.name for one in calls(trial)] == ["make"]
    assert calls(trial)[0].source.pointer == "$.attempts[1].trajectory[0]"


REPORT = {
    "schema_version": 2,
    "resolved_ids": ["a"],
    "unresolved_ids": ["b", "e"],
    "empty_patch_ids": ["c"],
    "error_ids": ["d"],
    "incomplete_ids": ["f"],
}


def test_TRI_10_the_report_gives_the_verdicts_and_its_lists_are_kept_apart(tmp_path: Path) -> None:
    for name in "abcdefg":
        put(tmp_path, f"exp/{name}/{name}.traj", traj())
    put(tmp_path, "exp/m-1.run.json", REPORT)
    corpus = load([str(tmp_path)])
    assert {one.task_id: str(one.verdict) for one in corpus.trials} == {
        "a": "pass", "b": "fail", "c": "fail", "d": "infra", "e": "fail", "f": "unscored", "g": "unscored",
    }  # fmt: skip
    rules = {one.task_id: one.judgement.rule for one in corpus.trials}
    assert rules["c"] == "listed under empty_patch_ids in m-1.run.json"
    # TRI-09: the instance that the report does not name is told.
    assert told(corpus, "not_in_report").task_id == "g"
    assert told(corpus, "companion").severity == "note"


def test_TRI_09_instances_of_the_report_without_a_trajectory_are_told(tmp_path: Path) -> None:
    for name in "ab":
        put(tmp_path, f"exp/{name}/{name}.traj", traj())
    put(tmp_path, "exp/m-1.run.json", REPORT)
    found = told(load([str(tmp_path)]), "reported_without_trial")
    assert "it judges 4 tasks of which no trial was read" in found.message
    assert found.details[0] == "c, d, e, f"


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ({"patch_exists": True, "resolved": True}, "pass"),
        ({"patch_exists": True, "resolved": False}, "fail"),
        ({"patch_exists": False, "resolved": False, "patch_is_None": True}, "fail"),
    ],
)
def test_reports_of_one_instance(tmp_path: Path, said: dict[str, Any], verdict: str) -> None:
    put(tmp_path, "exp/a/a.traj", traj())
    put(tmp_path, "exp/logs/run_evaluation/r/m/a/report.json", {"a": said})
    assert [one.verdict for one in load([str(tmp_path / "exp")]).trials] == [verdict]


# mini-swe-agent


def test_commands_beside_the_messages() -> None:
    trial = only_trial(mini())
    assert (trial.task_id, trial.provenance.model, trial.cost_usd) == ("acme__lib-12", "m-1", 0.4)
    assert [one.arguments.parsed for one in calls(trial) if one.arguments] == [
        {"command": "ls"},
        {"command": "make"},
    ]
    assert [(one.result.text, one.result.is_error) for one in calls(trial) if one.result] == [
        ("lamp.py", False), ("no rule", True),
    ]  # fmt: skip
    assert (trial.termination.reason, trial.verdict) == ("max_steps", "unscored")


def test_commands_of_the_oldest_files_stand_in_the_text(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "Fix it. ```mswea_bash_command\nexample\n```"},
        {"role": "assistant", "content": "Look.\n\n```mswea_bash_command\nls\n```"},
        {"role": "user", "content": "<returncode>1</returncode>\n<output>\nno\n</output>"},
        {"role": "assistant", "content": "Two.\n```bash\na\n```\n```bash\nb\n```"},
        {"role": "user", "content": "One command, please."},
    ]
    (trial,) = load([str(put(tmp_path, "lamp.traj.json", messages))]).trials
    assert [one.arguments.parsed for one in calls(trial) if one.arguments] == [{"command": "ls"}]
    assert calls(trial)[0].failed
    assert [(one.actor, one.text) for one in trial.steps if one.kind is StepKind.MESSAGE][1:] == [
        ("agent", "Look."), ("agent", messages[3]["content"]), ("user", "One command, please."),
    ]  # fmt: skip


def test_tools_several_commands_and_the_exit_message() -> None:
    messages = [
        {"role": "assistant", "content": "Both.", "extra": {"actions": [
            {"command": "a", "tool_call_id": "x"}, {"command": "b", "tool_call_id": "y"}]}},
        {"role": "tool", "tool_call_id": "y", "content": "B", "extra": {"returncode": 0}},
        {"role": "tool", "tool_call_id": "x", "content": "A", "extra": {"returncode": 0}},
        {"role": "exit", "content": "diff", "extra": {"exit_status": "Submitted"}},
    ]  # fmt: skip
    trial = only_trial(mini(messages=messages, info={"mini_version": "2"}))
    assert results(trial) == ["A", "B"]
    assert (trial.termination.reason, trial.steps[-2].text) == ("agent_done", "diff")


def test_the_published_files(shared: Path) -> None:
    corpus = load([str(shared / "data/swe_agent"), str(shared / "data/mini_swe_agent")])
    found = {one.task_id.partition("__")[0]: len(calls(one)) for one in corpus.trials}
    assert found == {"ctf": 16, "function_calling_simple": 5, "replay": 11, "github_issue": 10, "local": 2}
    assert {one.verdict for one in corpus.trials} == {"unscored"}
    assert "orphan_result" not in slugs(corpus)
