"""The whole report card of the recorded airline run, against figures known without this program.

pass^1 to pass^4 are the published ones of the run (0.420, 0.273, 0.220, 0.200 for 50 tasks of four trials);
counts were taken from the file by hand; intervals, variance components and Cochran's Q come from the golden
cases of the same run; the rest follows from the histogram 14 12 10 4 10 by the formulas in the comments.
"""

from __future__ import annotations

import json
from math import comb
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import run
from tests.reliability.golden import Case

HISTOGRAM = (14, 12, 10, 4, 10)


@pytest.fixture(scope="module")
def log(shared: Path) -> str:
    path = shared / "data" / "tau_bench" / "gpt-4o-airline.json"
    if not path.is_file():
        pytest.skip("no recorded airline run beside the project")
    return str(path)


@pytest.fixture(scope="module")
def card(log: str) -> dict[str, Any]:
    made = run("report", log, "--no-config", "--seed", "7", "--plan", "--json")
    assert made.code == 0
    found: dict[str, Any] = made.json
    return found


def metric(card: dict[str, Any], name: str, k: int) -> dict[str, Any]:
    (found,) = [one for one in card["statistics"]["metrics"] if (one["name"], one["k"]) == (name, k)]
    return dict(found)


def test_the_histogram_of_the_file_gives_every_curve(card: dict[str, Any], log: str) -> None:
    rewards: dict[int, list[float]] = {}
    for entry in json.loads(Path(log).read_text(encoding="utf-8")):
        rewards.setdefault(entry["task_id"], []).append(entry["reward"])
    passes = [sum(abs(value - 1) < 1e-6 for value in row) for row in rewards.values()]
    assert tuple(passes.count(c) for c in range(5)) == HISTOGRAM
    assert card["statistics"]["histogram"] == [{"n": 4, "tasks_by_passes": list(HISTOGRAM)}]
    for k, published in enumerate((0.420, 0.273, 0.220, 0.200), 1):
        hat = sum(tasks * comb(c, k) / comb(4, k) for c, tasks in enumerate(HISTOGRAM)) / 50
        at = sum(tasks * (1 - comb(4 - c, k) / comb(4, k)) for c, tasks in enumerate(HISTOGRAM)) / 50
        assert (
            metric(card, "pass_hat", k)["estimate"] == pytest.approx(hat) == pytest.approx(published, abs=5e-4)
        )
        assert metric(card, "pass_at", k)["estimate"] == pytest.approx(at)
    trials = card["trials"]
    assert (trials["expected"], trials["completed"], trials["counted"]) == (None, 200, 200)
    assert card["suite"]["micro"] == pytest.approx(84 / 200)


def test_intervals_are_those_of_the_golden_cases(card: dict[str, Any], cases: dict[str, Case]) -> None:
    golden = cases["gpt4o_airline_intervals"]["expected"]
    rows = {(name, int(k)): row for name in ("pass_hat", "pass_at") for k, row in golden[name].items()}
    assert len(rows) == 8
    for (name, k), row in rows.items():
        found = metric(card, name, k)
        assert found["stderr"] == pytest.approx(row["stderr"], abs=1e-9)
        for end in ("low", "high", "n_eff", "units"):
            assert found["interval"][end] == pytest.approx(row[end], abs=1e-9)
        assert abs(found["bootstrap"]["low"] - row["low"]) < 0.03
        assert (found["bootstrap"]["resamples"], found["bootstrap"]["seed"]) == (9_999, 7)


def test_spread_gap_and_shared_faults(card: dict[str, Any]) -> None:
    found = card["statistics"]
    # c/4 (1 - c/4) 4/3 averaged, and the variance of c/4 less a quarter of that.
    within = sum(tasks * c / 4 * (1 - c / 4) * 4 / 3 for c, tasks in enumerate(HISTOGRAM)) / 50
    variance = sum(tasks * (c / 4 - 0.42) ** 2 for c, tasks in enumerate(HISTOGRAM)) / 49
    spread = found["spread"]
    assert spread["within"] == pytest.approx(within)
    assert spread["between"] == pytest.approx(variance - within / 4)
    assert [round(one["mean"], 2) for one in spread["trial_index_means"]] == [0.42, 0.44, 0.40, 0.42]
    assert (round(spread["cochran_q"], 4), round(spread["cochran_p"], 4)) == (0.2727, 0.9651)
    assert found["gap"] == pytest.approx(0.22)
    assert found["flip_rate"] == 26 / 50
    contributions = [one["gap"] for one in found["per_task"]]
    assert sum(contributions) / 50 == pytest.approx(found["gap"])


