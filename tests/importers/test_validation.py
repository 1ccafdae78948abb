"""``validate``: problems in plain words with their place, and schemas that say what the readers read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.importers.fixtures import jsonl, put, record, simulation, tau2_results, tau_trial
from trajdiff.errors import InputError, TrajdiffError
from trajdiff.importers import FileValidation, ReadOptions, validate
from trajdiff.importers.own_format import _KEYS, _TASK_KEYS
from trajdiff.importers.own_steps import STEP_KEYS
from trajdiff.model import TerminationReason, Verdict
from trajdiff.schema import json_path, load_schema, violations


def check(content: Any, **options: Any) -> FileValidation:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    (found,) = validate(["-"], ReadOptions(stdin=data, **options))
    return found


def errors(content: Any) -> list[tuple[str | None, str, str]]:
    """Place, problem and what was expected, of every error."""
    return [
        (one.pointer, one.message, one.details[0] if one.details else "")
        for one in check(content).problems
        if one.severity == "error"
    ]


def test_a_valid_file() -> None:
    found = check([record(), record(trial_id="1")])
    assert (found.valid, found.format, found.trials, found.problems) == (True, "trajdiff/1", 2, ())


def test_problems_come_in_order_of_their_place_with_what_was_expected() -> None:
    steps = [
        {"kind": "tool_call"},
        {"actor": "robot"},
        {"name": "f", "arguments": [1]},
        5,
        {"effect_hint": "maybe"},
    ]
    content = record(steps=steps, verdict="great", usage={"input": "3"}, reward="x", human=[], cost_usd=-1)
    del content["task_id"]
    found = errors(content)
    assert [place for place, _, _ in found] == [
        "$.cost_usd",
        "$.human",
        "$.reward",
        "$.steps[0].name",
        "$.steps[1].actor",
        "$.steps[2].arguments",
        "$.steps[3]",
        "$.steps[4].effect_hint",
        "$.task_id",
        "$.usage.input",
        "$.verdict",
    ]
    by_place = {place: (problem, expected) for place, problem, expected in found}
    assert by_place["$.steps[0].name"] == (
        "a tool call has no name",
        "expected Name of the tool, found missing",
    )
    assert by_place["$.steps[2].arguments"] == (
        '"arguments" is a list',
        "expected an object or a text or null, found [1]",
    )
    assert by_place["$.verdict"] == (
        '"verdict" is not one of the known values',
        'expected one of pass, fail, unscored, infra, found "great"',
    )
    assert by_place["$.task_id"][0] == "a trajdiff/1 record has no task_id"
    assert by_place["$.cost_usd"] == ('"cost_usd" is too small', "expected at least 0, found -1")


def test_lines_are_named_and_the_others_are_checked() -> None:
    data = jsonl(record(), record(trial_id="1", steps="none")) + b"{broken\n" + jsonl(record(trial_id="2"))
    assert errors(data) == [
        ("line 2 $.steps", '"steps" is a text', 'expected a list, found "none"'),
        (
            "line 3",
            "a record cannot be read: not JSON: a key in double quotes is expected here (column 2)",
            "this record is left out; the others are read",
        ),
    ]
    assert check(data).trials == 3


def test_long_values_are_shortened() -> None:
    ((_, _, expected),) = errors(record(error=["long " * 1000]))
    assert len(expected) < 120


def test_tau_bench_and_tau2_records_are_checked_too() -> None:
    bad = {"role": "assistant", "tool_calls": [{"id": "k", "arguments": {}}]}
    assert errors(tau2_results(simulation(), simulation("s2", trial=1, messages=[bad]))) == [
        (
            "$.simulations[1].messages[0].tool_calls[0].name",
            "a tool call has no name",
            "expected Name of the tool, found missing",
        )
    ]
    found = check(tau2_results(simulation(messages=[bad])))
    assert found.problems[0].details[1] == 'trial 0 of task "t1"'
    assert errors([tau_trial(), {"trial": 1, "traj": []}, None]) == [
        (
            "$[1].task_id",
            "a trial of a tau-bench results file has no task_id",
            "expected Id of the task, found missing",
        ),
        ("$[2]", "the record is null", "expected an object, found null"),
    ]


def test_companions_of_a_folder_are_checked_and_named(tmp_path: Path) -> None:
    put(tmp_path, "results.json", tau2_results())
    put(tmp_path, "simulations/a.json", simulation("a"))
    put(tmp_path, "simulations/b.json", simulation("b", trial=1, messages="none"))
    put(tmp_path, "simulations/c.json", b"{")
    (found,) = validate([str(tmp_path)])
    assert [(one.path, one.slug) for one in found.problems if one.severity == "error"] == [
        (f"{tmp_path}/simulations/b.json", "schema_violation"),
        (f"{tmp_path}/simulations/c.json", "truncated_json"),
    ]
    assert (found.trials, found.valid) == (2, False)


def test_every_file_has_its_answer(tmp_path: Path) -> None:
    put(tmp_path, "a.json", [tau_trial()])
    put(tmp_path, "b.json", b"")
    put(tmp_path, "c.json", {"remark": 1})
    put(tmp_path, "d.json", tau2_results())
    found = validate([str(tmp_path), "nowhere.json"])
    assert [(one.path.rsplit("/", 1)[-1], one.format, one.valid) for one in found] == [
        ("a.json", "tau-bench results", True),
        ("b.json", None, False),
        ("c.json", None, False),
        ("d.json", "tau2 results", False),
        ("nowhere.json", None, False),
    ]
    with pytest.raises(InputError, match="no such file"):
        validate(["nowhere.json"])


def test_a_file_full_of_problems_ends_after_two_hundred() -> None:
    found = check([record(trial_id=n, usage={"input": "x"}) for n in range(500)])
    assert len([one for one in found.problems if one.slug == "schema_violation"]) == 200
    assert [one.slug for one in found.problems if one.slug != "schema_violation"] == ["too_many_problems"]


# The schemas


@pytest.mark.parametrize("name", ["trace", "tau_bench", "tau2_bench"])
def test_schemas_are_schemas_and_say_what_everything_is(name: str) -> None:
    from jsonschema import Draft202012Validator

    schema = load_schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"

    def untitled(node: Any, at: str) -> list[str]:
        found = [
            f"{at}.{key}"
            for key, one in node.get("properties", {}).items()
            if "title" not in one and "$ref" not in one
        ]
        for key, one in [*node.get("properties", {}).items(), *node.get("$defs", {}).items()]:
            found += untitled(one, f"{at}.{key}")
        return found

    if name == "trace":
        assert untitled(schema, "$") == []
        assert [key for key, one in schema["$defs"].items() if "title" not in one] == []


def test_the_schema_names_exactly_what_the_reader_reads() -> None:
    schema = load_schema("trace")
    assert set(schema["properties"]) == _KEYS
    assert set(schema["$defs"]["task"]["properties"]) == _TASK_KEYS
    assert set(schema["$defs"]["step"]["properties"]) == STEP_KEYS
    assert schema["$defs"]["state"]["enum"] == [one.value for one in Verdict]
    assert schema["$defs"]["reason"]["enum"] == [one.value for one in TerminationReason]


def test_an_unknown_schema_is_an_error_of_ours() -> None:
    with pytest.raises(TrajdiffError, match='no schema "nothing"'):
        load_schema("nothing")


def test_violations_do_not_depend_on_the_order_of_keys() -> None:
    content = record(usage={"input": "x", "output": []}, human={"minutes": "x"}, reward="y")
    turned = dict(reversed(list(content.items())))
    assert list(violations(content, "trace")) == list(violations(turned, "trace"))
    assert len(list(violations(content, load_schema("trace")))) == 4


def test_json_paths_quote_what_is_no_name() -> None:
    assert json_path(("a", 3, "b c", "d")) == '$.a[3]["b c"].d'
