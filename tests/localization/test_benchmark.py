"""The benchmark of places: what it prints on the sample traces, and floors on recorded runs where they are."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.localization import (
    COLUMNS,
    Measurer,
    injected_result,
    lines_of,
    sample_result,
    shared_results,
    stripped_results,
)
from tests.benchmarks.stripping import without_gold
from trajdiff.localization import RULES, Score, read_labels


def _rates(score: Score) -> dict[str, float]:
    return {name: getattr(score, name) / score.n for name in COLUMNS}


def test_on_the_sample_traces() -> None:
    """Every known root is found, whoever acted, and where nothing is to be said nothing is."""
    result = sample_result(Measurer())
    whole = result.measured.overall
    assert whole.n == whole.exact == whole.acceptable == whole.near == whole.either == whole.kind == whole.actor
    assert (result.silent.n, result.silent.abstained) == (1, 1)
    assert result.analysis.self_check.false_alarms == 0
    assert tuple(result.measured.rules) == RULES
    assert all(score.exact < whole.exact / 2 for score in result.measured.rules.values())


def test_the_figures_are_counted_again_from_the_known_roots(project: Path) -> None:
    """The places are moved by hand: one trial is off by one, one by four, one by all."""
    known = json.loads((project / "tests/samples/known_roots.json").read_text("utf-8"))
    rows = [k for k in known if k["root"] is not None and k["kind"] == ["wrong_argument"]][:3]
    assert len(rows) == 3
    moved = [
        {"task_id": k["task_id"], "trial_id": k["trial_id"], "critical": [k["root"] + off], "kinds": kinds}
        for k, off, kinds in zip(rows, (1, 4, 0), (["wrong_answer"], ["loop"], ["wrong_argument"]), strict=True)
    ]
    labels = read_labels("\n".join(map(json.dumps, moved)), "moved")
    score = Measurer().result("moved", labels, project / "sample_traces").measured.overall
    # A wrong argument where readers say wrong answer is the same thing said otherwise; a loop is not.
    assert (score.n, score.exact, score.near, score.kind) == (3, 1, 2, 2)


def test_what_is_printed_is_the_same_every_time() -> None:
    first, second = (list(lines_of(sample_result(Measurer()), times=False)) for _ in range(2))
    assert first == second
    assert not any("seconds" in line for line in first)
    assert any("seconds" in line for line in lines_of(sample_result(Measurer()), times=True))


def test_without_recorded_runs_it_says_so(tmp_path: Path, project: Path) -> None:
    command = [sys.executable, "-m", "tests.benchmarks.localization", "--shared", str(tmp_path)]
    ran = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "only the sample traces were measured" in ran.stdout
    assert "divergences" in ran.stdout


def test_what_a_benchmark_knows_is_taken_out_where_a_trial_passed() -> None:
    def result(task: int, reward: float) -> dict[str, object]:
        task_info = {"instruction": "You want a refund.", "actions": [{"name": "refund"}], "outputs": ["24"]}
        info = {"task": task_info, "reward_info": {"reward": reward, "actions": [{"name": "refund"}]}}
        return {"task_id": task, "trial": 0, "reward": reward, "info": info, "traj": []}

    rows = [result(1, 1.0), result(1, 0.0), result(2, 0.0), result(3, 0.0)]
    rows[3]["info"] = {"task": {"actions": []}, "reward_info": None}
    rows.append(result(3, 1.0))
    bare = without_gold(rows)
    assert (
        bare[0]["info"] == bare[1]["info"] == {"task": {"instruction": "You want a refund."}, "reward_info": {}}
    )
    assert bare[2] == rows[2]
    # A trial that was cut was never scored: that it was is no detail of a reward.
    assert bare[3]["info"] == {"task": {}, "reward_info": None}
    assert [row["reward"] for row in bare] == [row["reward"] for row in rows]


#: Somewhat below what is reached: exact, acceptable, kind, actor.
FLOORS = {
    "airline": (0.73, 0.83, 0.83, 0.88),
    "retail": (0.41, 0.75, 0.79, 0.79),
    "four agents": (0.58, 0.71, 0.70, 0.83),
    "no pass": (0.53, 0.76, 0.75, 0.78),
}


@pytest.mark.slow
def test_floors_on_recorded_runs(shared: Path) -> None:
    measurer = Measurer()
    results = {result.name: result for result in shared_results(measurer, shared)}
    for name, floors in FLOORS.items():
        score = results[name].measured.overall
        assert not results[name].measured.unmatched
        reached = [_rates(score)[column] for column in ("exact", "acceptable", "kind", "actor")]
        assert all(rate >= floor for rate, floor in zip(reached, floors, strict=True)), (name, reached)
        best = max(rule.exact for rule in results[name].measured.rules.values())
        assert score.exact > best, f"{name}: a rule of thumb is as good"
    for name, passes in (("airline", 72), ("retail", 172)):
        check = results[name].analysis.self_check
        assert (check.false_alarms, check.passing_trials) == (0, passes)
    injected, claims = injected_result(measurer, shared)
    rates = _rates(injected.measured.overall)
    assert rates["exact"] >= 0.83
    assert rates["acceptable"] >= 0.88
    assert claims.total == (0, 87)


@pytest.mark.slow
def test_tasks_with_passes_never_use_what_the_benchmark_knows(shared: Path, tmp_path: Path) -> None:
    measurer = Measurer()
    whole = {result.name: result for result in shared_results(measurer, shared)}
    for bare in stripped_results(shared, tmp_path):
        assert bare.measured.overall == whole[bare.name].measured.overall
        assert bare.analysis.self_check == whole[bare.name].analysis.self_check
