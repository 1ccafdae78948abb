"""What figures rest on: families of tasks, a judge, declared designs, rotation; each by hand."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from math import comb, sqrt
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import parcel, run, write_records
from trajdiff.schema import violations

#: Twelve tasks of four trials, in four families of three.
COUNTS = [4, 4, 4, 4, 4, 0, 3, 3, 3, 2, 2, 1]
FAMILY = {f"t{at}": "abcd"[at // 3] for at in range(12)}


def trials(task: str, words: Sequence[bool], **more: Any) -> list[dict[str, Any]]:
    made = []
    for at, passed in enumerate(words):
        entry = parcel(task, str(at), "pass" if passed else "fail", "small" if passed else "large", **more)
        made.append(entry)
    return made


@pytest.fixture
def shop(here: Path) -> Path:
    found = [
        entry
        for at, c in enumerate(COUNTS)
        for entry in trials(f"t{at}", [i < c for i in range(4)], metadata={"template": FAMILY[f"t{at}"]})
    ]
    write_records(here / "traces" / "parcels.jsonl", found)
    table(here / "f.csv", ("task_id", "family"), FAMILY.items())
    return here


def table(path: Path, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    return path.name


def metrics(*arguments: str) -> dict[tuple[str, int], dict[str, Any]]:
    made = run("report", *arguments, "--json").json
    assert not list(violations(made, "report"))
    return {(one["name"], one["k"]): one for one in made["statistics"]["metrics"]}


def test_families_are_the_units_of_every_interval(shop: Path) -> None:
    found = metrics("--families", "f.csv")["pass_hat", 1]
    assert found["estimate"] == metrics()["pass_hat", 1]["estimate"] == pytest.approx(sum(COUNTS) / 48)
    mean = sum(COUNTS) / 48
    sums = [sum(COUNTS[at + i] / 4 - mean for i in range(3)) for at in (0, 3, 6, 9)]
    variance = 4 / 3 * sum(x * x for x in sums) / 12**2
    assert found["stderr"] == pytest.approx(sqrt(variance))
    n_eff, t = mean * (1 - mean) / variance, 3.182446305284263  # t quantile .975 with 3 degrees of freedom
    middle, half = mean + t * t / (2 * n_eff), t * sqrt(mean * (1 - mean) / n_eff + t * t / (4 * n_eff**2))
    assert found["interval"]["low"] == pytest.approx((middle - half) / (1 + t * t / n_eff))
    cap = 4 / (4 + 1.959963984540054**2)
    assert found["interval"]["high"] == pytest.approx(max((middle + half) / (1 + t * t / n_eff), 1 - cap))
    assert found["interval"]["units"] == 4
    assert found["bootstrap"]["low"] < mean < found["bootstrap"]["high"]
    out = " ".join(run("report", "--families", "f.csv").out.split())
    assert "Wilson, 4 families as units (f.csv)" in out
    assert "twice the trials" not in out


def test_a_recorded_property_names_families_too(shop: Path) -> None:
    recorded, given = metrics("--families", "template"), metrics("--families", "f.csv")
    assert recorded == given
    table(shop / "part.csv", ("task_id", "family"), list(FAMILY.items())[:6])
    made = run("report", "--families", "part.csv", "--json").json["statistics"]["families"]
    assert (made["units"], made["by_task"]["t0"], made["by_task"]["t11"]) == (8, "a", None)
    assert "8 families as units (part.csv, 6 of them single tasks)" in " ".join(
        run("report", "--families", "part.csv").out.split()
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task_id,family\nnowhere,a\n", 'families name 1 task not read: "nowhere"'),
        ("task_id,family\nt0,a\nt0,b\n", 'task "t0" has two families'),
        ("task_id,family\nt0,\n", "a task and its family are needed"),
        ("task,family\nt0,a\n", "families need the columns task_id, family"),
        ("{", "families cannot be read as JSON"),
        ('{"families": {}}', "no family in it"),
        ('{"families": {"t0": 1}}', "a table of task ids and names"),
        ("".join(["task_id,family\n", *(f"t{i},a\n" for i in range(12))]), "all tasks are one family"),
    ],
)
def test_bad_families_are_usage_errors(shop: Path, text: str, message: str) -> None:
    (shop / "bad.csv").write_text(text)
    made = run("report", "--families", "bad.csv")
    assert made.code == 2
    assert message in made.err
    assert run("check", "--families", "bad.csv", "--min", "mean=0.1").code == 2


def test_families_need_a_source_and_go_without_weights(shop: Path) -> None:
    made = run("report", "--families", "nowhere")
    assert made.code == 2
    assert 'no task records "nowhere"' in made.err
    assert "recorded here: suite, template" in made.err
    (shop / "w.csv").write_text("task_id,weight,source\nt0,1,log\n")
    made = run("report", "--families", "f.csv", "--weights", "w.csv")
    assert made.code == 2
    assert "weights and families together are not supported" in made.err


def test_families_flip_together_in_a_comparison(shop: Path) -> None:
    better = [e for at, c in enumerate(COUNTS) for e in trials(f"t{at}", [i < min(c + 1, 4) for i in range(4)])]
    write_records(shop / "v2.jsonl", better)
    alone = run("compare", "runs", "traces", "v2.jsonl", "--k", "1", "--json").json["decision"]
    made = run("compare", "runs", "traces", "v2.jsonl", "--k", "1", "--families", "f.csv", "--json")
    assert not list(violations(made.json, "compare-runs"))
    found = made.json["decision"]
    # Seven tasks gain a quarter: 0, 1, 3 and 3 of the families.
    assert (alone["families"], alone["sign_flip_p"]) == (None, 2 / 2**7)
    assert (found["families"], found["differing_tasks"], found["attainable_min_p"]) == (4, 3, 2 / 2**3)
    assert found["sign_flip_p"] == 2 / 2**3
    sums = [0.0 - 3 * 7 / 48, 0.25 - 3 * 7 / 48, 0.75 - 3 * 7 / 48, 0.75 - 3 * 7 / 48]
    assert found["stderr"] == pytest.approx(sqrt(4 / 3 * sum(x * x for x in sums) / 144))
    text = run("compare", "runs", "traces", "v2.jsonl", "--k", "1", "--families", "template", "--stats").out
    assert "(only 3 families differ)" in text
    assert "with 3 changed families no p below 0.25 is possible" in text
    assert "4 families as units" in text


def people(shop: Path, wrong: int) -> str:
    """Labels of every trial by a person who disagrees on the first trials of so many tasks that always pass."""
    rows = []
    for at, c in enumerate(COUNTS):
        for i in range(4):
            label = "pass" if i < c and not (at < wrong and i == 0) else "fail"
            rows.append((f"t{at}", str(i), "people", label))
    return table(shop / "l.csv", ("task_id", "trial_id", "rater", "label"), rows)


def kappa(both: int, first: int, second: int, none: int) -> float:
    n = both + first + second + none
    p1, p2 = (both + first) / n, (both + second) / n
    chance = p1 * p2 + (1 - p1) * (1 - p2)
    return ((both + none) / n - chance) / (1 - chance)


def test_pass_k_is_marked_by_the_judge_it_rests_on(shop: Path) -> None:
    path = people(shop, 3)
    made = run("report", "--labels", path, "--json").json
    assert not list(violations(made, "report"))
    judge = made["statistics"]["judge"]
    passes = sum(COUNTS)
    assert judge["agreement"]["table"] == [[passes - 3, 3], [0, 48 - passes]]
    wanted = kappa(passes - 3, 3, 0, 48 - passes)
    assert judge["agreement"]["kappa"] == pytest.approx(wanted)
    assert judge["corrected"] is None
    out = run("report", "--labels", path).out
    lines = out.splitlines()
    ends = judge["agreement"]["interval_by_tasks"]
    shown = f"kappa {wanted:.2f} ({ends['low']:.2f}–{ends['high']:.2f})"
    above = [line for line in lines[: lines.index(next(x for x in lines if "pass^k" in x))] if "judge" in line]
    assert above[0].startswith(f"verdicts rest on a judge: {shown} with people on 48 trials")
    assert any(line.startswith("pass^k") and f"by a judge: {shown}" in line for line in _wide(shop, path))
    brief = run("report", "--brief", "--labels", path).out.splitlines()
    assert len(brief) == 5
    assert brief[2].endswith(f"by a judge, {shown}")
    assert brief[3] == "judge-corrected: no calibration given"


def _wide(shop: Path, path: str) -> list[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "140")
        return run("report", "--labels", path).out.splitlines()


def test_calibration_corrects_the_mean_and_not_pass_k(shop: Path) -> None:
    made = run("report", "--calibration", "45,50,38,40", "--json").json["statistics"]["judge"]
    mean = sum(COUNTS) / 48
    assert made["raw"] == pytest.approx(mean)
    assert made["corrected"]["value"] == pytest.approx((mean + 0.95 - 1) / (0.9 + 0.95 - 1))
    assert made["corrected"]["low"] < made["corrected"]["value"] < made["corrected"]["high"]
    # The curve by the binomial formula, a = TPR + TNR - 1 and b = 1 - TNR.
    observed = [1.0] + [sum(comb(c, k) / comb(4, k) for c in COUNTS) / 12 for k in range(1, 5)]
    for entry in made["corrected_pass_hat_k"]:
        k = entry["k"]
        value = sum(comb(k, j) * (-0.05) ** (k - j) * observed[j] for j in range(k + 1)) / 0.85**k
        assert entry["value"] == pytest.approx(value)
        assert entry["low"] <= entry["value"] <= entry["high"]
    brief = run("report", "--brief", "--calibration", "45,50,38,40").out.splitlines()
    assert brief[3].startswith(f"judge-corrected: mean {made['corrected']['value']:.2f} (")
    assert brief[3].endswith(f"), raw {mean:.2f}")
    out = " ".join(run("report", "--calibration", "45,50,38,40").out.split())
    assert f"in place of the judge's own {mean:.2f} over 12 tasks; not of pass^k" in out
    families = ("--families", "f.csv", "--labels", people(shop, 3))
    wide = run("report", "--calibration", "45,50,38,40", *families, "--json").json["statistics"]["judge"]
    # Tasks of a family pass alike here: drawn together they leave the mean less certain.
    assert wide["corrected"]["value"] == pytest.approx(made["corrected"]["value"])
    assert wide["corrected"]["low"] < made["corrected"]["low"] - 0.005
    alone = run("report", *families[2:], "--json").json["statistics"]["judge"]["agreement"]
    assert wide["agreement"]["interval_by_tasks"] != alone["interval_by_tasks"]
    assert wide["agreement"]["kappa"] == alone["kappa"]
    assert "pass^4 corrected" not in run("report", "--calibration", "45,50,38,40").out
    assert (
        "if the judge's errors are independent" in run("report", "--calibration", "45,50,38,40", "--stats").out
    )
    useless = run("report", "--calibration", "20,40,21,40").out
    assert "refused, TPR + TNR is 1.05 or less" in useless


@pytest.mark.parametrize("counts", ["1,2", "5,4,1,2", "0,0,1,2", "x", "1,2,3,-4"])
@pytest.mark.parametrize("command", ["report", "judges"])
def test_impossible_calibration_counts_are_usage_errors(shop: Path, counts: str, command: str) -> None:
    made = run(command, "--calibration", counts, "--labels", people(shop, 1))
    assert made.code == 2
    assert "Traceback" not in made.err


def test_a_judge_that_never_passed_a_failure_is_calibrated(shop: Path) -> None:
    assert run("report", "--calibration", "0,10,40,40").code == 0
    made = run("report", "--calibration", "50,50,40,40", "--json").json["statistics"]["judge"]
    assert made["corrected"]["value"] == pytest.approx(made["raw"])


def test_agreement_of_the_judge_is_a_gate(shop: Path) -> None:
    path = people(shop, 3)
    low = run("report", "--labels", path, "--json").json["statistics"]["judge"]["agreement"]
    end = low["interval_by_tasks"]["low"]
    for threshold, code, result in ((end - 0.01, 0, "pass"), (end + 0.01, 1, "fail")):
        made = run("check", "--labels", path, "--min", f"kappa={threshold:.4f}", "--json")
        assert made.code == code
        assert [one["result"] for one in made.json["gates"]] == [result]
        assert made.json["gates"][0]["value"] == pytest.approx(end)
    assert run("check", "--labels", path, "--point", "--min", f"kappa={low['kappa'] - 0.001:.4f}").code == 0
    # No disagreement seen: kappa 1 without an interval is no proof that it holds.
    made = run("check", "--labels", people(shop, 0), "--min", "kappa=0.6")
    assert made.code == 3
    assert "no disagreement was seen" in made.out
    made = run("check", "--min", "kappa=0.6")
    assert made.code == 2
    assert "--min kappa needs --labels FILE" in made.err


def screened() -> list[dict[str, Any]]:
    """Ten tasks: four fail the first trial and are repeated; of six that pass it two are repeated."""
    again = {
        "f0": [False, True, True],
        "f1": [False, False, True],
        "f2": [False, False, False],
        "f3": [False, True, False],
        "p0": [True, True, True],
        "p1": [True, False, True],
    }
    found = {**again, **{f"p{at}": [True] for at in range(2, 6)}}
    made = [entry for task, words in found.items() for entry in trials(task, words)]
    for entry in made:
        del entry["task"]["expected_trials"]
    return made


def test_a_screened_design_is_weighted_by_stratum(here: Path) -> None:
    write_records(here / "traces" / "parcels.jsonl", screened())
    made = run("report", "--design", "screened", "--json").json
    assert not list(violations(made, "report"))
    points = {one["k"]: one for one in made["statistics"]["design"]["pass_hat_k"]}
    failed, passed = [1.0, 0.5, 0.0, 0.5], [1.0, 0.5]
    theta = 0.4 * sum(failed) / 4 + 0.6 * sum(passed) / 2
    assert points[1]["value"] == pytest.approx(theta)
    assert points[2]["value"] == pytest.approx(0.4 * 1 / 4 + 0.6 * 1 / 2)
    s_f = sum((x - 0.5) ** 2 for x in failed) / 3
    s_p = sum((x - 0.75) ** 2 for x in passed) / 1
    v = 0.4**2 * s_f / 4 + 0.6**2 * s_p / 2 + (0.4 * (0.5 - theta) ** 2 + 0.6 * (0.75 - theta) ** 2) / 10
    n_eff, t = min(max(theta * (1 - theta) / v, 1), 12), 2.570581835636314  # .975 with 5 degrees of freedom
    middle, half = theta + t * t / (2 * n_eff), t * sqrt(theta * (1 - theta) / n_eff + t * t / (4 * n_eff**2))
    assert points[1]["interval"]["low"] == pytest.approx((middle - half) / (1 + t * t / n_eff))
    assert {one["estimate"] for one in made["statistics"]["metrics"]} == {None}
    out = " ".join(run("report", "--design", "screened").out.split())
    assert "the first trial screened 10 tasks and is left out: 4 failed it, all repeated; 6 passed it, 2" in out
    assert f"pass^1 {theta:.2f} (" in out
    assert "pass^k 0" not in out
    brief = run("report", "--design", "screened", "--brief").out.splitlines()
    assert brief[1].startswith(f"mean {theta:.2f} (")
    low = points[1]["interval"]["low"]
    assert run("check", "--design", "screened", "--min", f"mean={low - 0.01:.4f}").code == 0
    assert run("check", "--design", "screened", "--min", f"mean={low + 0.01:.4f}").code == 1
    assert run("check", "--design", "screened", "--min", "pass@2=0.1").code == 3


def test_a_record_that_was_not_screened_so_is_refused(here: Path) -> None:
    found = [entry for entry in screened() if not (entry["task_id"] == "f0" and entry["trial_id"] != "0")]
    write_records(here / "traces" / "parcels.jsonl", found)
    made = run("report", "--design", "screened")
    assert made.code == 3
    assert "1 task failed the first trial and were not repeated: f0" in made.err
    found = [entry for entry in screened() if not (entry["task_id"] == "p1" and entry["trial_id"] != "0")]
    write_records(here / "traces" / "parcels.jsonl", found)
    assert (
        "1 of 6 tasks that passed the first trial repeated, at least 2"
        in run("report", "--design", "screened").err
    )


def test_stopping_at_the_first_failure_gives_pass_n_alone(here: Path) -> None:
    words = {f"t{at}": [True] * 3 if at < 6 else [True] * (at % 3) + [False] for at in range(12)}
    found = [entry for task, row in words.items() for entry in trials(task, row)]
    for entry in found:
        entry["task"]["expected_trials"] = 3
    write_records(here / "traces" / "parcels.jsonl", found)
    made = run("report", "--design", "stop-at-failure", "--json").json["statistics"]["design"]
    assert [(one["k"], one["value"]) for one in made["pass_hat_k"]] == [(3, 0.5)]
    # What was not run after a failure is not missing.
    gate = ("check", "--design", "stop-at-failure", "--min")
    assert run(*gate, "pass^3=0.10").code == 0
    assert run(*gate, "pass^1=0.10").code == 3
    brief = run("report", "--design", "stop-at-failure", "--brief").out.splitlines()
    assert brief[1] == "mean: n/a"
    assert brief[2].startswith("pass^3 0.50 (")
    # A trial after the failure: then the task was not stopped there.
    found.append(parcel("t9", "1", "pass", "small"))
    found[-1]["task"]["expected_trials"] = 3
    write_records(here / "traces" / "parcels.jsonl", found)
    made = run("report", "--design", "stop-at-failure")
    assert made.code == 3
    assert 'task "t9" does not end with its only failure' in made.err


def test_rounds_of_a_rotation_repeat_every_stable_task_once(shop: Path) -> None:
    seen: list[str] = []
    for at in (1, 2, 3):
        plan = run("report", "--plan", "--rotation", f"{at}/3", "--seed", "5", "--json").json["statistics"][
            "plan"
        ]
        assert plan["rotation"] == [at, 3]
        assert plan["weight"] == pytest.approx(5 / len(plan["sampled"]))
        seen += plan["sampled"]
    assert sorted(seen) == ["t0", "t1", "t2", "t3", "t4"]
    out = " ".join(run("report", "--plan", "--rotation", "1/3").out.split())
    assert "(round 1 of 3, seed 0" in out
    assert "a gate on 12 tasks can reach a lower end of 0.76 at most" in out
    assert "0.90 29, 0.95 59, 0.99 299" in out
    for bad in ("4/3", "0/3", "x", "1/"):
        assert run("report", "--plan", "--rotation", bad).code == 2
    assert run("report", "--rotation", "1/3").code == 2


def test_the_strict_form_asks_for_proof_that_the_drop_is_small(shop: Path) -> None:
    write_records(
        shop / "v2.jsonl",
        [e for at, c in enumerate(COUNTS) for e in trials(f"t{at}", [i < c for i in range(4)])],
    )
    strict = ("check", "v2.jsonl", "--baseline", "traces", "--fail-on", "pass-k-drop", "--k", "1", "--margin")
    # Nothing differs: at most 1 - .05^(1/12) = 0.22 of tasks may.
    assert run(*strict, "0.23").code == 0
    assert run(*strict, "0.22").code == 1
    assert run(*strict[:-1]).code == 0
    worse = [
        e
        for at, c in enumerate(COUNTS)
        for e in trials(f"t{at}", [i < (c - 1 if at in (0, 6) else c) for i in range(4)])
    ]
    write_records(shop / "v2.jsonl", worse)
    low = run("compare", "runs", "traces", "v2.jsonl", "--k", "1", "--json").json["decision"]["interval"]["low"]
    assert run(*strict, f"{-low + 0.001:.4f}").code == 0
    made = run(*strict, f"{-low - 0.001:.4f}", "--json")
    assert made.code == 1
    assert made.json["gates"][0]["value"] == pytest.approx(low)
    assert run(*strict[:-1]).code == 0
    assert run("check", "v2.jsonl", "--min", "mean=0.1", "--margin", "0.1").code == 2


def test_relabelling_allows_for_every_row_that_was_looked_at(here: Path) -> None:
    """box-1: the booking separates two passes from two failures; so does one mirror image of six deals."""
    found = run("report", "--json").json["statistics"]["per_task"]
    (split,) = [one["split"] for one in found if one["split"] is not None]
    assert split["relabelling"] == {
        "p": pytest.approx(2 / 6),
        "best_p": pytest.approx(2 / 6),
        "relabellings": 6,
        "seed": None,
    }
    row = next(
        line
        for line in run("report", "--stats").out.splitlines()
        if line.startswith("box-1 ") and "2/4" in line
    )
    assert row.split()[-1] == "0.33"
