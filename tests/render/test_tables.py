"""Exports: columns, cells that stay text, and what spreadsheets must not start."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from tests.render.made import hostile, shop
from tests.render.views import view_for
from trajdiff.render.choosing import Choice
from trajdiff.render.delimited import to_csv, to_tsv
from trajdiff.render.registry import by_name
from trajdiff.report import Report

COLUMNS = {
    "trials": "ref task_id trial_id producer_id verdict reward verdict_rule termination steps tool_calls errors"
    " tokens cost duration variant source",
    "alignment": "task_id step trial_id verdict is_reference op tool effect arguments arguments_changed result"
    " is_error text is_root is_manifest is_first_difference message_index json_path ref",
    "divergences": "row_id task_id trial_id trials finding abstained reason grade actor kind tool root_step"
    " manifest_step root_message_index manifest_message_index sentence support failed_with failed passed_with"
    " passed smallest_p provenance recovery first_difference source passed_source accepted review_verdict"
    " review_category review_ref review_note reviewer",
}


def written(subject: str, name: str, made: Report, **view: Any) -> str:
    out = by_name(subject, name).render(made, view_for(subject, made, **view))
    assert isinstance(out, str)
    return out


def rows(name: str, made: Report, **view: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(written(f"export-{name}", "csv", made, **view))))


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_are_the_promised_ones(name: str) -> None:
    header = written(f"export-{name}", "csv", shop()).splitlines()[0]
    assert header == ",".join(COLUMNS[name].split())
    assert written(f"export-{name}", "tsv", shop()).splitlines()[0].split("\t") == COLUMNS[name].split()


def test_every_step_of_every_trial_has_a_row() -> None:
    """8 steps and 4 trials; the gap of a trial is a row, too."""
    found = rows("alignment", shop())
    assert len(found) == 32
    gaps = [(row["step"], row["trial_id"]) for row in found if row["op"] == "missing"]
    assert gaps == [("5", "1"), ("5", "3")]
    assert [(row["step"], row["trial_id"]) for row in found if row["is_root"] == "true"] == gaps
    assert [row["step"] for row in found if row["is_manifest"] == "true"] == ["6", "6"]
    first = [(row["step"], row["trial_id"]) for row in found if row["is_first_difference"] == "true"]
    assert first == [("4", "3"), ("6", "1")]


def test_missing_trials_are_listed() -> None:
    found = rows("trials", shop())
    assert len(found) == 28
    assert [row["ref"] for row in found if row["verdict"] == "missing"] == ["L1-003/3"]
    assert [row["task_id"] for row in found][:5] == ["L1-003"] * 4 + ["L1-008"]


def test_pass_k_above_n_is_empty_and_never_zero() -> None:
    found = list(csv.DictReader(io.StringIO(written("report", "csv", shop()))))
    by_id = {row["task_id"]: row for row in found}
    assert by_id["L1-003"]["pass_hat_3"] == "1.0"
    assert by_id["L1-003"]["pass_hat_4"] == ""
    assert by_id["L1-099"]["pass_hat_1"] == ""
    assert by_id["L1-008"]["pass_hat_1"] == "0.0"
    assert float(by_id["L1-061"]["pass_hat_2"]) == pytest.approx(1 / 6)


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r", "＝"])
def test_a_text_never_becomes_a_formula(begin: str) -> None:
    (row,) = csv.reader(io.StringIO(to_csv(["a"], [{"a": f"{begin}1+1"}]).split("\n", 1)[1]))
    assert row[0].startswith("'")
    assert to_tsv(["a"], [{"a": f"{begin}1+1"}]).splitlines()[1].startswith("'")


def test_numbers_stay_numbers() -> None:
    assert to_csv(["a", "b", "c", "d", "e"], [{"a": -1, "b": -0.5, "c": True, "d": None, "e": "-1"}]) == (
        "a,b,c,d,e\n-1,-0.5,true,,'-1\n"
    )


def test_no_cell_of_a_hostile_export_starts_a_formula() -> None:
    for name in COLUMNS:
        for row in rows(name, hostile()):
            for column, value in row.items():
                assert not value.startswith(("=", "+", "-", "@", "\t")), column


def test_tsv_escapes_what_would_break_it() -> None:
    text = to_tsv(["a", "b"], [{"a": "one\ttwo\nthree\\", "b": "x"}])
    assert text == "a\tb\none\\ttwo\\nthree\\\\\tx\n"


def test_csv_keeps_line_breaks_inside_a_cell() -> None:
    text = to_csv(["a"], [{"a": 'one\ntwo,"three"'}])
    assert list(csv.reader(io.StringIO(text))) == [["a"], ['one\ntwo,"three"']]


def test_filters_work_on_rows() -> None:
    assert {row["task_id"] for row in rows("divergences", shop(), choice=Choice(min_grade="B"))} == {"L1-061"}
    assert len(rows("divergences", shop(), choice=Choice(only="abstained"))) == 2
    assert len(rows("divergences", shop(), choice=Choice(limit=3))) == 3
    assert {row["trial_id"] for row in rows("divergences", shop(), choice=Choice(kind="infrastructure"))} == {
        "3"
    }
    assert len(rows("trials", shop(), choice=Choice(tasks=("L1-022",)))) == 4
    assert len(rows("alignment", shop(), choice=Choice(limit=5))) == 5
