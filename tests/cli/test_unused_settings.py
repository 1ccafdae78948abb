"""Settings that match nothing in the traces are told, so that a slip in a pattern is seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import run

USED = """
[tools]
"book_*" = "write"
[steps]
"look" = "get_parcel"
"small" = {tool = "book_pickup", arguments = {size = "sm*"}}
[[gate]]
name = "g"
tool = "book_pickup"
needs = "get_parcel"
[ignore]
tools = ["get_parcel"]
arguments = ["*.parcel_id"]
results = ["book_pickup.status"]
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"book_*"', '"bok_pickup"', 'tools: no tool "bok_pickup"; near: book_pickup'),
        ('"get_parcel"\n"small"', '"get_parcels"\n"small"', 'steps "look": no tool "get_parcels"'),
        ('"sm*"', '"huge"', 'steps "small": no call of book_pickup has these arguments'),
        ('tools = ["get_parcel"]', 'tools = ["think"]', 'ignore.tools: no tool "think"'),
        ('"*.parcel_id"', '"*.parcelid"', 'ignore.arguments: nothing at "*.parcelid"'),
        ('"book_pickup.status"', '"get_parcel.status"', 'ignore.results: nothing at "get_parcel.status"'),
        ('needs = "get_parcel"', 'needs = "get_box"', 'gate g: no tool "get_box"'),
        ('tool = "book_pickup"\nneeds', 'tool = "send"\nneeds', 'gate g: no tool "send"'),
    ],
)
@pytest.mark.parametrize("command", ["inspect", "report"])
def test_a_pattern_that_matches_nothing_is_named(
    command: str, old: str, new: str, words: str, here: Path
) -> None:
    assert old in USED
    (here / "trajdiff.toml").write_text(USED.replace(old, new, 1), encoding="utf-8")
    result = run(command)
    assert result.code == 0
    assert (
        f"note: trajdiff.toml: 1 pattern of the settings matches nothing in these traces\n  {words}"
        in result.err
    )


def test_patterns_in_use_are_not_named(here: Path) -> None:
    (here / "trajdiff.toml").write_text(USED, encoding="utf-8")
    assert "match" not in run("inspect").err
