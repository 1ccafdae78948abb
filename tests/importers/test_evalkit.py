"""EvalKit folders: numbers, scores that must all be C, missing trials, several run folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.importers.fixtures import (
    calls,
    evalkit_sample,
    jsonl,
    names,
    only_trial,
    put,
    read,
    said,
    slugs,
    told,
)
from tests.importers.fixtures_inspect import header, sample
from trajdiff.importers import ReadOptions, load


def test_trials_are_numbered_by_their_folders_and_gaps_are_missing(tmp_path: Path) -> None:
    for number in (10, 0, 2):
        put(
            tmp_path, f"out/trial-{number}/s.jsonl", jsonl(evalkit_sample("q1", "C"), evalkit_sample("q2", "I"))
        )
    put(tmp_path, "out/trial-2/s.jsonl", jsonl(evalkit_sample("q1", "C")))
    corpus = load([str(tmp_path)])
    assert names(corpus) == ["q1/0", "q1/2", "q1/10", "q2/0", "q2/10"]
    first, second = corpus.tasks
    assert (first.expected_n, first.missing) == (11, ("1", *map(str, range(3, 10))))
    assert second.missing == tuple(map(str, range(1, 10)))
    assert [one.verdict for one in corpus.trials] == ["pass"] * 3 + ["fail"] * 2
    assert len(calls(corpus.trials[0])) == 2


def test_numbers_may_begin_with_one(tmp_path: Path) -> None:
    for number in (1, 2):
        put(tmp_path, f"trial-{number}/s.json", [evalkit_sample("q1", "C")])
    put(tmp_path, "trial-3/s.json", [evalkit_sample("q2", "C")])
    (first, second) = load([str(tmp_path)]).tasks
    assert (first.expected_n, first.missing, second.missing) == (3, ("3",), ("1", "2"))


@pytest.mark.parametrize(
    ("scores", "options", "verdict"),
    [
        (["C", "C"], {}, "pass"),
        (["C", "I"], {}, "fail"),
        (["C", "P"], {}, "fail"),
        (["C", "P"], {"threshold": 0.5}, "pass"),
        (["C", "N"], {}, "fail"),
        (["C", None], {}, "unscored"),
        (["I", None], {}, "fail"),
        (["C", "I"], {"scorer": "s0"}, "pass"),
        (["C", "I"], {"scorer": "s1"}, "fail"),
        (["C"], {}, "pass"),
        ([], {}, "unscored"),
    ],
)
def test_a_trial_passes_only_if_every_score_is_c(scores: Any, options: Any, verdict: str) -> None:
    trial = only_trial(evalkit_sample("q1", *scores), **options)
    assert trial.verdict == verdict
    assert dict(trial.sub_scores) == {f"s{place}": one for place, one in enumerate(scores)}


def test_the_rule_is_recorded() -> None:
    assert only_trial(evalkit_sample("q1", "C", "C")).judgement.rule == "all scores are C"


@pytest.mark.parametrize(
    "scores",
    [
        {"exact": {"value": "C"}, "style": "I"},
        [{"name": "exact", "value": "C"}, {"name": "style", "value": "I"}],
    ],
)
def test_scores_may_be_an_object_or_a_list(scores: Any) -> None:
    trial = only_trial({"sample_id": 3, "scores": scores, "messages": []})
    assert (trial.task_id, trial.verdict, dict(trial.sub_scores)) == ("3", "fail", {"exact": "C", "style": "I"})


def test_another_letter_is_an_error_that_names_it() -> None:
    corpus = read(evalkit_sample("q1", "C", "X"))
    assert told(corpus, "unknown_letter").severity == "error"
    assert [one.verdict for one in corpus.trials] == ["unscored"]


def put_run(folder: Path, letters: str) -> None:
    for number, letter in enumerate(letters):
        spoken = [said("user", f"Run {folder.name}, please.")]
        put(folder, f"trial-{number}/s.jsonl", jsonl(evalkit_sample("q1", letter, messages=spoken)))
        put(folder, f"trial-{number}/more/s.jsonl", jsonl(evalkit_sample("q2", letter)))


def test_every_run_folder_is_read(tmp_path: Path) -> None:
    put_run(tmp_path / "a", "CI")
    put_run(tmp_path / "b", "II")
    corpus = load([str(tmp_path)])
    first, second = corpus.tasks
    assert [one.verdict for one in first.trials] == ["pass", "fail", "fail", "fail"]
    assert (first.expected_n, first.missing) == (4, ())
    # What both runs hold word for word is a copy; it counts once, and that is told.
    assert [one.verdict for one in second.trials] == ["pass", "fail", "fail"]
    assert "duplicate_trial" in slugs(corpus)


def test_a_trial_folder_with_an_inspect_log_is_read_as_one(tmp_path: Path) -> None:
    put(tmp_path, "trial-0/log.json", header(1) | {"samples": [sample()]})
    corpus = load([str(tmp_path)])
    assert [one.format for one in corpus.files] == ["inspect_ai log"]


def test_records_without_messages_keep_their_verdict(tmp_path: Path) -> None:
    bad = json.dumps({"scores": []}).encode()
    put(tmp_path, "trial-0/s.jsonl", jsonl({"id": "q1", "scores": [{"value": "C"}]}) + bad)
    corpus = load([str(tmp_path)])
    assert [(one.verdict, one.comparable) for one in corpus.trials] == [("pass", False)]
    assert set(slugs(corpus)) == {"no_messages", "unreadable_record"}


def test_the_made_up_folder(shared: Path) -> None:
    corpus = load([str(shared / "data/evalkit")])
    found = {
        one.task_id: (len(one.passes), len(one.trials), one.expected_n, one.missing) for one in corpus.tasks
    }
    assert found == {"L1-061": (1, 3, 3, ()), "L1-101": (2, 3, 3, ()), "L1-001": (2, 2, 3, ("2",))}
    chosen = load([str(shared / "data/evalkit")], ReadOptions(scorer="trajectory"))
    assert all(one.judgement.scorer == "trajectory" for one in chosen.trials)
