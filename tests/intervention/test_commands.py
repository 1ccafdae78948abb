"""The commands run and intervene: what they print, keep and refuse, and what later reports show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Result, parcel, record, run, say, write_records
from tests.intervention.shop import TASKS, run_arm
from tests.running.agents import write_plan
from trajdiff.frozen import replace
from trajdiff.intervention import STORE
from trajdiff.intervention.outcome import Conclusion, keep, read_store
from trajdiff.schema import violations

#: Letters of verdicts by arm; the seeds are the places.
FEWER = {"control": "ffffffpp", "pinned": "pppppppp", "placebo": "ffffffpp"}


def arms(folder: Path, said: dict[str, str], *, named: str = "metadata", task: str = "box-1") -> list[str]:
    """A file for each arm, with the same trial ids in all of them."""
    files = []
    for arm, letters in said.items():
        rows = []
        for number, letter in enumerate(letters):
            verdict = {"p": "pass", "f": "fail", "i": "infra"}[letter]
            row = record(task, str(number), verdict, say("user", "Hello"), say("agent", f"{arm} {number}"))
            row["provenance"] = {"seed": number}
            row["task"] = {"title": "about boxes"}
            row["metadata"] = {"arm": arm, "pin": "get_parcel"} if named == "metadata" else {}
            rows.append(row)
        files.append(str(write_records(folder / f"{arm}.jsonl", rows)))
    return files


def given(files: list[str]) -> list[str]:
    return [word for file in files for word in ("--arms", file)]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_arms_that_were_run_elsewhere(tmp_path: Path) -> None:
    result = run("intervene", *given(arms(tmp_path, FEWER)))
    assert result.code == 0, result.err
    assert "pinning get_parcel: failures 6/8 → 0/8, p 0.031, placebo 6/8 (fewer failures)" in result.out
    assert "8 pairs of equal seed: 6 failed in control only, 0 in pinned only" in " ".join(result.out.split())
    assert "time not recorded, tokens not recorded, cost not recorded" in " ".join(result.out.split())
    (kept,) = read_store(tmp_path / STORE)
    assert kept.conclusion is Conclusion.FEWER


def test_arms_of_one_file_and_a_folder_are_the_same(tmp_path: Path) -> None:
    files = arms(tmp_path / "apart", FEWER)
    one = tmp_path / "one.jsonl"
    one.write_text("".join(Path(file).read_text(encoding="utf-8") for file in files), encoding="utf-8")
    outputs = [
        run("intervene", "--arms", target, "--json").json["interventions"]
        for target in (str(one), str(tmp_path / "apart"))
    ]
    assert outputs[0] == outputs[1]
    assert [arm["trials"] for arm in outputs[0][0]["arms"]] == [8, 8, 8]


def test_the_arm_may_be_a_column_of_a_manifest(tmp_path: Path) -> None:
    files = arms(tmp_path, FEWER, named="manifest")
    rows = ["path,arm", *(f"{Path(file).name},{Path(file).stem}" for file in files)]
    (tmp_path / "arms.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    result = run("intervene", *given(files), "--outcomes", "arms.csv", "--json")
    assert result.code == 0, result.err
    (found,) = result.json["interventions"]
    assert {arm["name"]: arm["failures"] for arm in found["arms"]} == {"control": 6, "pinned": 0, "placebo": 6}


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ({"control": "ffffpppp", "pinned": "pppppppp"}, "no p below 0.12 could be reached; more trials"),
        ({"control": "pppppppp", "pinned": "ffffffff"}, "With the step held fixed more trials failed"),
        ({"control": "pppppppp", "pinned": "pppppppp"}, "Nothing to recover"),
        ({"control": "iiiiiiii", "pinned": "pppppppp"}, "nothing was compared"),
        ({"control": "ffffffff", "pinned": "pppppppp"}, "no placebo was run"),
        ({**FEWER, "placebo": "pppppppp"}, "this may be an effect of pinning as such"),
    ],
)
def test_the_conclusion_says_no_more_than_the_counts(tmp_path: Path, said: dict[str, str], text: str) -> None:
    result = run("intervene", *given(arms(tmp_path, said)))
    assert result.code == 0, result.err
    # These arms do not say whether their pin was reached, which is no sign that it was not.
    assert "not recorded" in result.out
    assert text in " ".join(result.out.split())


def test_later_reports_show_the_outcome_beside_the_divergence(tmp_path: Path) -> None:
    task = TASKS["date"]
    trace = run_arm(tmp_path / "shop", task, 8)
    quiet = ("--no-config", "-q")
    before = run("compare", "task", task, str(trace), "--json", *quiet).json
    identity = _identity(before)
    assert "tested" not in json.dumps(before)
    run("intervene", *given(arms(tmp_path, FEWER, task=task)))
    (outcome,) = read_store(tmp_path / STORE)
    keep(tmp_path / STORE, [replace(outcome, divergence=identity, ref=f"{task}/0@3", label="parse_date")])
    words = "pinning parse_date: failures 6/8 → 0/8, p 0.031, placebo 6/8 (fewer failures)"
    text = run("compare", "task", task, str(trace), *quiet).out
    assert words in " ".join(text.split())
    after = run("compare", "task", task, str(trace), "--json", *quiet)
    assert list(violations(after.json, "compare-task")) == []
    assert '"tested"' in after.out
    whole = run("report", str(trace), *quiet)
    assert f"tested: {task}: pinning parse_date at {task}/0@3: failures 6/8 → 0/8 with it" in " ".join(
        whole.out.split()
    )
    as_json = run("report", str(trace), "--json", *quiet)
    assert list(violations(as_json.json, "report")) == []
    assert '"pinned_failures": 0' in as_json.out


def _identity(document: Any) -> str:
    """The first identity of a divergence, wherever it stands in the document."""
    if isinstance(document, dict):
        if isinstance(document.get("identity"), str) and document["identity"]:
            return str(document["identity"])
        values = list(document.values())
    else:
        values = document if isinstance(document, list) else []
    return next((found for value in values if (found := _identity(value))), "")


def test_the_store_replaces_what_was_tested_again_and_names_a_bad_line(tmp_path: Path) -> None:
    file = tmp_path / STORE
    for _ in range(2):
        run("intervene", *given(arms(tmp_path, FEWER)))
        assert len(read_store(file)) == 1
    first = file.read_bytes()
    keep(file, read_store(file))
    assert file.read_bytes() == first
    file.write_text(first.decode() + '{"schema": "other"}\n', encoding="utf-8")
    result = run("intervene", *given(arms(tmp_path, FEWER)))
    assert result.code == 3
    assert f"{STORE}: line 2 is no outcome of an intervention" in result.err


def usage(tmp_path: Path) -> list[tuple[list[str], int, str]]:
    plan = str(write_plan(tmp_path / "p", ["good"], 1))
    traces = str(write_records(tmp_path / "t.jsonl", [parcel("box-1", "0", "pass", "small")]))
    odd = ("pass", "small"), ("fail", "large")
    both = [parcel("box-9", str(n), *odd[n % 2]) for n in range(4)]
    mixed = str(write_records(tmp_path / "m.jsonl", both))
    here = ["--plan", plan]
    return [
        ([], 2, "name a task and --plan PLAN, or give --arms TRACES"),
        (["box-1"], 2, "name a task and --plan PLAN"),
        (["--arms", traces, "--pin", "a/0@1"], 2, "it goes without --plan and --pin"),
        (["--arms", traces], 3, "names no arm"),
        (["box-1", traces, "--plan", "none.toml"], 2, "none.toml: cannot be read"),
        (["nope", traces, *here], 2, 'no task "nope"'),
        (["box-1", traces, *here], 2, "no divergence to pin"),
        (["box-1", traces, *here, "--as", "note"], 2, "--as and --value need --pin"),
        (["box-1", traces, *here, "--pin", "box-1/0"], 2, "names no step of task"),
        (["box-1", traces, *here, "--pin", "box-1/0@77"], 2, "no step box-1/0@77"),
        (["box-9", mixed, *here], 2, 'has no task "box-9"'),
    ]


def test_what_cannot_be_done_is_refused(tmp_path: Path) -> None:
    for words, code, text in usage(tmp_path):
        result = run("intervene", *words, "--no-config")
        assert (result.code, result.out) == (code, ""), (words, result.err)
        assert text in result.err, (words, result.err)
        assert "internal error" not in result.err
    assert not (tmp_path / STORE).exists()


def runs(tmp_path: Path, tasks: list[str], *words: str, **more: Any) -> Result:
    return run("run", str(write_plan(tmp_path / "p", tasks, **more)), "--no-config", *words)


def test_run_says_what_it_did(tmp_path: Path) -> None:
    result = runs(tmp_path, ["good", "other"], trials=2)
    assert result.code == 0, result.err
    first, _, last = result.out.splitlines()
    assert first == "2 tasks · trials: expected 4, completed 4, counted 4"
    assert last == "start states: the same for all trials of a task"
    again = runs(tmp_path, ["good", "other"], "--json", trials=2)
    said = again.json
    assert (said["schema"], said["ran"], said["clean"]) == ("trajdiff.run/1", 0, True)
    assert said["trials"] == {"expected": 4, "completed": 4, "counted": 4}
    assert sum(said["verdicts"].values()) == 4
    assert said["diagnostics"] == []


def test_run_ends_with_3_where_a_trial_was_not_judged(tmp_path: Path) -> None:
    result = runs(tmp_path, ["good", "noreset", "nograde"], trials=1)
    assert result.code == 3
    assert "2 infrastructure" not in result.out
    assert "1 infrastructure, 1 unscored" in result.out
    assert "the reset failed" in result.err
    assert "the grader failed" in result.err


@pytest.mark.parametrize(
    ("words", "more", "text"),
    [
        (("--look", "3"), {"trials": 4, "looks": [2, 4]}, "3 trials are no look of the plan: 2, 4"),
        ((), {"trials": 0}, "trials"),
        ((), {"agent": "no-such-agent"}, 'no program "no-such-agent"'),
    ],
)
def test_run_refuses(tmp_path: Path, words: tuple[str, ...], more: dict[str, Any], text: str) -> None:
    result = runs(tmp_path, ["good"], *words, **more)
    assert (result.code, result.out) == (2, "")
    assert text in result.err


def test_the_live_demo_does_not_write_over_a_plan_of_the_user(tmp_path: Path) -> None:
    file = tmp_path / "shop" / "plan.toml"
    file.parent.mkdir()
    file.write_text("trials = 0\n", encoding="utf-8")
    result = run("demo", "--live", "shop")
    assert result.code == 2
    assert file.read_text(encoding="utf-8") == "trials = 0\n"
    (tmp_path / "blocked").write_text("", encoding="utf-8")
    result = run("demo", "--live", "blocked")
    assert result.code == 2
    assert "cannot be written" in result.err
