"""Names that no file can have, devices without an end, full disks and closed streams: always one message."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import call, record, run, say, write_records

LONG = "a" * 5000
DEVICE = Path("/dev/full")
needs_device = pytest.mark.skipif(not DEVICE.exists(), reason="this system has no /dev/full")


@pytest.fixture
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Two trials of one task, one of them failed, in the current folder."""
    monkeypatch.chdir(tmp_path)
    rows = [
        record(
            "box-1",
            "0",
            "pass",
            say("user", "Hello"),
            call("get_box", {"size": 3}),
            say("agent", "x" * 200_000),
        ),
        record("box-1", "1", "fail", say("user", "Hello"), say("agent", "No.")),
    ]
    return str(write_records(tmp_path / "t.jsonl", rows))


def _named(name: str, traces: str) -> tuple[tuple[str, ...], ...]:
    return (
        ("report", traces, "--config", name),
        ("report", traces, "--outcomes", name),
        ("report", traces, "--weights", name),
        ("report", traces, "--families", name),
        ("report", traces, "--labels", name),
        ("report", traces, "--reference", name),
        ("report", traces, "--to", f"{name}.json"),
        ("report", name),
        ("compare", "runs", name, traces),
        ("compare", "runs", traces, f"{name}#box-1/0"),
        ("compare", "trials", f"{name}#box-1/0", "box-1/1", traces),
        ("check", traces, "--baseline", name, "--fail-on", "new-failure"),
        ("review", "import", f"{name}.csv", traces),
        ("benchmark", name, traces),
        ("merge", name),
        ("map", "draft", name),
        ("run", name),
        ("replay", f"{name}#box-1/0", traces, "--environment", "false"),
        ("intervene", "box-1", traces, "--plan", name),
    )


@pytest.mark.parametrize("name", [LONG, f"{LONG}/b", "a\0b"], ids=["long", "long folder", "NUL"])
def test_names_that_no_file_can_have(name: str, traces: str) -> None:
    for arguments in _named(name, traces):
        result = run(*arguments)
        assert result.code in (2, 3), (arguments[:2], result.err)
        assert "error: " in result.err
        assert "internal" not in result.err, arguments[:2]
        assert max(map(len, result.err.splitlines())) < 1100, arguments[:2]


@pytest.mark.parametrize("key", ["outcomes", "reviews", "traces"])
def test_a_name_in_the_settings_that_no_file_can_have(key: str, traces: str, tmp_path: Path) -> None:
    value = '["a\\u0000b"]' if key == "traces" else '"a\\u0000b"'
    (tmp_path / "s.toml").write_text(f"{key} = {value}\n", encoding="utf-8")
    result = run("report", *([] if key == "traces" else [traces]), "--config", "s.toml")
    assert (result.code in (2, 3), "internal" in result.err) == (True, False), result.err


@needs_device
def test_a_device_without_an_end_is_told_and_not_read_for_ever(traces: str) -> None:
    for arguments in (
        ("report", traces, "--config", str(DEVICE)),
        ("report", traces, "--weights", str(DEVICE)),
        ("merge", str(DEVICE)),
        ("run", str(DEVICE)),
        ("benchmark", str(DEVICE), traces),
    ):
        result = run(*arguments)
        assert result.code in (2, 3)
        assert "a device without an end" in result.err, arguments
    # An empty device is the usual way to ask for no settings.
    assert run("report", traces, "--config", os.devnull).code == 0


def _started(*arguments: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "trajdiff", *arguments]
    return subprocess.run(command, stderr=subprocess.PIPE, timeout=60, check=False, **options)  # type: ignore[call-overload,no-any-return]


@needs_device
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_standard_output_is_told(unbuffered: str, traces: str) -> None:
    with DEVICE.open("wb") as full:
        done = _started("report", traces, "-q", stdout=full, env={**os.environ, "PYTHONUNBUFFERED": unbuffered})
    assert done.returncode == 2
    assert b"error: standard output: cannot be written (No space left on device)" in done.stderr
    assert b"Exception ignored" not in done.stderr


