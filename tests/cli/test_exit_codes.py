"""Every exit code, and that none of them means two things."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import parcel, records, run, write_records


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("report",), 0),
        (("report", "--exit-code"), 1),
        (("report", "--exit-code", "--min-grade", "D"), 1),
        (("compare", "task", "box-1", "--exit-code"), 1),
        (("compare", "task", "box-10", "--exit-code"), 0),
        (("compare", "trials", "box-1/0", "box-1/1", "--exit-code"), 1),
        (("compare", "trials", "box-1/0", "box-1/2", "--exit-code"), 0),
        (("compare", "trials", "box-1/0", "box-1/1"), 0),
        (("unstable", "--exit-code"), 1),
        (("unstable", "--exit-code", "--task", "box-10"), 0),
        (("inspect", "--exit-code"), 0),
        (("inspect", "--exit-code", "--expected-trials", "5"), 1),
        (("report", "--strict"), 0),
        (("report", "--strict", "--expected-trials", "5"), 3),
        (("report", "no-such-folder"), 3),
        (("report", "no-*.json"), 3),
        (("compare", "task", "nope"), 2),
        (("compare", "trials", "box-1/0", "box-2/0"), 2),
        (("compare", "trials", "box-1/0", "box-1/0"), 2),
        (("compare", "trials", "box-1", "box-1/0"), 2),
        (("compare", "trials", "box-1/0", "box-1/9"), 2),
        (("compare", "task", "box-1", "--trials", "0,9"), 2),
        (("compare", "task"), 2),
        (("report", "--task", "nope"), 2),
        (("report", "--nope"), 2),
        (("nope",), 2),
        (("report", "--only", "nope"), 2),
        (("report", "--k", "0"), 2),
        (("report", "--k", "one"), 2),
        (("report", "--to", "x.docx"), 2),
        (("report", "--to", "-"), 2),
        (("report", "--to", "no/such/folder.md"), 2),
        (("report", "--md", "."), 2),
        (("report", "--json", "--format", "text"), 2),
        (("report", "--config", "no.toml"), 2),
        (("report", "--from", "no such format"), 2),
        (("export", "trials"), 2),
        (("formats", "--schema", "nope"), 2),
        (("--completion", "nope"), 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_codes(here: Path, arguments: tuple[str, ...], code: int) -> None:
    result = run(*arguments)
    assert result.code == code, result.err
    assert "Traceback" not in result.err
    assert ("error: " in result.err) == (code in (2, 3))


def test_nothing_to_read_is_usage_and_names_the_three_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("report")
    assert result.code == 2
    assert result.err == (
        "error: no TRACES given and none found\n"
        "  looked at: traces in trajdiff.toml or [tool.trajdiff], ./traces, ./sample_traces\n"
        "  give a path, or try: trajdiff demo\n"
    )


def test_an_unreadable_file_among_good_ones_is_named_and_skipped(here: Path) -> None:
    (here / "traces" / "cut.jsonl").write_text('{"schema": "trajdiff/1", "task_id": ', encoding="utf-8")
    result = run("report")
    assert result.code == 0
    assert "error: traces/cut.jsonl: " in result.err
    assert "3 tasks" in result.out
    assert run("report", "--on-error", "fail").code == 3
    assert run("inspect", "--exit-code").code == 1
    assert "not read" in run("inspect").out


def test_an_unscored_trial_is_told_and_stops_only_strict_runs(here: Path) -> None:
    found = [*records()[:3], parcel("box-1", "3", "unscored", "small")]
    write_records(here / "traces" / "parcels.jsonl", found)
    result = run("report")
    assert result.code == 0
    assert "unscored: box-1/3" in result.out
    assert "warning: " in result.err
    assert run("report", "--strict").code == 3
    assert "2 failed (1 unscored)" in run("report", "--unscored", "fail").out


def test_a_defect_of_ours_is_no_finding(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("boom")

    monkeypatch.setattr("trajdiff.cli.session.build_report", broken)
    result = run("report", "--exit-code")
    assert result.code == 3
    assert result.err.endswith("internal error: please report this with the output of --debug\n")
    assert "boom" not in result.err
    debug = run("report", "--debug")
    assert debug.code == 3
    assert "ZeroDivisionError: boom" in debug.err


def test_an_interrupt_says_how_far_it_came(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, progress: object = None, **__: object) -> None:
        assert callable(progress)
        progress(2, 3)
        raise KeyboardInterrupt

    monkeypatch.setattr("trajdiff.analysis.analyse", interrupted)
    result = run("report", "-q")
    assert result.code == 130
    assert result.out == ""
    assert result.err.splitlines()[-1] == "interrupted: align 2/3 tasks"


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "trajdiff", *arguments]


def environment(project: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(project), "PYTHONIOENCODING": "utf-8"}


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(os.name == "nt", reason="signals of another kind")
def test_the_process_itself_ends_with_130(here: Path, project: Path) -> None:
    """Standard input that never ends keeps the program reading until the signal arrives."""
    process = subprocess.Popen(
        command("report", "-"),
        cwd=here,
        env=environment(project),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell starts background jobs with the interrupt ignored, and children inherit that.
        preexec_fn=_heed_interrupts,
    )
    assert process.stdin is not None
    # More than a pipe holds: the write returns when the program is reading, however slow the machine is.
    process.stdin.write(b" " * 400_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"interrupted: read" in err
    assert b"Traceback" not in err


@pytest.mark.skipif(os.name == "nt", reason="pipes of another kind")
@pytest.mark.parametrize("arguments", [("export", "alignment", "--format", "jsonl", "--to", "-"), ("report",)])
def test_a_closed_pipe_is_no_failure(here: Path, project: Path, arguments: tuple[str, ...]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        command(*arguments),
        cwd=here,
        env=environment(project),
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write)
    assert done.returncode == 0, done.stderr
    assert b"BrokenPipe" not in done.stderr
    assert b"rror" not in done.stderr
