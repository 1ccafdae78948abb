"""What a hostile or careless user does to the program: nothing is lost, nothing steers the terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def record(trial: str, verdict: str, tool: str = "get_x", task: str = "A") -> str:
    steps = [{"name": tool}]
    return json.dumps(
        {"schema": "trajdiff/1", "task_id": task, "trial_id": trial, "verdict": verdict, "steps": steps}
    )


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "trajdiff", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("arguments", [("export", "trials"), ("report",)])
def test_a_log_is_never_written_over(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    log = tmp_path / "in.jsonl"
    log.write_text(record("0", "pass") + "\n", "utf-8")
    before = log.read_bytes()
    done = run(tmp_path, *arguments, "in.jsonl", "--to", "in.jsonl")
    assert done.returncode == 2
    assert "is one of the logs that were read" in done.stderr
    assert log.read_bytes() == before


@pytest.mark.skipif(os.name == "nt", reason="no named pipes")
def test_a_named_pipe_is_told_and_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/a.jsonl").write_text(record("0", "pass"), "utf-8")
    os.mkfifo(tmp_path / "runs/p.json")
    done = run(tmp_path, "report", "runs")
    assert done.returncode == 0
    assert "runs/p.json: no regular file" in done.stderr
    assert done.stdout.startswith("1 task · 1 trial")


def test_errors_never_steer_the_terminal(tmp_path: Path) -> None:
    evil = "A\x1b[2J\x1b]0;owned\x07"
    log = "\n".join(record("0", verdict, task=evil) for verdict in ("pass", "fail"))
    (tmp_path / "e.jsonl").write_text(log, "utf-8")
    done = run(tmp_path, "report", "e.jsonl")
    assert done.returncode == 3
    assert "recorded twice" in done.stderr
    assert "\x1b" not in done.stderr
    assert "\x07" not in done.stderr


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_a_threshold_that_is_no_number(tmp_path: Path, value: str) -> None:
    (tmp_path / "a.jsonl").write_text(record("0", "pass"), "utf-8")
    done = run(tmp_path, "report", "a.jsonl", "--threshold", value)
    assert done.returncode == 2
    assert "--threshold" in done.stderr


def test_a_value_nested_too_deeply_is_no_internal_error(tmp_path: Path) -> None:
    deep = '{"a":' * 950 + "1" + "}" * 950
    line = record("0", "pass").replace('{"name": "get_x"}', f'{{"name": "get_x", "arguments": {deep}}}')
    (tmp_path / "b.jsonl").write_text(line, "utf-8")
    done = run(tmp_path, "report", "b.jsonl")
    assert "internal error" not in done.stderr
    assert "Traceback" not in done.stderr


def test_files_that_number_their_trials_keep_their_numbers(tmp_path: Path) -> None:
    """Trial 1 stands in two files with two verdicts: an error that names both, and trial 0 is left alone."""
    for name, trial, verdict in (("f0", "0", "pass"), ("f1", "1", "pass"), ("f1b", "1", "fail")):
        (tmp_path / f"{name}.json").write_text(record(trial, verdict, tool=f"get_{name}"), "utf-8")
    done = run(tmp_path, "report", "f0.json", "f1.json", "f1b.json")
    assert done.returncode == 3
    assert "f1.json" in done.stderr
    assert "f1b.json" in done.stderr
    assert "f0.json" not in done.stderr
