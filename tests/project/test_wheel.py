"""The wheel as a user gets it: built, installed into a fresh environment, used outside the project."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import trajdiff

pytestmark = pytest.mark.slow


def run(command: list[str | Path], folder: Path) -> str:
    """Standard output of a command that must succeed, run as a user would: without the project's paths."""
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", target, project], target)
    (built,) = target.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that holds the wheel and what it depends on."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=True)
    folder = home / ("Scripts" if os.name == "nt" else "bin")
    run([folder / "python", "-m", "pip", "install", "--quiet", wheel], home)
    return folder


def test_wheel_holds_schemas_and_sample_traces(wheel: Path, project: Path) -> None:
    inside = {name: data for name, data in _content(wheel).items() if name.startswith("trajdiff/_bundled/")}
    for folder in ("schemas", "sample_traces"):
        files = {path.relative_to(project).as_posix(): path for path in (project / folder).rglob("*")}
        files = {name: path for name, path in files.items() if path.is_file()}
        assert files
        for name, path in files.items():
            assert inside.pop(f"trajdiff/_bundled/{name}") == path.read_bytes()
    assert not inside


def test_wheel_holds_the_package_and_no_tests(wheel: Path, project: Path) -> None:
    names = set(_content(wheel))
    package = {path.relative_to(project).as_posix() for path in (project / "trajdiff").rglob("*.*")}
    assert {name for name in package if "__pycache__" not in name} <= names
    assert not [name for name in names if not name.startswith(("trajdiff/", "trajdiff-"))]


def _content(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_installed_program_tells_its_version(scripts: Path, tmp_path: Path) -> None:
    expected = run([scripts / "trajdiff", "--version"], tmp_path)
    assert trajdiff.__version__ in expected
    assert run([scripts / "python", "-m", "trajdiff", "--version"], tmp_path) == expected


def test_installed_demo_shows_divergences_beside_pass_k(scripts: Path, tmp_path: Path) -> None:
    shown = run([scripts / "trajdiff", "demo"], tmp_path)
    assert "pass^k" in shown
    assert "L1-061" in shown
    assert "check_permission missing" in shown
    assert not list(tmp_path.iterdir())


def test_installed_program_reads_settings(scripts: Path, tmp_path: Path) -> None:
    (tmp_path / "trajdiff.toml").write_text('name = "shop"\n[tools]\nrefund_item = "write"\n', encoding="utf-8")
    copied = tmp_path / "traces"
    run([scripts / "trajdiff", "demo", "--copy", copied], tmp_path)
    shown = run([scripts / "trajdiff", "inspect", "--settings"], tmp_path)
    assert "refund_item" in shown
    assert "trajdiff.toml" in shown
