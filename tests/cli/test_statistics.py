"""The figures beside the curve: intervals, --stats, --brief, slices, weights, plan, hard gates, cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import call, parcel, record, run, say, write_records
from trajdiff.schema import violations


def passes(task: str, c: int, n: int = 4, **more: Any) -> list[dict[str, Any]]:
    size = {"pass": "small", "fail": "large"}
    words = ["pass" if i < c else "fail" for i in range(n)]
    return [parcel(task, str(i), word, size[word], **more) for i, word in enumerate(words)]


@pytest.fixture
def shop(here: Path) -> Path:
    """Twelve tasks of four trials: five always, one never, and six mixed (3, 3, 3, 2, 2, 1 passes)."""
    counts = [4] * 5 + [0, 3, 3, 3, 2, 2, 1]
    found = [entry for at, c in enumerate(counts) for entry in passes(f"t{at}", c)]
    write_records(here / "traces" / "parcels.jsonl", found)
    return here


def test_the_interval_of_the_documented_screen_stands_below_the_curve(shop: Path) -> None:
    lines = run("report").out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("pass^k"))
    assert lines[at].split() == ["pass^k", "0.71", "0.57", "0.48", "0.42"]
    assert lines[at + 1].split()[2:6] == ["0.47–0.87", "0.32–0.79", "0.23–0.74", "0.17–0.72"]
    assert "boot." not in run("report").out


@pytest.mark.parametrize("columns", ["80", "60", "100"])
@pytest.mark.parametrize("more", [(), ("--stats", "--plan", "--by", "tools")])
def test_no_line_is_wider_than_the_screen(
    shop: Path, more: tuple[str, ...], columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for ascii_too in ((), ("--ascii",)):
        out = run("report", *more, *ascii_too).out
        assert max(map(len, out.splitlines())) <= int(columns)


def test_stats_add_bootstrap_errors_and_each_task(shop: Path) -> None:
    out = run("report", "--stats", "--seed", "7").out
    assert "9,999 resamples, seed 7" in out
    for heading in ("each task", "across tasks", "spread", "consistency", "versions"):
        assert f"\n{heading}\n" in out
    assert "tasks with 0 to 4 passes of 4: 1 1 2 3 5" in out


def test_brief_is_five_lines(shop: Path) -> None:
    made = run("report", "--brief", "--name", "shop")
    lines = made.out.splitlines()
    assert len(lines) == 5
    assert lines[0] == "shop: 12 tasks, 4 trials each"
    assert lines[1].startswith("mean 0.71 (SE 0.")
    assert lines[2] == "pass^4 0.42 (0.17–0.72)"
    assert lines[4] == "hard gates: none set"


def test_json_carries_the_whole_card_and_fits_its_schema(shop: Path) -> None:
    found = run("report", "--json", "--by", "tools", "--plan").json
    assert not list(violations(found, "report"))
    card = found["statistics"]
    first = found["suite"]["pass_hat_k"][0]
    assert (round(first["low"], 3), round(first["high"], 3)) == (0.475, 0.867)
    metrics = {(one["name"], one["k"]): one for one in card["metrics"]}
    assert metrics["pass_hat", 4]["interval"]["units"] == 12
    assert metrics["pass_hat", 4]["bootstrap"]["resamples"] == 9_999
    assert metrics["pass_hat", 4]["bootstrap"]["seed"] == 0
    assert card["histogram"] == [{"n": 4, "tasks_by_passes": [1, 1, 2, 3, 5]}]
    assert card["plan"]["failed"] == ["t5", "t6", "t7", "t8", "t9", "t10", "t11"]
    assert sorted(card["plan"]["sampled"] + card["plan"]["left"]) == ["t0", "t1", "t2", "t3", "t4"]
    assert "independence of trials" in card["not_measured"]
    assert card["cost"]["reason"] == "cost is not recorded"


def test_one_task_has_no_interval_and_says_so(here: Path) -> None:
    write_records(here / "traces" / "parcels.jsonl", passes("a", 2))
    assert "1 task: no interval" in run("report").out
    assert run("report", "--brief").out.splitlines()[1] == "mean 0.50 (1 task: no interval)"
    found = run("report", "--json").json["statistics"]["metrics"]
    assert {one["interval"] for one in found} == {None}
    assert {one["reason"] for one in found} == {"1 task: no interval"}


@pytest.mark.parametrize("c", [0, 4])
def test_tasks_that_all_agree_have_a_degenerate_bootstrap(here: Path, c: int) -> None:
    write_records(here / "traces" / "parcels.jsonl", [e for t in "abc" for e in passes(t, c)])
    out = run("report", "--stats").out
    assert "degenerate; 9,999 resamples" in out
    assert "few tasks (3)" in out


def test_one_trial_per_task_is_reported(here: Path) -> None:
    write_records(here / "traces" / "one.jsonl", [e for t in "xyz" for e in passes(t, int(t == "x"), 1)])
    (here / "traces" / "parcels.jsonl").unlink()
    made = run("report", "traces", "--stats")
    assert made.code == 0
    assert "pass^k   0.33" in made.out


def test_a_number_of_trials_that_depends_on_outcomes_has_no_curve(here: Path) -> None:
    found = [e for t in range(5) for e in passes(f"s{t}", 1, 1)]
    found += [e for t in range(3) for e in [parcel(f"l{t}", str(i), "fail", "large") for i in range(4)]]
    for entry in found:
        del entry["task"]["expected_trials"]
    write_records(here / "traces" / "parcels.jsonl", found)
    out = run("report").out
    assert "number of trials depends on outcomes" in out
    assert "pass^k  " not in out
    assert run("check", "--min", "pass^1=0.01").code == 3


def test_slices_by_what_a_task_requires_and_by_metadata(here: Path) -> None:
    found = passes("a", 2, metadata={"lang": "de"}) + passes("b", 4, metadata={"lang": "en"})
    found += [
        record("c", str(i), "pass", say("user", "hello"), say("agent", "hello"), metadata={"lang": "de"})
        for i in range(4)
    ]
    write_records(here / "traces" / "parcels.jsonl", found)
    tools = run("report", "--by", "tools", "--json").json["statistics"]["slices"]
    assert [(one["value"], one["tasks"], one["passed"]) for one in tools] == [
        ("0 tools", 1, 4),
        ("2 tools", 2, 6),
    ]
    langs = run("report", "--by", "lang", "--json").json["statistics"]["slices"]
    assert [(one["value"], one["tasks"], one["trials"]) for one in langs] == [("de", 2, 8), ("en", 1, 4)]
    assert all(one["few_tasks"] for one in langs)
    ends = run("report", "--by", "termination", "--json").json["statistics"]["slices"]
    assert [(one["value"], one["tasks"], one["pass_hat_k"]) for one in ends] == [("user_done", None, [])]
    wrong = run("report", "--by", "colour")
    assert wrong.code == 2
    assert 'no task and no trial has "colour"' in wrong.err


def test_weights_give_a_further_row_with_their_source(shop: Path) -> None:
    weights = {"source": "traffic log", "weights": {f"t{i}": 1.0 for i in range(11)} | {"t11": 5.0}}
    (shop / "w.json").write_text(json.dumps(weights))
    made = run("report", "--weights", "w.json")
    assert "weighted by traffic log: pass^1 0.59" in made.out
    assert "pass^k   0.71" in made.out
    rows = "task_id,weight,source\n" + "".join(f"t{i},1,log\n" for i in range(12))
    (shop / "w.csv").write_text(rows)
    found = run("report", "--weights", "w.csv", "--json").json["statistics"]["weighted"]
    assert found["kish"] == 12
    assert found["pass_hat_k"][0]["value"] == pytest.approx(34 / 48)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"source": "", "weights": {"t0": 1}}', "weights without a source"),
        ('{"source": "x", "weights": {"nobody": 1}}', 'weights name tasks that were not read: "nobody"'),
        ('{"source": "x", "weights": {"t0": -1}}', "not a finite number from 0"),
        ('{"source": "x", "weights": {"t0": NaN}}', "not a finite number from 0"),
        ('{"source": "x", "weights": {"t0": 0}}', "all weights are 0"),
        ('{"source": "x"', "cannot be read as JSON"),
        ("task_id,weight\nt0,1\n", "weights need the columns"),
        ("task_id,weight,source\nt0,x,log\n", "line 2: weight 'x' is no number"),
        ("task_id,weight,source\nt0,1,log\nt0,1,log\n", 'line 3: task "t0" has two weights'),
        ("", "weights need the columns"),
    ],
)
def test_bad_weights_are_usage_errors(shop: Path, text: str, message: str) -> None:
    (shop / "w").write_text(text)
    made = run("report", "--weights", "w")
    assert made.code == 2
    assert message in made.err
    assert run("report", "--weights", "nowhere").code == 2


GATES = """
[[gate]]
name = "no large pick-up"
tool = "book_*"
arguments = {size = "large"}

