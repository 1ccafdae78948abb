"""What a start loads: the packages that cost most must wait until a command needs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
    """Top-level packages that a fresh interpreter imports, by its own account."""
    command = [sys.executable, "-X", "importtime", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, encoding="utf-8")
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    rest = [line for line in done.stderr.splitlines() if not line.startswith("import time:")]
    assert done.returncode == 0, "\n".join(rest)
    names = {line.rpartition("|")[2].strip() for line in lines}
    assert "trajdiff" in names
    return {name.split(".")[0] for name in names}


@pytest.mark.parametrize("start", STARTS)
def test_a_start_loads_nothing_heavy(start: str, project: Path) -> None:
    assert not loaded(STARTS[start], project) & (NEVER | {"rich"})


@pytest.mark.parametrize("command", [["report"], ["compare", "task", "L1-061"]])
def test_text_loads_no_frames_and_no_validator(command: list[str], project: Path) -> None:
    packages = loaded(["-m", "trajdiff", *command, "sample_traces"], project)
    assert not packages & NEVER


def test_a_settings_file_needs_no_full_validator(project: Path, tmp_path: Path) -> None:
    (tmp_path / "trajdiff.toml").write_text("k = [1, 2]\n", encoding="utf-8")
    program = "from pathlib import Path; from trajdiff.settings import load_settings; "
    program += f"import sys; sys.exit(load_settings(start=Path({str(tmp_path)!r})).k != (1, 2))"
    assert not loaded(["-c", program], project) & (NEVER | {"rich"})
