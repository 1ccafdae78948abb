"""The bundled sample traces: they equal what the scenarios say, and hold what is promised of them.

Inventory tags come from the scenarios; everything else is read from the committed files.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests.samples import build
from tests.samples.recorded import ROOTS, TRIALS, Key
from trajdiff.divergence.finding import Blame, Kind

MADE = {task.task_id: task for task in build.ALL}


def _states(task_id: str) -> str:
    marks = {"pass": "P", "fail": "F", "unscored": "U", "infra": "I"}
    return "".join(marks[TRIALS[key]["state"]] for key in sorted(TRIALS) if key[0] == task_id)


def _tags(wanted: str) -> list[Key]:
    return [
        (task.task_id, str(number))
        for task in build.ALL
        for number, trial in task.recorded
        if wanted in trial.tags
    ]


def _passes(task_id: str) -> list[dict[str, Any]]:
    return [trial for key, trial in sorted(TRIALS.items()) if key[0] == task_id and trial["state"] == "pass"]


def test_committed_files_are_what_the_scenarios_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert build.main(["--check"]) == 0, capsys.readouterr().out


def test_check_names_files_that_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for path, text in build.files().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(text.encode())
    monkeypatch.setattr(build, "ROOT", tmp_path)
    assert build.stale() == ()
    (tmp_path / "sample_traces/shop-zh.jsonl").write_text("{}\n")
    assert build.main(["--check"]) == 1
    assert "shop-zh.jsonl" in capsys.readouterr().out


def test_there_are_enough_tasks_of_four_trials() -> None:
    files = defaultdict(set)
    for (task_id, _), trial in TRIALS.items():
        files[trial["file"]].add(task_id)
    own = len(files["shop.jsonl"]) + len(files["shop-zh.jsonl"])
    assert own >= 24
    assert 3 <= len(files["shop-tau2.json"]) <= 4
    assert own + len(files["shop-tau2.json"]) == len(MADE), "a task id is in two files"
    sizes = Counter(task_id for task_id, _ in TRIALS)
    assert [task_id for task_id, count in sizes.items() if count != 4] == ["L1-025"]
    assert sizes["L1-025"] == 3
    own_records = [trial["record"] for trial in TRIALS.values() if trial["file"] != "shop-tau2.json"]
    assert all(record["task"]["expected_trials"] == 4 and record["task"]["title"] for record in own_records)
    assert 6 <= median(len(record["steps"]) for record in own_records) <= 14


@pytest.mark.parametrize(
    ("task_id", "passed"), [("L1-061", 2), ("L1-082", 2), ("L1-109", 2), ("L1-130", 2), ("L1-101", 3)]
)
def test_required_passes(task_id: str, passed: int) -> None:
    assert len(_states(task_id)) == 4
    assert _states(task_id).count("P") == passed


def test_all_outcomes_are_there() -> None:
    states = [_states(task_id) for task_id in MADE]
    assert states.count("PPPP") >= 4
    assert states.count("FFFF") >= 2
    assert sum("U" in state for state in states) == 1
    assert sum("I" in state for state in states) == 1
    mixed = [state for state in states if {"P", "F"} <= set(state)]
    assert len(mixed) >= 18
    assert sum(state.count("P") == 1 for state in mixed) <= 1


def test_every_failure_has_a_known_answer_and_every_kind_occurs() -> None:
    assert set(ROOTS) == {key for key, trial in TRIALS.items() if trial["state"] in {"fail", "infra"}}
    rows = ROOTS.values()
    assert {Kind(kind) for row in rows for kind in row["kind"]} == set(Kind) - {Kind.INEFFECTIVE_WRITE}
    assert {Blame(row["actor"]) for row in rows} == set(Blame)
    wanted = (
        "early_stop skipped_check date_parsed duplicate_write stop_after_error wrong_order_id wrong_amount "
        "result_difference wrong_answer user_deviation loop infra missing_write extra_write wrong_tool "
        "wrong_order misread_result same_path never_pass_alike"
    )
    assert [tag for tag in wanted.split() if not _tags(tag)] == []
    assert len({task_id for task_id, _ in _tags("early_recovered")}) >= 2


def test_passes_show_harmless_variation() -> None:
    tags = "reordered_reads extra_read retry repeated_read think stringified key_order parallel full_width"
    assert {tag: len(_tags(tag)) >= 2 for tag in tags.split()} == dict.fromkeys(tags.split(), True)
    assert all(TRIALS[key]["state"] == "pass" for tag in tags.split() for key in _tags(tag))
    assert any(_states(task_id).count("F") for task_id, _ in _tags("alternative_path"))
    for key in _tags("full_width"):
        spoken = str(TRIALS[key]["messages"])
        assert any(char in spoken for char in "０１２３４５６７８９（"), key
    (first, second) = (TRIALS[key]["record"] for key in _tags("identical_trials"))
    assert first["steps"] == second["steps"]
    assert first["trial_id"] != second["trial_id"]


@pytest.mark.parametrize("key", sorted(ROOTS), ids="/".join)
def test_root_stands_on_a_message_of_the_right_side(key: Key) -> None:
    row, trial = ROOTS[key], TRIALS[key]
    messages = trial["messages"]
    if row["root"] is None:
        assert row["kind"] == ["same_path_other_outcome"]
        assert row["acceptable"] == []
        return
    assert row["root"] in row["acceptable"]
    assert all(0 <= place < len(messages) for place in row["acceptable"])
    who, tool, said = messages[row["root"]]
    if row["actor"] == "infrastructure":
        assert row["root"] == len(messages) - 1
        return
    assert who == ("user" if row["actor"] == "user" else "agent")
    same = [other for other in _passes(key[0]) if (who, tool, said) in other["messages"]]
    if row["kind"][0] not in {"loop", "result_difference", "duplicate_write", "missing_step", "wrong_order"}:
        assert same == [], "a pass has the same message"


def _names(trial: dict[str, Any]) -> list[str]:
    return [name for name, _, _ in trial["calls"]]


def _missing(trial: dict[str, Any], passes: list[dict[str, Any]]) -> bool:
    shared = set.intersection(*(set(_names(other)) for other in passes))
    return bool(shared - set(_names(trial)))


def _new_call(trial: dict[str, Any], passes: list[dict[str, Any]]) -> bool:
    seen = {(name, arguments) for other in passes for name, arguments, _ in other["calls"]}
    return any((name, arguments) not in seen for name, arguments, _ in trial["calls"])


def _new_tool(trial: dict[str, Any], passes: list[dict[str, Any]]) -> bool:
    return bool(set(_names(trial)) - {name for other in passes for name in _names(other)})


def _new_result(trial: dict[str, Any], passes: list[dict[str, Any]]) -> bool:
    seen = {(name, arguments): result for other in passes for name, arguments, result in other["calls"]}
    return any(seen.get((name, asked), result) != result for name, asked, result in trial["calls"])


def _more_often(trial: dict[str, Any], passes: list[dict[str, Any]]) -> bool:
    counts = Counter((name, arguments) for name, arguments, _ in trial["calls"])
    most = Counter[tuple[str, str]]()
    for other in passes:
        most |= Counter((name, arguments) for name, arguments, _ in other["calls"])
    return any(count >= 2 and count > most[call] for call, count in counts.items())


def _same_calls(trial: dict[str, Any], passes: list[dict[str, Any]]) -> bool:
    made = {(name, arguments) for name, arguments, _ in trial["calls"]}
    return any(made <= {(name, arguments) for name, arguments, _ in other["calls"]} for other in passes)


def _cut(trial: dict[str, Any], passes: list[dict[str, Any]]) -> bool:
    return bool(trial["record"]["error"]) and len(trial["calls"]) <= min(
        len(other["calls"]) for other in passes
    )


VISIBLE: dict[str, Callable[[dict[str, Any], list[dict[str, Any]]], bool]] = {
    "missing_step": _missing,
    "early_stop": _missing,
    "unrecovered_error": _missing,
    "wrong_argument": _new_call,
    "user_deviation": _new_call,
    "misread_result": _new_call,
    "wrong_tool": _new_tool,
    "extra_write": _new_tool,
    "duplicate_write": _more_often,
    "loop": _more_often,
    "result_difference": _new_result,
    "wrong_order": _same_calls,
    "wrong_answer": _same_calls,
    "same_path_other_outcome": _same_calls,
    "infrastructure": _cut,
}


@pytest.mark.parametrize("key", [key for key in sorted(ROOTS) if _passes(key[0])], ids="/".join)
def test_failure_can_be_seen_against_the_passes(key: Key) -> None:
    kind = ROOTS[key]["kind"][0]
    assert VISIBLE[kind](TRIALS[key], _passes(key[0]))


def test_the_shop_answers_the_same_call_the_same_way() -> None:
    """Between passes a call with the same arguments has one result, but for errors that pass and for writes."""
    answers = defaultdict(set)
    for (task_id, _), trial in TRIALS.items():
        if trial["state"] != "pass":
            continue
        for name, arguments, result in trial["calls"]:
            text = json.dumps(result, sort_keys=True, ensure_ascii=False)
            if "is_error" not in text and "try again" not in text:
                answers[task_id, name, arguments].add(text)
    changing = sorted(key[:2] for key, texts in answers.items() if len(texts) > 1)
    assert changing == [("L1-082", "get_order")], "only the reshipment may change what a read returns"


def test_one_provenance_and_references_only_where_nothing_passes() -> None:
    own = [trial["record"] for trial in TRIALS.values() if trial["file"] != "shop-tau2.json"]
    assert len({json.dumps(record["provenance"], sort_keys=True) for record in own}) == 1
    with_reference = {record["task_id"] for record in own if "expected_actions" in record["task"]}
    assert with_reference == {task_id for task_id in MADE if _states(task_id) == "FFFF"}
    assert 0 < sum("usage" in record and "cost_usd" in record for record in own) < len(own)
    assert 0 < sum("sub_scores" in record for record in own) < len(own)
    limited = {key for key, trial in TRIALS.items() if trial["end"] == "max_steps"}
    assert limited == set(_tags("loop"))


def test_words_differ_between_trials() -> None:
    """Paraphrase: but for the two trials made identical, no two trials of a task say the same."""
    for task_id in sorted(MADE):
        said = [
            tuple(text for who, tool, text in trial["messages"] if tool is None)
            for key, trial in sorted(TRIALS.items())
            if key[0] == task_id
        ]
        assert len(said) - len(set(said)) == (1 if task_id == "L1-011" else 0), task_id