def test_the_plan_says_how_far_off_the_cheap_way_is(card: dict[str, Any]) -> None:
    """21 tasks passed their first trial, and 10 of these passed the other three."""
    plan = card["statistics"]["plan"]
    assert len(plan["failed"]) == 40
    assert len(plan["sampled"]) + len(plan["left"]) == 10
    assert plan["naive"] == pytest.approx((21 * 1.0 + 29 * 0.0) / 50)
    assert plan["measured"] == pytest.approx(0.2)


def test_what_is_absent_is_null_with_a_reason(card: dict[str, Any]) -> None:
    found = card["statistics"]
    assert (found["cost"]["total"], found["cost"]["reason"]) == (None, "cost is not recorded")
    assert found["latency"] is None
    assert found["coverage"]["human_minutes"] is None
    assert "independence of trials" in found["not_measured"]
    assert "seeds (missing in 200 of 200 trials)" in found["not_measured"]
    assert all(not one["values"] for one in found["versions"].values())


def test_nodes_hold_the_exact_test_and_their_ceiling(card: dict[str, Any]) -> None:
    """Each node's tables give its mid-p by convolution, and its ceiling by adding its failing trials."""
    from scipy.stats import false_discovery_control, hypergeom  # type: ignore[import-untyped]

    nodes, counts = (
        card["statistics"]["nodes"],
        {t["task_id"]: (t["n_counted"], t["passed"]) for t in card["tasks"]},
    )
    assert len(counts) == 50
    decided = []
    for node in nodes:
        start, chances = 0, [1.0]
        used = [t for t in node["tables"] if 0 < t["r"] < t["n"] and 0 < t["c"] < t["n"]]
        for t in used:
            low, high = max(0, t["r"] + t["c"] - t["n"]), min(t["r"], t["c"])
            own = [float(hypergeom.pmf(a, t["n"], t["c"], t["r"])) for a in range(low, high + 1)]
            start += low
            chances = [
                sum(chances[i] * own[j - i] for i in range(len(chances)) if 0 <= j - i < len(own))
                for j in range(len(chances) + len(own) - 1)
            ]
        if used:
            seen = chances[sum(t["a"] for t in used) - start]
            mid = sum(x for x in chances if x <= seen * (1 + 1e-9)) - seen / 2
            assert node["mid_p"] == pytest.approx(mid)
            decided += [(node, mid)] if node["q"] is not None else []
        repaired = {t["task_id"]: t["a"] for t in node["tables"]}
        ceiling = sum(comb(c + repaired.get(task, 0), 4) for task, (_, c) in counts.items()) / 50
        assert node["ceiling"] == {"k": 4, "value": pytest.approx(ceiling)}
    assert len(decided) == card["statistics"]["nodes_tested"]
    assert [node["q"] for node, _ in decided] == pytest.approx(
        list(false_discovery_control([mid for _, mid in decided]))
    )


def test_the_page_says_it_all_at_eighty_columns(log: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    made = run("report", log, "--no-config", "--quiet")
    lines = made.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "50 tasks · 200 trials · 84 passed · 116 failed"
    assert lines[1] == "trials: expected unknown (no plan) · completed 200 · counted 200"
    assert "pass^k   0.42        0.27        0.22        0.20" in lines
    assert "  95 %   0.32–0.53   0.18–0.40   0.13–0.35   0.11–0.34" in lines
    assert "gap to pass^4 0.22 · tasks always 10, sometimes 26 (flip rate 0.52), never 14" in lines
    assert "standard error of pass^1 0.052, twice the trials 0.049, twice the tasks 0.037" in lines
    assert next(at for at, line in enumerate(lines) if line.startswith("task ")) <= 32
    text = " ".join(made.out.split())
    assert "26 of 50 tasks are mixed" in text
    assert "14 never pass · 10 always pass" in text
    assert "all figures hold for this agent, model, task set and configuration" in text
    assert "assumes independent trials with a fixed success probability per task" in text
    brief = run("report", log, "--no-config", "--quiet", "--brief", "--name", "airline").out.splitlines()
    assert brief == [
        "airline: 50 tasks, 4 trials each",
        "mean 0.42 (SE 0.052)",
        "pass^4 0.20 (0.11–0.34)",
        "judge-corrected: no calibration given",
        "hard gates: none set",
    ]
