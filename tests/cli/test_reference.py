"""``--reference``: report, compare task and export divergences with a trial or another run to compare with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import run as call_program
from tests.divergence.desk import BYE, DONE, FIRST, OFFER, OPENING, SECOND, YES, refund
from tests.divergence.made import record

WRONG = (*OPENING, OFFER, YES, refund(94.9), DONE, BYE)


@pytest.fixture
def runs(tmp_path: Path) -> tuple[str, str]:
    """A run in which task T1 never passes, and another one in which it does."""

    def save(name: str, made: list[dict[str, object]]) -> str:
        (tmp_path / name).write_text("".join(json.dumps(one) + "\n" for one in made), "utf-8")
        return str(tmp_path / name)

    new = [record("0", WRONG, "fail"), record("1", WRONG, "fail")]
    new += [record(str(n), steps, task_id="T2") for n, steps in enumerate((FIRST, SECOND))]
    old = [record("0", FIRST), record("1", WRONG, "fail"), record("0", FIRST, task_id="T9")]
    return save("new.jsonl", new), save("old.jsonl", old)


def run(*arguments: str, code: int = 0) -> str:
    """Standard output, or standard error where the program is to fail."""
    done = call_program(*arguments, "--no-config", "-q")
    assert done.code == code, done.err
    return done.out if code == 0 else done.err


def finding(*arguments: str) -> tuple[str, int]:
    """Grade and root message of what is said about T1/0."""
    document = json.loads(run(*arguments, "--json"))
    task = (
        document["task"] if "task" in document else next(t for t in document["tasks"] if t["task_id"] == "T1")
    )
    said = next(d for d in task["divergences"] if d["trial_id"] == "0")
    return said["grade"], said["root_message_index"]


def test_report_task_and_export_borrow_the_same_trial(runs: tuple[str, str]) -> None:
    new, old = runs
    for named in (old, f"{old}#T1/0"):
        assert finding("report", new, "--reference", named) == ("C", 7)
        assert finding("compare", "task", "T1", new, "--reference", named) == ("C", 7)
        rows = run("export", "divergences", new, "--reference", named, "--format", "jsonl", "--to", "-")
        first = json.loads(rows.splitlines()[0])
        assert (first["trial_id"], first["grade"], first["root_message_index"]) == ("0", "C", 7)
        assert f"{old}#T1/0@7" in first["sentence"]
    assert "never passes; 2/2 fail alike at refund_item" in run("report", new)


def test_a_reference_must_be_a_passed_trial_of_a_task_that_is_compared(runs: tuple[str, str]) -> None:
    new, old = runs
    assert "a reference is a passed trial, and this one is fail" in run(
        "report", new, "--reference", f"{old}#T1/1", code=2
    )
    assert "and this one is fail" in run("report", new, "--reference", "T1/1", code=2)
    assert "no trial of task T9" in run("report", new, "--reference", f"{old}#T9/0", code=2)
    assert "is no reference to a trial" in run("report", new, "--reference", "nothing", code=2)
    assert 'no trial "7"' in run("report", new, "--reference", f"{old}#T1/7", code=2)
    assert "no such file" in run("report", new, "--reference", "gone/away.json#T1/0", code=2)
    assert "it has no passed trial of a task in" in run(
        "report", old, "--task", "T9", "--reference", new, code=2
    )


def test_a_passed_trial_of_the_task_is_its_reference(runs: tuple[str, str]) -> None:
    new, _ = runs
    document = json.loads(run("compare", "task", "T2", new, "--reference", "T2/1", "--json"))
    assert document["task"]["finding"]["reference"] == "1"
