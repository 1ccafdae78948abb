"""What a reader sees of a divergence without opening the log: whose it is, where two long calls part, what is
not there, how a value was written, and references that can be copied."""

from __future__ import annotations

from typing import Any

import pytest

from tests.render.made import lamp, report
from tests.render.test_text import text
from trajdiff.align.table import Cell, Op
from trajdiff.divergence.finding import Kind, Side, Support, ValueOrigin
from trajdiff.frozen import replace

PASSENGERS = ", ".join(f'{{"first_name": "Ada{number}", "last_name": "Lovelace"}}' for number in range(9))


def shown(width: int = 80, full: bool = False, **changes: Any) -> str:
    """The one divergence of the lamp task with something changed about it, as text."""
    made = lamp()
    lead = replace(made.finding.divergences[0], **changes)
    finding = replace(made.finding, lead=lead, divergences=(lead,))
    return text("task", report((replace(made, finding=finding),)), width=width, full=full)


def sides(passed: str, failed: str) -> tuple[Side, ...]:
    return Side(trial_id="0", text=passed, message=5), Side(trial_id="1", text=failed, message=4)


def unwrapped(out: str) -> str:
    return " ".join(out.split())


@pytest.mark.parametrize("width", [40, 50, 60, 80])
def test_the_heading_names_every_trial_at_any_width(width: int) -> None:
    out = unwrapped(shown(width, group=tuple(f"attempt-{number}" for number in range(1, 6))))
    assert "· grade A · trials attempt-1, attempt-2, attempt-3, attempt-4, attempt-5" in out


@pytest.mark.parametrize("width", [50, 80, 99])
@pytest.mark.parametrize("argument", ["bags", "bags[].count", None])
def test_two_long_calls_are_shown_where_they_part(width: int, argument: str | None) -> None:
    both = sides(*(f"book(passengers=[{PASSENGERS}], bags={bags}, insured=true)" for bags in (0, 2)))
    out = unwrapped(shown(width, manifest_sides=both, argument=argument))
    assert "passed: book(… " in out
    assert "bags=0, insured=true)" in out
    assert "bags=2, insured=true)" in out


def test_the_argument_of_the_divergence_goes_before_others_that_differ() -> None:
    both = sides(*(f"book(day={bags}, passengers=[{PASSENGERS}], bags={bags})" for bags in (0, 2)))
    out = unwrapped(shown(manifest_sides=both, argument="bags"))
    assert "passed: book(… bags=0)" in out
    assert "failed: book(… bags=2)" in out


def test_calls_that_part_early_and_everything_in_full_are_not_cut_at_the_front() -> None:
    early = sides(f"book(bags=0, passengers=[{PASSENGERS}])", f"book(bags=2, passengers=[{PASSENGERS}])")
    assert "passed: book(bags=0, passengers" in unwrapped(shown(manifest_sides=early))
    late = sides(f"book(passengers=[{PASSENGERS}], bags=0)", f"book(passengers=[{PASSENGERS}], bags=2)")
    whole = unwrapped(shown(manifest_sides=late, full=True))
    assert f"passed: book(passengers=[{PASSENGERS}], bags=0)" in whole


def test_an_extra_step_has_no_step_beside_it() -> None:
    own = (Side(trial_id="1", text="cancel(id=7)", message=4),)
    extra = unwrapped(shown(kind=Kind.EXTRA_WRITE, root_sides=own))
    assert "passed: no such step failed: cancel(id=7)" in extra
    nobody = Support(failed_with=2, failed=2, passed_with=0, passed=0, smallest_p=None)
    borrowed = unwrapped(shown(kind=Kind.EXTRA_WRITE, root_sides=own, support=nobody))
    assert "expected: no such step failed: cancel(id=7)" in borrowed


def test_a_manifest_step_that_is_the_same_on_both_sides_gives_way_to_the_root() -> None:
    out = shown(manifest_sides=sides("refund_item(amount=49.9)", "refund_item(amount=49.9)"))
    assert "shows at" not in out
    assert 'the step             check_permission(order_id="A1001") in passed' in out


def test_a_value_is_written_as_it_was_recorded() -> None:
    origin = ValueOrigin(value="d1ew9b", origin="tool_result", tool="get_order", message=2, path="id")
    out = shown(provenance=origin, manifest_sides=sides("cancel(id=9HB)", "cancel(id=D1EW9B)"))
    assert "value from           D1EW9B first seen in the result of get_order" in out


