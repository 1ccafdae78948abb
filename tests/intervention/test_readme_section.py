"""The README's way from a place to look to a tested step, run as it stands there, in a folder of its own."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from trajdiff.importers import load

HEADING = "## From a place to look to a tested cause"


@pytest.fixture(scope="module")
def section(project: Path) -> str:
    text = (project / "README.md").read_text(encoding="utf-8")
    start = text.index(HEADING)
    return text[start : text.index("\n## ", start + 1)]


def block(section: str, language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", section, flags=re.M | re.S)
    return str(found)


def test_the_loop_runs_and_prints_what_is_shown(section: str, project: Path, tmp_path: Path) -> None:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("TRAJDIFF")},
        "PYTHONPATH": str(project),
        "PYTHONIOENCODING": "utf-8",
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    printed = ""
    commands = 0
    for line in block(section, "console").splitlines():
        if not line.startswith("$ "):
            assert line in printed.splitlines(), line
            continue
        words = shlex.split(line.removeprefix("$ trajdiff "))
        done = subprocess.run(
            [sys.executable, "-m", "trajdiff", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "warning" not in done.stderr, done.stderr
        printed = done.stdout
        commands += 1
    assert commands == 5
    kept = (tmp_path / "trajdiff.interventions.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(kept) == 1


def test_the_recorder_of_the_example_writes_a_trial(
    section: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAJDIFF_TRACE", str(tmp_path / "trace.jsonl"))
    exec(compile(block(section, "python"), "README.md", "exec"), {})
    (trial,) = load([str(tmp_path / "trace.jsonl")]).trials
    assert [step.name or step.text for step in trial.steps] == [
        "Please deliver my desk on 04/05.",
        "parse_date",
        "It comes on 2027-05-04.",
        "agent_done",
    ]
