"""The review workbook, opened by another library than the one that wrote it."""

from __future__ import annotations

import io
from typing import Any

import openpyxl
import pytest

from tests.render.made import hostile, lamp, report, shop
from trajdiff.errors import UsageError
from trajdiff.frozen import replace
from trajdiff.render import workbook as workbook_module
from trajdiff.render.registry import by_name
from trajdiff.render.table_columns import ALIGNMENT_COLUMNS, DIVERGENCE_COLUMNS, REVIEW_COLUMNS
from trajdiff.render.view import View
from trajdiff.render.workbook import LONGEST_CELL, Sheet, workbook
from trajdiff.report import Report
from trajdiff.review.verdicts import CATEGORIES, VERDICTS


def opened(name: str, made: Report, view: View | None = None) -> Any:
    content = by_name(name if name == "report" else f"export-{name}", "xlsx").render(made, view or View())
    assert isinstance(content, bytes)
    return openpyxl.load_workbook(io.BytesIO(content))


def header(page: Any) -> list[str]:
    return [cell.value for cell in page[1]]


def test_the_alignment_comes_first_with_a_row_per_step_and_trial() -> None:
    book = opened("alignment", report([lamp()]))
    assert book.sheetnames == ["Alignment", "Side by side", "Review", "Read me"]
    page = book.active
    assert page.title == "Alignment"
    assert tuple(header(page)) == ALIGNMENT_COLUMNS
    table = lamp().finding.table
    assert table is not None
    assert page.max_row == 1 + len(table.rows) * len(table.columns)
    assert page.freeze_panes == "D2"
    assert page.auto_filter.ref == f"A1:{page.cell(1, len(ALIGNMENT_COLUMNS)).column_letter}{page.max_row}"
    gold = [row[1].value for row in page.iter_rows(min_row=2) if row[0].fill.fgColor.rgb == "FFFFE17A"]
    roots = [row[1].value for row in page.iter_rows(min_row=2) if row[13].value is True]
    assert gold == roots
    assert roots


def test_side_by_side_shows_what_differs() -> None:
    page = opened("alignment", report([lamp()]))["Side by side"]
    assert header(page)[:3] == ["step", "place", "✓ trial 0 (passed, reference)"]
    rows = {row[0].value: row for row in page.iter_rows(min_row=2)}
    root = next(row for row in rows.values() if row[1].value and "root step, trial 1" in row[1].value)
    assert "check_permission" in root[2].value
    assert root[4].value == "no such step"


def test_the_review_sheet_has_drop_downs_beside_what_is_claimed() -> None:
    page = opened("divergences", shop())["Review"]
    names = header(page)
    assert sorted(names) == sorted(DIVERGENCE_COLUMNS)
    assert names[names.index("support") + 1 :][: len(REVIEW_COLUMNS)] == list(REVIEW_COLUMNS)
    lists = {str(one.sqref): one.formula1 for one in page.data_validations.dataValidation}
    last = page.max_row
    for column, values in (("review_verdict", VERDICTS), ("review_category", CATEGORIES)):
        letter = page.cell(1, names.index(column) + 1).column_letter
        assert lists[f"{letter}2:{letter}{last}"] == f'"{",".join(values)}"'
    assert page.freeze_panes == "B2"


def test_steps_around_the_root_carry_the_row_id() -> None:
    book = opened("divergences", report([lamp()]))
    ids = {row[0].value for row in book["Review"].iter_rows(min_row=2)}
    steps = list(book["Steps"].iter_rows(min_row=2, values_only=True))
    assert {row[0] for row in steps} == ids
    assert any(row[4] == "root step" for row in steps)


@pytest.mark.parametrize("name", ["alignment", "divergences", "report", "trials"])
def test_nothing_in_a_workbook_is_a_formula_or_a_link(name: str) -> None:
    for page in opened(name, hostile()).worksheets:
        for row in page.iter_rows():
            for cell in row:
                assert cell.data_type != "f", (page.title, cell.coordinate)
                assert cell.hyperlink is None
                if isinstance(cell.value, str):
                    assert not cell.value.startswith(("=", "+", "-", "@", "\t")) or cell.value == "-"


@pytest.mark.parametrize("name", ["alignment", "divergences", "report", "trials"])
def test_equal_reports_give_equal_bytes(name: str) -> None:
    subject = name if name == "report" else f"export-{name}"
    assert by_name(subject, "xlsx").render(shop(), View()) == by_name(subject, "xlsx").render(shop(), View())


def test_long_cells_are_cut_and_counted() -> None:
    long = "x" * (LONGEST_CELL + 100)
    made = report([replace(lamp(), title=long)])
    book = opened("report", made)
    at = header(book["Tasks"]).index("title")
    text = book["Tasks"].cell(2, at + 1).value
    assert text.endswith(f"(cut, {len(long)} characters)")
    notes = {row[0]: row[1] for row in book["Read me"].iter_rows(min_row=2, values_only=True)}
    assert notes["cut cells"] == f"1 cells longer than {LONGEST_CELL} characters were cut"


def test_numbers_stay_numbers_and_big_ones_keep_their_digits() -> None:
    rows = [{"a": 0.25, "b": 12345678901234567890, "c": True, "d": None, "e": float("inf")}]
    page = openpyxl.load_workbook(
        io.BytesIO(workbook([Sheet(name="s", columns=tuple("abcde"), rows=rows)], "t"))
    )
    values = [cell.value for cell in page.active[2]]
    assert values[:4] == [0.25, "12345678901234567890", True, None]


def test_too_many_rows_are_refused_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook_module, "MOST_ROWS", 3)
    with pytest.raises(UsageError, match="too many for a spreadsheet") as error:
        workbook([Sheet(name="s", columns=("a",), rows=[{"a": n} for n in range(3)])], "t")
    assert "--task" in str(error.value)
