"""The report: every trial listed, findings beside pass^k, what can be acted on first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.divergence.desk import (
    BYE,
    DONE,
    FIRST,
    LOOK,
    OFFER,
    OPENING,
    PASSES,
    REFUND,
    REFUSED,
    SECOND,
    YES,
    refund,
)  # fmt: skip
from tests.divergence.made import agent, call, corpus, record, records, user
from trajdiff.analysis import analyse, judge_as_failed
from trajdiff.divergence.finding import FindingKind
from trajdiff.importers import load
from trajdiff.model import Verdict
from trajdiff.report import Report, build_report
from trajdiff.settings import Settings

WRONG = (*OPENING, OFFER, YES, refund(94.9), DONE, BYE)
LEFT_OUT = (*OPENING, OFFER, YES, DONE, BYE)


def report(made: Sequence[dict[str, Any]], tasks: Sequence[str] | None = None, **settings: Any) -> Report:
    found = corpus(made)
    chosen = Settings(**settings)
    return build_report(found, analyse(found, chosen, tasks=tasks), chosen)


def mixed() -> list[dict[str, Any]]:
    """One task of every kind of finding, with ids that sort otherwise as text than as numbers."""
    other = (LOOK, call("send_note", {"ok": True}, order_id="A1001"), agent("Sent."))
    return [
        *records(PASSES, [], task_id="always-1"),
        *records([], [WRONG], task_id="never-1"),
        *records([], [(user("Hi."), agent("Bye."))], task_id="never-2"),
        *records(PASSES, [FIRST], task_id="same-1"),
        *records(PASSES, [(*OPENING, LOOK, *FIRST[3:])], task_id="abstained-1"),
        *(record(f"i{n}", FIRST, "infra", error="lost", task_id="infra-1") for n in range(2)),
        record("u0", FIRST, "unscored", task_id="nobody-1"),
        *records([FIRST, (*SECOND, *other)], [WRONG], task_id="graded-b"),
        *records(PASSES, [WRONG], task_id="task-10"),
        *records(PASSES, [WRONG], task_id="task-9"),
        *records(PASSES, [WRONG, WRONG], task_id="task-11"),
    ]


def test_what_can_be_acted_on_comes_first() -> None:
    """Grade, then how many failures it covers, then the id with numbers as numbers; pass^k plays no part."""
    order = [task.task_id for task in report(mixed()).tasks]
    assert order == [
        "task-11", "task-9", "task-10", "graded-b", "same-1", "abstained-1", "infra-1", "never-1", "never-2",
        "nobody-1", "always-1",
    ]  # fmt: skip


def test_a_task_is_called_what_its_trials_make_it() -> None:
    kinds = {task.task_id: task.finding.kind for task in report(mixed()).tasks}
    assert kinds == {
        "task-11": FindingKind.DIVERGENCE,
        "task-9": FindingKind.DIVERGENCE,
        "task-10": FindingKind.DIVERGENCE,
        "graded-b": FindingKind.DIVERGENCE,
        "same-1": FindingKind.SAME_PATH,
        "abstained-1": FindingKind.ABSTAINED,
        "infra-1": FindingKind.INFRASTRUCTURE,
        "never-1": FindingKind.NEVER_PASS,
        "never-2": FindingKind.NEVER_PASS,
        "nobody-1": FindingKind.NOT_COMPARED,
        "always-1": FindingKind.ALWAYS_PASS,
    }


def test_what_recurs_is_counted_over_tasks() -> None:
    (found, *rest) = report(mixed()).recurring
    assert rest == []
    assert (found.kind, found.tool) == ("wrong_argument", "refund_item")
    assert sorted(found.tasks) == ["graded-b", "task-10", "task-11", "task-9"]
    assert len(found.trials) == 5
    assert set(found.trials) >= {"task-11/f0", "task-11/f1"}


def test_the_largest_group_of_the_best_grade_leads() -> None:
    (task,) = report(records(PASSES, [LEFT_OUT, WRONG, WRONG])).tasks
    lead = task.finding.lead
    assert lead is not None
    assert lead.group == ("f1", "f2")
    assert task.finding.other_groups == 1
    assert task.finding.text == lead.headline


def test_every_trial_is_listed_with_what_was_recorded() -> None:
    made = [
        record("0", FIRST, usage={"input": 900, "output": 100}, cost_usd=0.25, duration_s=3.5),
        record("1", (*FIRST[:5], REFUSED, REFUND, DONE, BYE), reward=1.0, usage={"output": 7}),
        record("2", [], "fail", termination="max_steps"),
        record("3", WRONG[:4], "infra", error="lost", termination={"reason": "infra_error", "raw": "gone"}),
        record("4", FIRST, "unscored"),
    ]
    for one in made:
        one["task"] = {"title": "A refund", "expected_trials": 6}
    (task,) = report(made).tasks
    assert task.title == "A refund"
    assert task.missing == ("5",)
    rows = task.trials
    assert [row.trial_id for row in rows] == ["0", "1", "2", "3", "4"]
    assert [row.verdict for row in rows] == [
        Verdict.PASS, Verdict.PASS, Verdict.FAIL, Verdict.INFRA, Verdict.UNSCORED,
    ]  # fmt: skip
    assert [row.steps for row in rows] == [8, 9, 0, 4, 8]
    assert [row.tool_calls for row in rows] == [3, 4, 0, 2, 3]
    assert [row.errors for row in rows] == [0, 1, 0, 0, 0]
    # Unknown is None, never 0.
    assert [row.tokens for row in rows] == [1000, 7, None, None, None]
    assert [row.cost for row in rows] == [0.25, None, None, None, None]
    assert [row.duration for row in rows] == [3.5, None, None, None, None]
    assert [row.comparable for row in rows] == [True, True, False, True, True]
    assert [row.termination for row in rows] == [
        "user_done",
        "user_done",
        "max_steps",
        "infra_error",
        "user_done",
    ]
    assert rows[3].termination_raw == "gone"
    assert rows[3].error == "lost"
    assert [row.ref.rpartition("#")[2] for row in rows] == [f"T1/{n}" for n in range(5)]
    # Trials on one path share a variant; those without steps have none.
    assert rows[0].variant == rows[4].variant is not None
    assert rows[2].variant is None
    assert [d.trial_id for d in task.finding.divergences] == ["2", "3"]


def test_tasks_that_were_not_asked_for_are_listed_as_such() -> None:
    made = report(mixed(), tasks=["task-9"])
    kinds = {task.task_id: task.finding.kind for task in made.tasks}
    assert kinds.pop("task-9") is FindingKind.DIVERGENCE
    assert set(kinds.values()) == {FindingKind.NOT_COMPARED}
    whole = report(mixed())
    assert made.suite == whole.suite
    asked, same = made.task("task-9"), whole.task("task-9")
    assert asked is not None
    assert same is not None
    assert (asked.finding.text, asked.reliability) == (same.finding.text, same.reliability)
    assert made.task("nothing") is None


def test_settings_and_levels_are_said() -> None:
    made = report(mixed(), infra="exclude", name="desk")
    assert made.name == "desk"
    assert made.settings["infra"] == "exclude"
    assert made.suite.infra_policy == "exclude"
    levels = [
        "answers",
        "common answers",
        "endings",
        "facts",
        "reads",
        "results",
    ]
    assert made.settings["levels"] == levels
    assert any(", ".join(levels) in line for line in made.method)
    assert any("C(c,k)/C(n,k)" in line for line in made.method)


def test_a_level_that_accuses_passes_is_not_used() -> None:
    """Each pass of many tasks makes a read of its own kind: what passes lack themselves is not required."""

    def odd(number: int) -> list[dict[str, Any]]:
        look = call("get_hint", {"hint": 7}, order_id="A1001")
        three = [(*OPENING, look, *FIRST[3:]), (*OPENING, look, *SECOND[3:]), FIRST]
        return records(three, [], task_id=f"odd-{number}")

    made = report(
        [*(one for n in range(4) for one in odd(n)), *records(PASSES, [(OPENING[0], LOOK, *FIRST[3:])])]
    )
    assert "reads" not in made.settings["levels"]
    assert made.self_check.false_alarms == 0
    task = made.task("T1")
    assert task is not None
    assert task.finding.divergences[0].abstained


def test_judging_passed_trials_as_if_they_had_failed() -> None:
    found = corpus(mixed())
    levels = analyse(found, Settings()).levels
    asked = [("always-1", "p0"), ("graded-b", "p1"), ("task-9", "f0"), ("never-1", "f0"), ("nothing", "p0")]
    said = judge_as_failed(found, Settings(), asked, levels)
    assert set(said) == {("always-1", "p0"), ("graded-b", "p1"), ("task-9", "f0")}
    assert said["always-1", "p0"] is None
    extra, wrong = said["graded-b", "p1"], said["task-9", "f0"]
    assert extra is not None
    assert (extra.kind, extra.tool) == ("extra_write", "send_note")
    assert wrong is not None
    assert wrong.kind == "wrong_argument"


#: A divergence separates outcomes and is a place to look; nothing more may be claimed.
CLAIMS = re.compile(r"caus|because|led to|root cause|the bug|fault|blame|guilty", re.IGNORECASE)


@pytest.mark.parametrize("source", ["samples", "made"])
def test_nothing_claims_a_cause(source: str, project: Path) -> None:
    found = corpus(mixed()) if source == "made" else load([str(project / "sample_traces")])
    made = build_report(found, analyse(found, Settings()), Settings())
    told = [*made.method, *(one.headline for one in made.recurring)]
    for task in made.tasks:
        told.append(task.finding.text)
        for said in task.finding.divergences:
            told += [said.headline, said.sentence, *said.evidence, *(one.text for one in said.recovered)]
    told = [line for line in told if "not a proof of cause" not in line]
    assert len(told) > 20
    assert [line for line in told if CLAIMS.search(line)] == []
