"""From an exported workbook through a reviewer's hands and back, by the command line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import openpyxl
import pytest

from tests.cli.conftest import parcel, records, run, write_records

KEPT = "trajdiff.reviews.jsonl"


def fill(path: str, *rows: dict[str, str], change: Callable[[Any], None] | None = None) -> None:
    """Types into the first rows of the review sheet, the way a person does."""
    book = openpyxl.load_workbook(path)
    page = book["Review"]
    names = [cell.value for cell in page[1]]
    for number, row in enumerate(rows, 2):
        for column, value in row.items():
            page.cell(number, names.index(column) + 1).value = value
    if change is not None:
        change(page)
    book.save(path)


def kept(path: str = KEPT) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def workbook(here: Path) -> str:
    assert run("export", "divergences", "--only", "mixed", "--to", "review.xlsx").code == 0
    return "review.xlsx"


def test_a_workbook_filled_sorted_and_widened_comes_back_complete(workbook: str) -> None:
    def rearrange(page: Any) -> None:
        rows = [[cell.value for cell in row] for row in page.iter_rows(min_row=2)]
        for number, row in enumerate(reversed(rows), 2):
            for at, value in enumerate(row, 1):
                page.cell(number, at).value = value
        page.insert_cols(1)
        page.cell(1, 1).value = "mine"
        page.insert_rows(1)
        page.cell(1, 1).value = "Please fill in"

    fill(
        workbook,
        {"review_verdict": "agree", "review_category": "agent", "reviewer": "ana", "review_note": "clear"},
        {"review_verdict": " Disagree ", "review_ref": "box-1/3@1", "reviewer": "ana"},
        change=rearrange,
    )
    made = run("review", "import", workbook)
    assert made.code == 0
    assert made.out == "verdicts   agree 1 · disagree 1 · unsure 0\nagree by grade   A 1 of 2\n"
    assert "read    review.xlsx   2 rows, 2 with a verdict, 2 of 2 found by row id\n" in made.err
    assert f"wrote   {KEPT}   2 verdicts\n" in made.err
    first, second = kept()
    assert (first["trial_id"], first["verdict"], first["note"], first["category"]) == (
        "1",
        "agree",
        "clear",
        "agent",
    )
    assert (second["trial_id"], second["verdict"], second["ref"]) == ("3", "disagree", "box-1/3@1")


def test_importing_twice_changes_nothing_and_a_later_verdict_replaces(workbook: str) -> None:
    fill(workbook, {"review_verdict": "unsure", "reviewer": "ana"})
    run("review", "import", workbook)
    before = Path(KEPT).read_bytes()
    again = run("review", "import", workbook)
    assert Path(KEPT).read_bytes() == before
    assert "holds these verdicts already" in again.err
    fill(workbook, {"review_verdict": "agree", "reviewer": "ana"})
    run("review", "import", workbook)
    fill(workbook, {"review_verdict": "disagree", "reviewer": "ben"})
    run("review", "import", workbook)
    assert [(one["reviewer"], one["verdict"]) for one in kept()] == [("ana", "agree"), ("ben", "disagree")]


def test_later_reports_of_the_same_logs_show_the_verdict(workbook: str) -> None:
    fill(workbook, {"review_verdict": "agree", "reviewer": "ana"}, {"review_verdict": "unsure"})
    run("review", "import", workbook)
    report = run("report")
    assert "◆ 3 [agree] agent: book_pickup" in report.out
    assert "reviews: agree 1 · disagree 0 · unsure 1\n" in report.out
    assert "agree by grade: A 1 of 1\n" in report.out
    assert "agree by grade: A 1 of 1" in run("report", "--format", "markdown").out
    assert "reviewed             agree by ana\n" in run("compare", "task", "box-1").out
    task = next(one for one in run("report", "--json").json["tasks"] if one["task_id"] == "box-1")
    note = {"category": None, "note": None, "ref": None, "carried": False}
    assert [one["reviews"] for one in task["divergences"]] == [
        [{"verdict": "agree", "reviewer": "ana", **note}],
        [{"verdict": "unsure", "reviewer": None, **note}],
    ]
    run("export", "divergences", "--only", "mixed", "--to", "again.csv")
    rows = list(csv.DictReader(io.StringIO(Path("again.csv").read_text(encoding="utf-8"))))
    assert [(row["review_verdict"], row["reviewer"]) for row in rows] == [("agree", "ana"), ("unsure", "")]


def test_a_rerun_carries_the_verdict_to_the_same_divergence(workbook: str, here: Path) -> None:
    fill(workbook, {"review_verdict": "agree", "reviewer": "ana"})
    run("review", "import", workbook)
    rerun = [
        parcel("box-1", str(n), "fail" if n == 2 else "pass", "large" if n == 2 else "small") for n in range(4)
    ]
    write_records(here / "traces" / "parcels.jsonl", rerun)
    report = run("report")
    assert "◆ 3 [agree, carried] agent: book_pickup" in report.out
    assert "reviews: agree 1 · disagree 0 · unsure 0 (1 carried from an earlier run)\n" in report.out
    assert "agree by grade" not in report.out, "a carried verdict says nothing about this run's precision"
    assert "agree by ana (carried from an earlier run)" in run("compare", "task", "box-1").out
    other = [
        parcel("box-1", str(n), "fail" if n == 2 else "pass", "small", started_at=str(n)) for n in range(4)
    ]
    other[2]["steps"] = other[2]["steps"][:2]
    write_records(here / "traces" / "parcels.jsonl", other)
    report = run("report")
    assert "[agree" not in report.out
    assert "reviews: 1 verdict belongs to no divergence of this report (stale): box-1/1" in report.out


def test_stale_rows_are_kept_and_edited_facts_are_told(workbook: str) -> None:
    def edit(page: Any) -> None:
        names = [cell.value for cell in page[1]]
        page.cell(2, names.index("grade") + 1).value = "C"
        page.cell(3, names.index("row_id") + 1).value = "d-0000000000"

    fill(workbook, {"review_verdict": "agree"}, {"review_verdict": "agree"}, change=edit)
    made = run("review", "import", workbook)
    assert made.code == 0
    assert "2 rows, 2 with a verdict, 1 of 2 found by row id" in made.err
    assert "warning: not in these traces any more (stale, kept):\n  box-1/3\n" in made.err
    assert "warning: changed in the file, not used:\n  Review!D2: C in the file, A in the report\n" in made.err
    assert [one["row_id"] == "d-0000000000" for one in kept()].count(True) == 1
    assert kept()[-1].get("grade") == "A" or kept()[0].get("grade") == "A"


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ({"review_verdict": "agre"}, 'Review!L2: "agre" is not in the list; did you mean agree?'),
        (
            {"review_verdict": "agree", "review_category": "gremlin"},
            'Review!M2: "gremlin" is not in the list; one of: ',
        ),
        (
            {"review_verdict": "disagree", "review_ref": "box-2/0@1"},
            'Review!N2: "box-2/0@1" is no place in task box-1',
        ),
        ({"review_verdict": "disagree", "review_ref": "99"}, "Review!N2: task box-1 has no step 99"),
    ],
)
def test_a_bad_value_names_its_cell_and_nothing_is_kept(
    typed: dict[str, str], told: str, workbook: str
) -> None:
    fill(workbook, typed, {"review_verdict": "agree"})
    made = run("review", "import", workbook)
    assert made.code == 3
    assert told in made.err
    assert "nothing was kept" in made.err
    assert not Path(KEPT).exists()


def test_a_step_number_becomes_a_place_in_the_log(workbook: str) -> None:
    fill(workbook, {"review_verdict": "disagree", "review_ref": "step 2"})
    run("review", "import", workbook)
    assert kept()[0]["ref"] == "box-1/1@1"


def test_a_note_without_a_verdict_is_told(workbook: str) -> None:
    fill(workbook, {"review_note": "hm"}, {"review_verdict": "agree"})
    made = run("review", "import", workbook)
    assert "warning: a note without a verdict, not kept:\n  Review!row 2\n" in made.err
    assert len(kept()) == 1


def test_exit_codes(workbook: str, here: Path) -> None:
    assert run("review", "import", "none.xlsx").code == 2
    (here / "no.xlsx").write_bytes(b"PK\x03\x04 not a workbook")
    assert run("review", "import", "no.xlsx").code == 3
    empty = run("review", "import", workbook).err
    assert empty.count("no row has a verdict") == 1
    assert "fill in the column review_verdict: agree, disagree, unsure" in empty
    fill(workbook, {"review_verdict": "disagree"})
    assert run("review", "import", workbook).code == 0
    assert run("review", "import", workbook, "--exit-code").code == 1
    write_records(
        here / "other" / "t.jsonl", [parcel("x", "0", "pass", "small"), parcel("x", "1", "fail", "big")]
    )
    none = run("review", "import", workbook, "other")
    assert none.code == 3
    assert "none of 1 verdicts belongs to these traces" in none.err


@pytest.mark.parametrize("name", ["r.csv", "r.tsv", "r.json", "r.jsonl"])
def test_other_formats_come_back_too(name: str, here: Path) -> None:
    run("export", "divergences", "--only", "mixed", "--to", name)
    path = Path(name)
    text = path.read_text(encoding="utf-8")
    if name.endswith(("json", "jsonl")):
        rows = [json.loads(line) for line in text.splitlines()] if name == "r.jsonl" else json.loads(text)
        rows[1] |= {"review_verdict": "agree", "review_note": "two\nlines"}
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        path.write_text(lines if name == "r.jsonl" else json.dumps(rows), encoding="utf-8")
    else:
        mark = "," if name == "r.csv" else "\t"
        rows = list(csv.DictReader(io.StringIO(text), delimiter=mark))
        rows[1] |= {"review_verdict": "agree", "review_note": "two\nlines" if mark == "," else "two\\nlines"}
        out = io.StringIO()
        # A spreadsheet program of another language writes semicolons.
        writer = csv.DictWriter(out, list(rows[0]), delimiter=";" if mark == "," else "\t")
        writer.writeheader()
        writer.writerows(rows)
        path.write_text(out.getvalue(), encoding="utf-8-sig")
    made = run("review", "import", name)
    assert made.code == 0, made.err
    assert [(one["trial_id"], one["verdict"], one["note"]) for one in kept()] == [("3", "agree", "two\nlines")]


def test_the_file_of_the_settings_is_used_and_is_no_log(here: Path) -> None:
    (here / "trajdiff.toml").write_text('reviews = "traces/own.reviews.jsonl"\n', encoding="utf-8")
    run("export", "divergences", "--only", "mixed", "--to", "r.xlsx")
    fill("r.xlsx", {"review_verdict": "agree"})
    assert run("review", "import", "r.xlsx").code == 0
    assert len(kept("traces/own.reviews.jsonl")) == 1
    assert "◆ 3 [agree] agent: book_pickup" in run("report").out
    assert "own.reviews" not in run("inspect").out


def test_verdicts_lie_beside_the_traces_that_are_named(here: Path) -> None:
    write_records(here / "runs" / "night" / "p.jsonl", records())
    run("export", "divergences", "runs/night", "--to", "r.xlsx")
    fill("r.xlsx", {"review_verdict": "agree"})
    assert run("review", "import", "r.xlsx", "runs/night").code == 0
    assert len(kept(f"runs/{KEPT}")) == 1
    assert "◆ 3 [agree] agent: book_pickup" in run("report", "runs/night").out
    assert "[agree" not in run("report").out


def test_a_broken_file_of_verdicts_names_the_line(here: Path) -> None:
    Path(KEPT).write_text('{"schema":"trajdiff.review/1","row_id":"d-1"}\n', encoding="utf-8")
    made = run("report")
    assert (made.code, f"error: {KEPT}: line 1: task_id is missing" in made.err) == (3, True)


def test_what_is_judged_no_failure_is_proposed_for_the_accept_list(workbook: str, here: Path) -> None:
    fill(
        workbook,
        {"review_verdict": "disagree", "review_category": "not a failure", "review_note": 'fits "both"'},
    )
    made = run("review", "import", workbook)
    entry = made.out.split("write into the settings:\n")[1]
    (here / "trajdiff.toml").write_text(entry, encoding="utf-8")
    report = run("report")
    assert "[accepted]" in report.out
    assert 'accepted 2 divergences: fits "both"' in report.out


def test_json_fits_its_schema(workbook: str, project: Path) -> None:
    fill(workbook, {"review_verdict": "agree"})
    schema = json.loads((project / "schemas" / "review-import.schema.json").read_text(encoding="utf-8"))
    document = run("review", "import", workbook, "--json").json
    jsonschema.validate(document, schema)
    assert document["by_grade"] == {"A": {"agree": 1, "disagree": 0, "unsure": 0}}
