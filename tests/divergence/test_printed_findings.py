"""What ``compare task`` prints of a finding, word by word, in text and in JSON: one made-up task for each kind
that the golden report does not hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from click.testing import CliRunner

from tests.divergence.desk import BYE, FIRST, OFFER, OPENING, PASSES, REFUSED, YES
from tests.divergence.made import Line, agent, broken, records, user
from tests.divergence.test_rules_levels import AGREED, LOCKED, NO_ONE, SEEN, SORRY, WHERE, told
from tests.divergence.test_rules_missing import CALLED, GAVE_UP, LOST, PHONE, REPORTED, SCRIPT, WHO
from tests.divergence.test_rules_reads_and_facts import FAQ, OUTPUTS, TOLD
from tests.divergence.test_rules_users_and_endings import DAMAGED, NOT_THEN, SAID_YES
from trajdiff.cli.program import cli

Trial: TypeAlias = "Sequence[Line]"

WRONG_TRY = broken("refund_item", "Error: no", order_id="A1001", sku="LAMP-1", amount=94.9)

#: Passes, failing trial, more of the record; kind, actor and grade; headline and sentence.
SAID: dict[str, tuple[Sequence[Trial], Trial, dict[str, Any], tuple[str, str, str], str, str]] = {
    "an input denied against the script": (
        CALLED,
        (WHO, PHONE, LOST, GAVE_UP, BYE),
        SCRIPT,
        ("user_deviation", "user", "B"),
        "denied to have phone",
        "The user says not to have phone, which the recorded script states.",
    ),
    "a no to the passes' question": (
        SAID_YES,
        (OPENING[0], OPENING[1], DAMAGED, user("No, it is fine."), NOT_THEN, BYE),
        {},
        ("user_deviation", "user", "B"),
        "says no where passed trials say yes",
        "The user says no to what every passed trial's user says yes to; refund_item is missing.",
    ),
    "a refused write reported as done": (
        PASSES,
        (*FIRST[:5], REFUSED, REPORTED, BYE),
        {},
        ("missing_step", "agent", "B"),
        "refund_item missing",
        "The failed trial goes on without a successful refund_item; both passed trials call it.",
    ),
    "a refused write with another argument": (
        PASSES,
        (*OPENING, OFFER, YES, WRONG_TRY, agent("It does not work."), BYE),
        {},
        ("wrong_argument", "agent", "A"),
        "refund_item with another amount",
        "The failed trial calls refund_item with another amount than passed trials do.",
    ),
    "a number told otherwise": (
        AGREED,
        told("24", "5100"),
        {},
        ("misread_result", "agent", "B"),
        "result of get_points told as 5100 instead of 1500",
        "A message says 5100 where every passed trial says 1500, as the result of get_points does.",
    ),
    "a loop at the end": (
        SEEN,
        (WHERE, NO_ONE, NO_ONE, NO_ONE, SORRY, BYE),
        {},
        ("loop", "agent", "B"),
        "find_customer repeated",
        "The failed trial repeats find_customer with the same arguments and result.",
    ),
    "left at a refusal": (
        SEEN,
        (WHERE, LOCKED, SORRY, BYE),
        {},
        ("unrecovered_error", "agent", "B"),
        "get_order failed and was not repaired",
        "get_order failed and the failed trial gave up; the passed trial calls it with success.",
    ),
    "a recorded output left out": (
        [],
        (TOLD[0][0], FAQ, agent("Please see the terms."), user("Fine.")),
        OUTPUTS,
        ("wrong_answer", "agent", "C"),
        "message leaves out 24",
        "No message states 24, which the recorded outputs of the task have.",
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _written(folder: Path, passes: Sequence[Trial], failing: Trial, more: dict[str, Any]) -> None:
    # Ten other passing trials, so that the levels that speak from one pass have been tried.
    others = [row for n in range(5) for row in records(PASSES, [], task_id=f"other-{n}")]
    made = [*records(passes, [failing], **more), *others]
    (folder / "made.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made), "utf-8")


def _run(*arguments: str) -> str:
    # Wide enough for every heading, whatever the terminal of the tests is.
    runner = CliRunner(env={"COLUMNS": "160"})
    ran = runner.invoke(cli, ["compare", "task", "T1", "made.jsonl", *arguments])
    assert ran.exit_code == 0, ran.output
    return ran.stdout


@pytest.mark.parametrize("name", SAID)
def test_text(name: str, folder: Path) -> None:
    passes, failing, more, (_, actor, grade), headline, sentence = SAID[name]
    _written(folder, passes, failing, more)
    lines = _run().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("◆ step"))
    step, _, rest = lines[at].removeprefix("◆ step ").partition("  ")
    assert step.isdigit()
    assert rest == f"{actor}: {headline} · grade {grade} · trial f0"
    told_lines = []
    for line in lines[at + 1 :]:
        if "  " in line.strip():
            break
        told_lines.append(line.strip())
    assert " ".join(told_lines) == sentence


@pytest.mark.parametrize("name", SAID)
def test_json(name: str, folder: Path) -> None:
    passes, failing, more, expected, headline, sentence = SAID[name]
    _written(folder, passes, failing, more)
    (said,) = json.loads(_run("--format", "json"))["task"]["divergences"]
    assert (said["kind"], said["actor"], said["grade"]) == expected
    assert (said["headline"], said["sentence"]) == (headline, sentence)
