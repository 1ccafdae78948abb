"""A real browser for the tests of the HTML report; without one they are skipped, with the reason."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.render.made import shop
from trajdiff.render.html.page import render
from trajdiff.render.view import View
from trajdiff.report import Report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

#: Nothing but the page itself: no update, no telemetry, no sandbox (tests may run as root).
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass
class Opened:
    """A page in the browser, and whatever it did that a report must not do."""

    page: Page
    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def quiet(self) -> bool:
        """Whether it wrote nothing to the console, raised nothing, asked for nothing and showed no dialog."""
        return not (self.console or self.errors or self.requests or self.dialogs)


Open = Callable[..., Opened]


# Not for the session: the browser's event loop would run on in tests that start one of their own.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium of the system."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip("no chromium on this machine")
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield found
        found.close()


@pytest.fixture(scope="session")
def write(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Report, str], Path]:
    """Writes the page of a report and gives its path."""
    folder = tmp_path_factory.mktemp("pages")

    def made(report: Report, name: str) -> Path:
        path = folder / f"{name}.html"
        path.write_bytes(render(report, View()))
        return path

    return made


@pytest.fixture(scope="session")
def shop_page(write: Callable[[Report, str], Path]) -> Path:
    """The report in which every finding is once."""
    return write(shop(), "shop")


@pytest.fixture
def open_page(browser: Browser, shop_page: Path) -> Iterator[Open]:
    """Opens a file with an address; ``context`` are options of the browser context."""
    contexts = []

    def opened(address: str = "", *, path: Path = shop_page, **context: object) -> Opened:
        wanted = {"viewport": {"width": 1280, "height": 900}, **context}
        contexts.append(browser.new_context(**wanted))  # type: ignore[arg-type]
        made = Opened(page=contexts[-1].new_page())
        page = made.page
        page.set_default_timeout(8000)
        url = path.as_uri()

        def dismissed(dialog: Dialog) -> None:
            made.dialogs.append(dialog.message)
            dialog.dismiss()

        page.on("console", lambda message: made.console.append(message.text))
        page.on("pageerror", lambda error: made.errors.append(str(error)))
        page.on("request", lambda asked: made.requests.append(asked.url) if asked.url != url else None)
        page.on("dialog", dismissed)
        page.goto(url + address)
        return made

    yield opened
    for context in contexts:
        context.close()
