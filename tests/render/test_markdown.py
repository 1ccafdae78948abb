"""Markdown that is posted as a comment: it mentions nobody, breaks no table and stays within the limit."""

from __future__ import annotations

import re

import pytest

from tests.render.made import hostile, lamp, report, shop
from tests.render.views import view_for
from trajdiff.frozen import replace
from trajdiff.render.markdown import BUDGET, within
from trajdiff.render.markdown_text import cell, code, fence
from trajdiff.render.marks import ASCII
from trajdiff.render.registry import by_name
from trajdiff.report import Report


def written(subject: str, made: Report, **view: object) -> str:
    out = by_name(subject, "markdown").render(made, view_for(subject, made, **view))
    assert isinstance(out, str)
    return out


def test_the_marker_is_the_first_line_and_holds_the_name() -> None:
    assert written("report", shop()).startswith("<!-- trajdiff:report -->\n### trajdiff: 7 tasks")
    named = replace(shop(), name="shop --> <b>2")
    assert written("report", named).startswith("<!-- trajdiff:shop----b-2 -->\n")


def test_every_table_row_has_as_many_cells_as_its_header() -> None:
    for made in (shop(), hostile()):
        for subject in ("report", "unstable", "inspect"):
            rows = [line for line in written(subject, made).splitlines() if line.startswith("|")]
            assert rows
            header = 0
            for line in rows:
                count = len(re.findall(r"(?<!\\)\|", line))
                header = count if header == 0 or "---" in line else header
                assert count in (
                    header,
                    *(len(re.findall(r"(?<!\\)\|", other)) for other in rows if "---" in other),
                )


@pytest.mark.parametrize("subject", ["report", "task", "trials", "unstable", "inspect"])
def test_hostile_text_mentions_nobody_and_is_no_html(subject: str) -> None:
    text = written(subject, hostile())
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text, flags=re.S)
    assert "@everyone" not in outside
    assert "<script" not in outside.replace("<!--", "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", "a\\|b"),
        ("*x* _y_", "\\*x\\* \\_y\\_"),
        ("<img>", "&lt;img&gt;"),
        ("@all", "@&#8203;all"),
        ("see #12 and x/y#3", "see \\#&#8203;12 and x/y\\#&#8203;3"),
        ("GH-7", "GH&#8203;-7"),
        ("https://x.org www.x.org", "https:&#8203;//x.org www&#8203;.x.org"),
        ("line\nbreak", "line break"),
    ],
)
def test_cells_are_defused(text: str, shown: str) -> None:
    assert cell(text) == shown


def test_code_spans_and_fences_are_longer_than_what_they_hold() -> None:
    assert code("a`b") == "``a`b``"
    assert code("`x`") == "`` `x` ``"
    assert fence(["```", "x"], "diff") == "````diff\n```\nx\n````"


def test_at_most_ten_rows_then_a_count() -> None:
    tasks = tuple(replace(lamp(), task_id=f"T-{i}") for i in range(25))
    text = written("report", report(tasks))
    assert len(re.findall(r"^\| `T-\d+`", text, flags=re.M)) == 10
    assert "and 15 more" in text
    assert len(re.findall(r"^\| `T-\d+`", written("report", report(tasks), show_all=True), flags=re.M)) == 25


def test_a_comment_that_is_too_long_loses_details_first() -> None:
    made = lamp()
    lead = replace(made.finding.divergences[0], sentence="long " * 4000)
    finding = replace(made.finding, lead=lead, divergences=(lead,))
    tasks = tuple(replace(made, task_id=f"T-{i}", finding=finding) for i in range(8))
    text = written("report", report(tasks))
    assert len(text) <= BUDGET
    assert "<details>" not in text
    assert "step details of 8 tasks left out" in text
    assert text.startswith("<!-- trajdiff:report -->\n### trajdiff: 8 tasks")


def test_what_github_decodes_still_mentions_and_links_nothing() -> None:
    """Entities are decoded before mentions are looked for, so a character must stand in between."""
    import html

    shown = html.unescape(cell("@octocat fixes #1, GH-2, http://x.org")).replace("\\", "")
    assert not re.search(r"@\w|#\d|GH-\d|://", shown)
    assert shown.replace("\u200b", "") == "@octocat fixes #1, GH-2, http://x.org"


@pytest.mark.parametrize("subject", ["report", "task", "trials", "unstable", "inspect"])
def test_ascii_markdown_is_ascii(subject: str) -> None:
    assert written(subject, shop(), marks=ASCII).isascii()


def test_whatever_is_in_it_a_comment_keeps_to_the_limit() -> None:
    made = lamp()
    lead = replace(made.finding.divergences[0], headline="long " * 9000)
    finding = replace(made.finding, lead=lead, divergences=(lead,))
    tasks = tuple(replace(made, task_id=f"T-{i}", finding=finding) for i in range(3))
    text = written("report", report(tasks))
    assert len(text) <= BUDGET
    assert "characters left out: a comment holds 60000" in text
    cut = within("a\n```diff\n" + "- x\n" * 40_000)
    assert len(cut) <= BUDGET
    assert len(re.findall(r"^```", cut, flags=re.M)) == 2
    folded = within("<details><summary>x</summary>\n" + "y\n" * 40_000)
    assert folded.count("</details>") == 1


def test_the_table_of_tasks_agrees_with_the_text() -> None:
    text = written("report", shop())
    assert "| `L1-061` | ✓✗✓✗ | 0.50 | 0.00 | A ◆ 5→6 agent: check\\_permission missing | 2/2 | 0/2 |" in text
    assert '- 6 refund_item(item_id="LAMP-2", amount=49.9)' in text
    assert '+ 6 refund_item(item_id="LAMP-2", amount=99.8)' in text
