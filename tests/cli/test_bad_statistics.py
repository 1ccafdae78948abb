"""Impossible and extreme input of the figures: a defined answer or a clear error, no silent 0, 1 or NaN."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Result, parcel, run, write_records


def trials(task: str, words: Sequence[bool], **more: Any) -> list[dict[str, Any]]:
    return [
        parcel(task, str(at), "pass" if passed else "fail", "small" if passed else "large", **more)
        for at, passed in enumerate(words)
    ]


def suite(here: Path, words: Sequence[bool], tasks: str = "abcdef", **more: Any) -> list[dict[str, Any]]:
    found = [entry for task in tasks for entry in trials(task, words, **more)]
    for entry in found:
        entry["task"]["expected_trials"] = len(words)
    write_records(here / "traces" / "parcels.jsonl", found)
    return found


def without_nan(made: Result) -> dict[str, Any]:
    """The JSON of a call; no token in it is NaN or Infinity."""

    def refuse(token: str) -> None:
        raise AssertionError(token)

    assert made.code == 0
    found: dict[str, Any] = json.loads(made.out, parse_constant=refuse)
    return found


@pytest.mark.parametrize(
    ("field", "value"), [("n_counted", 0), ("n_counted", -1), ("passed", 9), ("passed", -1), ("passed", 1.5)]
)
def test_impossible_counts_of_a_saved_report_are_errors(here: Path, field: str, value: float) -> None:
    suite(here, [True, False])
    assert run("report", "--to", "saved.json").code == 0
    document = json.loads((here / "saved.json").read_text())
    document["tasks"][0][field] = value
    (here / "saved.json").write_text(json.dumps(document))
    made = run("compare", "runs", "saved.json", "traces")
    assert made.code == 3
    assert "saved.json" in made.err
    assert f'task "{document["tasks"][0]["task_id"]}"' in made.err
    assert "internal error" not in made.err


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (("tasks", 0, "task_id"), 7, "$.tasks[0].task_id"),
        (("tasks", 0, "trials", 0, "trial_id"), None, "$.tasks[0].trials[0].trial_id"),
        (("tasks", 0, "trials", 0, "verdict"), "maybe", "$.tasks[0].trials[0].verdict"),
        (("tasks", 0, "finding", "kind"), "new", "$.tasks[0].finding.kind"),
        (("tasks", 0, "missing"), 1, "$.tasks[0].missing"),
        (("tasks",), {}, "$.tasks"),
        (("trials", "counted"), "2", "$.trials.counted"),
        (("statistics", "versions", "model", "values"), [1.5], "values[0]"),
        (("statistics", "cost", "total"), "free", "$.statistics.cost.total"),
        (("shown",), None, "$.shown"),
    ],
)
def test_a_saved_report_with_wrong_types_is_told_with_the_place(
    here: Path, path: tuple[str | int, ...], value: object, place: str
) -> None:
    suite(here, [True, False])
    assert run("report", "--to", "saved.json").code == 0
    document = json.loads((here / "saved.json").read_text())
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    (here / "saved.json").write_text(json.dumps(document))
    for arguments in (("compare", "runs", "saved.json", "traces"), ("compare", "runs", "traces", "saved.json")):
        made = run(*arguments)
        assert (made.code, "saved.json" in made.err, "internal" in made.err) == (3, True, False)
        assert place in made.err
        assert "save it again" in made.err


def test_a_task_twice_in_a_saved_report_is_told(here: Path) -> None:
    suite(here, [True, False])
    assert run("report", "--to", "saved.json").code == 0
    document = json.loads((here / "saved.json").read_text())
    document["tasks"].append(document["tasks"][0])
    (here / "saved.json").write_text(json.dumps(document))
    made = run("compare", "runs", "saved.json", "traces")
    assert made.code == 3
    assert f'task "{document["tasks"][0]["task_id"]}" twice' in made.err


def test_a_divergence_accepted_when_the_report_was_saved_is_no_new_one(here: Path) -> None:
    """The candidate as a saved report gives the code that its traces give."""
    suite(here, [True, False])
    assert run("report", "--to", "saved.json").code == 0
    document = json.loads((here / "saved.json").read_text())
    found = {
        "identity": "x", "trial_id": "1", "grade": "A", "actor": "agent", "headline": "h", "support": None,
        "abstained": False,
    }  # fmt: skip
    codes = []
    for accepted in (None, "known"):
        document["tasks"][0]["divergences"] = [{**found, "accepted": accepted}]
        (here / "saved.json").write_text(json.dumps(document))
        codes.append(run("compare", "runs", "traces", "saved.json", "--exit-code").code)
    assert codes == [1, 0]


@pytest.mark.parametrize(("field", "value"), [("cost_usd", -0.5), ("duration_s", -3.0)])
def test_negative_amounts_are_errors_with_their_place(here: Path, field: str, value: float) -> None:
    found = suite(here, [True, False])
    found[3][field] = value
    write_records(here / "traces" / "parcels.jsonl", found)
    made = run("report")
    assert made.code == 3
    assert 'traces/parcels.jsonl: trial 1 of task "b"' in made.err
    assert str(value) in made.err
    assert "not a finite amount from 0" in made.err


@pytest.mark.parametrize("token", ["NaN", "1e999", '"free"'])
def test_a_cost_that_is_no_number_is_a_cost_that_is_missing(here: Path, token: str) -> None:
    suite(here, [True, False], cost_usd=0.25)
    log = here / "traces" / "parcels.jsonl"
    log.write_text(log.read_text().replace('"cost_usd": 0.25', f'"cost_usd": {token}', 1))
    cost = without_nan(run("report", "--json"))["statistics"]["cost"]
    assert (cost["total"], cost["accepted"], cost["trials_without_cost"]) == (11 * 0.25, 6, 1)
    assert cost["lower_bound"] is True
    assert "lower bound (1 of 12 trials without cost)" in " ".join(run("report").out.split())


def test_costs_beyond_any_number_are_an_error(here: Path) -> None:
    suite(here, [True, False], cost_usd=1.7e308)
    made = run("report")
    assert made.code == 3
    assert "costs add up to more than any amount of money" in made.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task_id,weight,source\nzz,1,log\n", 'weights name tasks that were not read: "zz"'),
        ("task_id,weight,source\na,-1,log\n", "not a finite number from 0"),
        ("task_id,weight,source\na,nan,log\n", "not a finite number from 0"),
        ("task_id,weight,source\na,1e999,log\n", "not a finite number from 0"),
        ("task_id,weight,source\na,0,log\n", "all weights are 0"),
        ("task_id,weight,source\na,1,\n", "weights without a source"),
        ("task_id,weight,source\na,x,log\n", "is no number"),
        ('{"weights": {"a": true}, "source": "log"}', "not a finite number from 0"),
        ("[1]", "weights need the columns"),
    ],
)
def test_bad_weights_are_usage_errors(here: Path, text: str, message: str) -> None:
    suite(here, [True, False])
    (here / "w.csv").write_text(text)
    made = run("report", "--weights", "w.csv")
    assert made.code == 2
    assert message in made.err


def test_a_k_above_n_is_absent_everywhere(here: Path) -> None:
    suite(here, [True, True])
    out = run("report", "--k", "1,2,3").out
    assert "n/a (needs 3 trials, smallest n is 2)" in out
    row = next(line for line in out.splitlines() if line.startswith("pass^k"))
    assert row.split()[1:4] == ["1.00", "1.00", "n/a"]
    found = without_nan(run("report", "--k", "1,2,3", "--json"))
    assert {one["k"] for one in found["statistics"]["metrics"]} == {1, 2}
    assert run("check", "--min", "pass^3=0.0").code == 3
    assert run("compare", "runs", "traces", "traces", "--k", "3").code == 2


def test_one_task_with_one_trial_claims_nothing(here: Path) -> None:
    suite(here, [True], "a")
    out = run("report", "--stats", "--plan").out
    assert "1 task: no interval" in out
    assert "gap" not in next(line for line in out.splitlines() if "tasks always" in line)
    assert "flip rate" not in out
    assert any(line.startswith("a ") and line.endswith("  one trial") for line in out.splitlines())
    assert run("report", "--brief").out.splitlines()[:3] == [
        "suite: 1 task, 1 trial each",
        "mean 1.00 (1 task: no interval)",
        "pass^1 1.00",
    ]
    assert run("check", "--min", "mean=0.0").code == 3
    made = run("compare", "runs", "traces", "traces", "--stats")
    assert made.code == 0
    assert "1 task: no interval" in made.out
    without_nan(run("report", "--json"))
    without_nan(run("compare", "runs", "traces", "traces", "--json"))


def test_tasks_that_all_tie_have_no_paired_interval_and_say_what_may_hide(here: Path) -> None:
    suite(here, [True, False])
    made = without_nan(run("compare", "runs", "traces", "traces", "--json"))["decision"]
    assert (made["interval"], made["reason"], made["sign_flip_p"]) == (None, "no task differs", 1.0)
    assert made["differing_at_most"] == pytest.approx(1 - 0.05 ** (1 / 6))
    out = run("report").out
    assert "standard error of pass^1 0.000; tasks differ less than their trials alone make them" in out
    spread = without_nan(run("report", "--json"))["statistics"]["spread"]
    assert (spread["stderr_if_trials_doubled"], spread["stderr_if_tasks_doubled"]) == (None, None)


def test_all_tasks_that_differ_by_the_same_amount_have_no_interval(here: Path) -> None:
    suite(here, [True, True])
    write_records(here / "v1.jsonl", [e for t in "abcdef" for e in trials(t, [True, False])])
    made = without_nan(run("compare", "runs", "v1.jsonl", "traces", "--k", "1", "--json"))["decision"]
    assert (made["difference"], made["interval"]) == (0.5, None)
    assert made["reason"] == "all tasks differ by the same amount: no interval"
    assert made["sign_flip_p"] == 2 / 2**6
    strict = ("--fail-on", "pass-k-drop", "--margin", "0.1", "--k", "1", "--allow-incomplete")
    assert run("check", "traces", "--baseline", "v1.jsonl", *strict).code == 3


def test_a_suite_without_a_pass_has_no_delivery_to_divide_by(here: Path) -> None:
    suite(here, [False, False], cost_usd=0.5)
    found = without_nan(run("report", "--json"))
    cost = found["statistics"]["cost"]
    assert (cost["per_accepted"], cost["reason"], cost["total"]) == (None, "no successful delivery", 6.0)
    hat = {one["k"]: one for one in found["statistics"]["metrics"] if one["name"] == "pass_hat"}
    # Six tasks without a pass leave room for z^2 / (6 + z^2) of tasks.
    assert hat[2]["interval"]["high"] == pytest.approx(3.841458820694124 / (6 + 3.841458820694124))
    assert "no successful delivery (spent 6.00 USD)" in run("report").out
    assert run("check", "--max-cost", "100").code == 1


def test_rewards_of_another_scale_fail_and_are_named(here: Path) -> None:
    found = suite(here, [True, False])
    for at, entry in enumerate(found):
        passed = entry.pop("verdict") == "pass"
        high, low = (87.0, 12.0) if at < 4 else (1.0, 0.0)
        entry["reward"] = high if passed else low
    write_records(here / "traces" / "parcels.jsonl", found)
    out = " ".join(run("report").out.split())
    assert "8 failed" in out
    assert "4 rewards above 1, counted as failed (a/0 87, a/1 12, b/0 87 and 1 more): another scale?" in out
    assert "above 1" not in run("report", "--threshold", "1").out


def test_judges_are_compared_on_what_both_labelled(here: Path) -> None:
    suite(here, [True, False])
    rows = ["task_id,trial_id,rater,label"]
    rows += [f"{task},{at},ann,{'pass' if at == 0 else 'fail'}" for task in "abcdef" for at in (0, 1)]
    rows += ["a,0,bob,pass", "b,1,bob,fail", "c,0,bob,fail"]
    (here / "l.csv").write_text("\n".join(rows) + "\n")
    found = without_nan(run("judges", "--labels", "l.csv", "--json"))
    assert (found["items"], found["left_out"]) == (3, 9)
    assert "3 trials with 3 labels (9 not labelled by all, left out)" in run("judges", "--labels", "l.csv").out


BIG = "a" * 200_000


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("--weights", f"task_id,weight,source\n{BIG},x,log\n", "line 2: weight 'x' is no number"),
        ("--families", f"task_id,family\n{BIG},\n", "line 2: a task and its family are needed"),
        ("--labels", f"task_id,trial_id,rater,label\n{BIG},0,me,maybe\n", "is neither pass nor fail"),
        ("--weights", 'task_id,weight,source\n"a\nb",1,log\nc,x,log\n', "line 4: weight 'x'"),
        ("--weights", "task_id,weight,source\na,b,1,log\n", "line 2: more cells than the 3 columns"),
        ("--labels", "task_id,trial_id,rater,label\na,0,me,pass,fail\n", "line 2: more cells"),
        ("--families", "task_id,family\na,b,c\n", "line 2: more cells"),
        ("--weights", '{"source": "log", "weights": {"a": 1, "b": 1, "a": 2}}', '"a" is there twice'),
        ("--families", '{"families": {"a": "f", "a": "g"}}', '"a" is there twice'),
        ("--weights", '{"source": "log", "weights": {"a": 1' + "0" * 400 + "}}", "not a finite number"),
        ("--weights", '{"source": "log", "weights": ' + "[" * 100_000, "cannot be read as JSON"),
    ],
)  # fmt: skip
def test_tables_beside_the_traces_never_stumble_or_guess(
    here: Path, option: str, text: str, message: str
) -> None:
    suite(here, [True, False])
    (here / "side").write_text(text, encoding="utf-8")
    made = run("report", option, "side")
    assert made.code in (2, 3), made.err
    assert "side" in made.err
    assert message in made.err
    assert "internal error" not in made.err


def test_labels_of_unread_trials_are_named_harmlessly_and_counted(here: Path) -> None:
    suite(here, [True, False])
    rows = "".join(f"a,\u202e{number},me,pass\n" for number in range(7))
    known = json.loads(run("report", "--json").out)["tasks"][0]
    mine = "".join(f"{known['task_id']},{trial['trial_id']},me,pass\n" for trial in known["trials"])
    (here / "l.csv").write_text(f"task_id,trial_id,rater,label\n{mine}{rows}", encoding="utf-8")
    out = run("report", "--labels", "l.csv").out
    assert "\u202e" not in out
    assert "and 2 more" in " ".join(out.split())
