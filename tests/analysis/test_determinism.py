"""The same input gives the same bytes, whatever the hash seed and the order of files, trials and lines."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

NAMES = ("shop.jsonl", "shop-zh.jsonl", "shop-tau2.json")
#: What names a place in a file, or the file's bytes: shuffled lines stand elsewhere.
PLACES = frozenset({"line", "json_path", "sha256"})


def report(folder: Path, traces: Sequence[str] = ("sample_traces",), seed: int = 0) -> bytes:
    """What ``trajdiff report --json`` prints in a folder."""
    project = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(project), "COLUMNS": "80"}
    command = [sys.executable, "-m", "trajdiff", "report", *traces, "--json", "--no-config"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.fixture(scope="module")
def copied(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("straight")
    shutil.copytree(project / "sample_traces", folder / "sample_traces")
    return folder


@pytest.fixture(scope="module")
def straight(copied: Path) -> bytes:
    return report(copied)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_hash_seed_changes_no_byte(seed: int, copied: Path, straight: bytes) -> None:
    assert report(copied, seed=seed) == straight


def test_the_order_of_files_changes_no_byte(copied: Path, straight: bytes, tmp_path: Path) -> None:
    paths = [f"sample_traces/{name}" for name in NAMES]
    assert report(copied, paths[::-1], seed=2) == straight
    # Files created in another order, with other times, in a folder that is listed in another order.
    (tmp_path / "sample_traces").mkdir()
    for place, name in enumerate(reversed(NAMES)):
        copy = tmp_path / "sample_traces" / name
        copy.write_bytes((copied / "sample_traces" / name).read_bytes())
        os.utime(copy, (1_000_000 * place, 1_000_000 * place))
    assert report(tmp_path) == straight


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_trials_changes_nothing_but_their_lines(
    seed: int, copied: Path, straight: bytes, tmp_path: Path
) -> None:
    """Lines of a JSONL file shuffled: other line numbers, and all else the same."""
    (tmp_path / "sample_traces").mkdir()
    for name in NAMES:
        data = (copied / "sample_traces" / name).read_text("utf-8")
        if name.endswith(".jsonl"):
            lines = data.splitlines()
            random.Random(seed).shuffle(lines)
            data = "\n".join(lines) + "\n"
        (tmp_path / "sample_traces" / name).write_text(data, "utf-8")
    shuffled = report(tmp_path, seed=seed)
    assert shuffled != straight, "the lines were not shuffled"
    assert _plain(json.loads(shuffled)) == _plain(json.loads(straight))
    assert _keys(json.loads(shuffled)) == _keys(json.loads(straight)), "keys came out in another order"


def test_the_order_of_simulations_changes_nothing_but_their_pointers(
    copied: Path, straight: bytes, tmp_path: Path
) -> None:
    shutil.copytree(copied / "sample_traces", tmp_path / "sample_traces")
    path = tmp_path / "sample_traces" / "shop-tau2.json"
    document = json.loads(path.read_text("utf-8"))
    document["simulations"].reverse()
    document["tasks"].reverse()
    path.write_text(json.dumps(document), "utf-8")
    assert _plain(json.loads(report(tmp_path))) == _plain(json.loads(straight))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items() if key not in PLACES}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def _keys(value: Any) -> Any:
    """The keys of all objects, in the order in which they are written."""
    if isinstance(value, dict):
        return [(key, _keys(inner)) for key, inner in value.items()]
    return [_keys(inner) for inner in value] if isinstance(value, list) else None
