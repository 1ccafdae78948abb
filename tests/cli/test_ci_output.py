"""What a workflow gets: one comment with a marker, the step summary, JUnit; cleaned like every file."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import parcel, run, write_records
from trajdiff.cli.github import MOST_BYTES


@pytest.fixture
def runs(here: Path) -> Path:
    """``base`` always passes; in ``new`` one trial of ``box-1`` books another size for ana@example.com."""
    write_records(here / "base" / "p.jsonl", [parcel("box-1", str(n), "pass", "small") for n in range(4)])
    found = [
        parcel("box-1", str(n), "fail" if n == 1 else "pass", "large" if n == 1 else "small") for n in range(4)
    ]
    for entry in found:
        entry["steps"][2]["arguments"]["for"] = "ana@example.com"
    write_records(here / "new" / "p.jsonl", found)
    return here


GATE = ("check", "new", "--baseline", "base", "--fail-on", "new-failure,new-divergence", "--name", "shop")


def test_the_comment_shows_the_steps_of_new_divergences(runs: Path) -> None:
    assert run(*GATE, "--md", "c.md").code == 1
    text = Path("c.md").read_text(encoding="utf-8")
    assert text.startswith("<!-- trajdiff:shop -->\n### trajdiff: shop, 1 task: 2 of 2 gates failed\n")
    assert "<details><summary>box-1, step 3</summary>" in text
    assert '+ 3 book_pickup(parcel_id="P-1", size="large", for="[redacted:email#1]")' in text
    assert "ana@example.com" not in text
    assert "0 accepted" in text
    assert len(text) < 60_000


def test_one_call_can_write_all_of_it(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(runs / "summary.md"))
    made = run(*GATE, "--github", "--md", "c.md", "--junit", "j.xml", "--to", "c.json")
    assert made.code == 1
    assert [line for line in made.err.splitlines() if line.startswith("wrote")] == [
        "wrote   c.json   0 values redacted",
        "wrote   c.md   2 values redacted (2 email)",
        "wrote   j.xml",
        "wrote   the step summary",
    ]
    summary = Path("summary.md").read_text(encoding="utf-8")
    assert summary == Path("c.md").read_text(encoding="utf-8")


def test_a_failure_in_junit_says_where_to_look(runs: Path) -> None:
    run(*GATE, "--junit", "j.xml")
    (case,) = [case for case in ElementTree.parse("j.xml").getroot()[0] if case.get("name") == "box-1"]
    message = case[0].get("message") or ""
    assert "passed 4 of 4, now 3 of 4" in message
    assert "new divergence: agent: book_pickup with another size (A, 1/1 failed, 0/3 passed)" in message
    assert "passed new/p.jsonl#box-1/0@3" not in message or "failed new/p.jsonl#box-1/1@" in message
    assert "failed new/p.jsonl#box-1/1@" in message


@pytest.mark.parametrize(
    "arguments",
    [("report", "new", "--name", "shop"), ("compare", "runs", "base", "new", "--name", "shop"), GATE],
    ids=["report", "compare", "check"],
)
def test_every_command_for_ci_appends_to_the_summary(
    runs: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "GITHUB_STEP_SUMMARY is not set" in run(*arguments, "--github").err
    target = runs / "summary.md"
    target.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(target))
    run(*arguments, "--github")
    assert target.read_text(encoding="utf-8").startswith("before\n<!-- trajdiff:shop -->\n")


def test_a_full_summary_is_left_alone(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = runs / "summary.md"
    target.write_bytes(b"x" * MOST_BYTES)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(target))
    assert "the step summary is full" in run(*GATE, "--github").err
    assert target.stat().st_size == MOST_BYTES


def test_ascii_reaches_the_comment(runs: Path) -> None:
    assert run(*GATE, "--md", "c.md", "--ascii").code == 1
    assert Path("c.md").read_bytes().isascii()


def test_many_new_divergences_keep_to_the_limit(runs: Path) -> None:
    base, new = [], []
    for task in range(60):
        for n in range(4):
            base.append(parcel(f"box-{task}", str(n), "pass", "small"))
            one = parcel(f"box-{task}", str(n), "fail" if n == 1 else "pass", "large" if n == 1 else "small")
            one["steps"][2]["arguments"]["why"] = "so " * 200
            new.append(one)
    write_records(runs / "base" / "p.jsonl", base)
    write_records(runs / "new" / "p.jsonl", new)
    run(*GATE, "--md", "c.md")
    text = Path("c.md").read_text(encoding="utf-8")
    assert len(text) <= 60_000
    assert text.count("<details>") == 5
    assert "steps of 55 new divergences left out" in text
    assert "and 50 more" in text
