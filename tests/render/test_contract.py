"""What holds for every renderer, also for one that is added later."""

from __future__ import annotations

import json
import random
from importlib import import_module
from typing import Any

import pytest

from tests.render.made import bare, hostile, shop
from tests.render.views import view_for
from trajdiff.errors import UsageError
from trajdiff.frozen import replace
from trajdiff.render.registry import AT_HAND, SUBJECTS, Renderer, by_name, by_suffix, renderers
from trajdiff.report import Report

ALL = {f"{one.subject}.{one.name}": one for one in renderers()}
#: Characters that no text format may pass on: they steer a terminal, reorder text, or cannot be encoded.
FORBIDDEN = [
    chr(code) for code in (*range(9), *range(11, 32), *range(127, 160), 0x202E, 0x2066, 0x200F, 0xD83D)
]


def text_of(renderer: Renderer, report: Report, **view: Any) -> str:
    made = renderer.render(report, view_for(renderer.subject, report, **view))
    return made if isinstance(made, str) else made.decode("utf-8", "replace")


def test_every_subject_has_text_or_rows() -> None:
    assert {one.subject for one in renderers()} == set(SUBJECTS)
    for subject in ("report", "task", "trials", "unstable", "inspect"):
        names = {one.name for one in renderers() if one.subject == subject}
        assert {"text", "json", "jsonl", "markdown"} <= names
    for subject in ("export-trials", "export-alignment", "export-divergences"):
        names = {one.name for one in renderers() if one.subject == subject}
        assert {"csv", "tsv", "json", "jsonl", "markdown", "html", "xlsx", "parquet"} <= names


def test_suffixes_find_exactly_one_renderer() -> None:
    for one in renderers():
        for suffix in one.suffixes:
            assert by_suffix(one.subject, f"a/b{suffix}") is one
            assert by_suffix(one.subject, f"B{suffix.upper()}") is one
        assert by_name(one.subject, one.name) is one


@pytest.mark.parametrize(("subject", "name"), AT_HAND, ids=" ".join)
def test_renderers_at_hand_are_where_they_are_looked_for(subject: str, name: str) -> None:
    module = import_module(f"trajdiff.render.{AT_HAND[subject, name]}")
    assert ALL[f"{subject}.{name}"] in module.RENDERERS


def test_an_unknown_suffix_lists_the_known_ones() -> None:
    with pytest.raises(UsageError) as caught:
        by_suffix("export-trials", "x.docx")
    assert ".csv .html .json .jsonl .md .parquet .tsv .xlsx" in str(caught.value)


@pytest.mark.parametrize("name", ALL)
def test_equal_reports_give_equal_bytes(name: str) -> None:
    assert text_of(ALL[name], shop()) == text_of(ALL[name], shop())


@pytest.mark.parametrize("name", ALL)
def test_a_report_without_anything_optional_is_rendered(name: str) -> None:
    if ALL[name].subject == "trials":
        pytest.skip("two trials need an aligned table")
    assert isinstance(text_of(ALL[name], bare()), str)


#: Files that are no text have tests of their own.
BINARY = ("xlsx", "parquet")


@pytest.mark.parametrize("name", [name for name in ALL if not name.endswith(BINARY)])
def test_hostile_text_is_harmless(name: str) -> None:
    text = text_of(ALL[name], hostile())
    found = {hex(ord(char)) for char in FORBIDDEN if char in text}
    assert not found
    if ALL[name].name in ("csv", "tsv", "markdown", "text"):
        if ALL[name].subject != "export-alignment":  # there arguments are JSON, in which sequences are escaped
            assert "owned" not in text, "the body of a terminal sequence goes with it"
    elif ALL[name].name in ("json", "jsonl"):
        for line in text.splitlines() if ALL[name].name == "jsonl" else [text]:
            json.loads(line, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    text.encode("utf-8")


@pytest.mark.parametrize("name", [name for name in ALL if name.endswith(".text")])
@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
@pytest.mark.parametrize("report", [shop, hostile], ids=["shop", "hostile"])
def test_no_line_is_wider_than_the_screen(name: str, width: int, report: Any) -> None:
    from rich.cells import cell_len

    text = text_of(ALL[name], report(), width=width)
    wide = [line for line in text.splitlines() if cell_len(line) > width]
    assert not wide


@pytest.mark.parametrize("name", [name for name in ALL if name.endswith(".text")])
def test_colour_changes_no_character(name: str) -> None:
    import re

    plain = text_of(ALL[name], shop())
    coloured = text_of(ALL[name], shop(), color=True)
    assert "\x1b" not in plain
    assert "\x1b[" in coloured
    without = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in without.splitlines()] == plain.splitlines()


@pytest.mark.parametrize("name", [name for name in ALL if name.endswith(".text")])
def test_ascii_marks_make_ascii_output(name: str) -> None:
    from trajdiff.render.marks import ASCII

    text = text_of(ALL[name], shop(), marks=ASCII, full=True, show_all=True)
    assert text.isascii()


@pytest.mark.parametrize(
    "name", ["export-divergences.jsonl", "export-trials.csv", "export-alignment.csv", "unstable.json"]
)
def test_rows_have_an_order_of_their_own(name: str) -> None:
    """Tasks in another order in the report give the same rows: exports are in natural order."""
    report = shop()
    tasks = list(report.tasks)
    random.Random(7).shuffle(tasks)
    other = replace(report, tasks=tuple(tasks))
    assert tasks != list(report.tasks)
    assert text_of(ALL[name], other) == text_of(ALL[name], report)


def test_two_renderers_of_one_name_are_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    from trajdiff.render import delimited

    monkeypatch.setattr(delimited, "RENDERERS", delimited.RENDERERS[:1] * 2)
    with pytest.raises(RuntimeError, match="two renderers share a name"):
        renderers.__wrapped__()
