"""What a user is told about a settings file that is wrong, and that the quick check equals the full one."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.settings.test_loading import FULL
from trajdiff.divergence.finding import Kind
from trajdiff.errors import UsageError
from trajdiff.settings import load_settings
from trajdiff.settings_check import check
from trajdiff.settings_rules import KINDS, undated

BAD = {
    'trace = ["runs"]': ('unknown key "trace"', "at trace", "did you mean traces?"),
    'Traces = ["runs"]': ('unknown key "Traces"', "at Traces", "did you mean traces?"),
    'traces = "runs"': ("traces must be a list of texts, none empty", 'at traces (found "runs")'),
    'traces = ["a", 7]': ("traces must be a list of texts, none empty", "at traces[1] (found 7)"),
    'traces = [""]': ("traces must be a list of texts, none empty", 'at traces[0] (found "")'),
    "k = 2": ("k must be a list of whole numbers, 1 or more", "at k (found 2)"),
    "k = [1, 0]": ("k must be a list of whole numbers, 1 or more", "at k[1] (found 0)"),
    "expected_trials = true": (
        "expected_trials must be a whole number, 1 or more",
        "at expected_trials (found true)",
    ),
    "expected_trials = 4.0": (
        "expected_trials must be a whole number, 1 or more",
        "at expected_trials (found 4.0)",
    ),
    "threshold = nan": ("threshold must be a number", "at threshold (found NaN)"),
    "threshold = -inf": ("threshold must be a number", "at threshold (found -Infinity)"),
    "threshold = 0x" + "f" * 5000: ("threshold must be a number", "at threshold (found a very large number)"),
    'infra = "fial"': ("infra must be fail or exclude", 'at infra (found "fial")', "did you mean fail?"),
    "unscored = 2027-03-01": ("unscored must be exclude or fail", 'at unscored (found "2027-03-01")'),
    'name = ""': ("name must be a text that is not empty", 'at name (found "")'),
    '[tools]\nrefund_item = "wirte"': (
        "tools.refund_item must be read, write, control or unknown",
        'at tools.refund_item (found "wirte")',
        "did you mean write?",
    ),
    '[tools."a b"]\nx = 1': (
        'tools."a b" must be read, write, control or unknown',
        'at tools."a b" (found {"x": 1})',
    ),
    "tools = []": ("tools must be a table", "at tools (found [])"),
    "[steps]\na = 1": ("steps.a must be a text that is not empty or a table", "at steps.a (found 1)"),
    "[steps]\na = {}": ("steps.a has no tool", "at steps.a.tool (missing)"),
    '[steps]\na = {tol = "x"}': ('unknown key "tol"', "at steps.a.tol", "did you mean tool?"),
    '[steps.a]\ntool = "x"\narguments = {y = 1}': (
        "steps.a.arguments.y must be a text",
        "at steps.a.arguments.y (found 1)",
    ),
    "[ignore]\nargument = []": ('unknown key "argument"', "at ignore.argument", "did you mean arguments?"),
    "[ignore]\nzzz = []": ('unknown key "zzz"', "at ignore.zzz", "known here: arguments, results, tools"),
    '"\\u001b[31mred" = 1': (
        'unknown key "\\u001b[31mred"',
        'at "\\u001b[31mred"',
        "known here: accept, expected_trials, gate, ignore, infra, k, map, name, outcomes, redact, reviews,"
        " steps, threshold, tools, traces, unscored",
    ),
    "[redact]\nsecrets = 1": ("redact.secrets must be true or false", "at redact.secrets (found 1)"),
    '[redact]\npatterns = ["a("]': (
        "no regular expression: missing ), unterminated subpattern at position 1",
        'at redact.patterns[0] (found "a(")',
    ),
    '[redact]\npatterns = ["x*"]': (
        "a redaction pattern must not match an empty text",
        'at redact.patterns[0] (found "x*")',
    ),
    '[[accept]]\ntask = "a"': ("accept.0 has no why", "at accept.0.why (missing)"),
    '[[accept]]\nwhy = "w"': (
        "accept entry 1 would accept everything",
        "at accept[0]",
        "name a task, kind, tool or argument",
    ),
    '[[accept]]\nwhy = "w"\nkind = "duplicate_wirte"': (
        "accept entry 1: no kind duplicate_wirte",
        "at accept[0].kind",
        "did you mean duplicate_write?",
    ),
    '[[accept]]\nwhy = "w"\ntask = "a"\nuntil = "soon"': (
        "accept entry 1: until must be a date such as 2027-03-01",
        'at accept[0].until (found "soon")',
    ),
    f'name = ["{"x" * 200}"]': (
        "name must be a text that is not empty",
        f'at name (found ["{"x" * 57}…)',
    ),
}


def told(text: str | bytes, folder: Path, name: str = "trajdiff.toml") -> list[str]:
    data = text if isinstance(text, bytes) else text.encode()
    (folder / name).write_bytes(data)
    with pytest.raises(UsageError) as error:
        load_settings(start=folder)
    assert error.value.exit_code == 2
    first, *rest = str(error.value).splitlines()
    assert first.startswith(f"{name}: ")
    return [first.removeprefix(f"{name}: "), *(line.removeprefix("  ") for line in rest)]


@pytest.mark.parametrize("text", BAD)
def test_message_names_file_key_value_and_what_was_expected(text: str, tmp_path: Path) -> None:
    assert told(text, tmp_path) == list(BAD[text])


def test_pyproject_is_named_with_its_table(tmp_path: Path) -> None:
    assert told("[tool.trajdiff]\nnam = 1\n", tmp_path, "pyproject.toml") == [
        '[tool.trajdiff]: unknown key "nam"',
        "at nam",
        "did you mean name?",
    ]
    assert told("[tool]\ntrajdiff = 1\n", tmp_path, "pyproject.toml") == [
        "tool.trajdiff must be a table",
        "at tool.trajdiff (found 1)",
    ]


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ('name = "a"\nk = [1,\n 2 3]', "not valid TOML: ", "at line 3, column 4"),
        ("name = \n", "not valid TOML: ", "at line 1, column 8"),
        ('name = "a"\nname = "b"\n', "not valid TOML: ", "at line 2, column 11"),
        (b'name = "a"\nk = "\xff"', "not UTF-8 text", "at line 2, column 6"),
    ],
)
def test_bad_toml_gives_line_and_column(text: str | bytes, message: str, place: str, tmp_path: Path) -> None:
    first, second = told(text, tmp_path)
    assert first.startswith(message)
    assert second == place


@pytest.mark.parametrize("text", ["x = " + "[" * 5000, "x = " + "9" * 5000])
def test_hostile_toml_gives_a_message(text: str, tmp_path: Path) -> None:
    assert told(text, tmp_path)[0].startswith("not valid TOML: ")


def test_a_config_that_is_not_there_is_named_as_given(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^conf/none.toml: settings cannot be read \(No such file"):
        load_settings("conf/none.toml", start=tmp_path)
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    with pytest.raises(UsageError, match=r"^pyproject.toml: no \[tool.trajdiff\] in it"):
        load_settings("pyproject.toml", start=tmp_path)


@pytest.fixture(scope="session")
def schema(project: Path) -> dict[str, Any]:
    text = (project / "schemas" / "settings.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(loaded)
    return loaded


KEYS_INSIDE = ["why", "secrets", "patterns", "tool", "arguments", "results", "tools", "name", "score", "x", ""]
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 5) | st.sampled_from([0.5, 2.5])
    | st.sampled_from(["", "x", "fail", "exclude", "read", "write"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(KEYS_INSIDE), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
KEYS = [
    "traces",
    "name",
    "k",
    "expected_trials",
    "threshold",
    "infra",
    "unscored",
    "tools",
    "steps",
    "ignore",
    "gate",
    "accept",
    "redact",
    "reviews",
    "x",
]


def test_an_accept_entry_may_name_every_kind_and_no_other() -> None:
    assert set(KINDS) == {str(kind) for kind in Kind}


def test_the_full_example_is_valid_for_both(schema: dict[str, Any]) -> None:
    document = undated(tomllib.loads(FULL))
    assert set(document) == set(schema["properties"])
    jsonschema.validate(document, schema)
    check(document, where="trajdiff.toml")


@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=2))
def test_the_quick_check_equals_the_full_validator(schema: dict[str, Any], document: dict[str, Any]) -> None:
    """Whole numbers written with a point are left out: JSON Schema takes 4.0 for an integer, TOML does not."""
    valid = jsonschema.Draft202012Validator(schema).is_valid(document)
    try:
        check(document, where="trajdiff.toml")
    except UsageError:
        assert not valid
    else:
        assert valid
