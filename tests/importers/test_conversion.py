"""Any recording written as trajdiff/1 and read again is the same corpus but for its places."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.importers.fixtures import SAMPLES, put, read, record, simulation, tau2_results
from trajdiff.analysis import analyse
from trajdiff.importers import ReadOptions, converted, load
from trajdiff.model import Corpus, SourceRef
from trajdiff.render.marks import UNICODE
from trajdiff.render.registry import by_name
from trajdiff.render.view import View
from trajdiff.report import build_report
from trajdiff.settings import Settings

#: What differs by nature: files, paths, places, and what was said about the first file.
PLACES = frozenset(
    {"path", "json_path", "source", "ref", "sha256", "inputs", "warnings", "line", "format", "recognised_by"}
)


def again(corpus: Corpus, **options: Any) -> Corpus:
    data = converted(corpus).encode("utf-8", "backslashreplace")
    for line in data.splitlines():
        json.loads(line, parse_constant=pytest.fail)
    return load(["-"], ReadOptions(stdin=data, **options))


def bare(value: Any) -> Any:
    """A value of the model without places; a message keeps its number."""
    if isinstance(value, SourceRef):
        return value.message_index
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: bare(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, dict):
        return {str(key): bare(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [bare(one) for one in value]
    return str(value) if isinstance(value, str) else repr(value)


def unplaced(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: unplaced(one) for key, one in value.items() if key not in PLACES}
    return [unplaced(one) for one in value] if isinstance(value, list) else value


def reported(corpus: Corpus) -> tuple[str, Any]:
    """The report as text, and as JSON without places."""
    settings = Settings()
    made = build_report(corpus, analyse(corpus, settings), settings, name="shop")
    view = View(width=100, color=False, marks=UNICODE)
    text, data = (by_name("report", form).render(made, view) for form in ("text", "json"))
    assert isinstance(text, str)
    return text, unplaced(json.loads(data))


def assert_same(corpus: Corpus, **options: Any) -> None:
    other = again(corpus, **options)
    assert bare(other.tasks) == bare(corpus.tasks)
    assert reported(other) == reported(corpus)
    # The second time nothing changes at all, not even the file.
    assert converted(again(other, **options)) == converted(other)


@pytest.mark.parametrize(
    "data",
    [pytest.param(data, id=f"{name}-{n}") for name, many in SAMPLES.items() for n, data in enumerate(many)],
)
def test_every_format_survives_conversion(data: bytes) -> None:
    assert_same(read(data))


def test_missing_trials_tasks_that_never_ran_and_plans_survive(tmp_path: Path) -> None:
    content = tau2_results(simulation("s1", trial=0), simulation("s2", trial=2), num_trials=4)
    content["tasks"].append({"id": "t2", "user_scenario": None})
    put(tmp_path, "a.json", content)
    corpus = load([str(tmp_path)])
    assert [(task.task_id, task.missing) for task in corpus.tasks] == [
        ("t1", ("1", "3")),
        ("t2", ("0", "1", "2", "3")),
    ]
    assert_same(corpus)


def test_a_lost_trial_keeps_its_name(tmp_path: Path) -> None:
    """It is known from a side file only, and no free number would give it again."""
    put(tmp_path, "a.json", [record(trial_id="0")])
    (tmp_path / "o.csv").write_text("task,trial,passed\nL1,0,true\nL1,late-3,false\n")
    corpus = load([str(tmp_path / "a.json")], ReadOptions(outcomes=(str(tmp_path / "o.csv"),)))
    assert corpus.tasks[0].missing == ("late-3",)
    assert_same(corpus)


def test_groups_suites_and_repeated_numbers_survive() -> None:
    trials = [
        record("3", "0", suite="shop", provenance={"model": "m1"}),
        record("3", "0", suite="shop", provenance={"model": "m2"}),
        record("3", "0", suite="bank", provenance={"model": "m1", "seed": 1}),
        record("3", "0", suite="bank", provenance={"model": "m1", "seed": 2}, reward=0.0),
    ]
    corpus = read(trials)
    assert [task.task_id for task in corpus.tasks] == ["bank/3", "shop/3 [m1]", "shop/3 [m2]"]
    assert_same(corpus)
    assert_same(read(trials, group_by=()), group_by=())


def test_odd_texts_and_numbers_survive() -> None:
    odd = {"x": float("nan"), "y": float("-inf"), "z": 10**30, "t": "\ud83d \u2028 \u0000 退款"}
    steps = [
        {"actor": "user", "text": odd["t"]},
        {"name": "light", "arguments": '{"a": NaN, "a": 1}', "result": {"text": "x", "is_error": True}},
        {"name": "light", "arguments": "{cut"},
        {"name": "light"},
        {"name": "light", "arguments": None, "result": ""},
    ]
    verdict = {"state": "unscored", "raw": {"judge": float("nan")}, "rule": "no number"}
    corpus = read(
        [
            record("退款/重复", "[a] 1", 0.25, steps=steps, sub_scores=odd, error="e\ud83d"),
            record("退款/重复", "2", verdict=verdict),
        ]
    )
    assert repr(corpus.trials[1].judgement.raw) == "{'judge': nan}"
    assert repr(again(corpus).trials[1].judgement.raw) == "{'judge': nan}"
    assert_same(corpus)


def test_threshold_and_expected_number_can_be_given_again() -> None:
    corpus = read([record(trial_id=str(n), reward=0.5) for n in range(2)], threshold=0.4, expected_trials=3)
    assert [str(trial.verdict) for trial in corpus.trials] == ["pass", "pass"]
    assert_same(corpus)
    assert again(corpus, threshold=0.9).trials[0].verdict == "fail"


def test_the_samples_of_the_project_survive(project: Path) -> None:
    corpus = load([str(project / "sample_traces")])
    other = again(corpus)
    assert bare(other.tasks) == bare(corpus.tasks)
    assert reported(other) == reported(corpus)


def test_a_trial_that_changes_on_the_way_would_be_seen() -> None:
    """The comparison of this file is no formality: one changed word makes it fail."""
    corpus = read([record()])
    (task,) = corpus.tasks
    changed = replace(task, trials=(replace(task.trials[0], error="boom"),))
    assert bare(changed) != bare(task)
