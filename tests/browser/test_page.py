"""The HTML report in a browser: it loads by itself, reads without script, opens places, obeys keys, filters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.render.made import shop
from trajdiff.frozen import replace
from trajdiff.report import Recurring, Report

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Open


def rows(page: Page) -> list[str]:
    """Ids of the tasks in view, from top to bottom."""
    return [text.strip() for text in page.locator("tbody:not([hidden]) > tr.task .id").all_inner_texts()]


def open_task(page: Page, task_id: str) -> None:
    page.locator("button.toggle", has=page.get_by_text(task_id, exact=True)).click()
    page.locator(".view h3").first.wait_for()


def shows(page: Page, count: int) -> None:
    """Wait until so many tasks are in view."""
    from playwright.sync_api import expect

    expect(page.locator("tbody:not([hidden]) > tr.task")).to_have_count(count)


def steps(page: Page) -> list[str]:
    """Numbers of the rows of the aligned table that are drawn."""
    return [
        number for row in page.locator("tr.row").all() if (number := row.get_attribute("data-step")) is not None
    ]


def current(page: Page) -> str | None:
    """The step that has the focus."""
    found: str | None = page.evaluate("document.activeElement.dataset.step ?? null")
    return found


def test_it_loads_from_a_file_and_asks_for_nothing(open_page: Open) -> None:
    opened = open_page()
    page = opened.page
    assert rows(page) == [task.task_id for task in shop().tasks]
    open_task(page, "L1-061")
    assert opened.quiet(), (opened.console, opened.errors, opened.requests)


def test_without_script_table_sentences_and_summary_are_there(open_page: Open) -> None:
    page = open_page(java_script_enabled=False).page
    assert rows(page) == [task.task_id for task in shop().tasks]
    shown = page.locator("body").inner_text()
    assert "Failed trials call refund_item without check_permission; passed trials check first." in shown
    assert "runs no script" in shown
    assert "Not compared" in shown
    assert page.locator("svg[role=img]").is_visible()
    assert not page.locator("#chips").is_visible()


def test_a_link_opens_the_task_and_goes_to_the_step(open_page: Open) -> None:
    page = open_page("#t=L1-061&s=6&ref=0&cmp=3").page
    page.locator("tr.row.current").wait_for()
    assert current(page) == "6"
    assert page.locator(".aligned thead th").nth(2).inner_text().strip() == "✗ 3"
    assert page.locator("tr.current").is_visible()


def test_a_link_to_nowhere_says_so(open_page: Open) -> None:
    opened = open_page("#t=no-such&f=%E0%A4%A")
    assert "not in this file" in opened.page.locator("#shown").inner_text()
    assert opened.quiet()


def test_the_aligned_table_folds_what_matches_and_marks_what_differs(open_page: Open) -> None:
    page = open_page("#t=L1-061").page
    page.locator(".aligned").wait_for()
    fold = page.locator("tr.fold button")
    assert [text.strip() for text in fold.all_inner_texts()] == ["▸ 3 steps match"]
    assert "steps 1 to 3: user message … get_order" in page.locator("tr.fold").inner_text()
    assert steps(page) == ["4", "5", "6", "7", "8"]
    root, manifest = page.locator("tr.row.root"), page.locator("tr.row.manifest, tr.row.root + tr")
    assert root.locator(".mark").inner_text() == "◆"
    assert root.locator("td").nth(1).inner_text() == "no such step"
    assert manifest.first.locator("mark.differs").all_inner_texts() == ["49.9", "99.8"]
    fold.click()
    assert steps(page) == [str(number) for number in range(1, 9)]


def test_all_trials_side_by_side_and_another_left_column(open_page: Open) -> None:
    page = open_page("#t=L1-061").page
    heads = page.locator(".aligned thead th")
    page.get_by_role("button", name="all", exact=True).click()
    assert [text[:3] for text in heads.all_inner_texts()] == ["ste", "✓ 0", "✓ 2", "✗ 1", "✗ 3"]
    page.get_by_label("left column").select_option(label="✗ 1")
    assert heads.nth(1).inner_text().startswith("✗ 1")
    page.get_by_role("group", name="right column").get_by_role("button", name="3", exact=False).click()
    # Trials 1 and 3 differ in the category of step 4 and in the words of step 7, not in the missing step 5.
    assert page.locator("tr.row.differs").evaluate_all("rows => rows.map((row) => row.dataset.step)") == [
        "4",
        "6",
        "7",
    ]


def test_the_control_that_was_used_keeps_the_focus(open_page: Open) -> None:
    page = open_page("#t=L1-061").page
    chips = page.get_by_role("group", name="right column").get_by_role("button")
    chips.nth(0).wait_for()
    for at in (0, 2, 3):
        chips.nth(at).focus()
        page.keyboard.press("Enter")
        assert chips.nth(at).get_attribute("aria-pressed") == "true"
        assert chips.nth(at).evaluate("chip => chip === document.activeElement")
    page.get_by_label("left column").select_option(label="✓ 2")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "left column"


def test_keys(open_page: Open) -> None:
    opened = open_page()
    page = opened.page
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    first = shop().tasks[0].task_id
    assert page.evaluate("document.activeElement.textContent") == first == "L1-061"
    page.keyboard.press("o")
    page.locator(".aligned").wait_for()
    assert page.evaluate("document.activeElement.tagName") == "H3"
    page.keyboard.press("d")
    assert current(page) == "5"
    page.keyboard.press("n")
    assert current(page) == "6"
    page.keyboard.press("p")
    assert current(page) == "5"
    page.keyboard.press("4")
    assert page.locator(".aligned thead th").nth(2).inner_text().strip() == "✗ 3"
    page.keyboard.press("r")
    assert page.locator(".aligned thead th").nth(1).inner_text().startswith("✗ 3")
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()
    page.keyboard.press("/")
    page.keyboard.type("don")
    assert page.locator("#q").input_value() == "don", "letters are no keys while one types"
    page.keyboard.press("Escape")
    page.locator(".view h3").focus()
    page.keyboard.press("o")
    assert page.locator(".aligned").count() == 0
    assert opened.quiet()


def test_letters_can_be_switched_off(open_page: Open) -> None:
    page = open_page().page
    page.keyboard.press("?")
    page.get_by_label("switch single-letter keys off").check()
    page.locator("#help-close").click()
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.className") != "toggle"


def test_the_address_follows_and_the_way_back_works(open_page: Open) -> None:
    page = open_page().page
    open_task(page, "L1-061")
    assert "t=L1-061" in page.url
    page.locator("button.toggle").nth(1).click()
    page.locator(".view").nth(1).wait_for()
    second = [task.task_id for task in shop().tasks][1]
    assert f"t={second}" in page.url
    page.go_back()
    assert "t=L1-061" in page.url


def test_filters_narrow_the_table_and_stand_in_the_address(open_page: Open) -> None:
    page = open_page().page
    everything = rows(page)
    page.get_by_role("button", name="grade A").click()
    assert rows(page) == ["L1-061"]
    assert page.locator("#shown").inner_text() == f"1 of {len(everything)} tasks"
    assert page.url.endswith("f=grade%3AA")
    page.get_by_role("button", name="grade D").click()
    assert rows(page) == ["L1-061", "L1-008"], "values of one facet add up"
    page.get_by_role("button", name="mixed").click()
    assert rows(page) == ["L1-061"], "facets narrow one another"
    page.locator("#clear").click()
    assert rows(page) == everything
    page.get_by_label("kind", exact=True).select_option("loop")
    assert rows(page) == ["L1-008"]


def test_a_link_can_hold_a_filter(open_page: Open) -> None:
    page = open_page("#f=mixed,text:lamp").page
    assert rows(page) == ["L1-061"]
    assert page.locator("#q").input_value() == "lamp"


def test_search_covers_tools_and_the_texts_of_open_tasks(open_page: Open) -> None:
    page = open_page().page
    page.locator("#q").fill("get_refund_policy")
    shows(page, 1)
    assert rows(page) == ["L1-061"]
    page.locator("#q").fill("a few days")
    shows(page, 0)
    assert page.locator("#nothing").is_visible()
    page.locator("#q").fill("")
    shows(page, len(shop().tasks))
    open_task(page, "L1-061")
    page.locator("#q").fill("a few days")
    shows(page, 1)
    assert rows(page) == ["L1-061"]


def test_tasks_are_sorted_by_id_and_by_figure(open_page: Open) -> None:
    page = open_page().page
    given = rows(page)
    page.get_by_role("button", name="task", exact=True).click()
    assert rows(page) == sorted(given)
    page.get_by_role("button", name="pass^1", exact=True).click()
    assert rows(page)[0] in {"L1-008"} | {task.task_id for task in shop().tasks if not task.reliability.n}
    page.get_by_role("button", name="where outcomes separate").click()
    assert rows(page) == given


def test_the_whole_text_of_a_step_with_its_place_in_the_log(open_page: Open) -> None:
    page = open_page("#t=L1-061&s=7").page
    page.locator("tr.row.current").wait_for()
    page.keyboard.press("f")
    panel = page.locator("#panel")
    assert panel.is_visible()
    texts = panel.locator("pre").all_inner_texts()
    assert [text.count("on your card in a few days") for text in texts] == [3, 3]
    assert panel.locator("mark.differs").all_inner_texts()[:2] == ["49.90", "49.90"]
    assert "runs/shop.json#L1-061/1@5" in panel.inner_text()
    assert "jq '.simulations[1].messages[5]' runs/shop.json" in panel.inner_text()
    page.keyboard.press("Escape")
    assert not panel.is_visible()
    assert current(page) == "7", "the focus goes back to where it was"


def test_where_the_wrong_value_came_from(open_page: Open) -> None:
    page = open_page("#t=L1-061").page
    page.get_by_role("button", name="show step 3").first.click()
    marked = page.locator("#panel mark.value")
    assert marked.first.inner_text() == "99.8"
    assert "get_order" in page.locator("#panel h3").inner_text()


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["runs/a.json", "$.x[3].m[8]", None], "jq '.x[3].m[8]' runs/a.json"),
        (["a.json", "$[2]", None], "jq '.[2]' a.json"),
        (["a.json", "$", None], "jq . a.json"),
        (["it's $(x).json", '$["a b"].c-d', None], """jq '.["a b"]["c-d"]' 'it'\\''s $(x).json'"""),
        (["a.jsonl", "$.s[1]", 12], "sed -n 12p a.jsonl | jq '.s[1]'"),
        (["a.jsonl.gz", "$", 3], "gzip -dc a.jsonl.gz | sed -n 3p | jq ."),
        (["a.eval", "samples/1.json#$.m[1]", None], "unzip -p a.eval samples/1.json | jq '.m[1]'"),
        (["a.json", "line 5", None], ""),
        (["-", "$.a", None], ""),
    ],
)
def test_the_command_that_opens_the_log(open_page: Open, arguments: list[object], command: str) -> None:
    assert open_page().page.evaluate("(given) => openCommand(...given)", arguments) == command


