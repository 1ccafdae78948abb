"""Odd trials through the program itself: report, compare task and export say why they claim nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import run
from tests.divergence.desk import ASK, BYE, DONE, FIRST, LOOK, OPENING, PASSES, REFUND, SECOND, refund
from tests.divergence.made import agent, call, record, records, user

BIG = "log line 4711\n" * 30_000
#: Two ways that share no call and hardly a word with each other.
NOTE = (user("Delete note Z9."), call("delete_note", {"ok": True}, note_id="Z9"), agent("Deleted."))
MAIL = (user("写一封信"), call("send_mail", {"ok": True}, to="kim"), agent("已发送"))
NO_WRITE = (*OPENING, agent("Refunds go by post."), BYE)
CIRCLE = [call("get_link", {"next": f"L-{(n + 1) % 3}0"}, link=f"L-{n % 3}0") for n in range(12)]


def with_arguments(odd: Any) -> list[Any]:
    write = {"name": "refund_item", "arguments": odd, "result": "ok"}
    return [*FIRST[:5], write, *FIRST[6:]]


def with_result(odd: Any) -> list[Any]:
    look = {"name": "get_order", "arguments": {"order_id": "A1001"}, "result": odd}
    return [ASK, look, *FIRST[2:]]


ODD = "{'cut"

#: Name to the records, and what is said about f0: a reason for abstaining, a kind, or nothing.
CASES: dict[str, tuple[list[dict[str, Any]], str | None]] = {
    "no steps": (records(PASSES, [[]]), "not_comparable"),
    "passes without steps": (records([[], []], [FIRST]), "no_passing_trial"),
    "one step of the user": (records(PASSES, [[ASK]]), "not_comparable"),
    "one step in all trials": (records([[ASK], [ASK]], [[ASK]]), "same_path_other_outcome"),
    "large equal results": (
        records([(ASK, call("get_log", BIG), REFUND, DONE)] * 2, [(ASK, call("get_log", BIG), REFUND, DONE)]),
        "same_path_other_outcome",
    ),
    "a circle of values": (
        records([(ASK, *CIRCLE, REFUND, DONE)] * 2, [(ASK, *CIRCLE[1:], *CIRCLE[:1], REFUND, DONE)]),
        "no_separating_step",
    ),
    "passes without writes": (records([NO_WRITE] * 2, [(*OPENING, agent("By post, please."), BYE)]), None),
    "passes that share nothing": (records([NOTE, MAIL], [FIRST]), "no_common_ground"),
    "all infrastructure": ([record(f"f{n}", FIRST[:n], "infra") for n in range(3)], "infrastructure"),
    "arguments that are no JSON": (
        records([with_arguments(ODD)] * 2, [with_arguments(ODD)]),
        "same_path_other_outcome",
    ),
    "arguments that are a list": (
        records([with_arguments([1, None])] * 2, [with_arguments([1, None])]),
        "same_path_other_outcome",
    ),
    "results that are no text": (
        records([with_result([1, {"a": None}])] * 2, [with_result([1, {"a": None}])]),
        "same_path_other_outcome",
    ),
    "results of control characters": (
        records([with_result("\x00\x1b[2J")] * 2, [with_result("\x00\x1b[2J")]),
        "same_path_other_outcome",
    ),
    "no verdict at all": ([record("f0", FIRST, "unscored"), record("f1", SECOND, "unscored")], None),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_odd_trials_are_answered_in_words(name: str, tmp_path: Path) -> None:
    made, said = CASES[name]
    path = tmp_path / "made.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in made), "utf-8")
    for arguments in (["report"], ["compare", "task", "T1"], ["unstable"], ["selfcheck"]):
        done = run(*arguments, str(path), "--no-config")
        assert done.code == 0, done.err
        assert "Traceback" not in done.err
    rows = run("export", "divergences", str(path), "--no-config", "--format", "jsonl", "--to", "-").out
    found = {row["trial_id"]: row for row in map(json.loads, rows.splitlines())}
    document = run("compare", "task", "T1", str(path), "--no-config", "--json").json
    shown = {row["trial_id"]: row for row in document["task"]["divergences"]}
    assert set(shown) == set(found)
    if said is not None:
        assert said in (shown["f0"]["reason"], shown["f0"]["kind"])
        assert shown["f0"]["sentence"]
        assert shown["f0"]["headline"] == found["f0"]["headline"]
    for row in shown.values():
        if row["abstained"]:
            assert row["reason"]
            assert row["root_message_index"] is None


def test_one_wrong_value_among_oddities_is_still_found(tmp_path: Path) -> None:
    """The same odd records, and one real difference: silence is not the answer to everything."""
    odd = with_result([1, {"a": None}])
    wrong = [*odd[:5], refund(94.9), *odd[6:]]
    path = tmp_path / "made.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in records([odd, odd], [wrong])), "utf-8")
    document = run("compare", "task", "T1", str(path), "--no-config", "--json").json
    (row,) = document["task"]["divergences"]
    assert (row["kind"], row["root_message_index"]) == ("wrong_argument", 7)
    assert LOOK.name == "get_order"
