"""What a start loads: the packages that cost most must wait until a command needs them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from trajdiff.importers.kept_files import SETTLED

NEVER = {"pandas", "numpy", "networkx", "scipy", "statsmodels", "jsonschema", "jinja2"}
STARTS = {
    "import": ["-c", "import trajdiff"],
    "version": ["-m", "trajdiff", "--version"],
    "help": ["-m", "trajdiff", "--help"],
    "tree": ["-m", "trajdiff"],
    "help of a command": ["-m", "trajdiff", "compare", "task", "--help"],
    "formats": ["-m", "trajdiff", "formats"],
    "settings": ["-m", "trajdiff", "inspect", "--settings", "sample_traces"],
}


def loaded(arguments: list[str], folder: Path) -> set[str]:
    """Top-level packages that a fresh interpreter imports."""
    return {name.split(".")[0] for name in loaded_modules(arguments, folder)}


def loaded_modules(arguments: list[str], folder: Path) -> set[str]:
    """Modules that a fresh interpreter imports, by its own account."""
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, encoding="utf-8")
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    rest = [line for line in done.stderr.splitlines() if not line.startswith("import time:")]
    assert done.returncode == 0, "\n".join(rest)
    names = {line.rpartition("|")[2].strip() for line in lines}
    assert "trajdiff" in names
    return names


@pytest.mark.parametrize("start", STARTS)
def test_a_start_loads_nothing_heavy(start: str, project: Path) -> None:
    assert not loaded(STARTS[start], project) & (NEVER | {"rich"})


@pytest.mark.parametrize("command", [["report"], ["compare", "task", "L1-061"]])
def test_text_loads_no_frames_and_no_validator(command: list[str], project: Path) -> None:
    packages = loaded(["-m", "trajdiff", *command, "sample_traces"], project)
    assert not packages & NEVER


@pytest.mark.parametrize("format_", [[], ["--json"]], ids=["text", "json"])
def test_what_is_kept_is_shown_without_what_makes_it(
    format_: list[str], project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second time, one task needs neither the readers of all formats nor what compares trials."""
    monkeypatch.setenv("TRAJDIFF_CACHE", str(tmp_path))
    copied = shutil.copytree(project / "sample_traces", tmp_path / "traces")
    for file in copied.iterdir():
        os.utime(file, (1, 1))
    time.sleep(SETTLED + 0.5)  # what has changed just now is read again
    command = ["-m", "trajdiff", "compare", "task", "L1-061", str(copied), "--no-config", *format_]
    loaded_modules(command, project)
    again = loaded_modules(command, project)
    assert not {name.split(".")[0] for name in again} & NEVER
    assert not again & {"trajdiff.analysis", "trajdiff.task_analysis", "trajdiff.comparison", "trajdiff.gate"}
    assert not again & {"trajdiff.align.graph", "trajdiff.divergence.case", "trajdiff.importers.mapping"}
    assert not again & {"trajdiff.reliability.card", "trajdiff.render.markdown", "trajdiff.render.html.page"}


def test_a_settings_file_needs_no_full_validator(project: Path, tmp_path: Path) -> None:
    (tmp_path / "trajdiff.toml").write_text("k = [1, 2]\n", encoding="utf-8")
    program = "from pathlib import Path; from trajdiff.settings import load_settings; "
    program += f"import sys; sys.exit(load_settings(start=Path({str(tmp_path)!r})).k != (1, 2))"
    assert not loaded(["-c", program], project) & (NEVER | {"rich"})
