"""The accept list and the ignore rules: they show where they fired, expire, and fail no gate."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import parcel, run, write_records

ENTRY = '[[accept]]\ntask = "box-*"\nkind = "wrong_argument"\ntool = "book_*"\nwhy = "either size will do"\n'


def settings(here: Path, text: str) -> None:
    (here / "trajdiff.toml").write_text(text, encoding="utf-8")


@pytest.fixture(autouse=True)
def _day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1798761600")  # 2027-01-01


def test_an_accepted_divergence_stays_visible(here: Path) -> None:
    settings(here, ENTRY)
    report = run("report")
    assert "[accepted] agent: book_pickup with another size" in report.out
    line = "accept entry 1 (box-*, wrong_argument, book_*) accepted 2 divergences: either size will do"
    assert line in report.out.replace("\n", " ")
    assert "accepted             either size will do" in run("compare", "task", "box-1").out
    made = run("report", "--json").json
    assert line in made["rules"]
    task = next(one for one in made["tasks"] if one["task_id"] == "box-1")
    assert {one["accepted"] for one in task["divergences"]} == {"either size will do"}
    assert line.replace("*", "\\*").replace("_", "\\_") in run("report", "--format", "markdown").out


def test_it_fails_no_gate(here: Path) -> None:
    write_records(here / "base" / "p.jsonl", [parcel("box-1", str(n), "pass", "small") for n in range(4)])
    write_records(
        here / "new" / "p.jsonl",
        [
            parcel("box-1", str(n), "fail" if n == 1 else "pass", "large" if n == 1 else "small")
            for n in range(4)
        ],
    )
    gate = ("check", "new", "--baseline", "base", "--fail-on", "new-divergence")
    assert run(*gate).code == 1
    settings(here, ENTRY)
    assert run(*gate).code == 0


def test_an_entry_expires_after_its_day(here: Path) -> None:
    settings(here, ENTRY + "until = 2027-01-01\n")
    assert "[accepted]" in run("report").out
    settings(here, ENTRY + "until = 2026-12-31\n")
    made = run("report")
    assert "[accepted]" not in made.out
    told = "accept entry 1 (box-*, wrong_argument, book_*) expired on 2026-12-31 and no longer applies"
    assert f"warning: {told}" in made.err
    assert made.err.count(told) == 1


def test_an_entry_that_matches_nothing_is_told(here: Path) -> None:
    settings(here, ENTRY.replace("book_*", "send_*"))
    assert "warning: accept entry 1 (box-*, wrong_argument, send_*) matches nothing: stale" in run("report").err
    assert "stale" not in run("compare", "task", "box-2").err, "its tasks may be others"


def test_ignore_rules_count_what_they_hid(here: Path) -> None:
    settings(
        here, '[ignore]\narguments = ["*.size", "*.nothing"]\nresults = ["*.at"]\ntools = ["get_parcel"]\n'
    )
    found = [parcel("box-1", str(n), "fail" if n == 3 else "pass", "small") for n in range(4)]
    found[1]["steps"][2]["arguments"]["size"] = "large"
    found[2]["steps"][2]["result"]["at"] = "10:00"
    write_records(here / "traces" / "parcels.jsonl", found)
    rules = run("report", "--json").json["rules"]
    assert rules == [
        "ignore tools get_parcel: 4 calls left out (get_parcel 4)",
        "ignore arguments *.size: 1 difference hidden (book_pickup 1)",
        "ignore arguments *.nothing: nothing hidden",
        "ignore results *.at: 1 difference hidden (book_pickup 1)",
    ]
    assert rules[0] in run("report").out
