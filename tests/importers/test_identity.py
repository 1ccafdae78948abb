"""Which trial is which: numbers, copies, slots, runs, tasks of the same name."""
# ruff: noqa: N802 - tests are named after the failure cases they hold

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from tests.importers.fixtures import (
    jsonl,
    names,
    put,
    read,
    record,
    said,
    simulation,
    slugs,
    tau2_results,
    tau_crash,
    tau_trial,
    told,
)
from trajdiff.errors import InputError
from trajdiff.importers import ReadOptions, load
from trajdiff.model import Corpus

LONG = ({"actor": "user", "text": "a"}, {"actor": "agent", "text": "b"})


def load_all(folder: Path, **options: Any) -> Corpus:
    """Load the files of a folder in every order and check that the order does not matter."""
    paths = [str(path) for path in sorted(folder.iterdir())]
    corpora = [load(list(order), ReadOptions(**options)) for order in itertools.permutations(paths)]
    assert all(corpus == corpora[0] for corpus in corpora)
    assert load([str(folder)], ReadOptions(**options)).tasks == corpora[0].tasks
    return corpora[0]


def other(text: str) -> list[dict[str, Any]]:
    return [said("user", text), said("user", "###STOP###")]


# Ids and order


def test_ids_are_text_and_sort_as_people_count() -> None:
    corpus = read([tau_trial(task, trial) for task in (10, "9", "a10", "a9") for trial in (10, 9)])
    assert names(corpus) == ["9/9", "9/10", "10/9", "10/10", "a9/9", "a9/10", "a10/9", "a10/10"]
    assert [trial.ordinal for trial in corpus.tasks[0].trials] == [9, 10]


def test_a_number_and_its_text_are_one_task() -> None:
    corpus = read([tau_trial(3, 0), tau_trial("3", 1)])
    assert names(corpus) == ["3/0", "3/1"]


def test_TRI_05_trials_without_a_number_are_numbered_by_start_time_never_by_a_suffix() -> None:
    """The producer's ids end in digits that are no trial numbers."""
    late = record(trial_id=None, producer_id="run__0000001", started_at="2025-01-02T00:00:00", reward=0.0)
    early = record(trial_id=None, producer_id="run__9999999", started_at="2025-01-01T00:00:00", reward=1.0)
    for order in ([late, early], [early, late]):
        corpus = read(order)
        assert [(trial.trial_id, trial.producer_id) for trial in corpus.trials] == [
            ("0", "run__9999999"),
            ("1", "run__0000001"),
        ]


def test_trials_without_a_time_come_last() -> None:
    untimed = record(trial_id=None, producer_id="a")
    corpus = read([untimed, record(trial_id=None, producer_id="b", started_at="2025-01-01T00:00:00")])
    assert [trial.producer_id for trial in corpus.trials] == ["b", "a"]


def test_named_trials_fill_the_free_numbers() -> None:
    corpus = read([record(trial_id="b10"), record(trial_id="b9"), record(trial_id=1)])
    assert [(trial.trial_id, trial.ordinal) for trial in corpus.trials] == [("b9", 0), ("1", 1), ("b10", 2)]


def test_identical_trials_with_different_numbers_are_two() -> None:
    corpus = read([tau_trial(trial=0), tau_trial(trial=1), tau_crash(trial=2), tau_crash(trial=3)])
    assert len(corpus.trials) == 4
    assert slugs(corpus) == ["no_steps"]


