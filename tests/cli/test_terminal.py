"""On a terminal and away from one: paging, completion, closed streams, interrupts, names of steps, widths."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from tests.cli.conftest import call, parcel, record, run, say, write_records
from trajdiff.analysis import analyse
from trajdiff.cli import cli
from trajdiff.cli.completing import cache_file
from trajdiff.importers import ReadOptions, load
from trajdiff.settings import Settings

PROGRAM = [sys.executable, "-m", "trajdiff"]


def call_program(command: str, here: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command.replace("trajdiff", " ".join(PROGRAM), 1)],
        cwd=here, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("trajdiff report 2>&-", 0),
        ("trajdiff report >&-", 0),
        ("trajdiff report >&- 2>&-", 0),
        ("trajdiff nonsense 2>&-", 2),
        ("trajdiff compare task box-1 --context 999999999", 0),
        ("trajdiff report --md " + "x" * 300, 2),
        ("trajdiff report --md $'a\\nb/c.md'", 2),
    ],
)
def test_odd_surroundings_change_no_code(command: str, code: int, here: Path) -> None:
    made = call_program(command, here)
    assert made.returncode == code, made.stderr
    assert "internal error" not in made.stderr
    assert "Traceback" not in made.stderr


def test_a_folder_that_is_gone_is_told(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "gone").mkdir()
    monkeypatch.chdir(here / "gone")
    (here / "gone").rmdir()
    made = run("report")
    assert made.code == 2
    assert made.err.startswith("error: the current folder is gone\n")


@pytest.mark.parametrize("delay", [0.06, 0.12, 0.25])
def test_an_early_interrupt_shows_no_traceback(delay: float, here: Path) -> None:
    def heed() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)

    started = subprocess.Popen(
        [*PROGRAM, "report"],
        cwd=here,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed,
    )
    time.sleep(delay)
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=120)
    if started.returncode == 1:
        # Too early for the program: the interpreter itself was starting.
        assert "trajdiff" not in err
        return
    assert started.returncode in (130, -signal.SIGINT, 0)
    if started.returncode == 130:
        assert "Traceback" not in err
        assert "interrupted" in err


def test_quiet_hides_notes_and_no_warning(here: Path) -> None:
    write_records(here / "traces" / "parcels.jsonl", [parcel("box-1", "0", "unscored", "small")])
    assert "warning:" in run("report", "-q").err
    assert "traces  " not in run("report", "-q").err


def complete(*words: str, incomplete: str = "") -> list[str]:
    items = ShellComplete(cli, {}, "trajdiff", "_X").get_completions(list(words), incomplete)
    return [item.value for item in items]


def test_ids_of_the_last_reading_are_completed(here: Path) -> None:
    assert complete("compare", "task") == []
    run("report")
    assert complete("compare", "task") == [], "nothing is kept away from a terminal"
    run("report", terminal=True)
    assert complete("compare", "task") == ["box-1", "box-2", "box-10"]
    assert complete("compare", "task", incomplete="box-1") == ["box-1", "box-10"]
    assert complete("compare", "trials", incomplete="box-10/") == [f"box-10/{n}" for n in range(4)]
    assert complete("export", "alignment", "--task", incomplete="box-2") == ["box-2"]
    assert "--pager" in complete("compare", "task", incomplete="--")
    assert complete("report", "--only", incomplete="mix") == ["mixed"]
    cache_file(os.environ).write_text("not json", encoding="utf-8")
    assert complete("compare", "task") == []


def test_a_long_text_on_a_terminal_goes_through_the_pager(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paged: list[str] = []
    monkeypatch.setattr(click, "echo_via_pager", lambda text, color=None: paged.append(text))
    monkeypatch.setattr("trajdiff.cli.paging.is_terminal", lambda stream: True)
    monkeypatch.setattr("shutil.get_terminal_size", lambda fallback: os.terminal_size((80, 10)))
    made = run("compare", "task", "box-1")
    assert made.out == ""
    assert paged[0].startswith("box-1")
    assert run("compare", "task", "box-1", "--no-pager").out == paged[0]
    assert run("compare", "task", "box-1", "--json").json["task"]["task_id"] == "box-1"
    monkeypatch.setattr("shutil.get_terminal_size", lambda fallback: os.terminal_size((80, 500)))
    assert run("compare", "task", "box-1").out == paged[0]
    run("compare", "task", "box-1", "--pager")
    assert len(paged) == 2
    assert run("report").out != "", "only comparing pages"


def test_without_a_terminal_nothing_is_paged(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(click, "echo_via_pager", lambda text, color=None: pytest.fail("paged"))
    assert run("compare", "task", "box-1", "--pager").out.startswith("box-1")


@pytest.mark.parametrize("layout", ["side", "inline"])
def test_the_name_of_a_step_is_shown(layout: str, here: Path) -> None:
    (here / "trajdiff.toml").write_text(
        '[steps]\n"look it up" = "get_*"\n"book it" = "book_*"\n', encoding="utf-8"
    )
    out = run("compare", "task", "box-1", "--layout", layout, "--context", "0").out
    assert "book it:\n" in out
    assert "(user message … look it up)" in out
    assert "book it:" not in run("compare", "task", "box-1", "--no-config").out


def test_steps_have_one_number_in_both_comparisons(here: Path) -> None:
    task = run("compare", "task", "box-1", "--json").json["table"]["rows"]
    trials = run("compare", "trials", "box-1/0", "box-1/3", "--json").json["table"]["rows"]

    def places(rows: list[dict[str, object]]) -> dict[object, object]:
        return {
            (cell["trial_id"], cell["message_index"]): row["step"]
            for row in rows
            for cell in row["cells"]  # type: ignore[attr-defined]
            if cell["message_index"] is not None
        }

    whole = places(task)
    cut = places(trials)
    assert cut
    assert all(whole[place] == step for place, step in cut.items())


def test_a_long_value_is_shown_where_it_differs(here: Path) -> None:
    """Two lists of flights that part in their last entry only."""
    flights = [{"flight": f"HAT{n:03}", "date": "2024-05-20", "seat": "aisle"} for n in range(8)]

    def booking(trial: str, verdict: str, date: str) -> dict[str, object]:
        last = {**flights[-1], "date": date}
        return record(
            "trip", trial, verdict,
            say("user", "Please book my flights."),
            call("book_flights", {"status": "ok"}, flights=[*flights[:-1], last]),
            say("agent", "They are booked."),
        )  # fmt: skip

    found = [
        booking("0", "pass", "2024-05-21"),
        booking("1", "fail", "2024-05-29"),
        booking("2", "pass", "2024-05-21"),
    ]
    write_records(here / "traces" / "parcels.jsonl", found)
    for text in (
        run("compare", "task", "trip").out,
        run("compare", "trials", "trip/0", "trip/1", "--layout", "inline").out,
        run("report", "--format", "markdown").out,
    ):
        assert "2024-05-21" in text
        assert "2024-05-29" in text
        assert "characters)" in text


def test_wide_characters_keep_the_columns(here: Path) -> None:
    from rich.cells import cell_len

    found = []
    for trial in range(4):
        one = parcel("箱子一号", str(trial), "fail" if trial % 2 else "pass", "大号" if trial % 2 else "小号")
        one["steps"][0]["text"] = "请安排取件，包裹号是P-1，谢谢。" * 6
        found.append(one)
    write_records(here / "traces" / "parcels.jsonl", found)
    for width in ("60", "100", "160"):
        os.environ["COLUMNS"] = width
        try:
            for command in (
                ("report",),
                ("compare", "task", "箱子一号", "--full"),
                ("compare", "task", "箱子一号"),
            ):
                lines = run(*command).out.splitlines()
                assert lines
                assert not [line for line in lines if cell_len(line) > int(width)]
        finally:
            del os.environ["COLUMNS"]


def test_progress_is_silent_where_nobody_looks(here: Path) -> None:
    made = call_program("trajdiff report 2>err.txt", here)
    assert made.returncode == 0
    text = (here / "err.txt").read_text(encoding="utf-8")
    assert "━" not in text
    assert "\x1b" not in text


def test_the_cache_holds_ids_and_nothing_else(here: Path) -> None:
    run("compare", "task", "box-1", terminal=True)
    text = cache_file(os.environ).read_text(encoding="utf-8")
    assert json.loads(text)["box-2"] == ["0", "1", "2", "3"]
    assert "parcel" not in text


def test_compare_trials_agrees_with_the_library(here: Path) -> None:
    corpus = load(["traces"], ReadOptions())
    table = analyse(corpus, Settings()).findings["box-1"].table
    assert table is not None
    numbers = [row.number for row in table.rows]
    shown = run("compare", "trials", "box-1/0", "box-1/1", "--json").json["table"]["rows"]
    assert [row["step"] for row in shown] == sorted(row["step"] for row in shown)
    assert {row["step"] for row in shown} <= set(numbers)
