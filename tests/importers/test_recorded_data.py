"""Published recordings, where they lie beside the project: counts known from their own authors and by hand."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

from trajdiff.importers import ReadOptions, load, trial_record, validate
from trajdiff.model import Corpus, StepKind


def steps(corpus: Corpus) -> list[Any]:
    return [step for trial in corpus.trials for step in trial.steps]


def recorded(shared: Path, name: str) -> str:
    return str(shared / "data" / name)


def test_the_published_airline_file(shared: Path) -> None:
    corpus = load([recorded(shared, "tau_bench/gpt-4o-airline.json")])
    assert (len(corpus.tasks), len(corpus.trials)) == (50, 200)
    assert {len(task.trials) for task in corpus.tasks} == {4}
    called = [step for step in steps(corpus) if step.is_call]
    assert (len(called), sum(step.result is not None for step in called)) == (1164, 1164)
    assert not [step for step in steps(corpus) if step.kind is StepKind.ORPHAN_RESULT]
    # In this file a result always directly follows its call.
    assert all(step.result_source.message_index == step.source.message_index + 1 for step in called)
    assert sum(step.failed for step in called) == 73
    assert Counter(trial.termination.reason for trial in corpus.trials) == {
        "user_done": 147,
        "agent_done": 48,
        "max_steps": 5,
    }
    passes = Counter(len(task.passes) for task in corpus.tasks)
    assert passes == {0: 14, 1: 12, 2: 10, 3: 4, 4: 10}
    assert corpus.diagnostics == ()


def test_the_retail_file_of_tau2(shared: Path) -> None:
    path = recorded(shared, "tau2_bench/retail-gpt-4.1-mini.json")
    started = time.process_time()
    corpus = load([path])
    assert time.process_time() - started < 5
    assert (len(corpus.tasks), len(corpus.trials)) == (97, 291)
    assert {(task.expected_n, task.missing) for task in corpus.tasks} == {(3, ())}
    called = [step for step in steps(corpus) if step.is_call]
    assert all(step.result is not None for step in called)
    assert sum(step.actor == "user" for step in called) == 345
    assert all(task.task.script for task in corpus.tasks)
    # Ids are unique in this file, so that the pairs can be checked against them.
    raw = json.loads(Path(path).read_bytes())
    answers = {
        (one["id"], message["id"]): message["content"]
        for one in raw["simulations"]
        for message in one["messages"]
        if message["role"] == "tool"
    }
    for trial in corpus.trials:
        for step in trial.steps:
            if step.is_call:
                assert step.result is not None
                assert step.result.text == answers[str(trial.producer_id), str(step.call_id)]


def test_the_folder_of_tau3(shared: Path) -> None:
    corpus = load([recorded(shared, "tau3_bench")])
    assert [(task.task_id, task.expected_n, len(task.trials)) for task in corpus.tasks] == [
        ("20", 1, 1),
        ("40", 1, 1),
        ("98", 1, 1),
    ]
    assert {(trial.verdict, trial.comparable) for trial in corpus.trials} == {("unscored", False)}
    assert load([recorded(shared, "tau3_bench/results.json")]).tasks == corpus.tasks


def test_recorded_files_are_valid_and_survive_conversion(shared: Path) -> None:
    for name in ("tau_bench/retail-four-agents.json", "tau2_bench/retail-gpt-4.1-mini.json"):
        path = recorded(shared, name)
        (checked,) = validate([path])
        assert checked.valid
        corpus = load([path])
        lines = [
            trial_record(trial, task.task, task.expected_n) for task in corpus.tasks for trial in task.trials
        ]
        data = b"\n".join(json.dumps(one).encode() for one in lines)
        again = load(["-"], ReadOptions(stdin=data))
        assert len(again.trials) == len(corpus.trials) == checked.trials
        for one, other in zip(corpus.trials, again.trials, strict=True):
            assert [
                (s.kind, s.name, s.text, s.arguments, s.result, s.source.message_index) for s in one.steps
            ] == [(s.kind, s.name, s.text, s.arguments, s.result, s.source.message_index) for s in other.steps]
            assert (one.verdict, one.termination, one.usage) == (other.verdict, other.termination, other.usage)
