"""Whoever waits for large files is told how far the reading is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.generator import Plan, write_corpus
from trajdiff.importers import ReadOptions
from trajdiff.importers.loading import read_corpus

PLAN = Plan(trials=3, steps=12, step_bytes=700)


def told(paths: list[Path]) -> list[tuple[int, int]]:
    """What is told while these files are read."""
    found: list[tuple[int, int]] = []
    read_corpus([str(path) for path in paths], ReadOptions(progress=lambda *said: found.append(said)))
    return found


@pytest.mark.parametrize("name", ["tau2.json", "tau2.jsonl"])
def test_each_trial_of_a_large_file_moves_on(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("long_lines", "opening"):
        monkeypatch.setattr(f"trajdiff.importers.{module}.LARGE", 1)
    write_corpus(tmp_path / name, PLAN, tasks=3)
    size = (tmp_path / name).stat().st_size
    found = told([tmp_path / name])
    done = [one for one, _ in found]
    assert {total for _, total in found} == {size}
    assert done == sorted(done)
    assert done[-1] == size
    assert len(set(done)) >= 9
    assert done[0] < size / 3


def test_files_add_up(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.json" for number in range(3)]
    for path in paths:
        write_corpus(path, PLAN, tasks=1)
    paths[1].write_text("{broken", encoding="utf-8")
    sizes = [path.stat().st_size for path in paths]
    assert told(paths) == [(sum(sizes[: count + 1]), sum(sizes)) for count in range(3)]
