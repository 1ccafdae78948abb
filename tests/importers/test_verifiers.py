"""Rollouts of verifiers, and the metadata of their run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.importers.fixtures import jsonl, names, put, rollout, slugs, told
from trajdiff.importers import load
from trajdiff.model import Corpus

METADATA: dict[str, Any] = {
    "env": "lamps",
    "model": "m-1",
    "num_examples": 2,
    "rollouts_per_example": 3,
    "sampling_args": {"temperature": 0.5, "max_tokens": None},
    "avg_reward": 0.75,
}
ROWS = (rollout(0), rollout(0), rollout(0, reward=0.0), rollout(1))


def loaded(folder: Path, rows: tuple[Any, ...] = ROWS, prefix: str = "", **metadata: Any) -> Corpus:
    put(folder, f"{prefix}results.jsonl", jsonl(*rows))
    put(folder, f"{prefix}metadata.json", METADATA | metadata)
    return load([str(folder)])


@pytest.mark.parametrize("prefix", ["", "lamps--m-1__578769a7__"])
def test_the_metadata_says_what_was_planned_and_who_ran(prefix: str, tmp_path: Path) -> None:
    corpus = loaded(tmp_path, prefix=prefix)
    assert [(task.expected_n, len(task.trials), len(task.missing)) for task in corpus.tasks] == [
        (3, 3, 0),
        (3, 1, 2),
    ]
    assert {trial.provenance.model for trial in corpus.trials} == {"m-1"}
    assert {str(trial.provenance.sampling) for trial in corpus.trials} == {"{'temperature': 0.5}"}
    assert "totals_differ" not in slugs(corpus)
    assert slugs(corpus).count("companion") == 1


def test_without_metadata_the_plan_is_unknown(tmp_path: Path) -> None:
    put(tmp_path, "results.jsonl", jsonl(*ROWS))
    corpus = load([str(tmp_path)])
    assert [task.expected_n for task in corpus.tasks] == [None, None]
    assert names(corpus) == ["0/0", "0/1", "0/2", "1/0"]


def test_means_that_contradict_the_rollouts_are_told_and_do_not_count(tmp_path: Path) -> None:
    corpus = loaded(tmp_path, avg_reward=0.25, num_examples=9)
    assert told(corpus, "totals_differ").details == (
        "examples: 9 in the metadata, 2 here",
        "mean reward: 0.25 in the metadata, 0.75 here",
    )
    assert [trial.verdict for trial in corpus.trials] == ["pass", "pass", "fail", "pass"]


@pytest.mark.parametrize("content", [b"{", b"[]", {"env": 5, "model": [], "rollouts_per_example": "x"}])
def test_metadata_that_cannot_be_used_costs_no_rollout(content: Any, tmp_path: Path) -> None:
    put(tmp_path, "results.jsonl", jsonl(*ROWS))
    put(tmp_path, "metadata.json", content)
    assert len(load([str(tmp_path / "results.jsonl")]).trials) == 4


def test_the_published_results(shared: Path) -> None:
    corpus = load([str(shared / "data/verifiers")])
    assert [(task.expected_n, len(task.trials)) for task in corpus.tasks] == [(3, 3)] * 5
    assert sum(trial.verdict == "pass" for trial in corpus.trials) == 14
    assert slugs(corpus) == ["companion"]
