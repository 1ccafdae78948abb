from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from trajdiff.cli import main


@dataclass(frozen=True)
class Result:
    """How one call of the program ended: exit code, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)


class Stream(io.TextIOWrapper):
    """A stream in memory that may pretend to be a terminal."""

    def __init__(self, encoding: str, *, terminal: bool) -> None:
        self.raw_bytes = io.BytesIO()
        super().__init__(self.raw_bytes, encoding=encoding, newline="")
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal

    def text(self) -> str:
        self.flush()
        return self.raw_bytes.getvalue().decode(self.encoding)


@contextmanager
def _streams(out: Stream, err: Stream, stdin: bytes) -> Iterator[None]:
    before = sys.stdout, sys.stderr, sys.stdin
    sys.stdout, sys.stderr, sys.stdin = out, err, io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    try:
        yield
    finally:
        sys.stdout, sys.stderr, sys.stdin = before


def run(*arguments: str, stdin: bytes = b"", terminal: bool = False, encoding: str = "utf-8") -> Result:
    """One call of the program in this process, with streams of its own."""
    out, err = Stream(encoding, terminal=terminal), Stream(encoding, terminal=terminal)
    with _streams(out, err, stdin):
        code = main(list(arguments))
    return Result(code=code, out=out.text(), err=err.text())


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.with_name(f"{tmp_path.name}-cache")))
    for name in list(os.environ):
        if name.startswith(("TRAJDIFF", "LC_")) or name in (
            "NO_COLOR",
            "FORCE_COLOR",
            "COLUMNS",
            "LANG",
            "TERM",
        ):
            monkeypatch.delenv(name)


def call(name: str, result: Any, **arguments: Any) -> dict[str, Any]:
    return {"actor": "agent", "kind": "tool_call", "name": name, "arguments": arguments, "result": result}


def say(actor: str, text: str) -> dict[str, Any]:
    return {"actor": actor, "kind": "message", "text": text}


def record(task: str, trial: str, verdict: str, *steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One trial in the project's own format."""
    return {
        "schema": "trajdiff/1",
        "task_id": task,
        "trial_id": trial,
        "task": {"title": f"about {task}", "expected_trials": 4},
        "verdict": verdict,
        "termination": "user_done",
        "steps": list(steps),
        **more,
    }


def parcel(task: str, trial: str, verdict: str, size: str, **more: Any) -> dict[str, Any]:
    """A trial that looks up a parcel and books a pick-up of one size."""
    return record(
        task,
        trial,
        verdict,
        say("user", "Please have my parcel P-1 picked up, it is a small one."),
        call("get_parcel", {"parcel_id": "P-1", "size": "small"}, parcel_id="P-1"),
        call("book_pickup", {"status": "booked"}, parcel_id="P-1", size=size),
        say("agent", "The pick-up is booked."),
        say("user", "Thank you."),
        **more,
    )


def records() -> list[dict[str, Any]]:
    """``box-1`` is mixed (two of four book another size), ``box-2`` never passes, ``box-10`` always."""
    mixed = [
        parcel("box-1", str(i), "fail" if i % 2 else "pass", "large" if i % 2 else "small") for i in range(4)
    ]
    never = [parcel("box-2", str(i), "fail", "small") for i in range(4)]
    always = [parcel("box-10", str(i), "pass", "small") for i in range(4)]
    return mixed + never + always


def write_records(path: Path, found: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(entry) + "\n" for entry in found), encoding="utf-8")
    return path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in with ``traces/parcels.jsonl``."""
    write_records(tmp_path / "traces" / "parcels.jsonl", records())
    monkeypatch.chdir(tmp_path)
    return tmp_path
