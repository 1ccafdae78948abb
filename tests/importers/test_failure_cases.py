"""Failure cases of public bug reports that concern reading and belong to no single format."""
# ruff: noqa: N802 - tests are named after the failure cases they hold

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import run
from tests.importers.fixtures import jsonl, put, read, record, simulation, tau2_results, tau_trial, told
from trajdiff.analysis import analyse
from trajdiff.importers import ReadOptions, load
from trajdiff.model import Corpus, Verdict
from trajdiff.reliability.counting import count_task
from trajdiff.render.marks import UNICODE
from trajdiff.render.registry import by_name
from trajdiff.render.view import View
from trajdiff.report import Report, build_report
from trajdiff.settings import Settings


def reported(corpus: Corpus, **settings: Any) -> Report:
    used = Settings(**settings)
    return build_report(corpus, analyse(corpus, used), used)


def shown(report: Report) -> str:
    text = by_name("report", "text").render(report, View(width=100, color=False, marks=UNICODE))
    assert isinstance(text, str)
    return text


def test_VER_02_a_task_of_which_nothing_was_scored_stays_and_coverage_is_said() -> None:
    rows = [record("t1", str(n), reward=None, verdict="pass" if n == 0 else "infra") for n in range(4)] + [
        record("t2", str(n), reward=None, verdict="infra") for n in range(4)
    ]
    report = reported(read(jsonl(*rows)), infra="exclude")
    assert [(task.task_id, task.reliability.n) for task in report.tasks] == [("t1", 1), ("t2", 0)]
    text = shown(report)
    assert "completed 8 · counted 1" in text
    assert "t2" in text


def test_VER_06_a_score_that_is_no_number_shrinks_n_and_is_shown() -> None:
    corpus = read([tau_trial(trial=0), tau_trial(trial=1), tau_trial(trial=2, reward=math.nan)])
    counts = count_task(corpus.tasks[0])
    assert (counts.passed, counts.unscored) == (("0", "1"), ("2",))
    (task,) = reported(corpus, k=(1, 2, 3)).tasks
    assert task.reliability.n == 2
    # k = 3 has no value: one of the three trials was never judged.
    assert task.reliability.pass_hat_k == (1.0, 1.0)
    assert "4/2" in shown(reported(corpus, k=(1, 2, 3)))


TRACES = """
task    = "trace.item"
trial   = "trace.id"
outcome = {path = "trace.scores.correct", pass = [1], fail = [0], missing = "unscored"}
steps   = "observations[?type == 'TOOL'].{tool: name, arguments: input, result: output}"
"""


def trace(number: int, score: Any = None) -> dict[str, Any]:
    made = {"type": "TOOL", "name": "look", "input": {"n": number}, "output": "x"}
    scores = {} if score is None else {"correct": score}
    return {"trace": {"id": f"tr-{number}", "item": "i1", "scores": scores}, "observations": [made]}


def test_TRI_11_repeated_items_are_one_trial_a_trace_and_scores_are_joined_from_both_places(
    tmp_path: Path,
) -> None:
    """One score hangs on the trace, one on the item; a third trace was written and never came back."""
    import tomllib

    for number, score in ((1, 1), (2, None)):
        put(tmp_path, f"trace-{number}.json", trace(number, score))
    scores = put(tmp_path, "scores.csv", b"task,trial,passed\ni1,tr-2,false\ni1,tr-3,true\n")
    options = ReadOptions(map="traces", maps={"traces": tomllib.loads(TRACES)}, outcomes=(str(scores),))
    corpus = load([str(tmp_path / "trace-*.json")], options)
    (task,) = corpus.tasks
    assert [(one.trial_id, one.verdict) for one in task.trials] == [("tr-1", "pass"), ("tr-2", "fail")]
    assert "1 row names no trial" in told(corpus, "unmatched_row").message
    assert task.missing == ("tr-3",)


def test_CMP_02_sampling_is_said_where_trials_differ_at_temperature_0(tmp_path: Path) -> None:
    pair = tau2_results(simulation(), simulation("s2", trial=1, reward=0.0, messages=[]))
    corpus = read(pair)
    assert {str(trial.provenance.sampling) for trial in corpus.trials} == {"{'temperature': 0.0}"}
    assert not [one for one in corpus.diagnostics if one.slug == "mixed_provenance"]
    result = run("report", str(put(tmp_path, "a.json", pair)), "--stats", "--no-config")
    assert "sampling: temperature=0.0" in result.out
    assert "pass^1" in result.out


@pytest.mark.parametrize("scorers", [("judge", "judge"), ("judge 1", "judge 2")])
def test_CMP_03_two_verdicts_of_one_path_are_no_divergence_of_the_agent(scorers: tuple[str, str]) -> None:
    rows = [
        record(trial_id=str(n), reward=None, verdict={"state": state, "raw": raw, "scorer": scorer})
        for n, (state, raw, scorer) in enumerate(
            (("pass", 0.81, scorers[0]), ("fail", 0.79, scorers[1]), ("pass", 0.8, scorers[0]))
        )
    ]
    corpus = read(jsonl(*rows))
    assert [trial.verdict for trial in corpus.trials] == [Verdict.PASS, Verdict.FAIL, Verdict.PASS]
    assert "same path, different outcome" in shown(reported(corpus))
    differs = [one for one in corpus.diagnostics if one.slug == "mixed_provenance"]
    assert bool(differs) == (scorers[0] != scorers[1])
    assert all("scorer: judge 1, judge 2" in one.details[0] for one in differs)
