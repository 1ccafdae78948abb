"""Recorded text before it is shown: nothing acts on a terminal, nothing is shortened silently."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from trajdiff.render.safety import cells, clean, cut, cut_middle, one_line, preview, shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07rest", "rest"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x9b2Jb", "ab"),
        ("\x1bPdevice\x1b\\x", "x"),
        ("\x1b", ""),
        ("a\x00\x08\x7fb", "ab"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("x\u202ey", "x<U+202E>y"),
        ("x\u2066y\u200f", "x<U+2066>y<U+200F>"),
        ("\ud83d!", "\\ud83d!"),
        ("退款 😀", "退款 😀"),
        ("a\U000e0041b", "a<U+E0041>b"),
    ],
)
def test_clean(text: str, shown: str) -> None:
    assert clean(text) == shown


@given(st.text(alphabet=st.characters(codec=None)))
def test_clean_text_can_be_printed_anywhere(text: str) -> None:
    shown = clean(text)
    shown.encode("utf-8")
    assert all(char in "\n\t" or (ord(char) >= 32 and not 127 <= ord(char) < 160) for char in shown)
    assert clean(shown) == shown


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("short", 20, '"short"'),
        ("I have refunded 49.90 for the damaged lamp today", 40, '"I have refunded 49.9 …" (48 characters)'),
        ("two\n\n lines", 20, '"two lines"'),
        ("退款退款退款退款退款退款退款", 22, '"退款退款退款退款退款…'),
    ],
)
def test_preview(text: str, width: int, shown: str) -> None:
    assert preview(text, width) == shown


def test_a_preview_tells_the_full_length_of_the_recorded_text() -> None:
    text = "word \n " * 100
    assert preview(text, 60).endswith("(700 characters)")
    assert shortened(text, 60).endswith("(700 characters)")
    assert not shortened(text, 60).startswith('"')


@given(st.text(alphabet="ab退😀é ", max_size=80), st.integers(min_value=1, max_value=60))
def test_cutting_keeps_to_the_width(text: str, width: int) -> None:
    assert cells(text) == cell_len(text)
    assert cells(cut(text, width)) <= width
    assert cells(cut_middle(text, width)) <= width
    if cells(text) <= width:
        assert cut(text, width) == cut_middle(text, width) == text


def test_the_middle_of_an_id_goes_first() -> None:
    assert cut_middle("django__django-11848-attempt-7", 15) == "django_…tempt-7"


def test_one_line() -> None:
    assert one_line(" a\t b\n\nc ") == "a b c"
