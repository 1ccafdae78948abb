"""ATIF trajectories and Harbor folders: layouts, rewards, exceptions, links between calls and results."""
# ruff: noqa: N802 - tests are named after the failure cases they hold

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.importers.fixtures import calls, names, only_trial, put, results, slugs, told
from tests.importers.fixtures_harbor import (
    SHELL,
    atif,
    atif_call,
    atif_step,
    observed,
    put_job,
    put_trial,
    trial_result,
)
from trajdiff.importers import ReadOptions, load
from trajdiff.model import Corpus, StepKind, Trial


def job_of(tmp_path: Path, *results: dict[str, Any], **more: Any) -> Corpus:
    return load([str(put_job(tmp_path / "job", *results, **more))])


def one_trial(
    tmp_path: Path, *, trajectory: Any = None, files: Any = None, **result: Any
) -> tuple[Trial, Corpus]:
    scorer, threshold = result.pop("scorer", None), result.pop("threshold", None)
    put_trial(tmp_path, "lamp__Ab12345", trial_result(**result), trajectory or atif(), **(files or {}))
    corpus = load([str(tmp_path)], ReadOptions(scorer=scorer, threshold=threshold))
    (trial,) = corpus.trials
    return trial, corpus


def test_a_job_gives_its_trials_in_the_order_of_their_start(tmp_path: Path) -> None:
    late = trial_result("lamp__1234567", rewards={"reward": 0.0}, started_at="2026-01-02T00:00:00Z")
    early = trial_result("lamp__9999999")
    corpus = job_of(tmp_path, late, early, trial_result("rug__Zz00000", "rug"))
    # TRI-05: the digits behind the name are random and number nothing.
    assert names(corpus) == ["lamp/0", "lamp/1", "rug/0"]
    assert [one.verdict for one in corpus.trials] == ["pass", "fail", "pass"]
    assert [(one.expected_n, one.missing) for one in corpus.tasks] == [(2, ()), (2, ("1",))]
    assert len(corpus.files) == 1
    first = corpus.trials[0]
    assert (first.producer_id, first.suite) == ("id-lamp__9999999", "lamps")
    assert (first.usage.input, first.usage.cache_read, first.cost_usd, first.duration_s) == (90, 60, 0.25, 90.0)
    assert (first.provenance.agent, first.provenance.model) == ("demo", "m-1")
    assert [one.name for one in calls(first)] == ["sh"]
    assert calls(first)[0].source.path.endswith("lamp__9999999/agent/trajectory.json")
    assert first.steps[-1].text == "agent_done"
    assert corpus.tasks[0].task.fingerprint == "c0ffee"


def test_one_trial_folder_by_itself_knows_the_plan_of_its_job(tmp_path: Path) -> None:
    job = put_job(tmp_path / "job", trial_result(), n_attempts=3)
    corpus = load([str(job / "lamp__Ab12345")])
    assert names(corpus) == ["lamp/0"]
    assert corpus.tasks[0].expected_n == 3


@pytest.mark.parametrize(
    ("rewards", "exception", "options", "verdict", "reason"),
    [
        ({"reward": 1.0}, None, {}, "pass", "agent_done"),
        ({"reward": 1.0}, "AgentTimeoutError", {}, "pass", "time_limit"),
        ({"reward": 0.8}, "AgentTimeoutError", {}, "fail", "time_limit"),
        ({"reward": 0.8}, "AgentTimeoutError", {"threshold": 0.7}, "pass", "time_limit"),
        ({"reward": None}, "AgentTimeoutError", {}, "unscored", "time_limit"),
        ({"reward": 0.0}, "NonZeroAgentExitCodeError", {}, "fail", "agent_error"),
        ({"reward": 0.0}, "SomethingNewError", {}, "fail", "agent_error"),
        ({"reward": 0.0}, "ApiRateLimitError", {}, "infra", "infra_error"),
        ({"reward": 1.0}, "VerifierTimeoutError", {}, "infra", "infra_error"),
        ({"reward": 0.0}, "CancelledError", {}, "infra", "cancelled"),
        ({"accuracy": 1.0}, None, {}, "pass", "agent_done"),
        ({"accuracy": 1.0, "reward": 0}, None, {}, "fail", "agent_done"),
        ({"accuracy": 0.9, "format": 1}, None, {}, "unscored", "agent_done"),
        ({"accuracy": 0.9, "format": 1}, None, {"scorer": "format"}, "pass", "agent_done"),
        ({}, None, {}, "unscored", "agent_done"),
    ],
)
def test_VER_12_VER_15_rewards_and_exceptions(
    tmp_path: Path, rewards: Any, exception: Any, options: Any, verdict: str, reason: str
) -> None:
    trial, _ = one_trial(tmp_path, rewards=rewards, exception=exception, **options)
    assert (trial.verdict, trial.termination.reason) == (verdict, reason)


