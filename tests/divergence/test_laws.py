"""What must not change an answer: the order of trials and files, and anything benign inside a trial."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.divergence.benign import CHANGES
from tests.divergence.made import corpus
from trajdiff.analysis import Analysis, analyse
from trajdiff.divergence.finding import Divergence
from trajdiff.importers import load, trial_record
from trajdiff.model import Corpus
from trajdiff.settings import Settings

Records: TypeAlias = "list[dict[str, Any]]"
Key: TypeAlias = "tuple[str, str]"
PROJECT = Path(__file__).resolve().parents[2]


def sample_records() -> Records:
    """All sample trials in one format, without the producer's message numbers."""
    found = load([str(PROJECT / "sample_traces")])
    made = [trial_record(trial, task.task, task.expected_n) for task in found.tasks for trial in task.trials]
    for one in made:
        del one["message_count"]
        one["steps"] = [{k: v for k, v in step.items() if not k.endswith("message")} for step in one["steps"]]
    return made


RECORDS = sample_records()


def answers(found: Corpus, analysis: Analysis) -> dict[Key, tuple[Any, ...]]:
    """Kind, actor and content of the root of every judged trial; not its number, which benign steps shift."""
    trials = {(trial.task_id, trial.trial_id): trial for trial in found.trials}

    def content(said: Divergence) -> str | None:
        if said.root is None:
            return None
        step = trials[said.task_id, said.trial_id].steps[said.root.step]
        arguments = step.arguments.parsed if step.arguments else None
        return json.dumps([step.actor, step.name, arguments, step.text], sort_keys=True)

    rows = [said for finding in analysis.findings.values() for said in finding.divergences]
    return {(said.task_id, said.trial_id): (said.kind, said.actor, content(said)) for said in rows}


def analysed_again(records: Records) -> tuple[dict[Key, tuple[Any, ...]], Analysis]:
    found = corpus(records)
    analysis = analyse(found, Settings())
    return answers(found, analysis), analysis


@pytest.fixture(scope="module")
def before() -> dict[Key, tuple[Any, ...]]:
    return analysed_again(RECORDS)[0]


# Benign changes

# Never every pass at once: what all of them do would rightly be taken for required.
WHO = ("fail", "first pass", "last pass")
#: These touch all calls at once, so that there are no places to choose from.
EVERYWHERE = ("call ids renamed", "arguments as text")


def _changed(change: str, who: str, number: int) -> Iterator[tuple[dict[str, Any], bool]]:
    """Every record, changed where it is its turn, and whether it was."""
    passes: dict[str, list[str]] = {}
    for one in RECORDS:
        if one["verdict"]["state"] == "pass":
            passes.setdefault(one["task_id"], []).append(one["trial_id"])
    for one in RECORDS:
        if who == "fail":
            turn = one["verdict"]["state"] == "fail"
        else:
            turn = passes.get(one["task_id"], [""])[0 if who == "first pass" else -1] == one["trial_id"]
        steps = CHANGES[change](copy.deepcopy(one["steps"]), number) if turn else None
        yield (one, False) if steps is None else ({**one, "steps": steps}, True)


@pytest.mark.parametrize("change", CHANGES)
def test_benign_changes_keep_the_answers(change: str, before: Mapping[Key, Any]) -> None:
    """In 95 of 100 cases, over all sample tasks; and no passed trial is accused for them."""
    asked = kept = alarms = held_out = 0
    lost = []
    for who in WHO:
        for number in (0,) if change in EVERYWHERE else (0, 2):
            made, touched = zip(*_changed(change, who, number), strict=True)
            tasks = {one["task_id"] for one, was in zip(made, touched, strict=True) if was}
            after, analysis = analysed_again(list(made))
            alarms += analysis.self_check.false_alarms
            held_out += analysis.self_check.passing_trials
            for key, answer in before.items():
                mine = who == "fail" and not _was(made, touched, key)
                if key[0] in tasks and not mine:
                    asked += 1
                    kept += _same(answer, after[key])
                    lost += [] if _same(answer, after[key]) else [f"{'/'.join(key)} ({who}, {number})"]
    assert asked > 30, "the change hardly touches the samples"
    assert kept / asked >= 0.95, lost
    assert alarms / held_out <= 0.02


def _was(made: tuple[dict[str, Any], ...], touched: tuple[bool, ...], key: Key) -> bool:
    return any(was and (one["task_id"], one["trial_id"]) == key for one, was in zip(made, touched, strict=True))


def _same(before: tuple[Any, ...], after: tuple[Any, ...]) -> bool:
    # Where nothing was claimed, nothing may be claimed; the reason may then be another one.
    return before == after or (before[2] is None and after[2] is None)


# Order

FEW = [one for one in RECORDS if one["task_id"] in ("L1-061", "L1-082", "L1-130", "L1-055", "L1-022", "L1-012")]


def _plain(value: Any) -> Any:
    """A value without the places in files, which a shuffle changes."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items() if key not in ("path", "pointer", "line")}
    return [_plain(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _read(folder: Path, records: Records, cut: int, names: tuple[str, str]) -> Any:
    for name, part in zip(names, (records[:cut], records[cut:]), strict=True):
        (folder / name).write_text("".join(json.dumps(one) + "\n" for one in part), "utf-8")
    return _plain(msgspec.to_builtins(analyse(load([str(folder)]), Settings())))


@given(shuffled=st.permutations(FEW), cut=st.integers(0, len(FEW)), swapped=st.booleans())
@settings(max_examples=8)
def test_the_order_of_trials_and_files_changes_nothing(
    shuffled: Records, cut: int, swapped: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    names = ("b.jsonl", "a.jsonl") if swapped else ("a.jsonl", "b.jsonl")
    straight = _read(tmp_path_factory.mktemp("straight"), FEW, len(FEW), ("a.jsonl", "b.jsonl"))
    assert _read(tmp_path_factory.mktemp("shuffled"), shuffled, cut, names) == straight


def test_a_task_is_judged_the_same_alone_and_among_others() -> None:
    """Levels are chosen over the whole input, so a chosen task gives what the report gives."""
    found = corpus(RECORDS)
    whole = analyse(found, Settings())
    some = analyse(found, Settings(), tasks=["L1-061", "L1-088"])
    assert set(some.findings) == {"L1-061", "L1-088"}
    assert all(finding == whole.findings[task] for task, finding in some.findings.items())
    assert (some.self_check, some.levels, some.tools) == (whole.self_check, whole.levels, whole.tools)


def test_progress_counts_up_to_the_tasks() -> None:
    told: list[tuple[int, int]] = []
    analyse(corpus(FEW), Settings(), progress=lambda done, total: told.append((done, total)))
    assert told == [(n, 6) for n in range(1, 7)]
