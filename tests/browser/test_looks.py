"""Both themes, narrow screens, screen readers: measured in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Open

COLOURS = """() => {
  const style = getComputedStyle(document.documentElement);
  const names = ["bg", "text", "muted", "pass", "fail", "pass-tint", "fail-tint", "gold", "ink", "soft"];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}"""


def contrast(one: str, two: str) -> float:
    """WCAG contrast of two colours written as ``#rrggbb``."""

    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_measure_of_contrast() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#59636e", "#ffffff") == pytest.approx(6.1, abs=0.05), "as in the table of colours"


def palette(page: Page) -> dict[str, str]:
    found: dict[str, str] = page.evaluate(COLOURS)
    return found


def test_text_is_readable_in_both_themes(open_page: Open) -> None:
    light = palette(open_page(color_scheme="light").page)
    dark = palette(open_page(color_scheme="dark").page)
    assert light["bg"] == "#ffffff"
    assert dark["bg"] == "#0d1117"
    for colours in (light, dark):
        pairs = [(name, "bg") for name in ("text", "muted", "pass", "fail")]
        pairs += [("text", "pass-tint"), ("text", "fail-tint"), ("ink", "gold"), ("muted", "soft")]
        for one, two in pairs:
            assert contrast(colours[one], colours[two]) >= 4.5, (one, two)


def test_the_reader_chooses_the_theme(open_page: Open) -> None:
    page = open_page(color_scheme="light").page
    page.locator("#theme").select_option("dark")
    assert palette(page)["bg"] == "#0d1117"
    page.locator("#theme").select_option("auto")
    assert palette(page)["bg"] == "#ffffff"


@pytest.mark.parametrize("width", [320, 640, 900, 1280])
def test_only_the_aligned_table_scrolls_sideways(open_page: Open, width: int) -> None:
    page = open_page("#t=L1-061", viewport={"width": width, "height": 800}).page
    page.locator(".aligned").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width <= 900:
        left, right = (page.locator("tr.row.root td").nth(at).bounding_box() for at in (0, 1))
        assert left is not None
        assert right is not None
        assert right["y"] >= left["y"] + left["height"] - 1, "stacked, not side by side"


def test_outcomes_are_never_told_by_colour_alone(open_page: Open) -> None:
    page = open_page("#t=L1-061").page
    page.locator(".aligned").wait_for()
    row = page.locator("tbody#t0")
    marks = row.locator(".marks")
    assert marks.inner_text() == "✓✗✓✗"
    assert marks.get_attribute("aria-label") == "2 of 4 counted trials passed: passed, failed, passed, failed"
    bars = page.evaluate(
        """() => ["pass", "fail"].map((name) =>
          getComputedStyle(document.querySelector(`tr.row td.${name}`)).borderLeftStyle)"""
    )
    assert bars == ["solid", "dashed"]
    underlined = page.evaluate(
        "getComputedStyle(document.querySelector('tr.row mark.differs')).textDecorationLine"
    )
    assert underlined == "underline"


def test_a_screen_reader_gets_names_and_words(open_page: Open) -> None:
    page = open_page("#t=L1-061").page
    page.locator(".aligned").wait_for()
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, select, input")].filter((one) =>
          !one.textContent.trim() && !one.getAttribute("aria-label") && !(one.labels || []).length).length"""
    )
    assert nameless == 0
    strip = page.locator(".strip[role=img]")
    assert "Failed trials call refund_item without check_permission" in (
        strip.get_attribute("aria-label") or ""
    )
    assert page.locator("tr.row.root .mark").get_attribute("aria-label") == "root step of a divergence"
    assert page.locator("table.tasks > thead th:not([scope=col])").count() == 0
    assert page.locator("button.toggle").first.get_attribute("aria-expanded") == "true"
    assert page.locator("#shown").get_attribute("aria-live") == "polite"