def test_VER_15_several_rewards_are_listed(tmp_path: Path) -> None:
    _, corpus = one_trial(tmp_path, rewards={"accuracy": 0.9, "format": 1})
    assert "accuracy, format" in told(corpus, "several_scorers").message


def test_an_exception_of_one_step_makes_the_trial_invalid_and_a_policy_wins(tmp_path: Path) -> None:
    steps = [{"exception_info": {"exception_type": "ApiError"}}]
    assert one_trial(tmp_path / "a", step_results=steps)[0].verdict == "infra"
    steps[0]["exception_info"]["policy_override"] = "valid"
    assert one_trial(tmp_path / "b", step_results=steps)[0].verdict == "pass"


def test_VER_16_conflicting_reward_files(tmp_path: Path) -> None:
    files = {"verifier__reward_json": 1, "verifier__reward_txt": b"0"}
    trial, corpus = one_trial(tmp_path, files=files, verifier_result=None)
    assert trial.verdict == "pass"
    assert {"reward_from_file", "reward_conflict"} <= set(slugs(corpus))


def test_TRI_06_a_trial_without_result_is_no_complete_trial(tmp_path: Path) -> None:
    job = put_job(tmp_path / "job", trial_result(), n_attempts=None)
    put_trial(job, "lamp__Xy00000", None, atif(), verifier__reward_txt=b"1\n")
    corpus = load([str(job)])
    assert [(one.verdict, one.termination.reason) for one in corpus.trials] == [
        ("pass", "agent_done"), ("pass", "incomplete"),
    ]  # fmt: skip
    assert told(corpus, "no_result").details
    assert told(corpus, "unknown_plan").severity == "note"
    assert corpus.tasks[0].expected_n is None


def test_FIL_06_a_trial_without_trajectory_keeps_its_verdict(tmp_path: Path) -> None:
    put_trial(tmp_path, "lamp__Ab12345", trial_result(rewards={"reward": 0}))
    corpus = load([str(tmp_path)])
    (trial,) = corpus.trials
    assert (trial.verdict, trial.comparable) == ("fail", False)
    assert "no_trajectory" in slugs(corpus)


def test_FIL_05_an_empty_trajectory_costs_the_steps_only(tmp_path: Path) -> None:
    put_trial(tmp_path, "lamp__Ab12345", trial_result(), b"")
    corpus = load([str(tmp_path)])
    assert [(one.verdict, one.comparable) for one in corpus.trials] == [("pass", False)]
    assert told(corpus, "empty_file").path.endswith("agent/trajectory.json")  # type: ignore[union-attr]


@pytest.mark.parametrize("place", ["artifacts__trajectory_json", "steps__one__agent__trajectory_json"])
def test_trajectories_elsewhere_are_found(tmp_path: Path, place: str) -> None:
    put_trial(tmp_path, "lamp__Ab12345", trial_result(), **{place: atif()})
    (trial,) = load([str(tmp_path)]).trials
    assert [one.name for one in calls(trial)] == ["sh"]


def test_VER_14_totals_that_do_not_fit_are_told_and_the_trials_count(tmp_path: Path) -> None:
    corpus = job_of(tmp_path, trial_result(), total=89)
    assert "89 announced, 1 found" in " ".join(told(corpus, "totals_differ").details)
    assert len(corpus.trials) == 1


def test_a_regrade_is_no_further_trial(tmp_path: Path) -> None:
    again = trial_result("lamp__Re00000", rewards={"reward": 0.0})
    again["config"] = {"source_trial": "lamp__Ab12345"}
    corpus = job_of(tmp_path, trial_result(), again)
    assert [one.verdict for one in corpus.trials] == ["fail"]
    assert told(corpus, "superseded_trial").severity == "note"


# ATIF


def test_a_single_trajectory_is_a_trial_without_verdict(tmp_path: Path) -> None:
    corpus = load([str(put(tmp_path, "lamp/attempt_2.json", atif()))])
    (trial,) = corpus.trials
    assert (trial.task_id, trial.trial_id, trial.ordinal, trial.verdict) == ("lamp", "2", 2, "unscored")
    assert [one.kind for one in trial.steps] == [
        "message",
        "message",
        "reasoning",
        "tool_call",
        "message",
        "termination",
    ]
    assert (trial.usage.input, trial.usage.output, trial.usage.cache_read, trial.cost_usd) == (10, 2, 4, 0.5)
    assert told(corpus, "bare_trace").severity == "note"


