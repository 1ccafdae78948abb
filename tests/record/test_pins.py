"""Pins reach the agent through tools and messages, at the place they name and nowhere else."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from trajdiff import record
from trajdiff.importers import load
from trajdiff.model import Trial
from trajdiff.record import Pin, read_pins, write_pins
from trajdiff.record.setup import Setup

RUN: list[tuple[str, Any]] = []


@record.tool
def get(key: str) -> dict[str, Any]:
    RUN.append(("get", key))
    return {"value": key}


@record.tool
def word(key: str) -> str:
    RUN.append(("word", key))
    return key


@record.tool
def put(item: dict[str, Any], count: int = 1) -> str:
    RUN.append(("put", (item, count)))
    return "ok"


@record.tool
async def later(key: str) -> str:
    RUN.append(("later", key))
    return f"later {key}"


def act(trial: record.Trial) -> list[Any]:
    """An agent that shows what it was given."""
    seen: list[Any] = [trial.user("do it")]
    seen += [get("a"), get("b"), word("a"), put({"id": 1, "lines": [{"n": 1}]}, count=2)]
    seen.append(trial.agent("done"))
    return seen


PLAIN = ["do it", {"value": "a"}, {"value": "b"}, "a", "ok", "done"]
ITEM = {"id": 1, "lines": [{"n": 1}]}


def with_pins(tmp_path: Path, *pins: Pin) -> tuple[list[Any], list[tuple[str, Any]], Trial]:
    """What the agent saw, what was run, and the recorded trial."""
    write_pins(tmp_path / "pins.json", pins, arm="pinned")
    RUN.clear()
    setup = Setup(pins=str(tmp_path / "pins.json"), trace=str(tmp_path / "t.jsonl"))
    with record.trial("t", 0, setup=setup) as trial:
        seen = act(trial)
    (read,) = load([str(tmp_path / "t.jsonl")]).trials
    return seen, list(RUN), read


def fired(trial: Trial) -> list[tuple[str, bool]]:
    return [(one["kind"], one["fired"]) for one in trial.metadata.get("pins", ())]


def test_without_pins_nothing_changes(tmp_path: Path) -> None:
    seen, run, read = with_pins(tmp_path)
    assert seen == PLAIN
    assert run == [("get", "a"), ("get", "b"), ("word", "a"), ("put", (ITEM, 2))]
    assert read.metadata == {"arm": "pinned"}


@pytest.mark.parametrize(
    ("pin", "place", "saw", "ran"),
    [
        (Pin(kind="result", tool="get", occurrence=1, value={"value": "!"}), 2, {"value": "!"}, ("get", "b")),
        (Pin(kind="result", tool="get", given={"key": "b"}, value=7), 2, 7, ("get", "b")),
        (Pin(kind="result", tool="get", value='{"value":1}', decode=True), 1, {"value": 1}, ("get", "a")),
        (Pin(kind="result", tool="word", value='{"value":1}', decode=True), 3, '{"value":1}', ("word", "a")),
        (Pin(kind="block", tool="put", value="not run"), 4, "not run", ("put", (ITEM, 2))),
    ],
    ids=["n-th call", "by arguments", "json", "a tool of texts", "block"],
)
def test_a_pinned_answer_is_given_without_running(
    tmp_path: Path, pin: Pin, place: int, saw: Any, ran: tuple[str, Any]
) -> None:
    seen, run, read = with_pins(tmp_path, pin)
    assert seen == [*PLAIN[:place], saw, *PLAIN[place + 1 :]]
    assert ran not in run
    assert len(run) == 3
    assert fired(read) == [(pin.kind, True)]
    assert len([step for step in read.steps if step.is_call]) == (3 if pin.kind == "block" else 4)


@pytest.mark.parametrize(
    ("path", "value", "ran"),
    [
        ("count", 5, (ITEM, 5)),
        ("item.id", 9, ({"id": 9, "lines": [{"n": 1}]}, 2)),
        ("item.lines[0].n", 3, ({"id": 1, "lines": [{"n": 3}]}, 2)),
        ("", {"item": {}, "count": 0}, ({}, 0)),
    ],
)
def test_a_pinned_argument_is_what_the_tool_gets(tmp_path: Path, path: str, value: Any, ran: Any) -> None:
    _, run, read = with_pins(tmp_path, Pin(kind="argument", tool="put", path=path, value=value))
    assert run[-1] == ("put", ran)
    assert fired(read) == [("argument", True)]
    recorded = [step.arguments.parsed for step in read.steps if step.name == "put" and step.arguments]
    assert recorded == [{"item": ran[0], "count": ran[1]}]


def test_an_argument_that_is_not_there_is_told_and_the_call_is_made(tmp_path: Path) -> None:
    seen, run, read = with_pins(tmp_path, Pin(kind="argument", tool="put", path="item.lines[4].n", value=1))
    assert seen == PLAIN
    assert run[-1] == ("put", (ITEM, 2))
    assert fired(read) == [("argument", False)]
    assert "no argument" in read.metadata["pins"][0]["reason"]


def test_a_missing_call_is_made_before_its_place_unless_the_agent_made_it(tmp_path: Path) -> None:
    before = Pin(kind="call", tool="put", name="word", arguments={"key": "z"}, already=1)
    _, run, read = with_pins(tmp_path, before)
    assert run[-2:] == [("word", "z"), ("put", (ITEM, 2))]
    assert fired(read) == [("call", True)]
    taken = Pin(kind="call", tool="put", name="word", arguments={"key": "a"}, already=1)
    _, run, read = with_pins(tmp_path, taken)
    assert [name for name, _ in run] == ["get", "get", "word", "put"]
    assert fired(read) == [("call", False)]
    assert read.metadata["pins"][0]["reason"] == "the agent took the step itself"


@pytest.mark.parametrize(("at", "place"), [("end", 5), ("agent", 4), ("user", 0)])
def test_a_missing_call_before_a_message_or_the_end(tmp_path: Path, at: str, place: int) -> None:
    _, _, read = with_pins(tmp_path, Pin(kind="call", at=at, name="word", arguments={"key": "z"}))
    names = [step.name or step.text for step in read.steps][:-1]
    expected: list[str] = ["do it", "get", "get", "word", "put", "done"]
    expected.insert(place + (1 if at != "user" else 0), "word")
    assert names == expected


def test_another_call_instead(tmp_path: Path) -> None:
    pin = Pin(kind="replace", tool="get", occurrence=0, name="word", arguments={"key": "w"})
    seen, run, read = with_pins(tmp_path, pin)
    assert seen[1] == "w"
    assert run[0] == ("word", "w")
    assert ("get", "a") not in run
    assert fired(read) == [("replace", True)]


def test_messages_and_notes(tmp_path: Path) -> None:
    seen, _, read = with_pins(
        tmp_path,
        Pin(kind="user_message", at="user", value="do something else"),
        Pin(kind="agent_message", at="agent", value="nothing done"),
        Pin(kind="note", tool="word", value="look twice"),
        Pin(kind="note", tool="get", occurrence=1, value="mind the date"),
    )
    assert seen[0] == "do something else"
    assert seen[2] == {"value": "b", "note": "mind the date"}
    assert seen[3] == "a\nlook twice"
    assert seen[5] == "nothing done"
    assert fired(read) == [("user_message", True), ("note", True), ("note", True), ("agent_message", True)]
    assert [step.text for step in read.steps if step.text] == [
        "do something else",
        "nothing done",
        "agent_done",
    ]


def test_a_place_that_is_never_reached_is_no_pin(tmp_path: Path) -> None:
    seen, _, read = with_pins(tmp_path, Pin(kind="result", tool="get", occurrence=2, value=0))
    assert seen == PLAIN
    assert fired(read) == []


def test_a_call_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    unknown = Pin(kind="call", at="end", name="nowhere", arguments={})
    awaited = Pin(kind="call", at="end", name="later", arguments={"key": "x"})
    _, _, read = with_pins(tmp_path, unknown, awaited)
    assert fired(read) == [("call", False), ("call", False)]
    assert "no tool nowhere" in read.metadata["pins"][0]["reason"]
    assert "awaited" in read.metadata["pins"][1]["reason"]


def test_pins_in_asynchronous_agents(tmp_path: Path) -> None:
    pins = (
        Pin(kind="result", tool="later", occurrence=0, value="pinned"),
        Pin(kind="call", tool="later", occurrence=1, name="later", arguments={"key": "first"}),
        Pin(kind="call", at="end", name="word", arguments={"key": "end"}),
    )
    write_pins(tmp_path / "pins.json", pins)
    setup = Setup(pins=str(tmp_path / "pins.json"), trace=str(tmp_path / "t.jsonl"))
    RUN.clear()

    seen = []

    async def go() -> None:
        async with record.trial("t", 0, setup=setup):
            seen.extend([await later("a"), await later("b")])

    asyncio.run(go())
    assert seen == ["pinned", "later b"]
    assert RUN == [("later", "first"), ("later", "b"), ("word", "end")]


class Box:
    def __init__(self) -> None:
        self.inside: list[str] = []

    @record.tool
    def fill(self, what: str) -> int:
        self.inside.append(what)
        return len(self.inside)

    @record.tool
    def close_box(self) -> str:
        return "closed"


def test_a_missing_call_of_a_method_is_made_on_the_object_in_use(tmp_path: Path) -> None:
    write_pins(tmp_path / "pins.json", [Pin(kind="call", at="end", name="fill", arguments={"what": "late"})])
    box = Box()
    setup = Setup(pins=str(tmp_path / "pins.json"), trace=str(tmp_path / "t.jsonl"))
    with record.trial("t", 0, setup=setup):
        box.close_box()
    assert box.inside == ["late"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "no file of pins"),
        ('{"pins": [{"kind": "result"}]}', "must name its tool"),
        ('{"pins": [{"kind": "magic", "tool": "a"}]}', "unknown kind"),
        ('{"pins": [{"kind": "call", "at": "end"}]}', "must name the call"),
        ('{"pins": [{"kind": "note", "at": "nowhere"}]}', "unknown place"),
        ('{"pins": [{"kind": "note", "at": "end", "colour": 1}]}', "unknown keys: colour"),
    ],
)
def test_an_agent_never_runs_without_the_pins_it_was_given(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "pins.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(record.RecordError, match=problem):
        read_pins(file)
    with pytest.raises(record.RecordError, match=problem):
        record.trial("t", 0, setup=Setup(pins=str(file)))