@needs_device
def test_messages_that_cannot_be_told_end_no_work(traces: str) -> None:
    with DEVICE.open("wb") as full:
        command = [sys.executable, "-m", "trajdiff", "report", traces]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, timeout=60, check=False)
    assert done.returncode == 0
    assert b"box-1" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are those of Unix")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_half_a_result_is_never_a_success(unbuffered: str, traces: str, tmp_path: Path) -> None:
    """An unbuffered stream takes as much as there is room for, and says so; the rest must not be forgotten."""
    import resource

    with (tmp_path / "out.jsonl").open("wb") as target:
        done = _started(
            "convert", traces, "--to", "-", "-q", "--no-config",
            stdout=target,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)),
        )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert b"standard output: cannot be written (File too large)" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no streams that do not block")
def test_a_reader_that_is_slow_gets_everything(traces: str) -> None:
    """A parent that made the stream not block is waited for."""
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    command = [sys.executable, "-m", "trajdiff", "convert", traces, "--to", "-", "-q"]
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE) as process:
        os.close(theirs)
        # Larger than a pipe on purpose: half of it fits only after somebody has read.
        with os.fdopen(ours, "rb") as stream:
            got = stream.read()
        assert process.wait(timeout=60) == 0
    assert got == run("convert", traces, "--to", "-", "-q").out.encode()


@pytest.mark.skipif(sys.platform == "win32", reason="a closed stream is made with a shell of Unix")
@pytest.mark.parametrize("command", ["report -", "validate -", "map draft -"])
def test_a_standard_input_that_is_closed(command: str) -> None:
    line = f"exec {sys.executable} -m trajdiff {command} <&-"
    done = subprocess.run(["sh", "-c", line], capture_output=True, timeout=60, check=False)
    assert done.returncode == 3
    said = (done.stdout + done.stderr).decode()
    assert "nothing was given on standard input" in said


def test_options_never_steer_the_terminal(traces: str) -> None:
    for arguments in (
        ("report", traces, "--tool", "\x1b[31mred"),
        ("report", traces, "--stop", "\u202ered"),
        ("demo", "--copy", "\x1b[31mred"),
    ):
        result = run(*arguments)
        assert "red" in result.out + result.err
        assert not {"\x1b", "\u202e"} & set(result.out + result.err), arguments


def test_warnings_of_libraries_are_not_ours(traces: str, tmp_path: Path) -> None:
    """A judge that says pass to everything makes a division by 0 somewhere below."""
    rows = "".join(f"box-1,{trial},me,pass\n" for trial in (0, 1))
    (tmp_path / "l.csv").write_text(f"task_id,trial_id,rater,label\n{rows}", encoding="utf-8")
    quiet = _started("judges", traces, "--labels", "l.csv", stdout=subprocess.PIPE)
    assert (quiet.returncode, b"Warning" in quiet.stderr) == (0, False)
    debug = _started("judges", traces, "--labels", "l.csv", "--debug", stdout=subprocess.PIPE)
    assert b"RuntimeWarning" in debug.stderr


def test_a_reference_to_a_file_that_was_not_read(traces: str, tmp_path: Path) -> None:
    """It is told which file is meant; the same file written otherwise is the same."""
    gone = run("compare", "trials", "gone/x.jsonl#box-1/0", "box-1/1", traces)
    assert gone.code == 2
    assert "error: gone/x.jsonl: no such file" in gone.err
    (tmp_path / "other.jsonl").write_bytes(Path(traces).read_bytes())
    other = run("compare", "trials", "other.jsonl#box-1/0", "box-1/1", traces)
    assert "error: other.jsonl: not among the files that were read" in other.err
    for same in ("t.jsonl", "./t.jsonl", f"../{tmp_path.name}/t.jsonl"):
        result = run("compare", "trials", f"{same}#box-1/0", "box-1/1", traces)
        assert result.code == 0, result.err
