"""Trials of one task by several models or agents stay apart; retries and plans are counted per group."""
# ruff: noqa: N802 - tests are named after the failure cases they hold

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from tests.importers.fixtures import names, put, read, record, simulation, slugs, tau2_results, tau_trial, told
from trajdiff.errors import InputError
from trajdiff.importers import ReadOptions, load
from trajdiff.model import Corpus


def by(model: str | None, trial: int, reward: float = 1.0, task: str = "L1", **more: Any) -> dict[str, Any]:
    provenance = {"model": model, **more}
    return record(task, trial, reward, provenance={k: v for k, v in provenance.items() if v is not None})


def rows(corpus: Corpus) -> list[tuple[str, str | None, int]]:
    return [(task.task_id, task.group, len(task.trials)) for task in corpus.tasks]


def test_models_of_one_task_are_rows_of_their_own_and_other_tasks_keep_their_name() -> None:
    corpus = read([by("m1", 0), by("m1", 1), by("m2", 0), by("m1", 0, task="L2"), by("m2", 0, task="L3")])
    assert rows(corpus) == [("L1 [m1]", "m1", 2), ("L1 [m2]", "m2", 1), ("L2", None, 1), ("L3", None, 1)]
    note = told(corpus, "several_groups")
    assert note.severity == "note"
    assert note.details[:2] == ("m1: 1 task, 2 trials", "m2: 1 task, 1 trial")
    assert "--group-by none" in note.details[-1]
    assert "mixed_provenance" not in slugs(corpus)


def test_model_and_agent_both_name_the_group_where_both_differ() -> None:
    corpus = read([by("m1", 0, agent="a"), by("m2", 0, agent="b"), by("m2", 1, agent="a")])
    assert [task.task_id for task in corpus.tasks] == ["L1 [m1, a]", "L1 [m2, a]", "L1 [m2, b]"]


def test_what_is_not_recorded_goes_with_the_only_value_and_alone_beside_several() -> None:
    assert rows(read([by(None, 0), by("m1", 1)])) == [("L1", None, 2)]
    corpus = read([by(None, 0), by("m1", 1), by("m2", 1)])
    assert [task.task_id for task in corpus.tasks] == ["L1 [m1]", "L1 [m2]", "L1 [model unknown]"]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (None, ["L1 [m1]", "L1 [m2]"]),
        ((), ["L1"]),
        (("agent",), ["L1"]),
        (("suite",), ["L1"]),
        (("sampling",), ['L1 [{"t":0}]', 'L1 [{"t":1}]']),
        (("model", "sampling"), ['L1 [m1, {"t":0}]', 'L1 [m2, {"t":0}]', 'L1 [m2, {"t":1}]']),
    ],
)
def test_the_user_says_what_keeps_trials_apart(asked: tuple[str, ...] | None, expected: list[str]) -> None:
    trials = [by("m1", 0, sampling={"t": 0}), by("m2", 1, sampling={"t": 0}), by("m2", 2, sampling={"t": 1})]
    assert [task.task_id for task in read(trials, group_by=asked).tasks] == expected


def test_pooled_trials_of_several_models_are_warned_about() -> None:
    corpus = read([by("m1", 0), by("m2", 1)], group_by=())
    warning = told(corpus, "mixed_provenance")
    assert warning.severity == "warning"
    assert warning.details[0] == "these differ: model: m1, m2"


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("environment_version", ("e1", "e2")),
        ("scorer_version", ("s1", "s2")),
        ("sampling", ({"temperature": 0}, {"temperature": 1})),
        ("prompt_version", ("p1", "p2")),
    ],
)
def test_the_guard_names_what_differs_inside_a_row(field: str, values: tuple[Any, Any]) -> None:
    corpus = read([by("m1", n, **{field: value}) for n, value in enumerate(values)])
    assert field.replace("_", " ") in told(corpus, "mixed_provenance").details[0]


def test_CMP_01_a_seed_is_no_sampling_and_no_reason_to_warn() -> None:
    assert slugs(read([by("m1", 0, seed=1), by("m1", 1, seed=2)])) == []


