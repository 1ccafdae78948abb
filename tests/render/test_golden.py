"""What renderers give for a report made by hand, byte by byte."""

from __future__ import annotations

import difflib

import pytest

from tests.render.golden import CASES, FOLDER


@pytest.mark.parametrize("name", CASES)
def test_output_is_the_golden_one(name: str) -> None:
    expected = (FOLDER / name).read_bytes().decode("utf-8")
    found = CASES[name]()
    lines = difflib.unified_diff(expected.splitlines(), found.splitlines(), "golden", "found", lineterm="")
    assert found == expected, "\n".join(lines)


def test_no_golden_file_is_left_over() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(CASES)


def test_golden_outputs_claim_no_more_than_the_data_hold() -> None:
    phrases = ("caused by", "led to", "because of", "responsible for", "root cause", "the bug", "significant")
    for path in FOLDER.iterdir():
        text = path.read_text(encoding="utf-8").lower()
        assert not [phrase for phrase in phrases if phrase in text], path.name
