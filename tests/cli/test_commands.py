"""Each command on a small folder of traces: what it prints and what it writes."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import parcel, records, run, write_records
from trajdiff.schema import violations


def test_report_puts_the_divergence_beside_pass_k(here: Path) -> None:
    result = run("report")
    assert result.code == 0
    assert result.out.startswith("3 tasks · 12 of 12 trials · 6 passed · 6 failed\n")
    # (0.5 + 0 + 1) / 3 and (1/6 + 0 + 1) / 3
    assert re.search(r"^pass\^k +0\.50 +0\.39 +0\.33 +0\.33$", result.out, flags=re.M)
    assert re.search(r"^box-1 +✓✗✓✗ +0\.50 .* [AB] +◆ \d.*book_pickup", result.out, flags=re.M)
    assert "1 task always passes (--all lists them)" in result.out
    assert "traces  ./traces (no TRACES given; no configuration)" in result.err
    assert re.search(r"^read +traces/parcels\.jsonl +\S.* +3 tasks +12 trials$", result.err, flags=re.M)


def test_compare_task_leads_back_to_the_log(here: Path) -> None:
    result = run("compare", "task", "box-1")
    assert result.code == 0
    assert result.out.startswith("box-1  about box-1   ✓✗✓✗   pass^1 0.50   pass^2 0.17   pass^4 0.00\n")
    assert "2 of 2 failed, 0 of 2 passed (smallest p 0.33)" in result.out
    refs = re.findall(r"(passed|failed) +(traces/parcels\.jsonl)#box-1/(\d)@(\d)", result.out)
    assert [side for side, *_ in refs] == ["passed", "failed"]
    lines = Path("traces/parcels.jsonl").read_text(encoding="utf-8").splitlines()
    for side, _, trial, _ in refs:
        place = re.search(rf"{side} +\S+#box-1/{trial}@\d +(\S+) \(line (\d+)\)", result.out)
        assert place is not None
        assert json.loads(lines[int(place[2]) - 1])["trial_id"] == trial


def test_report_and_compare_task_say_the_same(here: Path) -> None:
    whole = next(task for task in run("report", "--json").json["tasks"] if task["task_id"] == "box-1")
    assert run("compare", "task", "box-1", "--json").json["task"] == whole


def test_a_unique_beginning_is_a_task_id(here: Path) -> None:
    assert run("compare", "task", "box-2", "-q").out.startswith("box-2  ")
    assert run("compare", "task", "box-10").code == 0
    assert run("compare", "task", "box-").code == 2


def test_compare_trials_takes_every_form_of_reference(here: Path) -> None:
    short = run("compare", "trials", "box-1/0", "box-1/1")
    full = run("compare", "trials", "traces/parcels.jsonl#box-1/0", "traces/parcels.jsonl#box-1/1@3")
    assert short.code == full.code == 0
    assert short.out.startswith("A  ✓ traces/parcels.jsonl#box-1/0")
    assert "book_pickup(" in short.out
    assert 'size="large"' in short.out
    assert "Two trials show what differs, not what matters" in " ".join(short.out.split())
    assert "traces  " not in full.err, "the references name the file"
    assert [line for line in full.out.splitlines() if "large" in line] == [
        line for line in short.out.splitlines() if "large" in line
    ]


def test_unstable_ranks_mixed_tasks_only(here: Path) -> None:
    result = run("unstable", "--json")
    assert [(row["rank"], row["task"]["task_id"]) for row in result.json["rows"]] == [(1, "box-1")]
    assert result.json["rows"][0]["disagree"] == pytest.approx(4 / 6)
    assert "1 of 3 tasks." in run("unstable").out


def test_inspect_analyses_nothing_and_lists_tools(here: Path) -> None:
    result = run("inspect")
    assert re.search(r"^traces/parcels\.jsonl +\S.* 3 +12 ", result.out, flags=re.M)
    assert "expected 12, completed 12, counted 12, missing none" in result.out
    assert re.search(r"^get_parcel +read +12 +0 ", result.out, flags=re.M)
    assert re.search(r"^book_pickup +write +12 +0 ", result.out, flags=re.M)


def test_settings_are_told_with_their_origin(here: Path) -> None:
    (here / "trajdiff.toml").write_text('name = "parcels"\n', encoding="utf-8")
    out = run("inspect", "--settings", "--infra", "exclude").out
    assert re.search(r'^name +"parcels" +trajdiff\.toml$', out, flags=re.M)
    assert re.search(r'^infra +"exclude" +--infra$', out, flags=re.M)
    entries = {
        row["key"]: row for row in run("inspect", "--settings", "--json", "--infra", "exclude").json["settings"]
    }
    assert entries["name"] == {"key": "name", "value": '"parcels"', "from": "trajdiff.toml"}
    assert entries["infra"]["from"] == "--infra"
    assert entries["unscored"]["from"] == "default"
    assert run("report").out.startswith("parcels\n")
    assert not run("report", "--no-config").out.startswith("parcels\n")


def test_validate_prints_problems_as_the_result(here: Path) -> None:
    good = run("validate")
    assert good.code == 0
    assert "the file is valid" in good.out
    broken = parcel("box-3", "0", "pass", "small")
    del broken["steps"][1]["name"]
    write_records(here / "traces" / "broken.jsonl", [broken])
    bad = run("validate")
    assert bad.code == 3
    assert "1 of 2 files is invalid" in bad.out
    assert re.search(r"^invalid +traces/broken\.jsonl", bad.out, flags=re.M)
    assert re.search(r"^error: traces/broken\.jsonl: .*\n  at .*steps\[1\]", bad.out, flags=re.M)
    assert bad.err.count("\n") == 1, "only the note about the traces"
    files = {file["path"]: file for file in run("validate", "--json").json["files"]}
    assert files["traces/broken.jsonl"]["valid"] is False
    assert files["traces/parcels.jsonl"] == {
        "path": "traces/parcels.jsonl",
        "format": files["traces/parcels.jsonl"]["format"],
        "trials": 12,
        "valid": True,
        "problems": [],
    }


def test_formats_lists_what_is_read_and_written() -> None:
    out = run("formats").out
    for name in ("tau-bench results", "tau2 results", "trajdiff/1"):
        assert name in out
    assert re.search(r"^write +csv html json jsonl md parquet tsv xlsx", out, flags=re.M)
    assert {entry["name"] for entry in run("formats", "--json").json["read"]} >= {"tau2"}


@pytest.mark.parametrize("name", ["report", "compare-task", "trace", "divergences"])
def test_schemas_are_printed(name: str) -> None:
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(run("formats", "--schema", name).json)


@pytest.mark.parametrize(
    ("arguments", "schema"),
    [
        (("report",), "report"),
        (("compare", "task", "box-1"), "compare-task"),
        (("compare", "trials", "box-1/0", "box-1/1"), "compare-trials"),
        (("unstable",), "unstable"),
        (("inspect",), "inspect"),
        (("inspect", "--settings"), "inspect-settings"),
        (("validate",), "validate"),
        (("formats",), "formats"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_json_of_every_command_fits_its_schema(here: Path, arguments: tuple[str, ...], schema: str) -> None:
    result = run(*arguments, "--json")
    assert result.code == 0
    assert not list(violations(result.json, schema))


def test_demo_needs_nothing_and_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trajdiff.toml").write_text('name = "not mine"\n', encoding="utf-8")
    result = run("demo")
    assert result.code == 0
    assert "note    bundled sample traces, made up for this demo" in result.err
    assert re.search(r"^L1-061 .*check_permission missing", result.out, flags=re.M)
    assert "not mine" not in result.out
    assert [path.name for path in tmp_path.iterdir()] == ["trajdiff.toml"]
    inputs = [file["path"] for file in run("demo", "--json").json["inputs"]]
    assert inputs
    assert all(path.startswith("sample_traces/") for path in inputs)
    assert run("demo", "--copy", "mine").code == 0
    assert run("demo", "--copy", "mine").code == 2
    assert run("report", "mine", "--no-config").out == result.out


def test_exports_write_one_table_and_say_what(here: Path) -> None:
    result = run("export", "divergences", "--to", "review.csv")
    assert (result.code, result.out) == (0, "")
    assert re.search(r"^wrote +review\.csv +6 failing trials of 2 tasks \(", result.err, flags=re.M)
    rows = list(csv.DictReader(io.StringIO(Path("review.csv").read_text(encoding="utf-8"))))
    assert [(row["task_id"], row["trial_id"]) for row in rows] == [
        ("box-1", "1"),
        ("box-1", "3"),
        *(("box-2", str(i)) for i in range(4)),
    ]
    assert run("export", "alignment", "--task", "box-1", "--to", "steps.tsv").code == 0
    assert run("export", "trials", "--to", "trials.json").code == 0
    assert len(json.loads(Path("trials.json").read_text(encoding="utf-8"))) == 12


def test_natural_order_of_tasks_and_trials(here: Path) -> None:
    more = [parcel("box-9", str(i), "fail", "small") for i in (10, 9, 2)]
    write_records(here / "traces" / "more.jsonl", more)
    out = run("export", "divergences", "--format", "jsonl", "--to", "-", "-q").out
    order = [(row["task_id"], row["trial_id"]) for row in map(json.loads, out.splitlines())]
    assert order[-3:] == [("box-9", "2"), ("box-9", "9"), ("box-9", "10")]
    trials = run("export", "trials", "--format", "csv", "--to", "-", "-q").out
    assert [row["task_id"] for row in csv.DictReader(io.StringIO(trials))][-1] == "box-10"


def test_the_order_of_files_and_records_changes_nothing(here: Path) -> None:
    found = records()
    write_records(here / "traces" / "parcels.jsonl", found[::-1])
    backwards = run("compare", "task", "box-1", "--full").out
    write_records(here / "traces" / "parcels.jsonl", found)
    forwards = run("compare", "task", "box-1", "--full").out
    without = re.compile(r" \(line \d+\)")
    assert without.sub("", backwards) == without.sub("", forwards)
    write_records(here / "b.jsonl", found[:6])
    write_records(here / "a.jsonl", found[6:])
    assert (
        run("report", "a.jsonl", "b.jsonl", "--json").out == run("report", "b.jsonl", "a.jsonl", "--json").out
    )


def test_standard_input_is_a_file(here: Path) -> None:
    data = Path("traces/parcels.jsonl").read_bytes()
    result = run("report", "-", "-q", stdin=data)
    assert result.code == 0
    assert result.out == run("report", "-q").out