def test_identical_trials_without_any_id_both_count_and_it_is_said(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        put(tmp_path, name, record(trial_id=None))
    corpus = load_all(tmp_path)
    assert len(corpus.trials) == 2
    assert told(corpus, "identical_trials").severity == "warning"


# Copies


def test_TRI_03_a_repeated_row_is_one_trial() -> None:
    corpus = read([tau_trial(), tau_trial(), tau_trial(trial=1)])
    assert names(corpus) == ["4/0", "4/1"]
    assert told(corpus, "duplicate_trial").severity == "note"


def test_the_same_producer_id_in_two_files_is_one_trial(tmp_path: Path) -> None:
    put(tmp_path, "run.json", tau2_results(simulation("s1"), simulation("s2", trial=1)))
    trimmed = simulation("s2", trial=1)
    for message in trimmed["messages"]:
        message.pop("requestor", None)
    put(tmp_path, "copy.json", tau2_results(trimmed, simulation("s3", trial=2), num_trials=3))
    corpus = load_all(tmp_path)
    assert [trial.producer_id for trial in corpus.trials] == ["s1", "s2", "s3"]
    assert told(corpus, "duplicate_trial").path == str(tmp_path / "run.json")
    assert corpus.tasks[0].expected_n == 3


def test_a_regraded_copy_with_another_verdict_stops(tmp_path: Path) -> None:
    put(tmp_path, "a.json", tau2_results(simulation("s1", reward=1.0)))
    put(tmp_path, "b.json", tau2_results(simulation("s1", reward=0.0)))
    with pytest.raises(InputError, match="recorded twice with different verdicts"):
        load([str(tmp_path)])


def test_a_copied_file_counts_once(tmp_path: Path) -> None:
    """Also where the file name is all that says which model it was."""
    content = [tau_trial(1, 0), tau_trial(2, 0, reward=0.0)]
    put(tmp_path, "tool-calling-m1-0.0_range_0-2_user-m2-llm_0105123000.json", content)
    put(tmp_path, "copy.json", content)
    corpus = load_all(tmp_path)
    assert names(corpus) == ["1/0", "2/0"]
    assert "2 trials also in" in told(corpus, "duplicate_trial").message


# Slots


def test_VER_03_the_same_slot_with_different_verdicts_stops_and_names_both(tmp_path: Path) -> None:
    put(tmp_path, "new.json", [tau_trial(trial=0), tau_trial(trial=1)])
    put(tmp_path, "old.json", [tau_trial(trial=0, reward=0.0, traj=other("x")), tau_trial(trial=1)])
    with pytest.raises(InputError) as caught:
        load([str(tmp_path)])
    text = str(caught.value)
    assert "a trial was recorded twice with different verdicts" in text
    assert f"{tmp_path}/new.json $[0] (pass)" in text
    assert f"{tmp_path}/old.json $[0] (fail)" in text
    assert "--on-duplicate" in text
    assert "name the suite of each file in a manifest" in text
    rows = "".join(f"[[trial]]\npath = '{name}.json'\nsuite = '{name}'\n" for name in ("new", "old"))
    manifest = put(tmp_path, "trials.toml", rows.encode())
    apart = load([str(tmp_path)], ReadOptions(outcomes=(str(manifest),)))
    assert [task.task_id for task in apart.tasks] == ["new/4", "old/4"]


@pytest.mark.parametrize(("rule", "text"), [(None, "new"), ("latest", "new"), ("first", "old")])
def test_the_same_slot_with_the_same_verdict_counts_once(rule: str | None, text: str, tmp_path: Path) -> None:
    """By the recorded time, not by the names of the files."""
    for name, said_text, ended in (
        ("a", "new", "2025-01-02T10:00:00"),
        ("b", "old", "2025-01-02T09:00:00+00:00"),
    ):
        steps = [{"actor": "user", "text": said_text}]
        put(tmp_path, f"{name}.json", [record(steps=steps, ended_at=ended), record("L2", "1", steps=steps)])
    corpus = load_all(tmp_path, on_duplicate=rule)
    assert corpus.tasks[0].trials[0].steps[0].text == text
    note = corpus.diagnostics[0]
    assert (note.slug, note.severity) == ("superseded_trial", "note")
    assert len(note.details) == 3


def test_on_duplicate_error_stops_at_any_difference(tmp_path: Path) -> None:
    put(tmp_path, "a.json", [record(), record("L2", "1")])
    put(tmp_path, "b.json", [record(steps=[]), record("L2", "1")])
    with pytest.raises(InputError, match="with different content"):
        load([str(tmp_path)], ReadOptions(on_duplicate="error"))


@pytest.mark.parametrize("rule", ["latest", "first"])
def test_on_duplicate_settles_different_verdicts(rule: str, tmp_path: Path) -> None:
    put(tmp_path, "a.json", [tau_trial(reward=1.0), tau_trial(trial=1)])
    put(tmp_path, "b.json", [tau_trial(reward=0.0), tau_trial(trial=1)])
    corpus = load_all(tmp_path, on_duplicate=rule)
    assert corpus.trials[0].verdict == ("fail" if rule == "latest" else "pass")
    assert len(corpus.trials) == 2


def test_files_that_all_say_trial_0_are_one_trial_each(tmp_path: Path) -> None:
    for number, reward in ((2, 1.0), (10, 0.0), (9, 1.0)):
        put(tmp_path, f"run-{number}.json", [tau_trial(task, 0, reward, other(f"{number}")) for task in (1, 2)])
    corpus = load_all(tmp_path)
    assert names(corpus) == ["1/0", "1/1", "1/2", "2/0", "2/1", "2/2"]
    assert [trial.source.path.rsplit("/", 1)[-1] for trial in corpus.tasks[0].trials] == [
        "run-2.json",
        "run-9.json",
        "run-10.json",
    ]
    assert told(corpus, "numbered_by_file").details[2] == f"trial 2: {tmp_path}/run-10.json"


def test_TRI_02_other_models_and_seeds_are_other_trials_and_it_is_said() -> None:
    three = [
        record(reward=reward, provenance={"model": model}) for model, reward in (("a", 1), ("b", 0), ("c", 1))
    ]
    corpus = read(three)
    assert names(corpus) == ["L1 [a]/0", "L1 [b]/0", "L1 [c]/0"]
    assert [task.group for task in corpus.tasks] == ["a", "b", "c"]
    assert told(corpus, "several_groups").details[:3] == tuple(f"{one}: 1 task, 1 trial" for one in "abc")
    corpus = read(three, group_by=())
    assert names(corpus) == ["L1/0", "L1/0~2", "L1/0~3"]
    assert [trial.provenance.model for trial in corpus.trials] == ["a", "b", "c"]
    warning = told(corpus, "mixed_provenance")
    assert warning.severity == "warning"
    assert "model: a, b, c" in warning.details[0]
    seeds = [simulation("s1", seed=1), simulation("s2", seed=2, reward=0.0)]
    corpus = read(tau2_results(*seeds))
    assert names(corpus) == ["t1/0", "t1/0~2"]
    assert slugs(corpus) == []


def test_nothing_recorded_differs_is_no_warning() -> None:
    corpus = read([record(), record(trial_id="1", provenance={"model": "a", "sampling": {"t": 0}})])
    assert slugs(corpus) == []


def test_another_definition_of_the_task_is_told() -> None:
    corpus = read([tau_trial(), tau_trial(trial=1, info={"task": {"instruction": "another"}})])
    assert "the definition of the task" in told(corpus, "mixed_provenance").details[0]


# Tasks of the same name


def test_the_same_id_in_two_suites_is_two_tasks() -> None:
    corpus = read([record("3", suite="shop"), record("3", suite="bank"), record("4", suite="bank")])
    assert [(task.task_id, task.task.suite) for task in corpus.tasks] == [
        ("4", "bank"),
        ("bank/3", "bank"),
        ("shop/3", "shop"),
    ]
    assert [trial.task_id for trial in corpus.trials] == ["4", "bank/3", "shop/3"]


def test_a_suite_can_be_given_for_logs_that_record_none() -> None:
    corpus = read([tau_trial()], suite="lamps")
    assert (corpus.trials[0].suite, corpus.tasks[0].task.suite, corpus.tasks[0].task_id) == (
        "lamps",
        "lamps",
        "4",
    )
    assert read(tau2_results(simulation()), suite="lamps").trials[0].suite == "shop"


def test_definitions_of_a_task_are_put_together() -> None:
    corpus = read(
        [record(task={"title": "tall lamp"}), record(trial_id="1", task={"script": "Ask for a lamp."})]
    )
    task = corpus.tasks[0].task
    assert (task.title, task.script) == ("tall lamp", "Ask for a lamp.")


# Plans


def test_TRI_08_missing_slots_are_named() -> None:
    never = {"id": "t2", "user_scenario": None}
    content = tau2_results(simulation("s1", trial=0), simulation("s2", trial=2), num_trials=4)
    content["tasks"].append(never)
    corpus = read(content)
    assert [(task.task_id, task.expected_n, task.missing) for task in corpus.tasks] == [
        ("t1", 4, ("1", "3")),
        ("t2", 4, ("0", "1", "2", "3")),
    ]


@pytest.mark.parametrize(
    ("ids", "expected", "missing"),
    [
        (["0", "1"], 4, ("2", "3")),
        (["1", "2", "4"], 4, ("3",)),
        (["0", "1", "2"], 2, ()),
        (["a", "b"], 3, ("0",)),
        (["0"], 1, ()),
    ],
)
def test_a_plan_can_be_given(ids: list[str], expected: int, missing: tuple[str, ...]) -> None:
    corpus = read([record(trial_id=one) for one in ids], expected_trials=expected)
    (task,) = corpus.tasks
    assert (task.expected_n, task.missing) == (max(expected, len(ids)), missing)
    assert ("more_trials_than_planned" in slugs(corpus)) == (len(ids) > expected)


def test_TRI_06_without_a_plan_the_expected_number_is_unknown() -> None:
    (task,) = read([tau_trial(), tau_trial(trial=3)]).tasks
    assert (task.expected_n, task.missing) == (None, ())
    (task,) = read(tau2_results(simulation(), num_trials=None)).tasks
    assert task.expected_n is None


def test_runs_of_a_producer_add_up_but_parts_of_one_run_do_not(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    put(parts, "a.json", tau2_results(simulation("s0", trial=0), num_trials=3))
    put(parts, "b.json", tau2_results(simulation("s1", trial=1), num_trials=3))
    (task,) = load_all(parts).tasks
    assert (task.expected_n, task.missing) == (3, ("2",))
    runs = tmp_path / "runs"
    for number, reward in enumerate((1.0, 0.0, 1.0)):
        put(runs, f"{number}.json", tau2_results(simulation(f"s{number}", reward=reward), num_trials=1))
    (task,) = load_all(runs).tasks
    assert (task.expected_n, task.missing, len(task.trials)) == (3, (), 3)
    gap = tmp_path / "gap"
    put(gap, "a.json", tau2_results(*(simulation(f"a{n}", trial=n, seed=n) for n in range(2))))
    put(gap, "b.json", tau2_results(simulation("b0", trial=0, seed=9, reward=0.0)))
    (task,) = load_all(gap).tasks
    assert (task.expected_n, len(task.trials), len(task.missing)) == (4, 3, 1)


def test_the_plan_in_own_records_is_that_of_the_whole_task(tmp_path: Path) -> None:
    for number in range(3):
        put(tmp_path, f"{number}.json", record(trial_id=number, task={"expected_trials": 4}))
    (task,) = load_all(tmp_path).tasks
    assert (task.expected_n, task.missing) == (4, ("3",))


# Order of everything


def test_records_in_any_order_give_the_same_corpus_but_for_their_places() -> None:
    records = [record(task, trial, reward) for task in ("b", "a") for trial, reward in (("1", 1), ("0", 0))]
    seen = set()
    for order in itertools.permutations(records):
        corpus = read(list(order))
        seen.add(
            json.dumps([(name, trial.reward) for name, trial in zip(names(corpus), corpus.trials, strict=True)])
        )
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        (
            {"steps": list(LONG)},
            {"steps": list(LONG[:1])},
            "no time says which is later: the longer one counts",
        ),
        ({"metadata": {"a": 1}}, {"metadata": {"a": 2}}, "the same in any order of the records"),
        ({"metadata": {"a": 1}, "ended_at": "2025-01-01T10:00:00"}, {"metadata": {"a": 2}}, "the latest one"),
        ({"verdict": "infra"}, {"verdict": "pass"}, "the one with a verdict counts"),
        ({"provenance": {"model": "m"}}, {}, "the same content"),
    ],
)
def test_which_copy_counts_does_not_depend_on_the_order_of_the_records(
    one: dict[str, Any], other: dict[str, Any], words: str
) -> None:
    first, second = record(**one), record(**other)
    found = [read(jsonl(*order)) for order in ((first, second), (second, first))]
    kept = [
        [(trial.verdict, trial.metadata, trial.provenance, len(trial.steps)) for trial in corpus.trials]
        for corpus in found
    ]
    assert kept[0] == kept[1]
    assert len(kept[0]) == 1
    for corpus in found:
        (note,) = (one for one in corpus.diagnostics if one.slug in ("superseded_trial", "duplicate_trial"))
        assert words in note.message


def test_asked_for_the_first_or_latest_the_place_decides_where_no_time_does() -> None:
    rows = [record(metadata={"a": number}) for number in (2, 1, 3)]
    assert read(jsonl(*rows), on_duplicate="first").trials[0].metadata == {"a": 2}
    assert read(jsonl(*rows), on_duplicate="latest").trials[0].metadata == {"a": 3}


def test_a_conflict_inside_one_file_does_not_speak_of_two() -> None:
    with pytest.raises(InputError) as caught:
        read(jsonl(record(verdict="pass"), record(verdict="fail")))
    assert "both stand in one file: choose with --on-duplicate latest or first" in str(caught.value)
    assert "two files" not in str(caught.value)
