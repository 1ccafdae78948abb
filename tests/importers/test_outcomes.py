"""Verdicts and names from side files: manifests by path, outcomes by task and trial, and what is left over."""
# ruff: noqa: N802 - tests are named after the failure cases they hold

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.fixtures import names, put, record, said, slugs, tau_trial, told
from trajdiff.errors import InputError, TrajdiffError
from trajdiff.importers import ReadOptions, load, manifest_traces
from trajdiff.model import Corpus


def chat(folder: Path, name: str, text: str = "Hi") -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(one) for one in (said("user", text), said("assistant", "Done."))))


def write(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def loaded(folder: Path, *outcomes: str, **options: Any) -> Corpus:
    return load([str(folder / "runs")], ReadOptions(outcomes=outcomes, **options))


def states(corpus: Corpus) -> dict[str, str]:
    return {name: str(trial.verdict) for name, trial in zip(names(corpus), corpus.trials, strict=True)}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Bare chats of two tasks with two trials each; names only in the paths."""
    for task in ("lamp", "desk"):
        for trial in (1, 2):
            chat(tmp_path, f"runs/{task}/attempt_{trial}.jsonl", f"{task} {trial}")
    return tmp_path


# Outcomes by task and trial

ROWS = [("lamp", 1, True), ("lamp", 2, False), ("desk", 1, True), ("desk", 2, True)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("o.csv", "task,trial,passed\nlamp,1,true\nlamp,2,false\ndesk,1,TRUE\ndesk,2,1\n"),
        ("o.csv", "\ufefftask_id;trial_id;verdict\r\nlamp;1;pass\r\nlamp;2;fail\r\ndesk;1;PASS\r\ndesk;2;pass"),
        ("o.tsv", "task\ttrial\treward\nlamp\t1\t1.0\nlamp\t2\t0.5\ndesk\t1\t1\ndesk\t2\t1e0\n"),
        ("o.jsonl", "\n".join(json.dumps({"task": t, "trial": n, "outcome": ok}) for t, n, ok in ROWS)),
        ("o.json", json.dumps([{"task_id": t, "trial_id": str(n), "score": int(ok)} for t, n, ok in ROWS])),
        ("o.toml", "".join(f'[[trial]]\ntask = "{t}"\ntrial = {n}\nreward = {int(ok)}\n' for t, n, ok in ROWS)),
    ],
)  # fmt: skip
def test_verdicts_are_joined_by_task_and_trial_from_every_kind_of_file(
    runs: Path, name: str, text: str
) -> None:
    corpus = loaded(runs, write(runs, name, text))
    assert states(corpus) == {"desk/1": "pass", "desk/2": "pass", "lamp/1": "pass", "lamp/2": "fail"}
    assert all(trial.judgement.rule.endswith(f"in {name}") for trial in corpus.trials)
    # What was said about missing outcomes is settled.
    assert slugs(corpus) == []


def test_what_matches_nothing_is_listed_on_both_sides(runs: Path) -> None:
    file = write(
        runs, "o.csv", "task,trial,passed\nlamp,1,true\nlamp,3,false\nsofa,1,true\ndesk,1,true\ndesk,2,\n"
    )
    corpus = loaded(runs, file)
    assert states(corpus) == {"desk/1": "pass", "desk/2": "unscored", "lamp/1": "pass", "lamp/2": "unscored"}
    left = told(corpus, "unmatched_row")
    assert left.details == (
        "line 3: task lamp, trial 3 (no such trial)",
        "line 4: task sofa, trial 1 (no such task)",
    )
    assert told(corpus, "trial_without_row").details == ("lamp/2 (unscored)",)
    # A trial of a known task that only a row knows is a missing trial, not a vanished one.
    assert {task.task_id: task.missing for task in corpus.tasks} == {"desk": (), "lamp": ("3",)}


def test_rows_that_contradict_each_other_stop(runs: Path) -> None:
    file = write(runs, "o.csv", "task,trial,passed\nlamp,1,true\nlamp,1,false\n")
    with pytest.raises(InputError, match="two rows give one trial different verdicts") as caught:
        loaded(runs, file)
    assert "line 2: task lamp, trial 1: pass" in str(caught.value)
    loaded(runs, write(runs, "same.csv", "task,trial,passed\nlamp,1,true\nlamp,1,true\n"))


def test_a_regrade_counts_and_is_told(tmp_path: Path) -> None:
    put(tmp_path / "runs", "a.json", [tau_trial("lamp", 0, 1.0), tau_trial("lamp", 1, 0.0)])
    corpus = loaded(tmp_path, write(tmp_path, "o.csv", "task,trial,reward\nlamp,0,0\nlamp,1,\n"))
    # An empty cell says nothing against the log.
    assert states(corpus) == {"lamp/0": "fail", "lamp/1": "fail"}
    assert told(corpus, "regraded").message == "1 trial has another verdict here than in the log"
    assert corpus.trials[1].judgement.rule == "reward = 1"


def test_a_threshold_holds_for_rewards_of_a_side_file(runs: Path) -> None:
    file = write(runs, "o.csv", "task,trial,reward\nlamp,1,0.7\nlamp,2,0.9\n")
    assert states(loaded(runs, file, threshold=0.8))["lamp/2"] == "pass"
    assert states(loaded(runs, file, threshold=0.8))["lamp/1"] == "fail"
    assert states(loaded(runs, file))["lamp/2"] == "fail"


def test_FIL_03_a_reward_that_is_no_number_is_unscored_and_a_word_is_an_error(runs: Path) -> None:
    file = write(runs, "o.csv", "task,trial,reward\nlamp,1,NaN\nlamp,2,maybe\n")
    corpus = loaded(runs, file)
    assert states(corpus)["lamp/1"] == states(corpus)["lamp/2"] == "unscored"
    error = told(corpus, "bad_row")
    assert (error.severity, error.message) == ("error", 'reward "maybe" is neither a verdict nor a number')


def test_success_is_used_only_when_it_is_named(runs: Path) -> None:
    text = "task,trial,success\nlamp,1,true\n"
    with pytest.raises(InputError, match="nothing says the outcome") as caught:
        loaded(runs, write(runs, "o.csv", text))
    assert 'columns = {verdict = "success"}' in str(caught.value)
    manifest = write(runs, "m.toml", 'outcomes = "o.csv"\ncolumns = {verdict = "success"}\n')
    corpus = loaded(runs, manifest)
    assert states(corpus)["lamp/1"] == "pass"
    assert corpus.trials[2].judgement.rule == "success in o.csv"


def test_TRI_02_a_row_without_model_fits_no_trial_of_several_models(tmp_path: Path) -> None:
    both = [record(trial_id="0", verdict=None, provenance={"model": model}) for model in ("m1", "m2")]
    put(tmp_path / "runs", "a.json", both)
    corpus = loaded(tmp_path, write(tmp_path, "o.csv", "task,trial,passed\nL1,0,true\n"))
    assert "2 trials fit; name the suite or the model" in told(corpus, "unmatched_row").details[0]
    corpus = loaded(
        tmp_path, write(tmp_path, "o.csv", "task,trial,model,passed\nL1,0,m1,true\nL1,0,m2,false\n")
    )
    assert states(corpus) == {"L1 [m1]/0": "pass", "L1 [m2]/0": "fail"}


def test_other_columns_become_fields_and_metadata(runs: Path) -> None:
    text = "task,trial,passed,termination,cost_usd,seed,scorer,grader note,expected_trials\n"
    corpus = loaded(runs, write(runs, "o.csv", text + "lamp,1,true,timeout,0.5,7,db,fine,3\n"))
    trial = next(one for one in corpus.trials if (one.task_id, one.trial_id) == ("lamp", "1"))
    assert (trial.termination.reason, trial.cost_usd, trial.provenance.seed) == ("time_limit", 0.5, 7)
    assert (trial.judgement.scorer, trial.metadata) == ("db", {"grader note": "fine"})
    assert next((task.expected_n, task.missing) for task in corpus.tasks if task.task_id == "lamp") == (
        3,
        ("3",),
    )


# Manifests

MANIFEST = """
[[trial]]
path  = "runs/{task}/attempt_{trial}.jsonl"
suite = "shop"
model = "m1"
"""


def test_a_glob_with_named_parts_names_every_trial(runs: Path) -> None:
    corpus = loaded(runs, write(runs, "m.toml", MANIFEST))
    assert names(corpus) == ["desk/1", "desk/2", "lamp/1", "lamp/2"]
    assert {(trial.suite, trial.provenance.model) for trial in corpus.trials} == {("shop", "m1")}


def test_parts_of_a_path_may_be_any_field_and_the_rest_is_metadata(tmp_path: Path) -> None:
    for model in ("m1", "m2"):
        for trial in (0, 1):
            chat(tmp_path, f"runs/{model}/day-4/lamp__{trial}/log.jsonl", f"{model} {trial}")
    text = '[[trial]]\npath = "runs/{model}/day-{day}/{task}__{trial}/*.jsonl"\n'
    corpus = loaded(tmp_path, write(tmp_path, "m.toml", text))
    assert names(corpus) == ["lamp [m1]/0", "lamp [m1]/1", "lamp [m2]/0", "lamp [m2]/1"]
    assert {str(trial.metadata["day"]) for trial in corpus.trials} == {"4"}


def test_single_files_win_over_patterns_and_bring_their_own_verdict(runs: Path) -> None:
    text = (
        MANIFEST
        + '[[trial]]\npath = "runs/lamp/attempt_2.jsonl"\ntask = "table"\ntrial = 9\nverdict = "infra"\n'
    )
    corpus = loaded(runs, write(runs, "m.toml", text))
    assert states(corpus) == {
        "desk/1": "unscored",
        "desk/2": "unscored",
        "lamp/1": "unscored",
        "table/9": "infra",
    }


def test_a_manifest_names_its_outcome_file(runs: Path) -> None:
    write(runs, "scores.csv", "task,trial,passed\nlamp,1,true\nlamp,2,false\ndesk,1,false\ndesk,2,false\n")
    corpus = loaded(runs, write(runs, "m.toml", 'outcomes = "scores.csv"\n' + MANIFEST))
    assert states(corpus) == {"desk/1": "fail", "desk/2": "fail", "lamp/1": "pass", "lamp/2": "fail"}


def test_entries_without_file_and_files_without_entry_are_listed(runs: Path) -> None:
    text = (
        '[[trial]]\npath = "runs/lamp/*_{trial}.jsonl"\ntask = "lamp"\n[[trial]]\npath = "other/{task}.jsonl"\n'
    )
    corpus = loaded(runs, write(runs, "m.toml", text))
    assert told(corpus, "entry_without_file").details == ("trial[1]: path other/{task}.jsonl",)
    listed = told(corpus, "file_without_entry").details
    assert [name.rpartition("runs/")[2] for name in listed[:2]] == [
        "desk/attempt_1.jsonl",
        "desk/attempt_2.jsonl",
    ]


def test_FIL_06_a_trial_whose_trace_is_gone_counts_and_is_not_comparable(runs: Path) -> None:
    text = MANIFEST + '[[trial]]\npath = "runs/lamp/killed.jsonl"\ntask = "lamp"\ntrial = 3\nverdict = "fail"\n'
    corpus = loaded(runs, write(runs, "m.toml", text))
    trial = next(one for one in corpus.trials if one.trial_id == "3")
    assert (trial.verdict, trial.comparable, trial.message_count) == ("fail", False, 0)
    assert told(corpus, "no_trace").severity == "warning"


def test_FIL_05_an_empty_file_keeps_the_verdict_that_is_known_elsewhere(runs: Path) -> None:
    (runs / "runs" / "lamp" / "attempt_2.jsonl").write_text("")
    for file in (
        write(runs, "o.csv", "task,trial,passed\nlamp,2,false\n"),
        write(runs, "m.toml", '[[trial]]\npath = "runs/{task}/attempt_{trial}.jsonl"\nverdict = "fail"\n'),
    ):
        corpus = loaded(runs, file)
        trial = next(one for one in corpus.trials if (one.task_id, one.trial_id) == ("lamp", "2"))
        assert (trial.verdict, trial.comparable) == ("fail", False)
        assert told(corpus, "empty_file").severity == "error"


def test_an_entry_about_one_trial_does_not_judge_a_file_of_several(tmp_path: Path) -> None:
    put(
        tmp_path / "runs",
        "a.json",
        [record(trial_id="0", verdict="pass"), record(trial_id="1", verdict="fail")],
    )
    text = '[[trial]]\npath = "runs/a.json"\ntrial = 7\nverdict = "fail"\nmodel = "m1"\n'
    corpus = loaded(tmp_path, write(tmp_path, "m.toml", text))
    assert states(corpus) == {"L1/0": "pass", "L1/1": "fail"}
    assert {trial.provenance.model for trial in corpus.trials} == {"m1"}
    assert "holds 2 trials" in told(corpus, "entry_for_one_trial").message


def test_several_entries_of_one_file_are_told_apart_by_task_and_trial(tmp_path: Path) -> None:
    put(tmp_path / "runs", "a.json", [record(trial_id=str(n), verdict=None) for n in (0, 1)])
    text = "".join(
        f'[[trial]]\npath = "runs/a.json"\ntask = "L1"\ntrial = {n}\nverdict = "{v}"\n'
        for n, v in ((0, "pass"), (1, "fail"), (2, "fail"))
    )
    corpus = loaded(tmp_path, write(tmp_path, "m.toml", text))
    assert states(corpus) == {"L1/0": "pass", "L1/1": "fail"}
    assert "fits no trial" in told(corpus, "unmatched_row").message


def test_an_entry_can_say_the_format(tmp_path: Path) -> None:
    put(tmp_path / "runs", "a.json", [said("user", "Hi")])
    text = '[[trial]]\npath = "runs/a.json"\nformat = "chat"\ntask = "lamp"\ntrial = 0\n'
    corpus = loaded(tmp_path, write(tmp_path, "m.toml", text))
    assert corpus.files[0].recognised_by in ("--from chat", "messages with role and content")
    assert names(corpus) == ["lamp/0"]


def test_a_manifest_as_lines_or_table_and_what_it_names(runs: Path) -> None:
    row = {"path": "runs/{task}/attempt_{trial}.jsonl", "model": "m1"}
    lines = write(runs, "m.jsonl", json.dumps(row) + "\n")
    table = write(runs, "m.csv", f"path,model\n{row['path']},m1\n")
    for file in (lines, table):
        assert names(loaded(runs, file)) == ["desk/1", "desk/2", "lamp/1", "lamp/2"]
        (pattern,) = manifest_traces([file])
        assert pattern == str(runs / "runs/*/attempt_*.jsonl")
        assert len(load([pattern], ReadOptions(outcomes=(file,))).trials) == 4


def test_a_side_file_is_not_read_as_a_trace(runs: Path) -> None:
    row = json.dumps({"task": "lamp", "trial": 1, "passed": True})
    (runs / "runs" / "o.jsonl").write_text(row + "\n")
    corpus = loaded(runs, str(runs / "runs" / "o.jsonl"))
    assert len(corpus.files) == 4
    assert "not_recognised" not in slugs(corpus)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("o.csv", "", "no rows"),
        ("o.csv", "task,trial,passed\nlamp,1,true,9\n", "line 2 has more cells"),
        ("o.csv", 'task,trial,passed\nlamp,1,"tr', "is not CSV"),
        ("o.csv", "trial,passed\n1,true\n", "nothing says the task"),
        ("o.jsonl", '{"task": 1', "the file is cut"),
        ("o.jsonl", "[1]", "a row is an object"),
        ("o.toml", "trial = 1", "trial must be tables"),
        ("o.toml", "[[trials]]\ntask = 1", 'unknown key "trials"'),
        ("o.toml", "a = ", "not valid TOML"),
        ("o.toml", "", "no [[trial]] and no outcomes"),
        ("o.toml", 'outcomes = "gone.csv"', "cannot be read"),
        ("o.toml", 'outcomes = "o.csv"\ncolumns = {verdit = "x"}', 'no field "verdit"'),
    ],
)
def test_a_side_file_that_is_wrong_is_named(runs: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        loaded(runs, write(runs, name, text))
    assert message in str(caught.value)
    with pytest.raises(InputError, match="cannot be read"):
        loaded(runs, str(runs / "gone.csv"))


CELLS = st.sampled_from(
    (
        "lamp",
        "desk",
        "1",
        "2",
        "true",
        "",
        "NaN",
        "1e999",
        "-",
        '"',
        "pass",
        "{x}",
        "[",
        "*",
        "**/",
        "\ud83d",
        "\x00",
    )
)
COLUMNS = st.sampled_from(
    (
        "task",
        "trial",
        "passed",
        "reward",
        "path",
        "model",
        "seed",
        "cost_usd",
        "expected_trials",
        "odd",
        "format",
    )
)


@given(st.lists(COLUMNS, min_size=1, max_size=5), st.lists(st.lists(CELLS, max_size=6), max_size=4))
def test_any_table_ends_with_trials_or_a_message(columns: list[str], cells: list[list[str]]) -> None:
    """Never with a traceback, and never with a trial less."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        chat(folder, "runs/lamp/attempt_1.jsonl")
        chat(folder, "runs/desk/attempt_2.jsonl", "Ho")
        for file, text in (
            ("o.csv", "\n".join(",".join(row) for row in [columns, *cells])),
            ("o.jsonl", "\n".join(json.dumps(dict(zip(columns, row, strict=False))) for row in cells)),
        ):
            (folder / file).write_bytes(text.encode("utf-8", "surrogatepass"))
            with suppress(TrajdiffError):
                assert len(loaded(folder, str(folder / file)).trials) >= 2


def test_the_order_of_files_and_rows_changes_nothing(runs: Path) -> None:
    rows = ["lamp,1,true", "lamp,2,false", "desk,1,false", "desk,2,true"]
    first = loaded(runs, write(runs, "o.csv", "task,trial,passed\n" + "\n".join(rows)))
    second = loaded(runs, write(runs, "o.csv", "task,trial,passed\n" + "\n".join(reversed(rows))))
    assert (first.tasks, first.diagnostics) == (second.tasks, second.diagnostics)
