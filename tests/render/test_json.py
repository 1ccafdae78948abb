"""JSON: it fits its schema, the schema is strict, and every number of the text is in it."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.render.made import bare, hostile, lamp_divergence, shop
from tests.render.views import view_for
from trajdiff.render.registry import by_name
from trajdiff.report import Report
from trajdiff.schema import load_schema, violations

KINDS = {
    "report": "report",
    "task": "compare-task",
    "trials": "compare-trials",
    "unstable": "unstable",
    "inspect": "inspect",
}
ROWS = ("trials", "alignment", "divergences")


def document(subject: str, made: Report, **view: Any) -> Any:
    out = by_name(subject, "json").render(made, view_for(subject, made, **view))
    assert isinstance(out, str)
    return json.loads(out)


def lines(subject: str, made: Report) -> list[Any]:
    out = by_name(subject, "jsonl").render(made, view_for(subject, made))
    assert isinstance(out, str)
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize("subject", KINDS)
@pytest.mark.parametrize("made", [shop, hostile, bare], ids=["shop", "hostile", "bare"])
def test_output_fits_its_schema(subject: str, made: Any) -> None:
    if subject == "trials" and made is bare:
        pytest.skip("two trials need an aligned table")
    found = document(subject, made())
    assert found["schema"] == f"trajdiff.{KINDS[subject]}/1"
    assert not list(violations(found, KINDS[subject]))


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("made", [shop, hostile], ids=["shop", "hostile"])
def test_exported_rows_fit_their_schema(name: str, made: Any) -> None:
    rows = lines(f"export-{name}", made())
    assert rows
    assert not [problem for row in rows for problem in violations(row, name)]
    assert rows == document(f"export-{name}", made())


def objects(value: Any, schema: Any, definitions: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Every object of a document with one of the keys its schema requires."""
    while "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    for option in schema.get("anyOf", ()):
        if option.get("type") != "null":
            yield from objects(value, option, definitions)
    if isinstance(value, dict):
        for key in schema.get("required", ()):
            yield value, key
        for key, inner in schema.get("properties", {}).items():
            if key in value and isinstance(inner, dict):
                yield from objects(value[key], inner, definitions)
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        for entry in value:
            yield from objects(entry, schema["items"], definitions)


@pytest.mark.parametrize("subject", KINDS)
def test_a_missing_field_is_a_violation(subject: str) -> None:
    made, schema = document(subject, shop()), load_schema(KINDS[subject])
    seen: set[tuple[str, frozenset[str]]] = set()
    for holder, key in objects(made, schema, schema.get("$defs", {})):
        if (shape := (key, frozenset(holder))) in seen:
            continue
        seen.add(shape)
        value = holder.pop(key)
        assert list(violations(made, KINDS[subject])), f"{key} may be missing"
        holder[key] = value
        holder["surprise"] = 1
        assert list(violations(made, KINDS[subject])), f"anything may stand beside {key}"
        del holder["surprise"]
    assert len(seen) > 20


def test_definitions_are_the_same_in_all_schemas() -> None:
    """Each schema is complete on its own, so shared parts are repeated; they must not drift apart."""
    found: dict[str, Any] = {}
    for name in KINDS.values():
        for part, schema in load_schema(name).get("$defs", {}).items():
            assert found.setdefault(part, schema) == schema, f"{part} in {name}"
    rows = load_schema("trials")
    assert rows["properties"] == found["trial"]["properties"]
    properties = copy.deepcopy(load_schema("divergences")["properties"])
    del properties["finding"]
    assert properties == found["divergence"]["properties"]


def test_numbers_of_the_text_are_in_the_json() -> None:
    made = shop()
    text = by_name("report", "text").render(made, view_for("report", made, show_all=True, width=160))
    assert isinstance(text, str)
    numbers: set[str] = set()

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            for inner in value.values():
                collect(inner)
        elif isinstance(value, list):
            numbers.add(str(len(value)))
            for inner in value:
                collect(inner)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            numbers.update((str(value), f"{value:.2f}"))

    found = document("report", made)
    collect(found)
    shown = set(re.findall(r"(?<![\w.-])\d+\.\d\d(?![\w.])", text))
    # 0.25 (3 against 1) and 0.33 are bounds of the splits; the second is also the smallest p of a divergence
    assert shown - numbers <= {"0.25", "0.33"}
    assert len(shown) > 10


