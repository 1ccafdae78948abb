"""Scoring divergences against labels: known answers on the sample traces, computed by hand from the labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from trajdiff.analysis import analyse, judge_as_failed
from trajdiff.cli.program import cli
from trajdiff.errors import InputError
from trajdiff.importers import load
from trajdiff.localization import RULES, Measured, measure, read_labels
from trajdiff.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = str(ROOT / "sample_traces")
KNOWN: list[dict[str, Any]] = json.loads((ROOT / "tests/samples/known_roots.json").read_text("utf-8"))


def lines(rows: list[dict[str, Any]]) -> str:
    return "\n".join(json.dumps(row) for row in rows)


def label(task: str, trial: str, critical: list[int], **more: Any) -> dict[str, Any]:
    return {"task_id": task, "trial_id": trial, "critical": critical, **more}


@pytest.fixture(scope="module")
def measured() -> Measured:
    rows = [
        # L1-014/1 announces at message 5 and refunds at 7; L1-025/1 writes at 5; L1-061/1 refunds at 7.
        label("L1-014", "1", [5], kinds=["wrong_argument"]),
        label("L1-025", "1", [9], acceptable=[5], kinds=["missing_call"]),
        label("L1-061", "1", [1], kinds=["missing_call"], actors=["user"]),
        label("L1-022", "2", [5], kinds=["checker_fault"]),
        label("L1-999", "0", [1], kinds=["loop"]),
    ]
    corpus = load([SAMPLES])
    labels = read_labels(lines(rows), "labels.jsonl")
    return measure(corpus, analyse(corpus, Settings()), labels, Settings())


def test_hits_are_counted_by_hand(measured: Measured) -> None:
    score = measured.overall
    assert (score.n, score.exact, score.acceptable, score.abstained) == (4, 1, 2, 1)
    # 5 against 5, 5 against 9 (four off), 7 against 1 (six off), and an abstention.
    assert score.near == 1
    # wrong_argument, extra_write against missing_call, missing_step, same path.
    assert score.kind == 3
    assert score.actor == 3


def test_a_label_without_a_failing_trial_is_named(measured: Measured) -> None:
    assert measured.unmatched == ("L1-999/0",)


def test_grades_add_up(measured: Measured) -> None:
    assert sum(score.n for score in measured.by_grade.values()) == measured.overall.n


def test_rules_of_thumb_on_one_trial(measured: Measured) -> None:
    assert tuple(measured.rules) == RULES
    # The last write of L1-025/1 is message 5; of L1-014/1 it is 7; neither is the first reader's root.
    assert measured.rules["last write"].exact == 0
    assert measured.rules["last write"].acceptable == 1


def test_every_known_sample_root_scores() -> None:
    rows = [
        label(k["task_id"], k["trial_id"], [k["root"]], acceptable=k["acceptable"], kinds=k["kind"])
        for k in KNOWN
        if k["root"] is not None
    ]
    corpus = load([SAMPLES])
    found = measure(corpus, analyse(corpus, Settings()), read_labels(lines(rows), "x"), Settings())
    assert found.overall.n == found.overall.exact == found.overall.acceptable == len(rows)


def test_passing_trials_treated_as_failed_are_spared() -> None:
    corpus = load([SAMPLES])
    passing = [(t.task_id, trial.trial_id) for t in corpus.tasks for trial in t.passes if len(t.passes) > 1]
    found = judge_as_failed(corpus, Settings(), passing)
    assert len(found) == len(passing) > 50
    assert [key for key, claim in found.items() if claim is not None] == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("critical", [float("inf")]), ("critical", [1.5]), ("critical", ["3"]), ("critical", "12"),
        ("critical", [True]), ("critical", [-1]), ("critical", None), ("acceptable", {"3": 1}),
        ("kinds", "loop"), ("kinds", [None]), ("actors", [1]), ("task_id", None),
        ("task_id", ["a"]), ("trial_id", 1.0),
    ],
)  # fmt: skip
def test_labels_of_a_wrong_type_are_not_guessed_at(field: str, value: object) -> None:
    """Half an index is not rounded, a text is no list of digits."""
    row = {"task_id": "a", "trial_id": "0", "critical": [1], "kinds": ["loop"]}
    assert read_labels(json.dumps(row), "x")[0].critical == {1}
    with pytest.raises(InputError, match=f"labels.jsonl: line 2 .*{field}"):
        read_labels(f"\n{json.dumps({**row, field: value})}", "labels.jsonl")


def test_a_trial_with_two_labels_is_not_counted_twice() -> None:
    row = json.dumps({"task_id": "a", "trial_id": 0, "critical": [1]})
    with pytest.raises(InputError, match=r"line 2: a/0 has a label already"):
        read_labels(f"{row}\n{row}\n", "labels.jsonl")


@pytest.mark.parametrize(
    ("text", "said"), [("", "no labels"), ("{}", "line 1"), ('{"task_id": 1}\n', "line 1"), ("[1]", "line 1")]
)
def test_labels_that_are_none(text: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        read_labels(text, "labels.jsonl")
    assert said in str(raised.value)
    assert "labels.jsonl" in str(raised.value)


def test_commands(tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text(lines([label("L1-014", "1", [5], kinds=["wrong_argument"], group="announced")]), "utf-8")
    run = CliRunner()
    text = run.invoke(cli, ["benchmark", str(labels), SAMPLES])
    assert "exact: the root is a message labelled critical" in text.stdout
    assert text.exit_code == 0
    assert "1 labelled failing trial" in text.stdout
    assert "announced" in text.stdout
    made = json.loads(run.invoke(cli, ["benchmark", str(labels), SAMPLES, "--json"]).stdout)
    assert made["overall"]["exact"] == 1
    missing = run.invoke(cli, ["benchmark", str(tmp_path / "none.jsonl"), SAMPLES])
    assert missing.exit_code == 3 or isinstance(missing.exception, InputError)
    check = json.loads(run.invoke(cli, ["selfcheck", SAMPLES, "--json", "--exit-code"]).stdout)
    assert check["false_alarms"] == 0
    assert check["passing_trials"] > 50
