"""What a reader sees of a divergence without opening the log: whose it is, where two long calls part, what is
not there, how a value was written, and references that can be copied."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.render.made import lamp, report
from tests.render.test_text import text
from trajdiff.divergence.finding import Kind, Side, Support, ValueOrigin

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
    early = replace(made.finding.divergences[1].first_difference, trial_id="3")  # type: ignore[type-var]
    assert "first difference     ◇ step 4 in trial 3" in shown(first_difference=early)


@pytest.mark.parametrize("width", [30, 40, 50])
def test_references_are_broken_and_never_cut(width: int) -> None:
    out = shown(width)
    source = out[out.index("\nsource") :]
    assert "…" not in source
    assert "runs/shop.json#L1-061/0@4" in "".join(source.split())
    assert all(len(part) <= width for part in source.splitlines())