def test_the_guard_names_other_scorers_and_other_definitions() -> None:
    trials = [
        record("L1", n, verdict={"state": "pass", "scorer": scorer}, task={"fingerprint": scorer})
        for n, scorer in enumerate(("exact", "judge"))
    ]
    detail = told(read(trials), "mixed_provenance").details[0]
    assert "scorer: exact, judge" in detail
    assert "the definition of the task" in detail


# Plans


def test_TRI_08_a_task_that_one_model_never_started_is_missed_in_its_group(tmp_path: Path) -> None:
    """Both files plan the two tasks; the second ran only one of them."""
    for name, model, tasks in (("a", "m1", ("t1", "t2")), ("b", "m2", ("t1",))):
        runs = [simulation(f"{name}-{task}") | {"task_id": task} for task in tasks]
        content = tau2_results(*runs, num_trials=1)
        content["info"]["agent_info"]["llm"] = model
        content["tasks"] = [{"id": "t1", "user_scenario": None}, {"id": "t2", "user_scenario": None}]
        put(tmp_path, f"{name}.json", content)
    corpus = load([str(tmp_path)])
    assert [(t.task_id, len(t.trials), t.expected_n, t.missing) for t in corpus.tasks] == [
        ("t1 [m1]", 1, 1, ()),
        ("t1 [m2]", 1, 1, ()),
        ("t2 [m1]", 1, 1, ()),
        ("t2 [m2]", 0, 1, ("0",)),
    ]


def test_a_copy_without_a_plan_beside_one_that_has_it(tmp_path: Path) -> None:
    """Copies are joined; the plan that one of them lost is the other's."""
    for name, planned in (("a", None), ("b", 3)):
        put(tmp_path, f"{name}.json", tau2_results(simulation("s1"), num_trials=planned))
    (task,) = load([str(tmp_path)]).tasks
    assert (len(task.trials), task.expected_n) == (1, 3)


# Retries


def test_TRI_01_the_attempt_that_was_scored_counts_and_the_others_are_listed(tmp_path: Path) -> None:
    for name, verdict, ended in (("a", "infra", 1), ("b", "pass", 2), ("c", "unscored", 3)):
        first = record("L1", "0", None, verdict=verdict, ended_at=f"2025-01-0{ended}T00:00:00", error=name)
        put(tmp_path, f"{name}.json", [first, record("L2", "1", None, verdict="pass")])
    paths = sorted(str(path) for path in tmp_path.iterdir())
    for order in itertools.permutations(paths):
        corpus = load(list(order))
        assert [(trial.task_id, trial.verdict) for trial in corpus.trials] == [("L1", "pass"), ("L2", "pass")]
        left = [one.path for one in corpus.diagnostics if one.slug == "superseded_trial"]
        assert left == [paths[0], paths[2]]
    assert load(paths, ReadOptions(on_duplicate="first")).trials[0].verdict == "infra"


def test_VER_03_two_scored_recordings_that_differ_still_stop(tmp_path: Path) -> None:
    put(tmp_path, "a.json", [record("L1", "0", 1.0), record("L2", "1")])
    put(tmp_path, "b.json", [record("L1", "0", 0.0), record("L2", "1")])
    with pytest.raises(InputError, match="different verdicts"):
        load([str(tmp_path)])


def test_a_repeated_run_in_which_one_trial_broke_is_still_a_repeated_run(tmp_path: Path) -> None:
    """Both files number their only trial 0; one task broke in the second run, the other was judged twice."""
    put(tmp_path, "a.json", [tau_trial("t1", 0, 1.0), tau_trial("t2", 0, 1.0)])
    broken = {
        "task_id": "t1",
        "reward": 0.0,
        "info": {"error": "boom", "traceback": "x"},
        "traj": [],
        "trial": 0,
    }
    put(tmp_path, "b.json", [broken, tau_trial("t2", 0, 0.0)])
    corpus = load([str(tmp_path)])
    assert names(corpus) == ["t1/0", "t1/1", "t2/0", "t2/1"]
    assert [str(trial.verdict) for trial in corpus.trials] == ["pass", "infra", "pass", "fail"]
