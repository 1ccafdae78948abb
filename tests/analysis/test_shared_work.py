"""Work that is put off, shared between trials or done once: no answer changes, no more is done than told."""

from __future__ import annotations

import gc
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.benchmarks.generator import LARGE, SMALL, write_corpus
from tests.divergence.made import call, prepared
from trajdiff import task_analysis
from trajdiff.align.graph import GraphToCome, graphs_to_come
from trajdiff.align.prepared import PreparedTrial
from trajdiff.align.records import aliases
from trajdiff.align.similarity import Costs
from trajdiff.align.values import is_identifier, leaves, names_reference, parse_embedded
from trajdiff.analysis import analyse
from trajdiff.divergence import evidence
from trajdiff.execution.runner import SERIAL, Result
from trajdiff.importers import load
from trajdiff.model import Corpus
from trajdiff.settings import Settings

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Tasks whose held-out passes trip over a level."""
    path = tmp_path_factory.mktemp("generated") / "large.json"
    write_corpus(path, LARGE, tasks=2)
    return load([str(path)])


def _merged_at_once(
    groups: Sequence[Sequence[PreparedTrial]], costs: Costs, *, wait: bool = False
) -> list[GraphToCome]:
    made = graphs_to_come(groups, costs)
    assert all(graph.columns for graph in made)
    return made


@pytest.mark.parametrize("source", ["samples", "generated"])
def test_graphs_that_wait_give_the_answers_of_graphs_merged_at_once(
    source: str, generated: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = generated if source == "generated" else load([str(PROJECT / "sample_traces")])
    waited = analyse(corpus, Settings())
    for module in (task_analysis, evidence):
        monkeypatch.setattr(module, "graphs_to_come", _merged_at_once)
    assert analyse(corpus, Settings()) == waited


def test_passes_whose_columns_nobody_asks_for_are_never_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_corpus(tmp_path / "small.json", SMALL, tasks=6)
    made: list[GraphToCome] = []

    def noted(*groups: Any, **more: Any) -> list[GraphToCome]:
        made.extend(found := graphs_to_come(*groups, **more))
        return found

    monkeypatch.setattr(task_analysis, "graphs_to_come", noted)
    analyse(load([str(tmp_path / "small.json")]), Settings())
    assert made
    assert sum(graph.is_made for graph in made) < len(made) / 2


class _Counting:
    """A runner that counts what it is asked to do."""

    def __init__(self) -> None:
        self.here = SERIAL.here
        self.asked = 0

    def run(self, function: Callable[[Any], Result], jobs: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        self.asked += len(jobs)
        return SERIAL.run(function, jobs)


def test_a_task_whose_own_passes_trip_over_a_level_is_made_ready_once(generated: Corpus) -> None:
    runner = _Counting()
    found = analyse(generated, Settings(), runner=runner)
    assert any(count for _, count in found.self_check.by_level)
    assert runner.asked == len(generated.tasks)


def test_what_a_task_leaves_behind_needs_no_search(generated: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_analysis, "collected_after", nullcontext)
    gc.collect()
    gc.disable()
    try:
        analyse(generated, Settings())
        assert not any(isinstance(value, PreparedTrial) for value in gc.get_objects())
    finally:
        gc.enable()


# Aliases are looked up by identifier; all of them, the plain way, are these.

NAMES = ("id", "order_id", "name", "price", "items", "note", "", "timestamp", "a.id", "R7", "r8")
SCALARS = st.sampled_from(["A1", "a1", "#w2", "lamp", "10", 10, 10.0, 25.9, True, None, "", '["x1"]'])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=24,
)


def _groups(value: Any, depth: int = 0) -> Iterator[list[tuple[str | None, dict[str, Any]]]]:
    value = parse_embedded(value)
    if depth > 8 or not isinstance(value, (dict, list)):
        return
    items = list(value.items()) if isinstance(value, dict) else [(None, item) for item in value]
    records = [(key, item) for key, item in items if isinstance(item, dict)]
    if len(records) >= 2:
        yield records
    for _, item in items:
        yield from _groups(item, depth + 1)


def _all_aliases(value: Any) -> dict[str, set[tuple[str, str]]]:
    found: dict[str, set[tuple[str, str]]] = {}
    for records in _groups(value):
        told = [list(leaves(record)) for _, record in records]
        times = Counter(leaf for own in told for leaf in set(own))
        for (key, _), own in zip(records, told, strict=True):
            ids = {v for p, v in own if is_identifier(v) and not {".", "["} & set(p) and names_reference(p)}
            ids |= {key.casefold()} if key is not None and is_identifier(key) else set()
            telling = {
                leaf for leaf in own if times[leaf] == 1 and leaf[1] not in {*ids, "true", "false", "null"}
            }
            for one in ids:
                found.setdefault(one, set()).update(telling)
    return found


@given(value=VALUES)
@settings(max_examples=300)
def test_the_aliases_of_an_identifier_are_those_that_reading_all_records_gives(value: Any) -> None:
    trial = prepared([call("get_orders", json.dumps(value))])
    wanted = _all_aliases(trial.calls[0].result)
    asked = {*wanted, *(found for _, found in leaves(value)), "r7", "nowhere"}
    assert {one: aliases(trial, one) for one in asked} == {one: wanted.get(one, set()) for one in asked}