[[gate]]
name = "look before booking"
tool = "book_pickup"
needs = "get_parcel"
"""


def test_hard_gates_stand_apart_with_their_bound(shop: Path) -> None:
    (shop / "trajdiff.toml").write_text(GATES)
    out = run("report").out
    assert (
        "hard gate no large pick-up: BROKEN by 14 trials in 7 tasks (t5/0: calls book_pickup, 13 more)" in out
    )
    assert "hard gate look before booking: 0 of 48 trials (at most 0.221 of tasks)" in " ".join(out.split())
    found = run("report", "--json").json["statistics"]["hard_gates"]
    assert [(one["trials"], one["tasks"]) for one in found] == [(14, 7), (0, 0)]
    assert run("report", "--brief").out.splitlines()[4] == "hard gates: no large pick-up BROKEN by 14 trials"
    assert "**hard gate no large pick-up: BROKEN" in run("report", "--format", "markdown").out


def test_a_gate_that_needs_a_step_is_broken_by_its_absence_and_by_its_failure(here: Path) -> None:
    look = call("get_parcel", {"size": "small"}, parcel_id="P-1")
    book = call("book_pickup", {"status": "booked"}, parcel_id="P-1", size="small")
    failed = {**look, "result": {"text": "no such parcel", "is_error": True}}
    found = [
        record("a", "0", "pass", look, book),
        record("a", "1", "pass", book, look),
        record("a", "2", "pass", failed, book),
        record("a", "3", "fail", look),
    ]
    write_records(here / "traces" / "parcels.jsonl", found)
    (here / "trajdiff.toml").write_text(GATES)
    gates = run("report", "--json").json["statistics"]["hard_gates"]
    assert [one["trial_id"] for one in gates[1]["references"]] == ["1", "2"]


def test_cost_is_that_of_all_trials_per_accepted_delivery(here: Path) -> None:
    found = passes("a", 2, cost_usd=0.5) + passes("b", 0, cost_usd=1.0)
    del found[3]["cost_usd"]
    write_records(here / "traces" / "parcels.jsonl", found)
    assert (
        "cost 5.50 USD for all trials, 2.75 per accepted (2), lower bound (1 of 8 trials" in run("report").out
    )
    write_records(here / "traces" / "parcels.jsonl", passes("b", 0, cost_usd=1.0))
    assert "cost no successful delivery (spent 4.00 USD)" in run("report").out
    found = run("report", "--json").json["statistics"]["cost"]
    assert (found["per_accepted"], found["reason"]) == (None, "no successful delivery")


def test_the_same_figures_whatever_the_order_of_records(shop: Path) -> None:
    path = shop / "traces" / "parcels.jsonl"
    before = run("report", "--stats", "--plan").out
    path.write_text("".join(reversed(path.read_text().splitlines(keepends=True))))
    assert run("report", "--stats", "--plan").out == before


def test_cost_per_delivery_has_an_interval_over_tasks(here: Path) -> None:
    """Every task costs four dollars; a delivery costs 4 / c, so resampled tasks span 1 to 4 at most."""
    counts = [4, 4, 4, 3, 2, 2, 1, 1, 1, 1]
    found = [entry for at, c in enumerate(counts) for entry in passes(f"t{at}", c, cost_usd=1.0)]
    write_records(here / "traces" / "parcels.jsonl", found)
    cost = run("report", "--json").json["statistics"]["cost"]
    assert cost["per_accepted"] == pytest.approx(40 / sum(counts))
    assert 1 < cost["interval"]["low"] < cost["per_accepted"] < cost["interval"]["high"] < 4
    assert cost["interval"]["share_without_delivery"] == 0
    assert "tasks resampled)" in " ".join(run("report", "--stats").out.split())
    assert "tasks resampled)" not in run("report").out
    # One of two tasks never delivers: a quarter of the draws hold it twice, and no upper end can be given.
    found = passes("a", 0, cost_usd=1.0) + passes("b", 4, cost_usd=1.0)
    write_records(here / "traces" / "parcels.jsonl", found)
    made = run("report", "--json").json["statistics"]["cost"]["interval"]
    assert (made["low"], made["high"]) == (1.0, None)
    assert made["share_without_delivery"] == pytest.approx(0.25, abs=0.02)
    del found[0]["cost_usd"]
    write_records(here / "traces" / "parcels.jsonl", found)
    assert run("report", "--json").json["statistics"]["cost"]["interval"] is None
