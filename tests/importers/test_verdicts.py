"""How an outcome becomes one of four verdicts, and how trials end."""
# ruff: noqa: N802 - tests are named after the failure cases they hold

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.importers import fixtures_inspect as inspect_logs
from tests.importers.fixtures import (
    LAMP,
    chat_call,
    chat_result,
    only_trial,
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
from trajdiff.importers import ReadOptions, load
from trajdiff.reliability.counting import count_task

NAN = float("nan")


@pytest.mark.parametrize(
    ("reward", "threshold", "verdict", "rule"),
    [
        (1.0, None, "pass", "reward = 1"),
        (1, None, "pass", "reward = 1"),
        (1 - 5e-7, None, "pass", "reward = 1"),
        (1 - 2e-6, None, "fail", "reward = 1"),
        (1.5, None, "fail", "reward = 1"),
        (0.5, None, "fail", "reward = 1"),
        (0.5, 0.5, "pass", "reward >= 0.5"),
        (0.49, 0.5, "fail", "reward >= 0.5"),
        (True, None, "pass", "recorded verdict"),
        (False, None, "fail", "recorded verdict"),
        (None, None, "unscored", "no reward"),
        (None, 0.0, "unscored", "no reward"),
        (NAN, None, "unscored", "no reward"),
        (NAN, 0.5, "unscored", "no reward"),
        (float("inf"), 0.5, "unscored", "no reward"),
        ("1.0", None, "unscored", "no reward"),
        ([1], None, "unscored", "no reward"),
    ],
)
def test_the_verdict_of_a_reward_is_the_same_in_every_format(
    reward: Any, threshold: Any, verdict: str, rule: str
) -> None:
    for content in ([tau_trial(reward=reward)], tau2_results(simulation(reward=reward)), record(reward=reward)):
        trial = only_trial(content, threshold=threshold)
        assert (trial.verdict, trial.judgement.rule) == (verdict, rule)
        assert repr(trial.judgement.raw) == repr(reward)


def test_VER_03_two_halves_never_make_a_success() -> None:
    corpus = read([tau_trial(trial=0, reward=0.5), tau_trial(trial=1, reward=0.5)])
    assert [trial.verdict for trial in corpus.trials] == ["fail", "fail"]


def test_VER_07_nothing_evaluated_is_an_error() -> None:
    empty: list[Any] = [[], tau2_results(), {"schema": "trajdiff/1"}, b"", b"\n"]
    for content in empty:
        with pytest.raises(InputError):
            read(content)


@pytest.mark.parametrize(("reward", "verdict"), [(None, "unscored"), (0, "fail"), (0.0, "fail")])
def test_VER_08_cut_at_the_step_limit_with_a_call_unanswered(reward: Any, verdict: str) -> None:
    trial = only_trial([tau_trial(reward=reward, traj=[chat_call("find", "{}")], info={"reward_info": None})])
    assert (trial.verdict, trial.termination.reason) == (verdict, "max_steps")
    assert trial.steps[0].result is None
    assert trial.sub_scores == {}
    cut = simulation(reward=reward, termination_reason="max_steps", messages=[])
    trial = only_trial(tau2_results(cut))
    assert (trial.verdict, trial.termination.reason) == (verdict, "max_steps")


def test_VER_09_a_failed_check_beside_a_pass_is_told_and_changes_nothing() -> None:
    checks = [{"action": {"action_id": "0", "name": "clear_cart"}, "action_match": False}]
    info = {
        "reward": 1.0,
        "action_checks": checks,
        "nl_assertions": [{"nl_assertion": "is kind", "met": False}],
    }
    corpus = read(tau2_results(simulation(reward_info=info)))
    (trial,) = corpus.trials
    assert trial.verdict == "pass"
    assert trial.sub_scores["action_checks"] == "0/1"
    assert [(one.criterion, one.expected, one.produced) for one in trial.items] == [
        ("actions", ("0 clear_cart",), ()),
        ("assertions", ("is kind",), ()),
    ]
    assert told(corpus, "contradicting_sub_scores").details == ("t1/0",)


def test_VER_10_a_zero_beside_an_error_keeps_its_verdict_and_is_told() -> None:
    corpus = read(record(reward=0, error="the judge could not be reached"))
    assert corpus.trials[0].verdict == "fail"
    assert slugs(corpus) == ["zero_with_error"]
    corpus = read(record(reward=0, verdict="unscored", error="the judge could not be reached"))
    assert corpus.trials[0].verdict == "unscored"


def test_VER_11_a_missing_score_is_unscored_listed_and_ends_nothing() -> None:
    bare = tau_trial(trial=1)
    del bare["reward"]
    corpus = read([tau_trial(), bare])
    assert [trial.verdict for trial in corpus.trials] == ["pass", "unscored"]
    problem = told(corpus, "no_outcome")
    assert problem.message == 'trial 1 of task "4" has no outcome'
    assert problem.pointer == "$[1].reward"
    corpus = read(tau2_results(simulation(), simulation("s2", trial=1, reward=None)))
    assert told(corpus, "no_outcome").pointer == "$.simulations[1].reward_info"


def test_VER_12_a_time_out_and_a_verdict_stand_side_by_side() -> None:
    trial = only_trial(record(verdict="pass", reward=None, termination="time_limit"))
    assert (trial.verdict, trial.termination.reason) == ("pass", "time_limit")
    trial = only_trial(record(reward=0.8, error="timed out", termination="time_limit"))
    assert (trial.verdict, trial.error, trial.reward) == ("fail", "timed out", 0.8)


def test_a_crashed_trial_is_infra_although_a_zero_stands_beside_it() -> None:
    trial = only_trial([tau_crash()])
    assert (trial.verdict, trial.judgement.rule, trial.judgement.raw) == ("infra", "info.error", 0.0)
    assert (trial.error, trial.termination.reason, trial.comparable) == (
        "connection reset",
        "infra_error",
        False,
    )


@pytest.mark.parametrize(
    ("reason", "messages", "verdict", "termination"),
    [
        ("user_stop", True, "fail", "user_done"),
        ("agent_stop", True, "fail", "agent_done"),
        ("max_steps", True, "fail", "max_steps"),
        ("timeout", True, "fail", "time_limit"),
        ("too_many_errors", True, "fail", "too_many_errors"),
        ("agent_error", True, "fail", "agent_error"),
        ("agent_error", False, "infra", "agent_error"),
        ("user_error", True, "fail", "user_sim_error"),
        ("infrastructure_error", True, "infra", "infra_error"),
        ("context_window_exceeded", True, "fail", "context_limit"),
        ("unexpected_error", True, "fail", "unknown"),
    ],
)
def test_terminations_of_tau2(reason: str, messages: bool, verdict: str, termination: str) -> None:
    run = simulation(reward=0.0, termination_reason=reason)
    trial = only_trial(tau2_results(run if messages else run | {"messages": []}))
    assert (trial.verdict, trial.termination.reason, trial.termination.raw) == (verdict, termination, reason)


def test_an_unknown_termination_is_kept_and_told() -> None:
    corpus = read(tau2_results(simulation(termination_reason="lunch")))
    assert corpus.trials[0].termination.raw == "lunch"
    assert told(corpus, "unknown_termination").pointer == "$.simulations[0].termination_reason"


@pytest.mark.parametrize(
    ("last", "info", "reason"),
    [
        pytest.param(said("user", "Bye ###STOP###"), {"reward_info": {}}, "user_done", id="the user stops"),
        pytest.param(said("user", "Bye ###STOP###"), {"reward_info": None}, "user_done", id="stop wins"),
        pytest.param(
            chat_result("handed over"), {"reward_info": {}}, "agent_done", id="a result nobody answers"
        ),
        pytest.param(chat_result("found"), {"reward_info": None}, "max_steps", id="a result at the limit"),
        pytest.param(
            said("user", "And then?"), {"reward_info": None}, "max_steps", id="a question at the limit"
        ),
        pytest.param(said("assistant", "Well."), {"reward_info": {}}, "unknown", id="nothing is known"),
        pytest.param(chat_result("found"), {}, "agent_done", id="details were stripped"),
    ],
)
def test_terminations_of_tau_bench_are_derived(last: Any, info: Any, reason: str) -> None:
    trial = only_trial([tau_trial(traj=[chat_call("any_tool", "{}"), last], info=info)])
    assert trial.termination.reason == reason
    end = trial.steps[-1]
    assert (end.kind, end.text, end.source.message_index) == ("termination", reason, 1)


@pytest.mark.parametrize(
    ("verdict", "reward", "state", "rule"),
    [
        ("pass", None, "pass", "recorded verdict"),
        ("FAIL", 1.0, "fail", "recorded verdict"),
        ({"state": "infra", "raw": 0, "rule": "by hand"}, None, "infra", "by hand"),
        (None, 1.0, "pass", "reward = 1"),
        ("great", 1.0, "unscored", "unknown verdict"),
        (7, 1.0, "unscored", "unknown verdict"),
    ],
)
def test_verdicts_of_own_records(verdict: Any, reward: Any, state: str, rule: str) -> None:
    corpus = read(record(verdict=verdict, reward=reward))
    assert (corpus.trials[0].verdict, corpus.trials[0].judgement.rule) == (state, rule)
    assert ("unknown_verdict" in slugs(corpus)) == (rule == "unknown verdict")


def test_a_threshold_decides_recorded_passes_again_but_no_infra() -> None:
    assert only_trial(record(verdict="fail", reward=0.6), threshold=0.5).judgement.rule == "reward >= 0.5"
    assert only_trial(record(verdict="infra", reward=0.6), threshold=0.5).verdict == "infra"


def test_an_error_without_outcome_is_infra_but_a_limit_is_not() -> None:
    assert only_trial(record(reward=None, error="no connection", termination="agent_error")).verdict == "infra"
    corpus = read(record(reward=None, error="out of time", termination="time_limit"))
    assert corpus.trials[0].verdict == "unscored"
    assert "counts as a failure" in told(corpus, "no_outcome").details[0]


def test_strict_refuses_unscored_and_missing_trials() -> None:
    with pytest.raises(InputError, match=r"1 trial has no verdict\n  4/1"):
        read([tau_trial(), tau_trial(trial=1, reward=None)], strict=True)
    with pytest.raises(InputError, match=r"1 trial is missing\n  t1/1"):
        read(tau2_results(simulation()), strict=True)
    data = json.dumps([tau_trial(), {"trial": 1}]).encode()
    with pytest.raises(InputError, match="a record has no task_id"):
        load(["-"], ReadOptions(stdin=data, on_error="fail"))


def test_the_messages_of_a_trial_do_not_depend_on_its_verdict() -> None:
    one, other = only_trial([tau_trial(reward=1.0)]), only_trial([tau_trial(reward=0.0)])
    assert one.steps == other.steps
    assert one.message_count == len(LAMP)


def test_a_record_without_messages_is_unscored_and_not_missing(tmp_path: Path) -> None:
    """The record is there: its trial is completed, whatever it lacks."""
    from trajdiff.reliability.estimators import task_reliability

    rows = [
        {"task_id": 1, "trial": 0, "reward": None, "info": {}, "traj": []},
        {"task_id": 1, "trial": 1, "reward": 1.0, "traj": [{"role": "user", "content": "hi"}]},
    ]
    (tmp_path / "q.json").write_text(json.dumps(rows), "utf-8")
    (task,) = load([str(tmp_path / "q.json")]).tasks
    excluded, counted = task_reliability(task), task_reliability(task, unscored="fail")
    assert (excluded.n, excluded.completed, excluded.unscored, excluded.missing) == (1, 2, ("0",), ())
    assert (counted.n, counted.c) == (2, 1)


def test_a_limit_decides_nothing_where_scores_wait_for_a_choice() -> None:
    """Without verdict a limit is a failure; here there are verdicts, and the user has chosen none of them."""
    log = inspect_logs.header() | {
        "samples": [
            inspect_logs.sample(limit={"type": "message", "limit": 4}, scores=scores, epoch=epoch)
            for epoch, scores in enumerate(({"a": {"value": "C"}, "b": {"value": "I"}}, {}), 1)
        ]
    }
    corpus = read(log)
    assert [trial.verdict for trial in corpus.trials] == ["unscored", "unscored"]
    counts = count_task(corpus.tasks[0])
    assert (counts.unscored, counts.limit_unscored) == (("1",), ("2",))
    assert slugs(corpus).count("no_outcome") == 1
    chosen = read(log, scorer="a")
    assert (count_task(chosen.tasks[0]).passed, count_task(chosen.tasks[0]).limit_unscored) == (("1",), ("2",))


def test_the_consequence_of_no_outcome_holds_with_and_without_the_option() -> None:
    said = told(read([tau_trial(reward=None)]), "no_outcome").details
    assert said == ("it is listed; pass^k counts it, as failed, only with --unscored fail",)