def test_a_divergence_carries_what_a_reader_needs() -> None:
    (task,) = [task for task in document("report", shop())["tasks"] if task["task_id"] == "L1-061"]
    one, two = task["divergences"]
    assert (one["root_step"], one["manifest_step"]) == (5, 6)
    assert (one["root_message_index"], one["manifest_message_index"]) == (4, 4)
    assert one["support"] == {"failed_with": 2, "failed": 2, "passed_with": 0, "passed": 2, "smallest_p": 1 / 3}
    assert one["provenance"] == {
        "value": "99.8",
        "from": "tool_result",
        "tool": "get_order",
        "message": 2,
        "path": "total",
    }
    assert [(entry["side"], entry["ref"]) for entry in one["source"]] == [
        ("passed", "runs/shop.json#L1-061/0@4"),
        ("failed", "runs/shop.json#L1-061/1@4"),
    ]
    assert one["variants"] == [["0", "2"], ["1"], ["3"]]
    assert two["first_difference"]["step"] == 4
    assert two["first_difference"]["recovered"] is True


def test_a_missing_step_stands_where_the_passed_trials_have_it() -> None:
    """The failed trial went on at row 6; the step it lacks is row 5."""
    finding = shop().tasks[0].finding
    assert finding.table is not None
    assert finding.table.row_of("1", lamp_divergence("1").root.step) == 6  # type: ignore[union-attr]
    assert document("report", shop())["tasks"][0]["divergences"][0]["root_step"] == 5


def test_rows_for_scoring_speak_of_messages() -> None:
    rows = {(row["task_id"], row["trial_id"]): row for row in lines("export-divergences", shop())}
    assert list(rows) == [
        ("L1-008", "0"),
        ("L1-022", "2"),
        ("L1-045", "0"),
        ("L1-045", "3"),
        ("L1-050", "3"),
        ("L1-061", "1"),
        ("L1-061", "3"),
    ]
    assert rows["L1-061", "1"]["root_message_index"] == 4
    assert rows["L1-045", "0"]["root_message_index"] is None
    assert rows["L1-045", "0"]["abstained"] is True
    assert rows["L1-045", "0"]["reason"] == "no_separating_step"
    assert rows["L1-050", "3"]["root_message_index"] == 6
    assert rows["L1-050", "3"]["kind"] == rows["L1-050", "3"]["actor"] == "infrastructure"
    assert rows["L1-050", "3"]["grade"] is None
    assert [row["finding"] for row in rows.values()] == [
        "divergence",
        "same_path_other_outcome",
        "abstained",
        "abstained",
        "infrastructure",
        "divergence",
        "divergence",
    ]


def test_what_is_no_number_is_null() -> None:
    (row,) = lines("export-trials", bare())
    assert row["reward"] is None
    assert row["cost"] is None
    found = document("report", bare())
    assert found["suite"]["micro"] is None
    assert found["suite"]["micro_reason"]
    assert found["suite"]["pass_hat_k"] == []


def test_hostile_text_survives_as_data() -> None:
    """Escaped, not removed: what was recorded can be read back."""
    from tests.render.made import EVIL

    found = document("report", hostile())
    assert found["tasks"][0]["task_id"] == "=T" + EVIL
    assert found["tasks"][0]["trials"][0]["verdict_raw"] == {"k" + EVIL: [EVIL, None]}


def test_keys_are_sorted_and_paths_are_the_given_ones() -> None:
    out = by_name("report", "json").render(shop(), view_for("report", shop()))
    assert isinstance(out, str)

    def ordered(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert [key for key, _ in pairs] == sorted(key for key, _ in pairs)
        return dict(pairs)

    json.loads(out, object_pairs_hook=ordered)
    assert str(Path.cwd()) not in out
