"""``trajdiff convert``: the format to write, and hiding what must not leave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import call, record, run, say, write_records
from trajdiff.importers import load


@pytest.fixture
def secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two trials with an address and a token, also in arguments that are recorded as text."""
    monkeypatch.chdir(tmp_path)
    written = json.dumps({"to": "ann@example.org", "api_key": "sk-abcdefghij0123456789abcd"})
    found: list[dict[str, Any]] = [
        record(
            "box-1",
            trial,
            verdict,
            say("user", "I am ann@example.org."),
            call("send", {"sent": "ann@example.org"}, to=address, api_key="sk-abcdefghij0123456789abcd"),
            {"name": "send", "arguments": written, "result": "ok"},
        )
        for trial, verdict, address in (("0", "pass", "ann@example.org"), ("1", "fail", "bob@example.org"))
    ]
    return write_records(tmp_path / "traces" / "a.jsonl", found)


@pytest.mark.parametrize("form", ["trajdiff", "atif"])
def test_redaction_is_asked_for_and_keeps_differences(form: str, secrets: Path) -> None:
    result = run("convert", "--to", "out.jsonl", "--as", form, "--redact")
    assert result.code == 0
    text = Path("out.jsonl").read_text(encoding="utf-8")
    assert "example.org" not in text
    assert "sk-abc" not in text
    assert "values redacted (" in result.err
    before, after = load(["traces"]), load(["out.jsonl"])
    assert [(one.task_id, one.trial_id, one.verdict, len(one.steps)) for one in after.trials] == [
        (one.task_id, one.trial_id, one.verdict, len(one.steps)) for one in before.trials
    ]
    sent = [[step.arguments.parsed for step in one.steps if step.arguments] for one in after.trials]
    # The address of ann is one value everywhere, that of bob another.
    assert sent[0][0]["to"] == sent[0][1]["to"] == sent[1][1]["to"] != sent[1][0]["to"]


def test_without_the_option_nothing_is_hidden_and_it_is_said(secrets: Path) -> None:
    result = run("convert", "--to", "out.jsonl")
    assert "ann@example.org" in Path("out.jsonl").read_text(encoding="utf-8")
    assert "2 trials   not redacted (--redact to change)" in result.err


def test_a_task_without_trials_has_no_place_in_atif(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lone = {"schema": "trajdiff/1", "task_id": "box-2", "no_trial": True, "steps": []}
    write_records(tmp_path / "traces" / "a.jsonl", [record("box-1", "0", "pass", say("user", "x")), lone])
    assert (
        "1 task without any trial cannot be written as ATIF"
        in run("convert", "--as", "atif", "--to", "out.jsonl").err
    )
    assert "cannot be written" not in run("convert", "--to", "own.jsonl").err
