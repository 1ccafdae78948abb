"""Published multi-trial runs: the published pass^k, few false alarms, and roots above every floor.

Skipped where the recorded data is not beside the project.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

import pytest

from trajdiff.analysis import analyse
from trajdiff.divergence.finding import FindingKind
from trajdiff.importers import load
from trajdiff.model import Verdict
from trajdiff.report import Report, build_report
from trajdiff.settings import Settings

AIRLINE = "data/tau_bench/gpt-4o-airline.json"
RETAIL = "data/tau2_bench/retail-gpt-4.1-mini.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A published run: its report, and the rewards as they stand in the file."""

    report: Report
    rewards: dict[str, list[float]]


def run(path: Path) -> Run:
    found = load([str(path)])
    raw = json.loads(path.read_text("utf-8"))
    rewards = defaultdict(list)
    for row in raw["simulations"] if isinstance(raw, dict) else raw:
        reward = row["reward_info"]["reward"] if "reward_info" in row else row["reward"]
        rewards[str(row["task_id"])].append(reward)
    return Run(report=build_report(found, analyse(found, Settings()), Settings()), rewards=dict(rewards))


@pytest.fixture(scope="module")
def airline(shared: Path) -> Run:
    return run(shared / AIRLINE)


@pytest.fixture(scope="module")
def retail(shared: Path) -> Run:
    return run(shared / RETAIL)


def pass_hat(rewards: dict[str, list[float]], k: int) -> float:
    """The published formula on the rewards of the file."""
    passed = [(sum(abs(r - 1) < 1e-6 for r in row), len(row)) for row in rewards.values()]
    return sum(comb(c, k) / comb(n, k) for c, n in passed) / len(passed)


def test_airline(airline: Run) -> None:
    suite = airline.report.suite
    assert (suite.tasks, suite.counted) == (50, 200)
    assert (suite.sometimes, suite.always, suite.never) == (26, 10, 14)
    assert [round(value, 4) for value in suite.pass_hat_k] == [0.42, 0.2733, 0.22, 0.2]
    assert list(suite.pass_hat_k) == pytest.approx([pass_hat(airline.rewards, k) for k in (1, 2, 3, 4)])


def test_retail(retail: Run) -> None:
    suite = retail.report.suite
    assert (suite.tasks, suite.counted) == (97, 291)
    assert (suite.sometimes, suite.always, suite.never) == (17, 54, 26)
    assert [round(value, 4) for value in suite.pass_hat_k] == [0.6323, 0.5739, 0.5567]
    assert list(suite.pass_hat_k) == pytest.approx([pass_hat(retail.rewards, k) for k in (1, 2, 3)])


@pytest.mark.parametrize("name", ["airline", "retail"])
def test_findings_fit_the_verdicts(name: str, request: pytest.FixtureRequest) -> None:
    """Every failed trial has one answer; a task is called what its trials make it."""
    found: Run = request.getfixturevalue(name)
    kinds: Counter[str] = Counter()
    for task in found.report.tasks:
        verdicts = Counter(trial.verdict for trial in task.trials)
        passed, failed = verdicts[Verdict.PASS], verdicts[Verdict.FAIL]
        assert len(task.finding.divergences) == failed
        state = "always" if not failed else "mixed" if passed else "never"
        kinds[state] += 1
        assert (task.finding.kind is FindingKind.ALWAYS_PASS) == (state == "always")
        assert (task.finding.kind is FindingKind.NEVER_PASS) == (state == "never")
    suite = found.report.suite
    assert kinds == {"always": suite.always, "mixed": suite.sometimes, "never": suite.never}


@pytest.mark.parametrize("name", ["airline", "retail"])
def test_few_passed_trials_are_accused(name: str, request: pytest.FixtureRequest) -> None:
    found: Run = request.getfixturevalue(name)
    check = found.report.self_check
    several = [sum(abs(r - 1) < 1e-6 for r in row) for row in found.rewards.values()]
    assert check.passing_trials == sum(count for count in several if count > 1)
    assert check.false_alarms == len(check.alarms)
    assert check.false_alarms <= 0.02 * check.passing_trials


def scores(shared: Path, labels: str, traces: str, folder: Path) -> dict[str, Any]:
    """What the scorer says of the divergences that the command line exports."""
    predictions = folder / "divergences.jsonl"
    export = [sys.executable, "-m", "trajdiff", "export", "divergences", str(shared / traces), "--no-config"]
    project = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [*export, "--to", str(predictions)], cwd=project, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    scorer = [sys.executable, str(shared / "bench/score_localization.py"), str(shared / "labels" / labels)]
    scored = subprocess.run(
        [*scorer, str(predictions), str(shared / traces), "--json"], capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(scored.stdout)
    return found


def test_airline_roots_against_labels(shared: Path, tmp_path: Path) -> None:
    found = scores(shared, "airline.jsonl", AIRLINE, tmp_path)
    rates = found["rates"]
    assert found["n"] == 60
    assert rates["missing from predictions"] == 0
    assert rates["exact"] >= 0.50
    assert rates["acceptable"] >= 0.60
    assert len(found["floors"]) >= 4
    for name, (exact, acceptable, within_three) in found["floors"].items():
        assert rates["exact"] > exact, name
        assert rates["acceptable"] > acceptable, name
        assert rates["within 3"] > within_three, name
    assert rates["kind"] > max(v for name, v in found["constant_floors"].items() if "kind" in name)


def test_what_is_claimed_about_a_trial_is_seen_in_that_trial(airline: Run, retail: Run) -> None:
    """No counted deviation is in none of the failed trials, and no missing step is missing in every pass."""
    for found in (airline, retail):
        for task in found.report.tasks:
            for one in task.finding.divergences:
                if one.support is None or one.abstained:
                    continue
                assert one.support.failed_with >= 1, (task.task_id, one.trial_id)
                if one.support.passed:
                    assert one.support.passed_with < one.support.passed, (task.task_id, one.trial_id)
