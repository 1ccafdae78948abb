"""trajdiff in Python: the same reading, the same figures, frames with the columns of the exports."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

import trajdiff
from tests.cli.conftest import here, parcel, records, run, write_records
from trajdiff.render.table_columns import ALIGNMENT_COLUMNS, DIVERGENCE_COLUMNS, TRIAL_COLUMNS

__all__ = ["here"]


def test_importing_the_package_loads_nothing_else() -> None:
    code = "import sys, trajdiff; print(sorted(m for m in sys.modules if m.partition('.')[0] in "
    code += "('trajdiff', 'pandas', 'numpy', 'click', 'rich', 'scipy')))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "['trajdiff']"


def test_frames_have_the_columns_and_the_rows_of_the_exports(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = trajdiff.load("traces").report()
    assert tuple(report.divergences.columns) == DIVERGENCE_COLUMNS
    assert tuple(report.trials.columns) == TRIAL_COLUMNS
    assert tuple(report.alignment("box-1").columns) == ALIGNMENT_COLUMNS
    for name, frame in (
        ("report", report.tasks),
        ("divergences", report.divergences),
        ("trials", report.trials),
    ):
        lines = run("export", name, "--no-redact", "--format", "csv", "--to", "-").out.splitlines()
        assert ",".join(frame.columns) == lines[0]
        assert len(frame) == len(lines) - 1
    assert set(report.alignment("box-1")["task_id"]) == {"box-1"}
    assert len(report.alignment("box-1")) == 6 * 4
    with pytest.raises(trajdiff.TrajdiffError, match='no task "box-9"'):
        report.alignment("box-9")
    read = capsys.readouterr()
    assert (read.out, read.err) == ("", "")


def test_types_survive_unknown_values(here: Path) -> None:
    found = records()[:11]  # box-10 has three of four trials
    write_records(here / "traces" / "parcels.jsonl", found)
    tasks = trajdiff.load("traces").report().tasks.set_index("task_id")
    assert str(tasks["pass_hat_4"].dtype) == "Float64"
    assert list(tasks["pass_hat_4"].isna()) == [name == "box-10" for name in tasks.index]
    assert tasks.loc["box-1", "pass_hat_2"] == pytest.approx(1 / 6)
    assert str(tasks["root_step"].dtype) == "Int64"
    divergences = trajdiff.load("traces").report().divergences
    assert str(divergences["abstained"].dtype) == "boolean"
    assert list(divergences.query("grade == 'A'")["trial_id"]) == ["1", "3"]


def test_reading_is_that_of_the_command_line(here: Path) -> None:
    (here / "trajdiff.toml").write_text('name = "parcels"\nexpected_trials = 5\n', encoding="utf-8")
    runs = trajdiff.load()
    assert runs.paths == ("traces",)
    assert runs.report().data.name == "parcels"
    assert runs.report().data.suite.expected == 15
    assert trajdiff.load("traces", use_config=False).report().data.suite.expected == 12
    assert trajdiff.load("traces", expected_trials=4).report().data.suite.expected == 12
    assert trajdiff.load([Path("traces/parcels.jsonl")]).corpus.tasks == runs.corpus.tasks
    broken = here / "broken.json"
    broken.write_text("{", encoding="utf-8")
    with pytest.raises(trajdiff.TrajdiffError):
        trajdiff.load(broken)
    both = trajdiff.load(["traces", broken])
    assert any(one.path == "broken.json" or "broken" in str(one.path) for one in both.warnings)
    with pytest.raises(TypeError):
        trajdiff.load("traces", tresholt=1)


def test_chosen_tasks_and_progress(here: Path) -> None:
    seen: list[tuple[int, int]] = []
    report = trajdiff.load("traces").report(["box-1"], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 1)]
    assert set(report.divergences["task_id"]) == {"box-1"}
    with pytest.raises(trajdiff.TrajdiffError, match='no task "nothing"'):
        trajdiff.load("traces").report(["nothing"])


def test_writing_is_that_of_the_command_line(here: Path) -> None:
    found = records()
    for entry in found:
        entry["steps"][0]["text"] += " I am ana@example.com."
    write_records(here / "traces" / "parcels.jsonl", found)
    report = trajdiff.load("traces").report()
    run("report", "--to", "a.md", "--to", "a.csv", "--to", "a.xlsx", "--to", "a.json")
    for suffix in ("md", "csv", "xlsx", "json"):
        report.write(f"b.{suffix}")
        assert Path(f"a.{suffix}").read_bytes() == Path(f"b.{suffix}").read_bytes(), suffix
    report.write("c.html")
    assert "ana@example.com" not in Path("c.html").read_text(encoding="utf-8")
    report.write("d.json", content=False)
    assert json.loads(Path("d.json").read_text(encoding="utf-8"))["content"] is False
    with pytest.raises(trajdiff.TrajdiffError, match="suffix"):
        report.write("e.docx")


def test_a_notebook_shows_a_plain_table_without_script(here: Path) -> None:
    found = [
        parcel("<script>alert(1)</script>", str(n), "fail" if n else "pass", "large" if n else "small")
        for n in (0, 1)
    ]
    write_records(here / "traces" / "parcels.jsonl", found)
    runs = trajdiff.load("traces")
    for html in (runs.report()._repr_html_(), runs._repr_html_()):
        assert html.count("<table>") == 1
        assert "<script" not in html
    assert "&lt;script&gt;alert(1)" in runs.report()._repr_html_()
    assert "book_pickup with another size" in runs.report()._repr_html_()
    assert repr(runs) == "<trajdiff.Runs 1 tasks, 2 trials from traces>"


def test_accept_entries_are_held_against_the_day_that_is_given(here: Path) -> None:
    text = '[[accept]]\nkind = "wrong_argument"\nwhy = "fine"\nuntil = 2027-01-01\n'
    (here / "trajdiff.toml").write_text(text, encoding="utf-8")
    runs = trajdiff.load("traces")
    assert list(runs.report(today=date(2027, 1, 1)).divergences["accepted"].dropna()) == ["fine", "fine"]
    assert runs.report(today=date(2027, 1, 2)).divergences["accepted"].dropna().empty


def test_unknown_names_of_the_package() -> None:
    assert "load" in dir(trajdiff)
    with pytest.raises(AttributeError):
        trajdiff.nothing  # noqa: B018
