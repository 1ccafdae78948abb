"""Standard output and error: colours, width, encodings, notes, and files that are whole or not there."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.cli.conftest import parcel, run, write_records
from trajdiff.cli.progress import Stage
from trajdiff.cli.streams import State
from trajdiff.cli.writing import write


@pytest.mark.parametrize(
    ("terminal", "environment", "options", "coloured"),
    [
        (False, {}, (), False),
        (True, {}, (), True),
        (True, {"NO_COLOR": "1"}, (), False),
        (True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, (), False),
        (True, {"NO_COLOR": ""}, (), True),
        (True, {"TERM": "dumb"}, (), False),
        (False, {"FORCE_COLOR": "1"}, (), True),
        (False, {"FORCE_COLOR": "1", "TERM": "dumb"}, (), False),
        (False, {"NO_COLOR": "1"}, ("--color", "always"), True),
        (True, {}, ("--color", "never"), False),
        (True, {"FORCE_COLOR": "1"}, ("--color", "never"), False),
    ],
)
def test_colour(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    terminal: bool,
    environment: dict[str, str],
    options: tuple[str, ...],
    coloured: bool,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    result = run("report", *options, terminal=terminal)
    assert ("\x1b[" in result.out) is coloured
    assert "\x1b" not in run("report", "--json", *options, terminal=terminal).out


def test_colour_is_named_so_that_the_theme_decides(here: Path) -> None:
    out = run("compare", "task", "box-1", "--color", "always").out
    codes = {code for found in re.findall(r"\x1b\[([0-9;]*)m", out) for code in found.split(";")}
    assert codes <= {"0", "1", "2", "4", "7", "33", "36"}
    assert {"7", "33", "36"} <= codes


@pytest.mark.parametrize(("columns", "width"), [("", 100), ("80", 80), ("120", 120), ("7", 40), ("x", 100)])
def test_width_without_a_terminal(
    here: Path, monkeypatch: pytest.MonkeyPatch, columns: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for arguments in (("report",), ("compare", "task", "box-1"), ("unstable",), ("inspect",)):
        lines = run(*arguments).out.splitlines()
        assert max(cell_len(line) for line in lines) <= width
    side = "step  ✓" in run("compare", "task", "box-1").out
    assert side is (width >= 100)


def test_ascii_on_request_and_where_the_encoding_asks_for_it(here: Path) -> None:
    write_records(
        here / "traces" / "parcels.jsonl", [parcel("box-1", str(i), "pass", "small") for i in range(2)]
    )
    assert run("report", "--ascii").out.isascii()
    assert run("compare", "task", "box-1", encoding="ascii").out.isascii()
    assert "✓" in run("report", "--all").out
    assert "PP" in run("report", "--all", encoding="latin-1").out


def test_text_that_the_terminal_cannot_show_is_escaped(here: Path) -> None:
    made = parcel("box-1", "0", "pass", "small")
    made["task"]["title"] = "退款"
    write_records(here / "traces" / "parcels.jsonl", [made])
    assert "\\u9000\\u6b3e" in run("compare", "task", "box-1", encoding="ascii").out
    assert "退款" in run("compare", "task", "box-1").out


def test_marks_of_ambiguous_width_are_left_out_where_they_may_be_wide(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert "◆" not in run("report", terminal=True).out
    assert "◆" in run("report").out, "only a terminal draws them wide"
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert "◆" in run("report", terminal=True).out


def test_results_and_notes_do_not_mix(here: Path) -> None:
    result = run("report", "--json")
    assert result.json["schema"] == "trajdiff.report/1"
    assert result.err.startswith("traces  ./traces")
    assert run("report", "-q").err == ""
    assert "next    " not in run("report").err
    assert "next    trajdiff compare task box-1" in run("report", terminal=True).err
    assert "next" not in run("report", "-q", terminal=True).err


def test_every_format_of_standard_output(here: Path) -> None:
    assert run("report", "--format", "markdown").out.startswith("<!-- trajdiff:report -->\n")
    assert len(run("report", "--format", "jsonl").out.splitlines()) == 3
    assert run("report", "--format", "JSON").out == run("report", "--json").out
    assert run("report", "--format", "json", "--to", "-").out == run("report", "--json").out


def test_files_are_written_beside_the_text(here: Path) -> None:
    result = run("report", "--to", "r.json", "--to", "r.csv", "--md", "note.txt", "--to", "r.jsonl")
    assert result.out == run("report").out
    assert [line for line in result.err.splitlines() if line.startswith("wrote")] == [
        "wrote   r.json   0 values redacted",
        "wrote   r.csv   0 values redacted",
        "wrote   r.jsonl   0 values redacted",
        "wrote   note.txt   0 values redacted",
    ]
    assert Path("r.json").read_text(encoding="utf-8") == run("report", "--json", "--redact").out
    assert Path("note.txt").read_text(encoding="utf-8").startswith("<!-- trajdiff:report -->")
    assert sorted(path.name for path in here.iterdir()) == ["note.txt", "r.csv", "r.json", "r.jsonl", "traces"]


def test_files_do_not_depend_on_the_terminal(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("report", "--to", "a.md")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("LANG", "ja_JP.UTF-8")
    run("report", "--to", "b.md", "--color", "always", terminal=True)
    assert Path("a.md").read_bytes() == Path("b.md").read_bytes()


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "report.md"
    target.write_text("old", encoding="utf-8")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    from trajdiff.errors import UsageError

    with pytest.raises(UsageError, match="No space left on device"):
        write(str(target), "new")
    assert [path.name for path in tmp_path.iterdir()] == ["report.md"]
    assert target.read_text(encoding="utf-8") == "old"


@pytest.mark.skipif(os.name == "nt", reason="links and devices of another kind")
def test_links_stay_links(tmp_path: Path) -> None:
    real = tmp_path / "real.md"
    real.write_text("old", encoding="utf-8")
    real.chmod(0o640)
    link = tmp_path / "link.md"
    link.symlink_to(real)
    write(str(link), "new \ud83d")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "new \\ud83d"
    assert real.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name == "nt", reason="pipes of another kind")
def test_what_is_no_file_is_written_to_and_never_replaced(tmp_path: Path) -> None:
    """A pipe stands for every device. A real one is not touched: were the program wrong, it would be gone."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write(str(pipe), "through")
        assert pipe.is_fifo()
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)


def stage(monkeypatch: pytest.MonkeyPatch, *, terminal: bool, quiet: bool = False) -> str:
    """Thirty tasks at one second each."""
    from tests.cli.conftest import Stream, _streams

    clock = iter(range(1000))
    monkeypatch.setattr("trajdiff.cli.progress.time.monotonic", lambda: float(next(clock)))
    err = Stream("utf-8", terminal=terminal)
    state = State()
    with (
        _streams(Stream("utf-8", terminal=False), err, b""),
        Stage("align", "tasks", state, quiet=quiet) as told,
    ):
        for done in range(1, 31):
            told(done, 30)
            assert state.stage == f"align {done}/30 tasks"
    assert state.stage == ""
    return err.text()


def test_progress_without_a_terminal_is_a_line_every_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    assert stage(monkeypatch, terminal=False).splitlines() == [
        f"align {done}/30 tasks" for done in (10, 20, 30)
    ]


def test_progress_on_a_terminal_is_a_bar_and_quiet_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "/30" in stage(monkeypatch, terminal=True)
    assert stage(monkeypatch, terminal=True, quiet=True) == ""
    assert stage(monkeypatch, terminal=False, quiet=True) == ""
