"""``export``: every table in every format, the columns asked for, what is hidden, and what is said."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import openpyxl
import pytest

from tests.cli.conftest import parcel, records, run, write_records
from trajdiff.render.table_columns import MEANINGS, known_columns

pq = pytest.importorskip("pyarrow.parquet")

TABLES = ("alignment", "divergences", "report", "trials")


@pytest.mark.parametrize("name", TABLES)
def test_every_suffix_holds_the_same_rows(name: str, here: Path) -> None:
    for suffix in ("csv", "tsv", "jsonl", "json", "xlsx", "parquet", "md", "html"):
        made = run("export", name, "--to", f"t.{suffix}")
        assert made.code == 0, made.err
        assert made.out == ""
    rows = list(csv.reader(io.StringIO(Path("t.csv").read_text(encoding="utf-8"))))
    count = len(rows) - 1
    assert count > 0
    assert len(Path("t.tsv").read_text(encoding="utf-8").splitlines()) - 1 == count
    assert len(Path("t.jsonl").read_text(encoding="utf-8").splitlines()) == count
    document = json.loads(Path("t.json").read_text(encoding="utf-8"))
    assert len(document["tasks"] if name == "report" else document) == count
    page = openpyxl.load_workbook("t.xlsx").worksheets[0]
    assert page.max_row - 1 == count
    frame = pq.read_table("t.parquet")
    assert frame.num_rows == count
    assert frame.column_names == rows[0]
    assert sorted(cell.value for cell in page[1]) == sorted(rows[0])


def test_the_note_says_what_was_written(here: Path) -> None:
    made = run("export", "alignment", "--task", "box-1", "--to", "a.csv", terminal=True)
    assert "wrote   a.csv   24 rows (6 steps × 4 trials)   0 values redacted\n" in made.err
    assert "next    trajdiff compare task box-1\n" in made.err
    made = run("export", "divergences", "--task", "box-1", "--to", "r.xlsx", terminal=True)
    assert "wrote   r.xlsx   2 failing trials of 1 task (2 divergences)   0 values redacted\n" in made.err
    assert "trajdiff review import r.xlsx\n" in made.err


def test_columns_are_chosen_checked_and_listed(here: Path) -> None:
    made = run("export", "divergences", "--columns", "grade,row_id", "--format", "csv", "--to", "-")
    assert made.out.splitlines()[0] == "grade,row_id"
    assert json.loads(
        run("export", "trials", "--columns", "verdict,ref", "--format", "jsonl", "--to", "-").out.splitlines()[
            0
        ]
    ).keys() == {"verdict", "ref"}
    wrong = run("export", "divergences", "--columns", "grad", "--to", "x.csv")
    assert (wrong.code, wrong.err.splitlines()[:2]) == (
        2,
        ["error: no column grad in the table divergences", "  did you mean grade?"],
    )
    for name in TABLES:
        listed = run("export", name, "--list-columns")
        assert listed.code == 0
        assert [line.split("  ")[0] for line in listed.out.splitlines()] == list(known_columns(name))
    assert run("export", "report", "--columns", "pass_hat_2", "--format", "csv", "--to", "-").out.startswith(
        "pass_h"
    )


def test_every_column_has_a_meaning() -> None:
    assert set(MEANINGS) == {column for name in TABLES for column in known_columns(name)}


def test_a_csv_for_excel_begins_with_a_byte_order_mark(here: Path) -> None:
    run("export", "trials", "--to", "a.csv")
    run("export", "trials", "--excel", "--to", "b.csv")
    assert b"\xef\xbb\xbf" + Path("a.csv").read_bytes() == Path("b.csv").read_bytes()


def test_what_leaves_is_redacted_unless_told_otherwise(here: Path) -> None:
    found = [parcel("box-1", str(n), "fail" if n else "pass", "large" if n else "small") for n in range(2)]
    for entry in found:
        entry["steps"][0]["text"] = "I am ana@example.com, card 4111 1111 1111 1111."
        entry["steps"][1]["arguments"]["password"] = "tr0ub4dor"
    write_records(here / "traces" / "parcels.jsonl", found)
    secrets = ("ana@example.com", "4111", "tr0ub4dor")
    for suffix in ("csv", "tsv", "json", "jsonl", "md", "html"):
        made = run("export", "alignment", "--to", f"a.{suffix}")
        text = Path(f"a.{suffix}").read_text(encoding="utf-8")
        assert not [word for word in secrets if word in text], suffix
        if suffix not in ("md", "html"):  # there the greeting is folded away
            assert "values redacted (" in made.err, made.err
            assert "redacted:email" in text
            run("export", "alignment", "--no-redact", "--to", f"b.{suffix}")
            assert "ana@example.com" in Path(f"b.{suffix}").read_text(encoding="utf-8")
    run("export", "alignment", "--to", "a.parquet")
    run("export", "alignment", "--to", "a.xlsx")
    assert not any(word in str(pq.read_table("a.parquet").to_pylist()) for word in secrets)
    cells = [
        c.value for page in openpyxl.load_workbook("a.xlsx").worksheets for row in page.iter_rows() for c in row
    ]
    assert not any(word in str(cells) for word in secrets)
    assert "6 values redacted (2 card, 2 email, 2 secret)" in cells
    assert "not redacted" in run("export", "trials", "--no-redact", "--to", "t.csv").err
    assert run("export", "trials", "--no-redact", "--redact", "--to", "t.csv").code == 2
    assert "ana@example.com" in run("compare", "task", "box-1", "--full").out
    assert "ana@example.com" not in run("compare", "task", "box-1", "--full", "--redact").out
    assert "ana@example.com" not in run("compare", "task", "box-1", "--format", "markdown", "--full").out


def test_own_patterns_and_switches_of_the_settings(here: Path) -> None:
    (here / "trajdiff.toml").write_text('[redact]\npatterns = ["P-[0-9]+"]\n', encoding="utf-8")
    made = run("export", "alignment", "--task", "box-1", "--to", "a.csv")
    assert "custom)" in made.err
    assert "P-1" not in Path("a.csv").read_text(encoding="utf-8")


def test_without_content_only_the_shape_is_left(here: Path) -> None:
    write_records(here / "traces" / "parcels.jsonl", records())
    run("export", "alignment", "--task", "box-1", "--no-content", "--to", "a.csv")
    text = Path("a.csv").read_text(encoding="utf-8")
    assert "book_pickup" in text
    assert not [word for word in ("P-1", "small", "large", "picked up", "booked") if f'"{word}' in text]
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["arguments"] for row in rows} == {""}
    assert {row["result"] for row in rows} == {""}
    assert any(row["is_root"] == "true" for row in rows)
    shown = run("report", "--no-content").out
    assert "wrong argument at book_pickup" in shown
    assert "size" not in shown
