"""compare runs, check, judges and check-curve: figures, codes, formats and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import parcel, run, write_records
from trajdiff.schema import violations

BEFORE = {"a": 4, "b": 4, "c": 2, "d": 1, "e": 3, "f": 0, "g": 2, "only-old": 4}
AFTER = {"a": 4, "b": 2, "c": 4, "d": 0, "e": 2, "f": 0, "g": 3, "only-new": 4}


def trials(counts: dict[str, int], **more: Any) -> list[dict[str, Any]]:
    made = []
    for task, c in counts.items():
        for i in range(4):
            passed = i < c
            made.append(
                parcel(task, str(i), "pass" if passed else "fail", "small" if passed else "large", **more)
            )
    return made


@pytest.fixture
def runs(here: Path) -> Path:
    write_records(here / "v1" / "r.jsonl", trials(BEFORE))
    write_records(here / "v2" / "r.jsonl", trials(AFTER))
    return here


def test_runs_are_paired_by_task(runs: Path) -> None:
    found = run("compare", "runs", "v1", "v2", "--json", "--k", "1").json
    assert not list(violations(found, "compare-runs"))
    made = found["decision"]
    # By hand: differences 0, -2/4, +2/4, -1/4, -1/4, 0, +1/4 over seven tasks, five of which differ.
    assert made["difference"] == pytest.approx(-0.25 / 7)
    assert (made["wins"], made["ties"], made["losses"], made["differing_tasks"]) == (2, 2, 3, 5)
    assert made["attainable_min_p"] == 2 / 32
    assert made["few_differ"] is True
    assert "(only 5 tasks differ)" in run("compare", "runs", "v1", "v2", "--k", "1").out
    assert (found["only_baseline"], found["only_candidate"]) == (["only-old"], ["only-new"])
    changes = {one["task_id"]: one["change"] for one in found["tasks"]}
    assert changes == {
        "a": "unchanged",
        "b": "broken",
        "c": "fixed",
        "d": "sometimes passed, now never",
        "e": "mean down, still mixed",
        "f": "unchanged",
        "g": "mean up, still mixed",
    }


def test_divergences_are_new_known_or_gone_by_what_survives_a_rerun(runs: Path) -> None:
    found = {one["task_id"]: one for one in run("compare", "runs", "v1", "v2", "--json").json["tasks"]}
    counted = {task: tuple(len(one[name]) for name in ("new", "known", "gone")) for task, one in found.items()}
    assert counted["b"] == (1, 0, 0)
    assert counted["c"] == (0, 0, 1)
    assert counted["e"] == (0, 1, 0)
    text = run("compare", "runs", "v1", "v2").out
    assert "only in one side: baseline only-old; candidate only-new" in text
    row = next(line for line in text.splitlines() if line.startswith("b "))
    assert "✓✓✓✓" in row
    assert "new divergence" in row


def test_another_divergence_instead_of_the_old_one_is_called_replaced(here: Path) -> None:
    before, after = trials({"a": 3}), trials({"a": 3})
    failed = next(one for one in after if one["verdict"] == "fail")
    failed["steps"] = [step for step in failed["steps"] if step.get("name") != "book_pickup"]
    write_records(here / "v1" / "r.jsonl", before)
    write_records(here / "v2" / "r.jsonl", after)
    row = next(line for line in run("compare", "runs", "v1", "v2").out.splitlines() if line.startswith("a "))
    assert "replaced by" in row
    assert "gone:" in row


def test_a_saved_report_stands_for_its_traces(runs: Path) -> None:
    for side in ("v1", "v2"):
        assert run("report", side, "--to", f"{side}.json").code == 0
    fresh = run("compare", "runs", "v1", "v2", "--json").json
    saved = run("compare", "runs", "v1.json", "v2.json", "--json").json
    assert saved["baseline"]["saved"] is True
    for key in ("decision", "others", "tasks", "classes", "only_baseline"):
        assert saved[key] == fresh[key]
    partial = run("report", "v1", "--task", "a", "--to", "part.json")
    assert partial.code == 0
    made = run("compare", "runs", "part.json", "v2")
    assert made.code == 3
    assert "holds 1 of 8 tasks" in made.err
    document = json.loads((runs / "v1.json").read_text())
    del document["tasks"][0]["n_counted"]
    (runs / "broken.json").write_text(json.dumps(document))
    assert run("compare", "runs", "broken.json", "v2").code == 3


def test_what_is_not_the_same_stands_above_the_figures(here: Path) -> None:
    write_records(here / "v1" / "r.jsonl", trials(BEFORE, provenance={"model": "m1", "scorer_version": "s1"}))
    write_records(here / "v2" / "r.jsonl", trials(AFTER, provenance={"model": "m2", "scorer_version": "s1"}))
    lines = run("compare", "runs", "v1", "v2").out.splitlines()
    assert lines[0] == "not like with like: model differs: m1 against m2"
    assert not any("scorer differs" in line for line in lines)
    assert run("compare", "runs", "v1", "v2", "--json").json["differs"] == ["model differs: m1 against m2"]


def test_a_run_against_itself_shows_no_difference_and_what_may_be_hidden(runs: Path) -> None:
    out = run("compare", "runs", "v1", "v1", "--exit-code")
    assert out.code == 0
    assert "no task differs; at most 0.31 of tasks may (one-sided 95 %)" in out.out
    assert run("compare", "runs", "v1", "v2", "--exit-code").code == 1


def test_runs_that_share_nothing_or_too_few_trials_are_refused(runs: Path) -> None:
    write_records(runs / "v3" / "r.jsonl", trials({"x": 2}))
    made = run("compare", "runs", "v1", "v3")
    assert made.code == 3
    assert "no task in common" in made.err
    made = run("compare", "runs", "v1", "v2", "--k", "5")
    assert made.code == 2
    assert "k is 5: a paired task has 4 counted trials" in made.err


@pytest.mark.parametrize("name", ["md", "json", "jsonl", "txt"])
def test_comparisons_are_written_as_files(runs: Path, name: str) -> None:
    assert run("compare", "runs", "v1", "v2", "--to", f"out.{name}").code == 0
    assert (runs / f"out.{name}").read_text().strip()
    assert run("compare", "runs", "v1", "v2", "--to", "out.csv").code == 2


def gates(*arguments: str) -> dict[str, str]:
    found = run("check", *arguments, "--json").json
    assert not list(violations(found, "check"))
    return {one["name"]: one["result"] for one in found["gates"]}


def test_thresholds_judge_the_lower_end_or_the_point(runs: Path) -> None:
    assert gates("v1", "--min", "mean=0.5") == {"min mean=0.5": "fail"}
    assert gates("v1", "--min", "mean=0.5", "--point") == {"min mean=0.5": "pass"}
    assert gates("v1", "--min", "pass@2=0.3") == {"min pass@2=0.3": "pass"}
    assert run("check", "v1", "--min", "mean=0.5").code == 1
    assert run("check", "v1", "--min", "mean=0.1").code == 0
    out = run("check", "v1", "--min", "pass^1=0.99").out
    assert "cannot be reached with 8 tasks (at most 0.68)" in " ".join(out.split())


def test_a_k_above_the_smallest_n_is_never_a_pass(runs: Path) -> None:
    made = run("check", "v1", "--min", "pass^5=0.01")
    assert made.code == 3
    assert "n/a (needs 5 trials, smallest n is 4)" in made.out
    write_records(runs / "one.jsonl", trials({"a": 4}))
    assert run("check", "one.jsonl", "--min", "mean=0.01").code == 3


def test_missing_trials_are_3_unless_the_failure_stands_whatever_they_hold(runs: Path) -> None:
    write_records(
        runs / "part.jsonl", [e for e in trials(BEFORE) if (e["task_id"], e["trial_id"]) != ("a", "3")]
    )
    assert run("check", "part.jsonl", "--min", "mean=0.1").code == 3
    assert run("check", "part.jsonl", "--min", "mean=0.1", "--allow-incomplete").code == 0
    assert run("check", "part.jsonl", "--min", "mean=0.99").code == 1
    # 0.35 lies between the lower end now and that of the best case: what is missing could still decide it.
    open_gate = run("check", "part.jsonl", "--min", "mean=0.99", "--max-unstable", "9").code
    assert open_gate == 1
    assert run("check", "part.jsonl", "--max-unstable", "0").code == 1
    assert run("check", "part.jsonl", "--allow-incomplete", "--max-unstable", "9").out.startswith(
        "accepted as incomplete: 1 trial missing: a/3"
    )


def test_a_threshold_that_missing_trials_could_still_reach_is_open(here: Path) -> None:
    write_records(here / "r.jsonl", trials({f"t{i}": 4 for i in range(10)})[:-8])
    plan = [e for e in trials({"t8": 4, "t9": 4}) if e["trial_id"] == "0"]
    for entry in plan:
        entry["verdict"] = "fail"
    write_records(here / "r.jsonl", trials({f"t{i}": 4 for i in range(8)}) + plan)
    assert run("check", "r.jsonl", "--min", "mean=0.55").code == 3
    assert run("check", "r.jsonl", "--min", "mean=0.55", "--allow-incomplete").code == 1


def test_gates_against_a_baseline(runs: Path) -> None:
    found = gates(
        "v2",
        "--baseline",
        "v1",
        "--fail-on",
        "new-failure,new-divergence,pass-k-drop,same-path",
        "--min-grade",
        "B",
    )
    assert found == {
        "new-failure": "fail",
        "new-divergence": "fail",
        "pass-k-drop pass^4": "pass",
        "same-path": "pass",
    }
    # The task that only the baseline has makes the comparison incomplete; a failure stands all the same.
    assert run("check", "v2", "--baseline", "v1", "--fail-on", "pass-k-drop").code == 3
    assert run("check", "v2", "--baseline", "v1", "--fail-on", "new-failure").code == 1
    out = run("check", "v2", "--baseline", "v1", "--fail-on", "new-failure").out
    assert "FAIL  new-failure  b 4/4 to 2/4" in out
    assert out.splitlines()[0] == "incomplete: 1 task in the baseline only: only-old"


def test_a_clear_drop_fails(here: Path) -> None:
    tasks = [f"t{i}" for i in range(12)]
    write_records(here / "old.jsonl", trials(dict.fromkeys(tasks, 4)))
    write_records(here / "new.jsonl", trials({task: 1 + i % 2 for i, task in enumerate(tasks)}))
    assert (
        run("check", "new.jsonl", "--baseline", "old.jsonl", "--fail-on", "pass-k-drop", "--k", "1").code == 1
    )
    assert (
        run("check", "old.jsonl", "--baseline", "new.jsonl", "--fail-on", "pass-k-drop", "--k", "1").code == 0
    )


def test_hard_gates_fail_whatever_pass_k_is(runs: Path) -> None:
    (runs / "trajdiff.toml").write_text(
        '[[gate]]\nname = "small only"\ntool = "book_pickup"\narguments = {size = "large"}\n'
    )
    assert gates("v1", "--min", "mean=0.1")["gate small only"] == "fail"
    assert run("check", "v1").code == 1
    (runs / "trajdiff.toml").write_text('[[gate]]\nname = "no deletion"\ntool = "delete_*"\n')
    assert run("check", "v1", "--fail-on", "gate").code == 0
    (runs / "trajdiff.toml").write_text('[[gate]]\nname = "facts"\nscore = "facts"\n')
    assert run("check", "v1").code == 3


def test_limits_on_cost_and_time(here: Path) -> None:
    write_records(here / "r.jsonl", trials({"a": 4, "b": 2}, cost_usd=0.3, duration_s=20.0))
    assert run("check", "r.jsonl", "--max-cost", "0.4").code == 0
    assert run("check", "r.jsonl", "--max-cost", "0.39").code == 1
    assert run("check", "r.jsonl", "--max-p95", "20").code == 0
    assert run("check", "r.jsonl", "--max-p95", "19").code == 1
    write_records(here / "r.jsonl", trials({"a": 0, "b": 0}, cost_usd=0.3))
    assert run("check", "r.jsonl", "--max-cost", "100").code == 1
    assert run("check", "r.jsonl", "--max-p95", "100").code == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to check"),
        (("--fail-on", "new-failure"), "--fail-on new-failure needs --baseline"),
        (("--fail-on", "nothing"), "no such gate"),
        (("--fail-on", "gate"), "the settings hold no [[gate]]"),
        (("--min", "pass^1=2"), "is no threshold"),
        (("--min", "pass^0=0.5"), "is no threshold"),
        (("--min", "pass1=0.5"), "is no threshold"),
        (("--min", "pass^1=0.5.5"), "is no threshold"),
    ],
)
def test_usage_errors_of_check(runs: Path, arguments: tuple[str, ...], message: str) -> None:
    made = run("check", "v1", *arguments)
    assert made.code == 2
    assert message in made.err


def test_junit_has_a_case_per_task_and_per_gate(runs: Path) -> None:
    run("check", "v2", "--baseline", "v1", "--fail-on", "new-failure", "--min", "mean=0.1", "--junit", "j.xml")
    suite = ElementTree.parse(runs / "j.xml").getroot()[0]
    cases = {case.get("name"): [child.tag for child in case] for case in suite}
    assert cases["b"] == ["failure"]
    assert cases["a"] == []
    assert cases["only-new"] == ["skipped"]
    assert cases["new-failure"] == ["failure"]
    assert cases["min mean=0.1"] == []
    assert suite.get("failures") == "2"


def test_github_appends_to_the_step_summary(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = run("check", "v1", "--min", "mean=0.1", "--github")
    assert "GITHUB_STEP_SUMMARY is not set" in made.err
    (runs / "summary.md").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(runs / "summary.md"))
    run("check", "v1", "--min", "mean=0.1", "--github", "--name", "shop")
    assert (runs / "summary.md").read_text().startswith("before\n<!-- trajdiff:shop -->\n")


def labels(path: Path, rows: list[tuple[str, str, str, str]]) -> str:
    path.write_text("task_id,trial_id,rater,label\n" + "".join(",".join(row) + "\n" for row in rows))
    return str(path)


def test_judges_agree_by_hand(runs: Path) -> None:
    """Of 32 trials a person calls the first failed trial of c a pass and the first pass of d a failure."""
    rows = []
    for entry in trials(BEFORE):
        label = entry["verdict"]
        if (entry["task_id"], entry["trial_id"]) in (("c", "2"), ("d", "0")):
            label = "fail" if label == "pass" else "pass"
        rows.append((entry["task_id"], entry["trial_id"], "people", label))
    path = labels(runs / "l.csv", rows)
    found = run("judges", "v1", "--labels", path, "--json").json
    assert not list(violations(found, "judges"))
    assert found["table"] == [[19, 1], [1, 11]]
    assert found["p_o"] == 30 / 32
    expected = (20 / 32) ** 2 + (12 / 32) ** 2
    assert found["kappa"] == pytest.approx((30 / 32 - expected) / (1 - expected))
    assert found["differ"] == ["c/2", "d/0"]
    assert found["interval_by_tasks"]["low"] < found["kappa"]
    out = run("judges", "v1", "--labels", path, "--exit-code")
    assert out.code == 1
    assert "2 trials differ: c/2, d/0" in out.out
    fixed = run("judges", "v1", "--labels", path, "--calibration", "45,50,38,40", "--json").json
    raw = (4 + 4 + 2 + 1 + 3 + 0 + 2 + 4) / 4 / 8
    assert fixed["raw"] == pytest.approx(raw)
    assert fixed["corrected"]["value"] == pytest.approx((raw + 0.95 - 1) / (0.9 + 0.95 - 1))
    assert fixed["corrected"]["low"] < fixed["corrected"]["value"] < fixed["corrected"]["high"]


def test_three_judges_vote(runs: Path) -> None:
    rows = [(e["task_id"], e["trial_id"], who, e["verdict"]) for e in trials(BEFORE) for who in ("ann", "bob")]
    rows[0] = ("a", "0", "ann", "fail")
    found = run("judges", "v1", "--labels", labels(runs / "l.csv", rows), "--json").json
    assert found["votes"] == {"pass": 20, "fail": 12}
    assert found["fleiss"]["raters"] == 3
    assert found["pair"] in (["grader", "ann"], ["ann", "bob"])


def test_one_label_has_no_kappa(here: Path) -> None:
    write_records(here / "r.jsonl", trials({"a": 4}))
    path = labels(here / "l.csv", [("a", str(i), "people", "pass") for i in range(4)])
    made = run("judges", "r.jsonl", "--labels", path)
    assert made.code == 0
    assert "kappa undefined (one label only)" in made.out
    assert run("judges", "r.jsonl", "--labels", path, "--json").json["kappa"] is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "labels need the columns"),
        ("task_id,label\na,pass\n", "labels need the columns"),
        ("task_id,trial_id,rater,label\na,0,p,maybe\n", 'line 2: label "maybe" is neither pass nor fail'),
        ("task_id,trial_id,rater,label\na,0,p,pass\na,0,p,fail\n", "has labelled a/0 before"),
        ("task_id,trial_id,rater,label\nzz,0,p,pass\n", "no trial was labelled by every judge"),
    ],
)
def test_bad_labels_are_clear_errors(runs: Path, text: str, message: str) -> None:
    (runs / "l.csv").write_text(text)
    made = run("judges", "v1", "--labels", "l.csv")
    assert made.code == 3
    assert message in made.err


def test_judges_need_two_sets_of_labels(runs: Path) -> None:
    assert run("judges", "v1").code == 3
    assert run("judges", "v1", "--score", "nothing").code == 2
    assert run("judges", "v1", "--labels", "nowhere.csv").code == 2
    assert run("judges", "v1", "--calibration", "1,2").code == 2


def test_published_curves(here: Path) -> None:
    made = run("check-curve", ".420", ".273", ".220", ".200", "--tasks", "50", "--trials", "4")
    assert (made.code, made.out) == (0, "histogram 14 12 10 4 10 (unique)\n")
    wrong = ("check-curve", ".771", ".690", ".625", ".580", "--tasks", "200", "--trials", "4")
    assert run(*wrong).code == 0
    assert run(*wrong, "--exit-code").code == 1
    found = run(*wrong, "--json").json
    assert not list(violations(found, "check-curve"))
    assert found["unrounded"] == pytest.approx([27.2, -3.2, 24.0, 36.0, 116.0])
    percent = run(
        "check-curve", "pass^1=75.9%", "pass@3=87.0%", "pass^3=63.0%", "--tasks", "108", "--trials", "3"
    )
    assert percent.out == "histogram 14 10 16 68 (unique)\n"
    for bad in (("x",), ("pass^9=.5",), ("pass=.5",), ("1.5",), (".5", ".4", ".3")):
        assert run("check-curve", *bad, "--tasks", "10", "--trials", "2").code == 2


RENAMED = """
[tools]
"*book*" = "write"

[steps]
"book a pick-up" = "*book*"
"look up a parcel" = "*parcel*"
"""


def test_renamed_and_split_tools_are_mapped_in_the_settings(runs: Path) -> None:
    """The candidate calls the same steps by other names, one of them by two: what was known stays known."""
    renamed = trials(BEFORE)
    for at, entry in enumerate(renamed):
        look, book = (step for step in entry["steps"] if step.get("kind") == "tool_call")
        look["name"] = "fetch_parcel_record"
        book["name"] = "book_express" if at % 2 else "rebook"
    write_records(runs / "v3" / "r.jsonl", renamed)
    known = {"c", "d", "e", "g"}

    def found() -> dict[str, set[str]]:
        made = run("compare", "runs", "v1", "v3", "--json").json["tasks"]
        return {name: {one["task_id"] for one in made if one[name]} for name in ("new", "known", "gone")}

    # Without a mapping the names differ, and so do the divergences that name them.
    assert found()["new"] == found()["gone"] == known
    (runs / "trajdiff.toml").write_text(RENAMED)
    assert found() == {"new": set(), "known": known, "gone": set()}
    made = run("check", "v3", "--baseline", "v1", "--fail-on", "new-divergence", "--min-grade", "D")
    assert made.code == 0
