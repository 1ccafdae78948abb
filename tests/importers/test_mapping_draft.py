"""A draft of a mapping for an unknown layout: what it finds by the names of keys, and that it can be used."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from tests.importers.fixtures import calls
from tests.importers.test_mapping import MESSAGES
from tests.importers.test_mapping_errors import JSON
from trajdiff.errors import InputError, TrajdiffError
from trajdiff.importers import ReadOptions, check_mapping, draft_mapping, load
from trajdiff.importers.mapping_rules import compile_mapping
from trajdiff.model import Corpus

NESTED: dict[str, Any] = {
    "experiment": "e1",
    "config": {"model": "m1"},
    "planned_runs": 3,
    "cases": [
        {
            "case_id": name,
            "runs": [
                {
                    "no": number,
                    "evaluation": {"passed": number == 1},
                    "finish": "done" if number == 1 else "max_turns",
                    "log": [
                        {"kind": "say", "who": "client", "text": "Light it."},
                        {
                            "kind": "call",
                            "fn": "light",
                            "input": {"lamp": number},
                            "output": "lit",
                            "failed": False,
                        },
                        {"kind": "say", "who": "agent", "text": "Done."},
                    ],
                }
                for number in (1, 2)
            ],
        }
        for name in ("a", "b")
    ],
}


def drafted(tmp_path: Path, content: Any, name: str = "own.json") -> tuple[str, Corpus]:
    """The draft for a file, and what the draft makes of the file without any change."""
    path = tmp_path / name
    lines = "\n".join(json.dumps(one) for one in content) if name.endswith("l") else json.dumps(content)
    path.write_text(lines, encoding="utf-8")
    text = draft_mapping(str(path))
    maps = tomllib.loads(text)["map"]
    (chosen,) = maps
    return text, load([str(path)], ReadOptions(map=chosen, maps=maps))


def test_a_draft_for_a_nested_layout_reads_it_at_once(tmp_path: Path) -> None:
    text, corpus = drafted(tmp_path, NESTED)
    said = tomllib.loads(text)["map"]["own"]
    assert said["trajectories"] == "cases[*].runs[*]"
    assert (said["task"], said["trial"], said["outcome"]) == ("$record.case_id", "no", "evaluation.passed")
    assert (said["model"], said["expected_trials"]) == ("$root.config.model", "$root.planned_runs")
    assert said["stop"]["values"] == {"done": "agent_done", "max_turns": "max_steps"}
    assert [(t.task_id, t.expected_n, [str(r.verdict) for r in t.trials], t.missing) for t in corpus.tasks] == [
        ("a", 3, ["pass", "fail"], ("3",)),
        ("b", 3, ["pass", "fail"], ("3",)),
    ]
    trial = corpus.trials[0]
    assert [step.actor for step in trial.steps] == ["user", "agent", "agent", "environment"]
    (call,) = calls(trial)
    assert (call.name, call.failed, call.result and call.result.text) == ("light", False, "lit")
    assert "unmatched_entry" not in [one.slug for one in corpus.diagnostics]


@pytest.mark.parametrize("reader", sorted(MESSAGES))
def test_a_draft_finds_the_dialect_of_messages(reader: str, tmp_path: Path) -> None:
    runs: list[dict[str, Any]] = [
        {"question_id": "q1", "reward": n, "transcript": MESSAGES[reader][:3]} for n in (0, 1)
    ]
    text, corpus = drafted(tmp_path, runs, "own.jsonl")
    assert tomllib.loads(text)["map"]["own"]["steps"] == {"path": "transcript[*]", "decode": reader}
    assert [str(trial.verdict) for trial in corpus.trials] == ["fail", "pass"]
    assert [call.name for trial in corpus.trials for call in calls(trial)] == ["light", "light"]


def test_success_is_never_taken_for_a_verdict_by_itself(tmp_path: Path) -> None:
    text, corpus = drafted(tmp_path, [{"task_id": "a", "success": True, "steps": [{"tool": "x", "args": {}}]}])
    assert '# outcome = "success"   # only if it is the verdict' in text
    assert corpus.trials[0].verdict == "unscored"


def test_steps_without_a_word_for_their_kind_are_told_apart_by_their_keys(tmp_path: Path) -> None:
    steps = [{"thought": "look"}, {"action": "light", "action_input": '{"lamp": 7}', "observation": "lit"}]
    _, corpus = drafted(tmp_path, {"task_id": "a", "steps": steps})
    assert [(step.kind.value, step.name) for step in corpus.trials[0].steps[:-1]] == [
        ("message", None),
        ("tool_call", "light"),
    ]


def test_odd_names_are_quoted(tmp_path: Path) -> None:
    content = {"case id": "a", "id": "it's", "my steps": [{"kind": "it's", "text": "x"}], 'n"1': 1}
    _, corpus = drafted(tmp_path, content, 'own "x" file.json')
    assert corpus.trials[0].steps[0].text == "x"


def test_what_cannot_be_found_stands_as_a_comment(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_text('{"x": 1, "y": [1, 2]}')
    text = draft_mapping(str(path))
    assert "write where it is" in text
    assert "no key looks like a verdict" in text
    compile_mapping("own", tomllib.loads(text)["map"]["own"], "draft")
    path.write_text("Dear reader")
    with pytest.raises(InputError, match="not JSON"):
        draft_mapping(str(path))


@given(JSON)
def test_every_draft_is_a_valid_mapping(document: Any) -> None:
    try:
        text = draft_mapping("-", json.dumps(document).encode())
    except TrajdiffError:
        return
    ((name, table),) = tomllib.loads(text)["map"].items()
    compile_mapping(name, table, "draft")


# The check


def test_the_check_counts_what_every_key_finds_and_what_is_left_over() -> None:
    table = {
        "trajectories": "runs[*]",
        "task": "id",
        "outcome": "ok",
        "model": "nowhere",
        "steps": "log[*].{tool: fn, text: text}",
    }
    runs = [
        {"id": "a", "ok": True, "log": [{"fn": "light"}, {"x": 1}, {"text": "hi"}]},
        {"id": "b", "log": []},
        {"ok": True},
    ]
    data = json.dumps({"runs": runs}).encode()
    (checked,) = check_mapping(["-"], ReadOptions(map="m", maps={"m": table}, stdin=data))
    assert (checked.records, checked.trials, checked.entries, checked.complete) == (3, 2, 3, False)
    assert {key.key: (key.found, key.null, key.example) for key in checked.keys} == {
        "task": (2, 1, "a"),
        "outcome": (1, 1, "true"),
        "model": (0, 3, None),
    }
    assert checked.unmatched == (("$.runs[0].log[1]", '{"x":1}'),)
    assert checked.left_out == (("$.runs[2]", '{"ok":true}'),)
    assert checked.record is not None
    assert checked.record["task_id"] == "a"
    assert load(["-"], ReadOptions(stdin=json.dumps(checked.record).encode())).trials[0].verdict == "pass"


@pytest.mark.parametrize("name", ["own.json", "own.jsonl"])
def test_trajectories_inside_the_records_of_a_list_or_of_lines(name: str, tmp_path: Path) -> None:
    _, corpus = drafted(tmp_path, NESTED["cases"], name)
    assert [(task.task_id, len(task.trials)) for task in corpus.tasks] == [("a", 2), ("b", 2)]
    assert [len(calls(trial)) for trial in corpus.trials] == [1, 1, 1, 1]


HOSTILE = (
    "\u009b31m",
    "a\u202eb",
    "x\x7f\x1b[2J",
    "\ud83d",
    "two\nlines",
    "`tick`",
    "it's",
    "\U000e0041",
    '"q"\\',
)


@pytest.mark.parametrize("word", HOSTILE)
def test_a_draft_holds_no_raw_controls_and_still_works(word: str, tmp_path: Path) -> None:
    run = {
        "case_id": "a",
        "no": 1,
        "grade": {word: 1, "passed": True},
        "finish": word,
        "model": word,
        "log": [
            {"kind": word, "fn": "light", "input": {}, "output": word},
            {"kind": "say", "who": word, "text": "x"},
        ],
    }
    path = tmp_path / "own.json"
    path.write_text(json.dumps({"runs": [run, run | {"no": 2}]}), encoding="utf-8")
    text = draft_mapping(str(path))
    assert all(sign.isprintable() or sign == "\n" for sign in text)
    maps = tomllib.loads(text)["map"]
    corpus = load([str(path)], ReadOptions(map="own", maps=maps))
    assert [len(calls(trial)) for trial in corpus.trials] == [1, 1]
    assert corpus.trials[0].verdict == "pass"


@pytest.mark.parametrize("odd", [[], {}, [["x"]], {"type": {}}])
def test_words_that_are_no_text_are_no_surprise(odd: Any, tmp_path: Path) -> None:
    entries = [
        {"role": "user", "content": [{"type": odd}]},
        {"role": odd, "type": odd, "content": odd, "fn": odd},
    ]
    path = tmp_path / "own.json"
    for log in (entries, entries[:1], entries[1:]):
        path.write_text(json.dumps({"runs": [{"id": "a", "finish": odd, "passed": odd, "log": log}]}))
        assert tomllib.loads(draft_mapping(str(path)))["map"]


def test_a_path_in_a_comment_ends_no_line(tmp_path: Path) -> None:
    path = tmp_path / "a\nb c.json"
    path.write_text(json.dumps(NESTED), encoding="utf-8")
    assert tomllib.loads(draft_mapping(str(path)))["map"]


def essai(number: int, passed: bool, sum_: int) -> dict[str, Any]:
    """A trial whose keys no list of names knows."""
    return {
        "nr": number,
        "bewertung": {"bestanden": passed, "punkte": float(passed)},
        "verlauf": {
            "ereignisse": [
                {"art": "rede", "wer": "kunde", "inhalt": "Bitte 20 Euro erstatten."},
                {
                    "art": "werkzeug",
                    "aufruf": {"werkzeug": "erstatte", "eingabe": json.dumps({"betrag": sum_})},
                    "ausgabe": {"gut": True},
                },
                {"art": "rede", "wer": "assistent", "inhalt": "Erledigt."},
            ]
        },
    }


def test_where_no_name_is_known_the_values_are_guessed_from_and_marked(tmp_path: Path) -> None:
    cases = [{"fall": f"F-{n}", "essais": [essai(0, True, 20), essai(1, False, 200)]} for n in (1, 2)]
    text, corpus = drafted(tmp_path, {"lauf": "x", "gruppen": [{"faelle": cases}]})
    assert [(one.task_id, one.trial_id, one.verdict) for one in corpus.trials] == [
        ("F-1", "0", "pass"), ("F-1", "1", "fail"), ("F-2", "0", "pass"), ("F-2", "1", "fail"),
    ]  # fmt: skip
    trial = corpus.trials[1]
    assert [(one.actor, one.name or one.text) for one in trial.steps[:-1]] == [
        ("user", "Bitte 20 Euro erstatten."), ("agent", "erstatte"), ("agent", "Erledigt."),
    ]  # fmt: skip
    (called,) = calls(trial)
    assert called.arguments is not None
    assert called.result is not None
    assert (called.arguments.parsed, called.result.text) == ({"betrag": 200}, '{"gut":true}')
    guessed = [line.split("=")[0].strip() for line in text.splitlines() if "a guess by the values" in line]
    assert guessed == ["task", "trial", "outcome", "emit", "emit"]
    assert '# - gruppen[*].faelle[*]   fall "F-1"' in text


def test_a_guess_is_not_made_where_two_keys_could_be_meant(tmp_path: Path) -> None:
    two = [one | {"bewertung": {"a": True, "b": False}} for one in (essai(0, True, 1), essai(1, True, 1))]
    text, _ = drafted(tmp_path, {"faelle": [{"fall": "F", "essais": two}]})
    assert "no key looks like a verdict" in text
