"""Equal values are read once, and what is read is what reading them afresh gives."""

from __future__ import annotations

import pytest

from trajdiff.align import readings as module
from trajdiff.align.readings import Readings
from trajdiff.align.values import canonical, leaves


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"id": 1, "rows": [{"a": 2}, {"a": "x"}]}', {"id": 1, "rows": [{"a": 2}, {"a": "x"}]}),
        ("plain words", "plain words"),
        ("12.50", 12.5),
        ("{'x': (1, 2)}", {"x": (1, 2)}),
        ("{broken", "{broken"),
        ("", ""),
    ],
)
def test_a_result_is_what_its_text_says(text: str, value: object) -> None:
    found = Readings().of_result(text)
    assert found.value == value
    assert found.leaves == tuple(leaves(value))
    assert found.canonical(("rows",)) == canonical(value, ("rows",))


def test_equal_texts_share_one_reading() -> None:
    readings = Readings()
    assert readings.of_result('{"a":1}') is readings.of_result('{"a":1}')
    assert readings.of_arguments({"a": 1}) is readings.of_arguments({"a": 1})


def test_values_that_python_calls_equal_stay_apart() -> None:
    readings = Readings()
    shown = [readings.of_arguments({"a": value}).canonical() for value in (1, True, 1.0, "1", None)]
    assert shown == [canonical({"a": value}) for value in (1, True, 1.0, "1", None)]
    assert len(set(shown)) == 3


def test_what_was_read_is_forgotten_before_it_fills_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 100)
    readings = Readings()
    first = readings.of_result("a" * 60)
    assert readings.of_result("b" * 60) is not first
    assert readings.of_result("a" * 60) is not first


@pytest.mark.parametrize(
    ("text", "names", "none"),
    [
        ('{"id":"NEW-7"}', ["new-7"], False),
        ('{"id":"OLD-1"}', ["new-7"], True),
        ('{"id":"NEW\\u002d7"}', ["new-7"], False),
        ('{"id":"ＮＥＷ-7"}', ["new-7"], False),
        ('{"id":"OLD-1"}', [], True),
    ],
)
def test_only_plain_text_is_sure_to_lack_a_name(text: str, names: list[str], none: bool) -> None:
    assert Readings().of_result(text).holds_none_of(names) is none
