"""What is wrong with a mapping is said with its place in the settings and what to write instead."""

from __future__ import annotations

import contextlib
import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajdiff.errors import TrajdiffError, UsageError
from trajdiff.importers import ReadOptions, load

BAD = {
    'trial = "n"': ("map.mine has no task", 'task = "case_id"'),
    'task = "t"\ntrail = "n"': ('unknown key "trail"', "did you mean trial?"),
    'task = ""': ("map.mine.task must be an expression",),
    "task = 3": ("map.mine.task must be an expression (found 3)",),
    'task = "a[?"': ("map.mine.task: cannot be used",),
    'task = "$nowhere.a"': ("a $ inside it", "only at the beginning"),
    'task = "a.$root.b"': ("a $ inside it",),
    'task = "t"\noutcome = "a || b"': ("false counts as missing",),
    'task = "t"\noutcome = {pass = [1]}': ("map.mine.outcome has no path",),
    'task = "t"\noutcome = {path = "a", missing = "none"}': ("outcome.missing must be one of pass, fail",),
    'task = "t"\noutcome = {path = "a", threshold = "high"}': ("threshold must be a number",),
    'task = "t"\noutcome = {path = "a", passes = [1]}': ('unknown key "passes"', "did you mean pass?"),
    'task = {path = "t", decode = "jsn"}': ('no transform "jsn"', "known: anthropic_blocks, base64hex"),
    'task = {path = "t", decode = "regex"}': ("regex needs a pattern",),
    'task = {path = "t", decode = "regex", pattern = "("}': ("not a regular expression",),
    'task = {path = "t", decode = "regex(2)", pattern = "(a)"}': ("the pattern has no group 2",),
    'task = {path = "t", decode = "strip_prefix"}': ("strip_prefix needs a prefix",),
    'task = {path = "t", decode = "openai_messages"}': ("it belongs to steps",),
    'task = "t"\nsteps = "log[*].{tool: fn, args: in}"': ('unknown key "args"',),
    'task = "t"\nsteps = {path = "log", pairing = "luck"}': ("pairing must be one of id, order, none",),
    'task = "t"\n[[steps.when]]\nemit = "message"': ("map.mine.steps has no path",),
    'task = "t"\n[steps]\npath = "l"\n[[steps.when]]\nemit = "shout"': ("steps.when[0].emit must be one of",),
    'task = "t"\n[steps]\npath = "l"\n[[steps.when]]\nemit = "tool_call"': ("a tool_call needs a name",),
    'task = "t"\n[steps]\npath = "l"\ndecode = "openai_messages"\n[[steps.when]]\nemit = "skip"': (
        "reads the messages itself",
    ),
    'task = "t"\n[steps]\npath = "l"\n[[steps.when]]\nif = \'kind == "call"\'\nemit = "skip"': (
        "double quotes name a field",
        "kind == 'call'",
    ),
    'task = "t"\nsteps = "log[?ok == true]"': ("true names a field", "`true`"),
    'task = "t"\nsteps = "log[?err != null]"': ("null names a field", "`null`"),
    'task = "no_such_function(t)"': ("Unknown function",),
    'task = "t"\nfiles = 3': ("map.mine.files must be a text",),
    'task = "t"\nrecognise = "t"': ("recognise must be a list of texts",),
    'task = "t"\nstop = {path = "s", values = ["a"]}': ("stop.values must be a table",),
}


def read_map(table: dict[str, Any], data: bytes) -> None:
    load(["-"], ReadOptions(map="mine", maps={"mine": table}, maps_origin="trajdiff.toml", stdin=data))


@pytest.mark.parametrize("text", sorted(BAD))
def test_a_mistake_in_a_mapping_is_named_with_its_place(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_map(tomllib.loads(text), b'{"t": 1, "log": [{"ok": true}], "l": [{"kind": "x"}]}')
    said = str(caught.value)
    assert said.startswith("trajdiff.toml: map.mine")
    for words in BAD[text]:
        assert words in said


KEYS = st.sampled_from(
    ("task", "trial", "outcome", "stop", "steps", "trajectories", "usage", "files", "recognise", "odd")
)
EXPRESSIONS = st.sampled_from(
    ("t", "a.b", "l[*]", "l[?k]", "l[*].{tool: k}", "$root.t", "$record", "@", "*", "l[]", "keys(@)", "max(t)",
     "`1`", "'x'", "a ||", "[[", "", "l[*].m[*]", "t | l", "$trial[0]", "not_null(t, a)", "l[0]")
)  # fmt: skip
SAID = st.recursive(
    EXPRESSIONS | st.integers() | st.booleans() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ("path", "decode", "values", "when", "pass", "missing", "if", "emit", "name", "text")
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=6,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(("t", "a", "b", "l", "k", "m")), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(KEYS, SAID, max_size=5), JSON)
def test_any_mapping_on_any_document_ends_with_trials_or_a_message(
    table: dict[str, Any], document: Any
) -> None:
    """Never with a traceback."""
    with contextlib.suppress(TrajdiffError):
        read_map({"task": "t", **table}, json.dumps(document).encode())
