"""The proxy between a real MCP client and a real MCP server: recorded, pinned, and otherwise untouched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import run
from trajdiff.importers import load, validate
from trajdiff.model import Trial
from trajdiff.record import Pin, write_pins

pytest.importorskip("mcp")

SERVER = [sys.executable, str(Path(__file__).with_name("mcp_server.py"))]
Session = Any


def through_proxy(
    folder: Path, project: Path, act: Callable[[Session], Awaitable[Any]], pins: Sequence[Pin] = (), **told: str
) -> tuple[Any, Trial]:
    """What a client did through the proxy, and the trial that was recorded."""
    import anyio
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    trace = folder / "trace.jsonl"
    write_pins(folder / "pins.json", pins, arm="pinned")
    environment = {
        "PYTHONPATH": str(project),
        "TRAJDIFF_TASK": "book seats",
        "TRAJDIFF_TRIAL": "2",
        "TRAJDIFF_TRACE": str(trace),
        "TRAJDIFF_PINS": str(folder / "pins.json"),
        **told,
    }
    command = [sys.executable, "-m", "trajdiff", "record", "mcp", "--", *SERVER]
    parameters = StdioServerParameters(command=command[0], args=command[1:], env=environment)
    done: list[Any] = []

    async def client() -> None:
        with anyio.fail_after(60):
            async with stdio_client(parameters) as streams, ClientSession(*streams) as session:
                await session.initialize()
                done.append(await act(session))

    anyio.run(client)
    (trial,) = load([str(trace)]).trials
    return done[0], trial


def text(result: Any) -> str:
    return "\n".join(part.text for part in result.content)


def calls(trial: Trial) -> list[tuple[str | None, Any, str | None]]:
    found = []
    for step in trial.steps:
        if step.is_call:
            arguments = step.arguments.parsed if step.arguments else None
            found.append((step.name, arguments, step.result.text if step.result else None))
    return found


def fired(trial: Trial) -> list[tuple[str, bool]]:
    return [(one["kind"], one["fired"]) for one in trial.metadata.get("pins", ())]


def test_calls_are_recorded_and_everything_else_passes(tmp_path: Path, project: Path) -> None:
    async def act(session: Session) -> Any:
        tools = await session.list_tools()
        date = await session.call_tool("parse_date", {"text": "04/05"})
        booked = await session.call_tool("book", {"day": text(date), "seats": 2})
        failed = await session.call_tool("fail", {"reason": "closed"})
        resource = await session.read_resource("note://one")
        return sorted(tool.name for tool in tools.tools), text(booked), text(failed), resource.contents[0].text

    (names, booked, failed, note), trial = through_proxy(tmp_path, project, act)
    assert names == ["book", "calls", "fail", "parse_date"]
    assert json.loads(booked) == {"day": "2027-04-05", "seats": 2}
    assert "Error executing tool fail" in failed
    assert note == "a note"
    assert (trial.task_id, trial.trial_id, trial.termination.reason) == ("book seats", "2", "agent_done")
    assert calls(trial) == [
        ("parse_date", {"text": "04/05"}, "2027-04-05"),
        ("book", {"day": "2027-04-05", "seats": 2}, booked),
        ("fail", {"reason": "closed"}, failed),
    ]
    assert [step.failed for step in trial.steps if step.is_call] == [False, False, True]
    (checked,) = validate([str(tmp_path / "trace.jsonl")])
    assert [problem.slug for problem in checked.problems] == ["no_outcome"], "nobody has judged it yet"


def test_calls_at_the_same_time_get_their_own_results(tmp_path: Path, project: Path) -> None:
    import anyio

    async def act(session: Session) -> Any:
        seen: dict[int, str] = {}

        async def one(number: int) -> None:
            seen[number] = text(await session.call_tool("book", {"day": str(number)}))

        async with anyio.create_task_group() as group:
            for number in range(10):
                group.start_soon(one, number)
        return seen

    seen, trial = through_proxy(tmp_path, project, act)
    assert {number: json.loads(said)["day"] for number, said in seen.items()} == {n: str(n) for n in range(10)}
    assert len(calls(trial)) == 10
    for _, arguments, result in calls(trial):
        assert json.loads(result or "")["day"] == arguments["day"]


def test_pins_reach_the_client(tmp_path: Path, project: Path) -> None:
    pins = (
        Pin(kind="result", tool="parse_date", value="2027-05-04"),
        Pin(kind="argument", tool="book", path="seats", value=7),
        Pin(kind="note", tool="book", value="mind the date"),
        Pin(kind="block", tool="fail", value="not run"),
    )

    async def act(session: Session) -> Any:
        await session.list_tools()
        date = text(await session.call_tool("parse_date", {"text": "04/05"}))
        booked = text(await session.call_tool("book", {"day": date, "seats": 2}))
        blocked = await session.call_tool("fail", {"reason": "x"})
        ran = await session.call_tool("calls", {})
        return date, booked, text(blocked), text(ran)

    (date, booked, blocked, ran), trial = through_proxy(tmp_path, project, act, pins)
    assert date == "2027-05-04"
    first, _, note = booked.rpartition("\n")
    assert (json.loads(first), note) == ({"day": "2027-05-04", "seats": 7}, "mind the date")
    assert blocked == "not run"
    assert "parse_date" not in ran
    assert sorted(fired(trial)) == [("argument", True), ("block", True), ("note", True), ("result", True)]
    assert [name for name, *_ in calls(trial)] == ["parse_date", "book", "calls"]
    assert trial.metadata["arm"] == "pinned"


def test_a_missing_call_is_made_by_the_proxy(tmp_path: Path, project: Path) -> None:
    pins = (
        Pin(kind="call", tool="book", name="parse_date", arguments={"text": "01/02"}, already=1),
        Pin(kind="call", at="end", name="book", arguments={"day": "late"}),
        Pin(kind="replace", tool="fail", name="parse_date", arguments={"text": "03/04"}),
    )

    async def act(session: Session) -> Any:
        await session.call_tool("book", {"day": "d"})
        instead = text(await session.call_tool("fail", {"reason": "x"}))
        return instead, text(await session.call_tool("calls", {}))

    (instead, ran), trial = through_proxy(tmp_path, project, act, pins)
    assert instead == "2027-03-04"
    assert "parse_date" in ran
    names = [name for name, *_ in calls(trial)]
    assert names == ["parse_date", "book", "parse_date", "calls", "book"]
    assert calls(trial)[-1] == ("book", {"day": "late"}, calls(trial)[-1][2])
    assert json.loads(calls(trial)[-1][2] or "") == {"day": "late", "seats": 1}


def test_the_step_limit_holds_for_clients_too(tmp_path: Path, project: Path) -> None:
    async def act(session: Session) -> Any:
        for number in range(2):
            await session.call_tool("book", {"day": str(number)})
        with pytest.raises(Exception, match="more than 2 steps"):
            await session.call_tool("book", {"day": "2"})
        return True

    done, trial = through_proxy(tmp_path, project, act, TRAJDIFF_STEP_LIMIT="2")
    assert done
    assert len(calls(trial)) == 2


def proxy(project: Path, *words: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(project)}
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "trajdiff", "record", "mcp", *words]
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def test_a_server_that_ends_while_its_client_waits_is_told(tmp_path: Path, project: Path) -> None:
    trace = tmp_path / "a.jsonl"
    told = ["--trace", str(trace), "--task", "t", "--trial", "0", "--", sys.executable, "-c", "pass"]
    process = proxy(project, *told)
    assert process.wait(timeout=60) == 3, "the client still holds its end of the pipe open"
    _, err = process.communicate()
    assert "the server ended while its client was still there" in err
    assert "Traceback" not in err
    (trial,) = load([str(trace)]).trials
    assert (trial.task_id, trial.termination.reason) == ("t", "infra_error")


def test_a_server_that_cannot_be_started_is_told(tmp_path: Path, project: Path) -> None:
    process = proxy(project, "--trace", str(tmp_path / "a.jsonl"), "--", "no-such-server")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "no-such-server: cannot be started" in err
    assert "Traceback" not in err


def test_without_a_trace_or_its_pins_it_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TRAJDIFF_TRACE", "TRAJDIFF_PINS"):
        monkeypatch.delenv(name, raising=False)
    result = run("record", "mcp", "--", "server")
    assert result.code == 2
    assert "no trace to write to" in result.err
    told = ("--trace", str(tmp_path / "x"), "--pins", str(tmp_path / "none"))
    result = run("record", "mcp", *told, "--", "server")
    assert result.code == 2
    assert "no file of pins" in result.err
