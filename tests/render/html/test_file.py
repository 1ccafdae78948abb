"""The HTML report as a file: what is in it, where its figures come from, that hostile text stays text."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from tests.render.made import bare, hostile, lamp, report, shop
from trajdiff.align.table import AlignedTable
from trajdiff.divergence.finding import Kind, Side, Support, ValueOrigin
from trajdiff.frozen import replace
from trajdiff.redaction import rebuilt
from trajdiff.render.choosing import Choice
from trajdiff.render.html.page import render
from trajdiff.render.json_report import report_object
from trajdiff.render.view import View
from trajdiff.report import Report


class Elements(HTMLParser):
    """Start tags with attributes, and the text of scripts and styles by element."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, dict[str, str | None], str]] = []
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.raw.append((tag, dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.raw and self.tags[-1][0] in ("script", "style") and self.cdata_elem is not None:
            tag, attributes, text = self.raw[-1]
            self.raw[-1] = (tag, attributes, text + data)
        else:
            self.text.append(data)


def page_of(made: Report, **view: Any) -> str:
    return render(made, View(**view)).decode("utf-8")


def chunks(page: str) -> dict[str, Any]:
    """The unpacked chunks by the id of their element."""
    packed = {
        str(attributes["id"]): text
        for tag, attributes, text in Elements(page).raw
        if tag == "script" and attributes.get("type") == "application/gzip"
    }
    return {name: json.loads(gzip.decompress(base64.b64decode(text))) for name, text in packed.items()}


def visible(page: str) -> str:
    return re.sub(r"\s+", " ", " ".join(Elements(page).text))


def test_the_same_report_gives_the_same_bytes_and_no_time_is_in_them() -> None:
    first = render(shop(), View())
    assert first == render(shop(), View())
    for tag, attributes, text in Elements(first.decode()).raw:
        if tag == "script" and attributes.get("type") == "application/gzip":
            data = base64.b64decode(text)
            assert data[4:8] == b"\0\0\0\0", "a gzip header can hold the time of writing"
            assert data[9] == 255, "and the system it was written on"


def test_what_the_terminal_decides_does_not_change_the_page() -> None:
    from trajdiff.render.marks import ASCII

    assert render(shop(), View(width=40, color=True, marks=ASCII)) == render(shop(), View())


def test_the_policy_names_exactly_the_script_and_the_style_of_the_page() -> None:
    elements = Elements(page_of(shop()))
    (policy,) = (
        str(attributes["content"])
        for tag, attributes in elements.tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for kind in ("script", "style"):
        (text,) = (text for tag, attributes, text in elements.raw if tag == kind and "type" not in attributes)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_own_script_and_style_stay_small() -> None:
    elements = Elements(page_of(shop()))
    own = [text for _, attributes, text in elements.raw if "type" not in attributes]
    assert len(own) == 2
    assert sum(len(text.encode()) for text in own) < 60_000


@pytest.mark.parametrize("made", [shop, hostile, bare])
def test_no_attribute_runs_or_loads_anything(made: Any) -> None:
    for tag, attributes in Elements(page_of(made())).tags:
        assert tag not in {"img", "iframe", "object", "embed", "link", "base", "form"}
        assert not [name for name in attributes if name.startswith("on") or name in ("style", "src", "srcset")]
        assert attributes.get("href") in (None, "#tasks")


def test_a_closing_tag_in_a_log_closes_nothing() -> None:
    attack = '</script><script>x</script><b a="'
    words = {"tool_call", "message", "termination", "fail", "exclude"}
    made = rebuilt(shop(), lambda text: text if text in words else f"{text}{attack}")
    plain, evil = Elements(page_of(shop())), Elements(page_of(made))
    assert [tag for tag, _ in evil.tags] == [tag for tag, _ in plain.tags]
    assert len(evil.raw) == len(plain.raw)


def test_every_task_has_a_row_and_a_chunk() -> None:
    page = page_of(shop())
    ids = [task.task_id for task in shop().tasks]
    data = chunks(page)
    assert [data[f"d{number}"]["id"] for number in range(len(ids))] == ids
    assert set(data) == {f"d{number}" for number in range(len(ids))}, "nothing long is shared here"
    for task_id in ids:
        assert f'<span class="id">{task_id}</span>' in page


def test_a_chunk_holds_the_aligned_table_of_its_task() -> None:
    task = lamp()
    table = task.finding.table
    assert table is not None
    data = chunks(page_of(report((task,))))["d0"]
    text = data["texts"]
    assert [data["trials"][at]["id"] for at in data["columns"]] == list(table.columns)
    for row, made in zip(table.rows, data["rows"], strict=True):
        assert made["n"] == row.number
        for cell, shown in zip(row.cells, made["cells"], strict=True):
            assert data["trials"][shown["t"]]["id"] == cell.trial_id
            assert ("k" in shown) is (cell.step is not None)
            assert (text[shown["r"]] if "r" in shown else None) == cell.result
            assert (text[shown["m"]] if "m" in shown else None) == cell.text
            assert [(name, text[at]) for name, at in shown.get("g", [])] == list(cell.arguments)
            assert tuple(shown.get("c", [])) == cell.changed
            base = data["trials"][shown["t"]]["pointer"]
            pointer = shown.get("p", "")
            assert (base + pointer[1:] if pointer.startswith("~") else pointer) == cell.pointer
    assert [(variant["marks"], len(variant["trials"])) for variant in data["variants"]] == [
        ("mrrrrWm■", 2),
        ("····-~~■", 1),
        ("···~-~~■", 1),
    ], "as in the strip of the terminal"


def test_places_support_and_sources_of_a_divergence() -> None:
    found = chunks(page_of(report((lamp(),))))["d0"]["found"]
    assert [(one["root"], one["manifest"], one["grade"], one["trials"]) for one in found] == [
        (5, 6, "A", [1, 3])
    ]
    facts = [(fact["label"], fact["text"]) for fact in found[0]["facts"]]
    assert ("separates outcomes", "missing in 2 of 2 failed, 0 of 2 passed (smallest p 0.33)") in facts
    assert ("value from", '99.8 first seen in the result of get_order (message 2, "total")') in facts
    assert ("recovery", "not recovered in 2 of 2 failed") in facts
    assert [source["ref"] for source in found[0]["sources"]] == [
        "runs/shop.json#L1-061/0@4",
        "runs/shop.json#L1-061/1@4",
    ]


def test_the_root_step_is_told_beside_the_one_that_shows_it() -> None:
    (found, *_) = chunks(page_of(report((lamp(),))))["d0"]["found"]
    root, shows = found["root_sides"], found["sides"]
    assert (root["label"], root["step"], shows["label"], shows["step"]) == ("the step", 5, "shows at", 6)
    assert root["texts"][0][1].startswith('check_permission(order_id="A1001") → ')
    assert root["texts"][1] == ["failed", "no such step"]


def test_trials_of_the_group_that_the_counts_leave_out_are_named() -> None:
    made = lamp()
    lead, other = made.finding.divergences
    one = Support(failed_with=1, failed=2, passed_with=0, passed=2, smallest_p=1 / 3)
    first = replace(lead, support=one, group=("1", "3"))
    second = replace(other, grade=lead.grade, kind=lead.kind, root=lead.root, passed_root=lead.passed_root)
    finding = replace(made.finding, lead=first, divergences=(first, second))
    (found,) = chunks(page_of(report((replace(made, finding=finding),))))["d0"]["found"]
    assert [fact["text"] for fact in found["facts"] if fact["label"] == "alike in"] == ["trial 3, grade A"]


def test_a_divergence_is_told_as_on_the_terminal() -> None:
    """What is not there, how the value was written, and no first difference after the root."""
    made = lamp()
    origin = ValueOrigin(value="r-7", origin="tool_result", tool="get_order", message=2, path="id")
    own = (Side(trial_id="1", text="refund_item(id=R-7) → ok", message=4),)
    lead = replace(made.finding.divergences[0], kind=Kind.EXTRA_WRITE, root_sides=own, provenance=origin)
    finding = replace(made.finding, lead=lead, divergences=(lead,))
    (found,) = chunks(page_of(report((replace(made, finding=finding),))))["d0"]["found"]
    assert found["sides"]["texts"] == [["passed", "no such step"], ["failed", "refund_item(id=R-7) → ok"]]
    facts = {fact["label"]: fact["text"] for fact in found["facts"]}
    assert facts["value from"].startswith("R-7 first seen in the result of get_order")
    assert "first difference" in facts
    late = replace(lead, kind=Kind.MISSING_STEP)
    finding = replace(finding, lead=late, divergences=(late,))
    (found,) = chunks(page_of(report((replace(made, finding=finding),))))["d0"]["found"]
    assert "first difference" not in [fact["label"] for fact in found["facts"]]


def test_long_texts_of_several_tasks_are_stored_once() -> None:
    task = lamp()
    table = task.finding.table
    assert table is not None
    policy = "the same policy for everyone " * 40
    cells = tuple(replace(cell, text=policy) for cell in table.rows[6].cells)
    with_policy: AlignedTable = replace(
        table, rows=(*table.rows[:6], replace(table.rows[6], cells=cells), *table.rows[7:])
    )
    tasks = tuple(
        replace(task, task_id=name, finding=replace(task.finding, task_id=name, table=with_policy))
        for name in ("a", "b")
    )
    data = chunks(page_of(report(tasks)))
    assert data["shared"] == [policy]
    for name in ("d0", "d1"):
        assert policy not in data[name]["texts"]
        assert {cell["m"] for cell in data[name]["rows"][6]["cells"]} == {-1}


def test_figures_of_the_page_are_those_of_the_json() -> None:
    made = shop()
    document = report_object(made, View())
    text = visible(page_of(made))
    for point in document["suite"]["pass_hat_k"]:
        assert f"{point['value']:.2f}" in text
    for task in document["tasks"]:
        for point in task["pass_hat_k"][:2]:
            assert f"{point['value']:.2f}" in text
    always, sometimes, never = (document["suite"][name] for name in ("always", "sometimes", "never"))
    assert f"{always} always pass" in text
    assert f"{sometimes} mixed" in text
    assert f"{never} never pass" in text


def test_filters_count_tasks() -> None:
    made = shop()
    buttons = re.findall(
        r'data-facet="(\w+)" data-value="([^"]+)"[^>]*>.*?<span class="n">(\d+)<', page_of(made)
    )
    counts = {(facet, value): int(count) for facet, value, count in buttons}
    mixed = sum(0 < task.reliability.c < task.reliability.n for task in made.tasks)
    assert counts["show", "mixed"] == mixed
    kinds = [task.finding.kind.value for task in made.tasks]
    assert sum(counts["show", kind] for kind in set(kinds)) == len(made.tasks), "every task has one finding"
    assert counts["grade", "A"] == 1
    assert counts["grade", "D"] == 1


def test_what_was_not_compared_stands_in_its_section_with_a_reason() -> None:
    page = page_of(shop())
    section = visible(page[page.index('<section id="not-compared"') : page.index('<section id="method"')])
    for task in shop().tasks:
        for missing in task.missing:
            assert f"trial {task.task_id}/{missing} planned, and not there" in section
        if not task.reliability.c and task.reliability.n:
            assert f"task {task.task_id} no passed trial" in section


def test_a_choice_leaves_tasks_out_and_says_so() -> None:
    made = shop()
    page = page_of(made, choice=Choice(only="mixed"))
    mixed = [task for task in made.tasks if 0 < task.reliability.c < task.reliability.n]
    assert len(chunks(page)) == len(mixed)
    assert f"{len(mixed)} of {len(made.tasks)} tasks are in this file (--only mixed)" in visible(page)


def test_what_was_hidden_is_told() -> None:
    assert "not redacted" in visible(page_of(shop()))
    made = replace(shop(), redacted=(("email", 3), ("token", 1)), content=False)
    assert "shape only: no texts and no values; 4 values redacted (3 email, 1 token)" in visible(page_of(made))