def test_copies_fall_back_to_a_selected_text(open_page: Open) -> None:
    page = open_page("#t=L1-061").page
    page.locator(".aligned").wait_for()
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
    page.keyboard.press("y")
    text = page.locator("#panel textarea").input_value()
    assert text.startswith("**L1-061** refund only the damaged lamp  ✓✗✓✗  pass^1 0.50")
    assert "grade A, trial 1, 3" in text
    assert "- failed: runs/shop.json\\#L1-061/1\\@4 $.simulations\\[1\\].messages\\[4\\]" in text


def test_printing_opens_the_tasks_in_view_and_is_black_on_white(open_page: Open) -> None:
    page = open_page("#f=grade:A", color_scheme="dark").page
    page.evaluate("() => { window.print = () => { document.title = 'printed'; }; }")
    page.locator("#print").click()
    page.locator(".aligned").wait_for()
    assert page.title() == "printed"
    assert page.locator(".aligned").count() == 1
    page.emulate_media(media="print")
    colours = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    assert colours == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    assert not page.locator("#chips").is_visible()
    assert page.locator("tr.row.root .mark").is_visible()


def test_what_recurs_shows_its_tasks(open_page: Open, write: Callable[[Report, str], Path]) -> None:
    made = shop()
    again = Recurring(
        headline="check_permission missing",
        kind="missing_step",
        actor="agent",
        tool="check_permission",
        trials=("L1-061/1", "L1-061/3", "L1-008/0"),
        tasks=("L1-061", "L1-008"),
    )
    page = open_page(path=write(replace(made, recurring=(again,)), "again")).page
    page.get_by_role("button", name="show 2 tasks").click()
    assert rows(page) == ["L1-061", "L1-008"]
