"""The aligned table of a task: rows, cells and their words, shared row numbers, and the frozen tie rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.divergence.made import Line, Step, agent, call, corpus, record, think, user
from trajdiff.align.table import AlignedTable, Op
from trajdiff.analysis import analyse, compare_trials
from trajdiff.errors import UsageError
from trajdiff.importers import load
from trajdiff.model import Corpus, StepKind
from trajdiff.settings import Settings

ASK = user("Please refund A1001.")
USER = call("get_user", {"name": "Ann"}, user_id="U-71")
ORDER = call("get_order", {"status": "paid"}, order_id="A1001")
STOCK = call("get_stock", {"left": 3}, sku="LAMP-1")
DONE = agent("It is refunded.")


def refund(amount: float = 49.9) -> Line:
    return call("refund_item", {"ok": True}, order_id="A1001", amount=amount)


PASS = (ASK, USER, ORDER, refund(), DONE)


def table_of(found: Corpus, task_id: str = "T1") -> AlignedTable:
    table = analyse(found, Settings()).findings[task_id].table
    assert table is not None
    return table


def table(*trials: tuple[str, Sequence[Step]]) -> AlignedTable:
    """The table of trials given as (verdict, steps), named p0, f1, …."""
    return table_of(corpus(record(f"{v[0]}{n}", steps, v) for n, (v, steps) in enumerate(trials)))


def drawn(made: AlignedTable) -> list[str]:
    """The rows as text: number, label, and the word and step of every trial, in column order."""
    lines = []
    for row in made.rows:
        cells = {cell.trial_id: cell for cell in row.cells}
        parts = [
            "-" if trial not in cells
            else f"{cells[trial].op}:{cells[trial].step if cells[trial].step is not None else ''}"
            for trial in made.columns
        ]  # fmt: skip
        lines.append(f"{row.number} {row.label}: {' '.join(parts)}")
    return lines


def test_rows_and_words() -> None:
    made = table(("pass", PASS), ("fail", (ASK, ORDER, STOCK, refund(94.9), DONE)))
    assert made.reference == "p0"
    assert made.columns == ("p0", "f1")
    assert drawn(made) == [
        "1 user message: reference:0 same:0",
        "2 get_user: reference:1 missing:",
        "3 get_order: reference:2 same:1",
        "4 get_stock: - extra:2",
        "5 refund_item: reference:3 changed:3",
        "6 agent message: reference:4 same:4",
        "7 end: reference:5 same:5",
    ]


def test_a_changed_cell_names_what_differs() -> None:
    made = table(("pass", PASS), ("fail", (ASK, USER, ORDER, refund(94.9), DONE)))
    reference, cell = made.rows[3].cells
    assert (cell.tool, cell.effect, cell.changed) == ("refund_item", "write", ("amount",))
    assert cell.arguments == (("order_id", '"A1001"'), ("amount", "94.9"))
    assert cell.result == '{"ok":true}'
    assert cell.is_error is None or cell.is_error is False
    assert (cell.message_index, cell.pointer, cell.line) == (5, "$.steps[3]", 2)
    assert (reference.changed, reference.line) == ((), 1)


def test_another_result_and_a_move_have_words_of_their_own() -> None:
    other = call("get_order", {"status": "new"}, order_id="A1001")
    made = table(("pass", PASS), ("fail", (ASK, USER, other, refund(), DONE)))
    assert made.rows[2].cells[1].op is Op.OTHER_RESULT
    made = table(("pass", PASS), ("fail", (ASK, ORDER, USER, refund(), DONE)))
    assert made.rows[1].cells[1].op is Op.MOVED


def test_a_read_done_earlier_is_moved_although_its_write_comes_next() -> None:
    made = table(
        ("pass", (ASK, USER, STOCK, ORDER, refund(), DONE)), ("fail", (ASK, ORDER, USER, STOCK, refund(), DONE))
    )
    assert [row.cells[-1].op for row in made.rows if row.label == "get_order"] == [Op.MOVED]


def test_messages_are_the_same_when_they_state_the_same() -> None:
    made = table(
        ("pass", (ASK, agent("You get 49.90 back."))),
        ("fail", (ASK, agent("49.90 is what comes back to you."))),
        ("fail", (ASK, agent("You get 94.90 back."))),
    )
    assert [cell.op for cell in made.rows[1].cells] == [Op.REFERENCE, Op.SAME, Op.CHANGED]


def test_compaction_is_one_extra_row() -> None:
    """DIV-06: not a mass deletion."""
    summary = {"actor": "environment", "kind": "compaction", "text": "The user wants a refund."}
    made = table(("pass", PASS), ("fail", (*PASS[:3], summary, *PASS[3:])))
    extra = [row for row in made.rows if row.cells[-1].op is Op.EXTRA]
    assert [(row.label, row.cells[-1].kind) for row in extra] == [("environment compaction", "compaction")]
    others = [row.cells[1].op for row in made.rows if row not in extra]
    assert others == [Op.SAME] * 6


def test_columns_are_the_reference_then_passes_then_failures() -> None:
    made = table_of(
        corpus(
            [
                record("10", PASS, "fail"),
                record("2", PASS[:2], "fail"),
                record("9", (*PASS, think("hm")), "pass"),
                record("1", (ASK, STOCK, DONE), "pass"),
                record("3", PASS, "pass"),
                record("4", PASS, "pass"),
                record("5", PASS, "infra"),
                record("6", PASS, "unscored"),
                record("7", [], "fail"),
            ]
        )
    )
    assert made.columns == ("3", "1", "4", "9", "2", "5", "6", "10")
    assert made.reference == "3"


def test_without_a_pass_no_trial_is_the_reference() -> None:
    made = table(("fail", PASS), ("fail", PASS[:3]))
    assert made.reference is None
    assert made.columns == ("f0", "f1")


def test_rows_that_several_failures_share_are_one_row() -> None:
    bad = (ASK, USER, ORDER, STOCK, refund(), DONE)
    made = table(("pass", PASS), ("fail", bad), ("fail", bad))
    (row,) = (row for row in made.rows if row.label == "get_stock")
    assert [(cell.trial_id, cell.op) for cell in row.cells] == [("f1", Op.EXTRA), ("f2", Op.EXTRA)]


#: The tie rule is part of the result. Changing this drawing means changing the published rule.
TIED = [
    "1 user message: reference:0 same:0",
    "2 get_order: reference:1 same:1",
    "3 get_order: reference:2 missing:",
    "4 get_user: reference:3 moved:4",
    "5 get_stock: reference:4 same:2",
    "6 get_user: - extra:3",
    "7 agent message: reference:5 same:5",
    "8 end: reference:6 same:6",
]


def test_ties_are_broken_reading_forward_diagonal_first() -> None:
    """Which of two equal reads is left out: the later one. Which of two swapped reads is moved: the first."""
    other = call("get_user", {"name": "Bob"}, user_id="U-72")
    reference = (ASK, ORDER, ORDER, USER, STOCK, DONE)
    assert drawn(table(("pass", reference), ("fail", (ASK, ORDER, STOCK, other, USER, DONE)))) == TIED


def complete(found: Corpus, task_id: str, made: AlignedTable) -> None:
    """Every step of every comparable trial stands in exactly one cell, and rows are numbered from 1."""
    assert [row.number for row in made.rows] == list(range(1, len(made.rows) + 1))
    cells = [(cell.trial_id, cell.step) for row in made.rows for cell in row.cells if cell.step is not None]
    trials = next(task for task in found.tasks if task.task_id == task_id).trials
    wanted = [(t.trial_id, s.index) for t in trials if t.comparable for s in t.steps if s.actor != "system"]
    assert sorted(cells) == sorted(wanted)
    for row in made.rows:
        assert [c for c in made.columns if c in {cell.trial_id for cell in row.cells}] == [
            cell.trial_id for cell in row.cells
        ]
        assert all((cell.step is None) == (cell.op is Op.MISSING) for cell in row.cells)
        for cell in row.cells:
            if cell.step is not None:
                assert made.row_of(cell.trial_id, cell.step) == row.number


def test_every_step_of_the_samples_stands_in_one_cell(project: Any) -> None:
    found = load([str(project / "sample_traces")])
    analysis = analyse(found, Settings())
    for task in found.tasks:
        made = analysis.findings[task.task_id].table
        assert made is not None
        complete(found, task.task_id, made)
        ends = [row.label for row in made.rows if row.cells[0].kind == StepKind.TERMINATION]
        assert ends.count("end") >= 1


def test_two_trials_keep_the_row_numbers_of_the_task(project: Any) -> None:
    found = load([str(project / "sample_traces")])
    whole = table_of(found, "L1-061")
    for left, right in (("0", "1"), ("1", "3"), ("3", "0")):
        two = compare_trials(found, Settings(), ("L1-061", left), ("L1-061", right))
        assert two.columns == (left, right)
        for row in two.rows:
            numbers = {whole.row_of(cell.trial_id, cell.step) for cell in row.cells if cell.step is not None}
            assert row.number in numbers
        steps = [(cell.trial_id, cell.step) for row in two.rows for cell in row.cells if cell.step is not None]
        task = next(task for task in found.tasks if task.task_id == "L1-061")
        assert (
            len(steps)
            == len(set(steps))
            == sum(len(t.steps) for t in task.trials if t.trial_id in (left, right))
        )


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        (("L1-061", "0"), ("L1-082", "0"), "different tasks"),
        (("L1-061", "0"), ("L1-061", "9"), "does not exist"),
        (("L1-999", "0"), ("L1-999", "1"), "no task"),
    ],
)
def test_trials_that_cannot_be_compared(
    left: tuple[str, str], right: tuple[str, str], words: str, project: Any
) -> None:
    found = load([str(project / "sample_traces")])
    with pytest.raises(UsageError, match=words):
        compare_trials(found, Settings(), left, right)
