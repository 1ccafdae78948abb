"""From a file of no known format to a report, and into the own format: ``map`` and ``convert``."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tests.cli.conftest import records, run, write_records
from tests.importers.test_mapping_draft import NESTED


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one file of an unknown layout."""
    (tmp_path / "nightly.json").write_text(json.dumps(NESTED), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_way_from_the_error_to_the_first_report_is_in_the_messages(own: Path) -> None:
    """Every command is taken from what the one before said."""
    failed = run("report", "nightly.json")
    assert failed.code == 3
    line = next(one for one in failed.err.splitlines() if "another layout needs a mapping: " in one)
    command, _, target = line.partition(": ")[2].partition(" > ")
    drafted = run(*command.split()[1:])
    assert drafted.code == 0
    (own / target).write_text(drafted.out, encoding="utf-8")
    shown = [
        one.removeprefix("#   trajdiff ").split() for one in drafted.out.splitlines() if one.startswith("#   ")
    ]
    assert [words[0] for words in shown] == ["map", "report"]
    checked = run(*shown[0])
    assert checked.code == 0
    assert "nothing is left over" in checked.out
    report = run(*shown[1], "--json")
    assert report.code == 0
    assert [(task["task_id"], task["passed"]) for task in report.json["tasks"]] == [("a", 1), ("b", 1)]


def test_map_check_shows_coverage_and_the_first_trial(own: Path) -> None:
    (own / "trajdiff.toml").write_text(run("map", "draft", "nightly.json").out)
    text = run("map", "check", "nightly.json").out
    assert "nightly.json   mapping nightly   4 trajectories, 4 trials, 12 entries" in text
    assert "$record.case_id" in text
    assert "first trial as it is read" in text
    assert "light(lamp=1) → lit" in text
    said = run("map", "check", "nightly.json", "--json").json["files"][0]
    assert (said["trajectories"], said["complete"], said["first_trial"]["task_id"]) == (4, True, "a")


def test_map_check_says_what_is_left_over_and_ends_with_3_without_a_trial(own: Path) -> None:
    table = "[map.m]\ntrajectories = 'cases[*].runs[*]'\ntask = {}\n[map.m.steps]\npath = 'log[*]'\n"
    rule = "[[map.m.steps.when]]\nif = \"kind == 'call'\"\nemit = 'tool_call'\nname = 'fn'\n"
    (own / "trajdiff.toml").write_text(table.format("'$record.case_id'") + rule)
    result = run("map", "check", "nightly.json")
    assert result.code == 0
    assert "entries that no rule fits: 8" in result.out
    assert "something is left over" in result.out
    (own / "trajdiff.toml").write_text(table.format("'nowhere'") + rule)
    result = run("map", "check", "nightly.json")
    assert result.code == 3
    assert "records left out: 4" in result.out


def test_map_check_without_a_mapping_shows_the_way(own: Path) -> None:
    result = run("map", "check", "nightly.json")
    assert (result.code, result.out) == (2, "")
    assert "trajdiff map draft FILE > trajdiff.toml" in result.err
    (own / "trajdiff.toml").write_text("[map.a]\ntask = 't'\n[map.b]\ntask = 't'\n")
    assert "choose one with --map: a, b" in run("map", "check", "nightly.json").err


def test_a_broken_settings_file_does_not_stop_a_draft(own: Path) -> None:
    (own / "trajdiff.toml").write_text("")
    (own / "trajdiff.toml").write_text("broken =")
    result = run("map", "draft", "nightly.json")
    assert result.code == 0
    assert "nightly" in tomllib.loads(result.out)["map"]
    assert run("map", "draft", "gone.json").code == 3
    assert run("map", "draft", "-", stdin=json.dumps(NESTED).encode()).code == 0


def test_convert_writes_lines_that_give_the_same_report(here: Path) -> None:
    result = run("convert", "--to", "all.jsonl")
    assert (result.code, result.out) == (0, "")
    assert "wrote   all.jsonl   12 trials" in result.err
    assert run("report", "all.jsonl").out == run("report").out
    assert run("compare", "task", "box-1", "all.jsonl").out.replace("all.jsonl", "traces/parcels.jsonl") == (
        run("compare", "task", "box-1", "traces/parcels.jsonl").out
    )
    assert run("validate", "all.jsonl").code == 0
    assert run("convert", "--to", "-").out == (here / "all.jsonl").read_text()
    assert run("convert", "--to", "nowhere/all.jsonl").code == 2
    assert run("convert").code == 2


def test_convert_keeps_mapped_names_and_verdicts(own: Path) -> None:
    (own / "trajdiff.toml").write_text(run("map", "draft", "nightly.json").out)
    assert run("convert", "nightly.json", "--map", "nightly", "--to", "all.jsonl").code == 0
    mapped = run("report", "nightly.json", "--map", "nightly")
    assert run("report", "all.jsonl").out == mapped.out


def test_outcomes_come_from_the_option_or_from_the_settings(here: Path) -> None:
    found = [{**one, "verdict": None} for one in records()]
    write_records(here / "traces" / "parcels.jsonl", found)
    rows = "".join(f"{one['task_id']},{one['trial_id']},{one['verdict']}\n" for one in records())
    (here / "o.csv").write_text("task,trial,verdict\n" + rows)
    assert run("report", "--json").json["trials"]["counted"] == 0
    named = run("report", "--outcomes", "o.csv", "--json")
    assert named.json["trials"]["counted"] == 12
    (here / "trajdiff.toml").write_text('outcomes = "o.csv"\n')
    assert run("report", "--json").json["tasks"] == named.json["tasks"]


def test_without_traces_the_manifest_says_what_to_read(own: Path) -> None:
    for trial in (0, 1):
        write_records(own / "logs" / f"lamp_{trial}.jsonl", [{"role": "user", "content": f"Hi {trial}"}])
    (own / "m.toml").write_text('[[trial]]\npath = "logs/{task}_{trial}.jsonl"\nverdict = "pass"\n')
    result = run("report", "--outcomes", "m.toml", "--json")
    assert [(task["task_id"], task["passed"]) for task in result.json["tasks"]] == [("lamp", 2)]
    assert "(no TRACES given; the manifest)" in result.err


def test_groups_are_named_in_the_report_and_pooled_on_request(here: Path) -> None:
    found = [{**one, "provenance": {"model": "m1"}} for one in records()]
    found += [{**one, "provenance": {"model": "m2"}} for one in records() if one["task_id"] == "box-1"]
    write_records(here / "traces" / "parcels.jsonl", found)
    result = run("report", "--json", "--all")
    assert sorted(task["task_id"] for task in result.json["tasks"]) == [
        "box-1 [m1]",
        "box-1 [m2]",
        "box-10",
        "box-2",
    ]
    assert "tried by several models or agents" in result.err
    assert run("compare", "task", "box-1 [m2]").code == 0
    assert '"box-1 [" begins 2 task ids' in run("compare", "task", "box-1 [").err
    pooled = run("compare", "task", "box-1", "--group-by", "none")
    assert pooled.code == 0
    # Above any comparison it is said that these trials were not made under the same conditions.
    assert "these differ: model: m1, m2" in pooled.err
    assert run("report", "--group-by", "colour").code == 2
