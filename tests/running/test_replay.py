"""Replay: recorded calls made again in a real environment process; hidden state shows, a patch is tested."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import record, run, write_records

#: A till whose ids come from a counter outside of what reset restores, if ``HIDDEN`` is set.
ENVIRONMENT = """
import json, os, sys
state, serial = {}, 0
hidden = "hidden" in sys.argv
for line in sys.stdin:
    said = json.loads(line)
    if said["op"] == "reset":
        state = {"paid": []}
        if not hidden:
            serial = 0
        start = os.path.join(os.path.dirname(__file__), "serial")
        if hidden:
            serial = int(open(start).read()) if os.path.exists(start) else 0
            open(start, "w").write(str(serial + 7))
        answer = {"ok": True}
    elif said["op"] == "state":
        answer = {"state": state}
    elif said["name"] == "pay":
        serial += 1
        state["paid"].append(said["arguments"]["amount"])
        answer = {"result": {"id": serial, "amount": said["arguments"]["amount"]}}
    elif said["name"] == "total":
        answer = {"result": str(sum(state["paid"]))}
    elif said["name"] == "die":
        sys.exit(3)
    elif said["name"] == "babble":
        print("not json", flush=True)
        continue
    elif said["name"] == "hang":
        import time; time.sleep(60)
    else:
        answer = {"error": "KeyError: " + said["name"]}
    print(json.dumps(answer), flush=True)
"""


def call(name: str, result: Any, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments, "result": result}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "env.py").write_text(ENVIRONMENT, encoding="utf-8")
    paid = call("pay", {"amount": 5, "id": 1}, amount=5)
    more = call("pay", {"id": 1, "amount": 9}, amount=9)
    unknown = {"text": "KeyError: ask", "is_error": True}
    found = [
        record("till", "0", "pass", paid, call("total", "5"), call("ask", unknown)),
        record("till", "1", "fail", more, call("total", "9")),
        record("till", "2", "fail", paid, call("pay", {"id": 2, "amount": 5}, amount=5), call("total", "10")),
        record("till", "3", "fail", call("total", "0")),
        record("other", "0", "pass", paid),
        *(record("odd", str(n), "fail", call(name, "x")) for n, name in enumerate(("die", "babble", "hang"))),
        record("odd", "9", "fail", {"name": "pay", "arguments": "{broken", "result": "x"}),
    ]
    write_records(tmp_path / "traces" / "till.jsonl", found)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def again(trial: str, *words: str, how: str = "", limit: str = "20") -> Any:
    command = f"{sys.executable} -S env.py {how}".strip()
    return run("replay", trial, "--environment", command, "--answer-limit", limit, "--no-config", *words)


def test_equal_results_are_equal_however_they_are_spelled(here: Path) -> None:
    result = again("till/0", "--exit-code")
    assert result.code == 0, result.err
    assert "till/0: 3 calls made again, 3 with a recorded result" in result.out
    assert "all 3 results are the same" in result.out


def test_the_first_other_result_shows_hidden_state(here: Path) -> None:
    assert again("till/0", how="hidden").code == 0, "the counter begins at 0"
    result = again("till/2", "--json", "--exit-code", how="hidden")
    assert result.code == 1
    first = result.json["first_difference"]
    assert (first["message"], first["name"]) == (0, "pay")
    assert json.loads(first["result"]) == {"id": 8, "amount": 5}
    assert json.loads(first["recorded"]) == {"id": 1, "amount": 5}
    assert [one["same"] for one in result.json["calls"]] == [False, False, True]
    shown = again("till/2", how="hidden").out
    assert "first other result: message 0, pay (2 of 3 differ)" in shown
    assert "state that the trace does not hold" in shown


@pytest.mark.parametrize(
    ("trial", "patch", "before", "after"),
    [
        ("till/1", "0=till/0@0", 1, 0),
        ("till/2", "2=", 1, 0),
        ("till/3", "+0=till/0@0", 1, 0),
        ("till/1", "0=till/1@0", 1, 1),
    ],
    ids=["replaced", "left out", "put before", "of no use"],
)
def test_the_patch_test_compares_end_states(
    here: Path, trial: str, patch: str, before: int, after: int
) -> None:
    result = again(trial, "--patch", patch, "--against", "till/0", "--json")
    assert result.code == 0, result.err
    found = result.json["patch"]
    assert (len(found["differences_before"]), len(found["differences_after"])) == (before, after)
    assert found["passed_state"] == {"paid": [5]}
    assert (found["state"] == {"paid": [5]}) is (after == 0)
    text = again(trial, "--patch", patch, "--against", "till/0").out
    assert ("with the patch the end state is the same" in text) is (after == 0)


@pytest.mark.parametrize(
    ("trial", "words", "code", "text"),
    [
        ("odd/0", (), 3, "ended before it answered call"),
        ("odd/1", (), 3, "answered call with no JSON object: not json"),
        ("odd/2", (), 3, "no answer to call within"),
        ("odd/9", (), 3, "its name or arguments are not recorded"),
        ("till/7", (), 2, 'no trial "7"'),
        ("till/1", ("--patch", "zero=x"), 2, "is not understood"),
        ("till/1", ("--patch", "+0="), 2, "is not understood"),
        ("till/1", ("--patch", "1=till/0@0"), 2, "no call in message 1"),
        ("till/1", ("--patch", "0=till/0@1"), 2, "names no call"),
        ("till/1", ("--patch", "0=other/0@0"), 2, "a trial of another task"),
        ("till/1", ("--patch", "0="), 2, "--against TASK/TRIAL names the passed trial"),
    ],
)
def test_whatever_goes_wrong_is_told(
    here: Path, trial: str, words: tuple[str, ...], code: int, text: str
) -> None:
    result = again(trial, *words, limit="0.5" if trial == "odd/2" else "20")
    assert result.code == code
    assert text in result.err
    assert result.out == ""


def test_an_environment_that_cannot_be_started(here: Path) -> None:
    result = run("replay", "till/0", "--environment", "no-such-program", "--no-config")
    assert result.code == 2
    assert "no-such-program: cannot be started" in result.err
