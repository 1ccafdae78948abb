"""The fixed list of transforms: what each makes of a value, and what it refuses."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.importers.fixtures import told
from tests.importers.test_mapping import read_map
from trajdiff.importers.transforms import BadValueError, apply_all, transforms_of


def transformed(value: Any, decode: Any, **more: Any) -> Any:
    return apply_all(transforms_of({"decode": decode, **more}, "here"), value)


@pytest.mark.parametrize(
    ("decode", "value", "expected"),
    [
        ("json", '{"a": [1, 2.5, null]}', {"a": [1, 2.5, None]}),
        ("json", {"a": 1}, {"a": 1}),
        ("json", "  ", None),
        ("json5-nan", "[Infinity]", [math.inf]),
        ("int", " 12 ", 12),
        ("int", 3.0, 3),
        ("float", "0.25", 0.25),
        ("iso8601", "2026-03-04T05:06:07Z", "2026-03-04T05:06:07+00:00"),
        ("unix_s", 1700000000, "2023-11-14T22:13:20+00:00"),
        ("unix_s", "1700000000.5", "2023-11-14T22:13:20.500000+00:00"),
        ("unix_ms", 1700000000123, "2023-11-14T22:13:20.123000+00:00"),
        # Nanoseconds of today do not fit a float: the last digits must survive until they are dropped.
        ("unix_ns", "1700000000999999999", "2023-11-14T22:13:20.999999+00:00"),
        ("base64hex", "AQID/w==", "010203ff"),
        ("join_text", ["a", {"type": "text", "text": "b"}], "a\nb"),
        (["json", "int"], '"7"', 7),
    ],
)
def test_a_transform_makes_the_value_that_is_meant(decode: Any, value: Any, expected: Any) -> None:
    made = transformed(value, decode)
    assert made == expected
    assert type(made) is type(expected)


def test_prefixes_and_patterns_take_what_is_wanted() -> None:
    assert transformed("call_7", "strip_prefix", prefix="call_") == "7"
    assert transformed("call_7", "strip_prefix(call_)") == "7"
    assert transformed("other", "strip_prefix", prefix="call_") == "other"
    assert transformed("L1_run_03", "regex", pattern="^(.*)_run_([0-9]+)$") == "L1"
    assert transformed("L1_run_03", "regex(2)", pattern="^(.*)_run_([0-9]+)$") == "03"
    assert transformed("L1_run_03", "regex", pattern="run_[0-9]+") == "run_03"
    assert transformed(["x"], []) == ["x"]
    assert transformed(None, ["json", "int"]) is None


@pytest.mark.parametrize(
    ("decode", "value"),
    [
        ("json", "{cut"),
        ("json", "NaN"),
        ("json5-nan", "[1,"),
        ("int", "1.5"),
        ("int", True),
        ("int", 2.5),
        ("int", math.inf),
        ("float", "high"),
        ("iso8601", "yesterday"),
        ("unix_s", -1),
        ("unix_s", 1e300),
        ("unix_ms", "soon"),
        ("unix_s", math.nan),
        ("base64hex", "not base64!"),
        ("strip_prefix(a)", ["a"]),
    ],
)
def test_a_value_that_does_not_fit_is_refused(decode: str, value: Any) -> None:
    with pytest.raises(BadValueError):
        transformed(value, decode)


def test_a_refused_value_is_told_and_counts_as_not_recorded() -> None:
    table = 'task = "t"\nstarted_at = {path = "s", decode = "unix_s"}'
    corpus = read_map({"t": "a", "s": "soon"}, table)
    assert corpus.trials[0].started_at is None
    warning = told(corpus, "bad_value")
    assert warning.severity == "warning"
    assert "found soon" in warning.message