def test_others_that_are_not_counted_are_alike_and_not_the_same() -> None:
    made = lamp()
    lead, other = made.finding.divergences
    one = Support(failed_with=1, failed=2, passed_with=0, passed=2, smallest_p=1 / 3)
    for support, label in ((lead.support, "same in   "), (one, "alike in  ")):
        first = replace(lead, support=support)
        finding = replace(made.finding, lead=first, divergences=(first, replace(other, grade=None)))
        out = text("task", report((replace(made, finding=finding),)), width=80)
        assert f"  {label}" in out


def test_a_difference_after_the_root_is_no_first_difference() -> None:
    made = lamp()
    assert "first difference" not in shown()
    early = replace(made.finding.divergences[1].first_difference, trial_id="3")
    assert "first difference     ◇ step 4 in trial 3" in shown(first_difference=early)


@pytest.mark.parametrize("width", [30, 40, 50])
def test_references_are_broken_and_never_cut(width: int) -> None:
    out = shown(width)
    source = out[out.index("\nsource") :]
    assert "…" not in source
    assert "runs/shop.json#L1-061/0@4" in "".join(source.split())
    assert all(len(part) <= width for part in source.splitlines())


def in_row(number: int, cells: dict[str, Cell], **changes: Any) -> str:
    """The divergence of the lamp task with other cells in the row ``number``."""
    made = lamp()
    table = made.finding.table
    assert table is not None
    rows = [
        replace(row, cells=tuple(cells.get(cell.trial_id, cell) for cell in row.cells))
        if row.number == number
        else row
        for row in table.rows
    ]
    lead = replace(made.finding.divergences[0], **changes)
    finding = replace(made.finding, lead=lead, divergences=(lead,), table=replace(table, rows=tuple(rows)))
    return text("task", report((replace(made, finding=finding),)), width=80)


#: A divergence that begins with what the user says in row 4.
SAID: dict[str, Any] = {
    "kind": Kind.USER_DEVIATION,
    "root": replace(lamp().finding.divergences[0].root, step=3),
    "passed_root": None,
}


def said(trial: str, words: str) -> Cell:
    return Cell(trial_id=trial, op=Op.CHANGED, step=3, actor="user", kind="message", text=words)


def test_the_root_step_is_told_too_where_it_shows_at_a_later_one() -> None:
    out = unwrapped(shown())
    assert 'the step passed: check_permission(order_id="A1001") → ' in out
    assert "failed: no such step shows at step 6 passed: refund_item(amount=49.9)" in out


def test_what_was_said_at_the_root_is_told_from_both_sides() -> None:
    cells = {"0": said("0", "The red one."), "1": said("1", "The blue one.")}
    out = unwrapped(in_row(4, cells, **SAID))
    assert "the step passed: The red one. failed: The blue one. shows at step 6" in out


def test_a_long_message_is_told_from_the_deciding_value_on() -> None:
    long = "I have been thinking about this for a while. " * 8
    origin = ValueOrigin(value="Blue-77", origin="user_message", message=4)
    cells = {"0": said("0", "The red one."), "1": said("1", f"{long}Take Blue-77 then.")}
    out = unwrapped(in_row(4, cells, **SAID, provenance=origin))
    assert "failed: … " in out
    assert "Take Blue-77 then. shows at step 6" in out


def test_the_reference_may_have_no_step_where_a_divergence_shows() -> None:
    own = (Side(trial_id="1", text="refund_item(amount=99.8)", message=4),)
    absent = {"0": Cell(trial_id="0", op=Op.MISSING)}
    assert "shows at step 6 passed: no such step failed: refund_item(amount=99.8)" in unwrapped(
        in_row(6, absent, **SAID, manifest_sides=own)
    )
    there = unwrapped(in_row(6, {}, **SAID, manifest_sides=own))
    assert "shows at step 6 refund_item(amount=99.8) in failed" in there


def test_references_name_the_step_at_which_it_shows() -> None:
    out = shown()
    assert "\nshows   passed  runs/shop.json#L1-061/0@5" in out
    made = lamp().finding.divergences[0]
    same = shown(manifest=made.root, passed_manifest=made.passed_root)
    assert "\nshows" not in same


def test_others_at_the_same_step_are_named_where_the_counts_leave_them_out() -> None:
    made = lamp()
    lead, other = made.finding.divergences
    group = (lead.trial_id, other.trial_id)
    one = Support(failed_with=1, failed=2, passed_with=0, passed=2, smallest_p=1 / 3)
    second = replace(other, grade=lead.grade, kind=lead.kind, root=lead.root, passed_root=lead.passed_root)
    for support, there in ((one, True), (replace(one, failed_with=2), False)):
        first = replace(lead, support=support, group=group)
        finding = replace(made.finding, lead=first, divergences=(first, second))
        out = text("task", report((replace(made, finding=finding),)), width=80)
        assert ("alike in             trial 3: step " in out) is there
