"""Tasks of many trials: the work grows with the trials, not with their square or cube."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.generator import Plan, write_corpus
from trajdiff.align.graph import success_graphs
from trajdiff.analysis import analyse
from trajdiff.divergence import evidence
from trajdiff.importers import load
from trajdiff.model import Verdict
from trajdiff.settings import Settings


@pytest.mark.parametrize("trials", [12, 48])
def test_of_many_passes_a_few_are_left_out_one_by_one(
    trials: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "runs.json"
    write_corpus(path, Plan(trials=trials, steps=10, step_bytes=900), tasks=3)
    corpus = load([str(path)])
    asked: list[list[int]] = []

    def watched(groups: Sequence[Sequence[Any]], costs: Any) -> Any:
        asked.append([len(group) for group in groups])
        return success_graphs(groups, costs)

    monkeypatch.setattr(evidence, "success_graphs", watched)
    found = analyse(corpus, Settings()).findings
    passes = {sum(t.verdict is Verdict.PASS for t in task.trials) for task in corpus.tasks}
    assert asked, "a grade asks whether the answer stays"
    for sizes in asked:
        assert sizes[0] + 1 in passes
        assert len(sizes) == min(sizes[0] + 1, 16)
    assert any(row.grade == "A" for finding in found.values() for row in finding.divergences)