def test_arguments_may_be_text() -> None:
    (call,) = calls(only_trial(atif(atif_step("agent", "", atif_call("sh", '{"cmd": "ls"}')))))
    assert call.arguments is not None
    assert (call.arguments.parsed, call.arguments.raw) == ({"cmd": "ls"}, '{"cmd": "ls"}')
    (call,) = calls(only_trial(atif(atif_step("agent", "", {"tool_call_id": "a", "function_name": "sh"}))))
    assert call.arguments is not None
    assert call.arguments.state == "absent"


def test_CAL_04_results_without_link_pair_inside_their_step() -> None:
    two = (atif_call("one", {}, "a"), atif_call("two", {}, "b"), atif_call("three", {}, "c"))
    trial = only_trial(
        atif(
            atif_step("agent", "", atif_call("never answered", {}, "x")),
            atif_step(
                "agent", "", *two, observation=observed((None, "1"), ("b", "2"), (None, "3"), (None, "4"))
            ),
        )
    )
    assert results(trial) == [None, "1", "2", "3"]
    (orphan,) = (one for one in trial.steps if one.kind is StepKind.ORPHAN_RESULT)
    assert orphan.result is not None
    assert orphan.result.text == "4"


def test_CAL_02_one_id_twice_in_a_step_pairs_in_order() -> None:
    two = (atif_call("one", {"n": 1}, "a"), atif_call("one", {"n": 2}, "a"))
    trial = only_trial(atif(atif_step("agent", "", *two, observation=observed(("a", "1"), ("a", "2")))))
    assert results(trial) == ["1", "2"]


def test_error_flags_are_taken_where_a_producer_adds_them() -> None:
    two = (atif_call("one", {}, "a"), atif_call("two", {}, "b"), atif_call("three", {}, "c"))
    told_so = observed(("a", "x", {"is_error": True}), ("b", "y", {"exit_code": 0}), ("c", "z"))
    trial = only_trial(atif(atif_step("agent", "", *two, observation=told_so)))
    assert [one.result.is_error for one in calls(trial) if one.result] == [True, False, None]


def test_FIL_13_copied_context_and_its_tokens_are_left_out() -> None:
    copied = [one | {"is_copied_context": True} for one in SHELL]
    trial = only_trial(atif(*copied, *SHELL, final_metrics={"total_prompt_tokens": 20}))
    assert trial.usage.input == 10
    assert len(calls(trial)) == 1


def test_continuations_are_read_with_the_first_file(tmp_path: Path) -> None:
    put(tmp_path, "lamp.json", atif(continued_trajectory_ref="lamp.cont-1.json"))
    put(tmp_path, "lamp.cont-1.json", atif(atif_step("agent", "", atif_call("look", {}))))
    corpus = load([str(tmp_path)])
    (trial,) = corpus.trials
    assert [one.name for one in calls(trial)] == ["sh", "look"]
    assert [one.source.path.rpartition("/")[2] for one in calls(trial)] == ["lamp.json", "lamp.cont-1.json"]
    assert [one.call_uid for one in calls(trial)] == ["2.0", "4.0"]
    put(tmp_path, "lamp.json", atif(continued_trajectory_ref="gone.json"))
    assert "unreadable_file" in slugs(load([str(tmp_path / "lamp.json")]))


def test_sub_agents_come_where_they_are_called() -> None:
    inner = atif(atif_step("agent", "", atif_call("dig", {})), trajectory_id="t2", agent={"name": "digger"})
    asked = observed(("a1", "done"))
    asked["results"][0]["subagent_trajectory_ref"] = [{"trajectory_id": "t2"}]
    outer = atif(
        atif_step("agent", "", atif_call("delegate", {}), observation=asked),
        atif_step("agent", "", atif_call("end", {})),
        subagent_trajectories=[inner],
    )
    assert [(one.name, one.actor) for one in calls(only_trial(outer))] == [
        ("delegate", "agent"), ("dig", "subagent:digger"), ("end", "agent"),
    ]  # fmt: skip


def test_the_published_trajectory(shared: Path) -> None:
    (trial,) = load([str(shared / "data/atif")]).trials
    assert (len(calls(trial)), trial.message_count, trial.verdict) == (6, 7, "unscored")
    assert all(one.result is not None for one in calls(trial))
    assert (trial.provenance.agent, trial.cost_usd) == ("openagents-qa-runner", 0.0)
