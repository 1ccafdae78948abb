"""The canonical form of values: what counts as the same argument."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajdiff.align.values import (
    MAX_DEPTH,
    canonical,
    canonical_and_leaves,
    changed_paths,
    leaves,
    only_left,
    parse_embedded,
    words,
)

SAME = [
    ("an integer and its float", 1, 1.0),
    ("a number and its text", {"amount": 49.9}, {"amount": "49.90"}),
    ("key order", {"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ("a stringified object", {"a": {"b": [1, 2]}}, {"a": '{"b": [1, 2]}'}),
    ("a Python literal", {"a": {"b": True}}, {"a": "{'b': True}"}),
    ("a set of ids", {"ids": ["A1", "B2"]}, {"ids": ["B2", "A1"]}),
    ("case and spaces", {"name": "Ann  Smith "}, {"name": "ann smith"}),
    ("full-width forms", {"id": "Ａ１００１"}, {"id": "A1001"}),
    ("an absent optional argument", {"a": 1, "b": None}, {"a": 1}),
    ("request ids", {"a": 1, "request_id": "x"}, {"a": 1, "request_id": "y"}),
    ("parallel lists in another order", {"item_ids": ["1", "2"], "new_item_ids": ["8", "9"]},
     {"item_ids": ["2", "1"], "new_item_ids": ["9", "8"]}),
    ("objects in a list", [{"id": 1}, {"id": 2}], [{"id": 2}, {"id": 1}]),
]  # fmt: skip

DIFFERENT = [
    ("true and one", {"a": True}, {"a": 1}),
    ("ids with leading zeros", {"zip": "01234"}, {"zip": "1234"}),
    ("amounts", {"amount": 49.9}, {"amount": 99.8}),
    ("multiplicity", {"ids": ["A1", "A1"]}, {"ids": ["A1"]}),
    ("parallel lists paired otherwise", {"item_ids": ["1", "2"], "new_item_ids": ["8", "9"]},
     {"item_ids": ["1", "2"], "new_item_ids": ["9", "8"]}),
    ("sentences in another order", {"steps": ["open the box at once", "then close the box again"]},
     {"steps": ["then close the box again", "open the box at once"]}),
    ("null and the word null in a list", [None], []),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), [c[1:] for c in SAME], ids=[c[0] for c in SAME])
def test_same(left: Any, right: Any) -> None:
    assert canonical(left) == canonical(right)
    assert changed_paths(left, right) == ()


@pytest.mark.parametrize(("left", "right"), [c[1:] for c in DIFFERENT], ids=[c[0] for c in DIFFERENT])
def test_different(left: Any, right: Any) -> None:
    assert canonical(left) != canonical(right)
    assert changed_paths(left, right)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_a_value_equals_itself_written_as_text(value: Any) -> None:
    text = json.dumps(value)
    assert canonical(value) == canonical(json.loads(text))
    if isinstance(value, (dict, list)):
        assert canonical({"a": value}) == canonical({"a": text})


@given(JSON, JSON)
def test_paths_change_exactly_where_the_canonical_form_does(left: Any, right: Any) -> None:
    assert bool(changed_paths(left, right)) == (canonical(left) != canonical(right))


@given(st.dictionaries(st.sampled_from("abcdef"), JSON, max_size=5))
def test_ignored_paths_never_differ(value: dict[str, Any]) -> None:
    other = {**value, "noise": 1}
    assert changed_paths(value, other, ("noise",)) == ()
    assert canonical(value, ("noise",)) == canonical(other, ("noise",))


def test_leaves_name_their_place() -> None:
    value = {"order": {"id": "A1", "lines": [{"sku": "x", "n": 2}]}}
    assert list(leaves(value)) == [("order.id", "a1"), ("order.lines[].n", "2"), ("order.lines[].sku", "x")]


def test_only_left_is_a_multiset_difference() -> None:
    assert only_left({"ids": ["a", "a", "b"]}, {"ids": ["a"]}) == (("ids[]", "a"), ("ids[]", "b"))


def test_words_of_identifiers() -> None:
    assert words("getOrder_v2") == ("get", "order", "v", "2")
    assert words("HTTPServer-find") == ("http", "server", "find")
    assert words("查询订单") == ("查询订单",)


@pytest.mark.parametrize("text", ["[1, 2", "{not json}", "", "[" * 5000 + "]" * 5000])
def test_text_that_only_looks_like_json_stays_text(text: str) -> None:
    assert parse_embedded(text) == text


_KEYS = st.sampled_from(["a", "a1", "ids", "new_ids", "request_id", "id", "é", "1"])
_PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(['{"a": 1}', "[1, 2]"]),
)
_NESTED = st.recursive(
    _PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(_KEYS, inner, max_size=5),
        st.dictionaries(st.sampled_from([1, "1", True, None, "x"]), inner, max_size=3),
    ),
    max_leaves=12,
)


@given(_NESTED)
def test_one_reading_gives_the_canonical_form_and_the_leaves(value: object) -> None:
    assert canonical_and_leaves(value) == (canonical(value), tuple(leaves(value)))


def test_values_nested_too_deeply_are_read_as_they_are_apart() -> None:
    deep: object = "x"
    for _ in range(MAX_DEPTH + 4):
        deep = {"a": [deep]}
    assert canonical_and_leaves(deep) == (canonical(deep), tuple(leaves(deep)))
