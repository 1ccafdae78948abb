"""The summary page as Markdown, and as HTML that prints on one page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from pathlib import PurePath
from typing import TYPE_CHECKING

from trajdiff.errors import UsageError
from trajdiff.frozen import replace
from trajdiff.render.markdown_text import cell, code
from trajdiff.render.registry import Renderer
from trajdiff.render.safety import clean, one_line
from trajdiff.render.summary import Item, Summary, summary
from trajdiff.render.summary_words import Code, Phrase, words

if TYPE_CHECKING:
    from trajdiff.render.view import View
    from trajdiff.report import Report


def renderer_for(target: str, language: str) -> Renderer:
    """What writes the summary into this file, by its suffix. Raises ``UsageError`` for any other suffix."""
    kinds: dict[str, tuple[str, Callable[..., str | bytes]]] = {
        ".md": ("markdown", as_markdown),
        ".html": ("html", as_html),
    }
    found = kinds.get(PurePath(target).suffix.lower())
    if found is None:
        raise UsageError(f"{one_line(target)}: a summary is written as .md or .html")
    return Renderer(name=found[0], subject="report", render=partial(found[1], language=language))


def as_markdown(report: Report, view: View, *, language: str) -> str:
    """The page as Markdown; nothing in it is taken for markup."""
    page = summary(report, words(language))
    parts = [f"# {cell(page.title)}\n"]
    for section in page.sections:
        parts.append(f"## {cell(section.heading)}\n")
        if section.sentences:
            parts.append(page.stop.join(_markdown(sentence) for sentence in section.sentences) + "\n")
        if section.items:
            parts.append(
                "".join(_entry(item, at, section.numbered) for at, item in enumerate(section.items, 1))
            )
    return "\n".join([*parts, f"{_markdown(page.foot)}\n"])


def _entry(item: Item, number: int, numbered: bool) -> str:
    bullet = f"{number}. " if numbered else "- "
    below = "".join(f"{' ' * len(bullet)}- {_markdown(line)}\n" for line in item.below)
    return f"{bullet}{_markdown(item.text)}\n{below}"


def _markdown(phrase: Phrase) -> str:
    return "".join(code(part.text) if isinstance(part, Code) else _kept(part) for part in phrase)


def _kept(text: str) -> str:
    """A piece of a sentence; the blanks at its ends belong to it."""
    inner = text.strip()
    if not inner:
        return " " if text else ""
    start, end = text.startswith(" "), text.endswith(" ")
    return f"{' ' if start else ''}{cell(inner)}{' ' if end else ''}"


def as_html(report: Report, view: View, *, language: str) -> bytes:
    """The page as HTML without script, in black on white where it is printed."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.tests["code"] = lambda part: isinstance(part, Code)
    source = files("trajdiff.render").joinpath("summary_text")
    style = source.joinpath("page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
    page = environment.from_string(source.joinpath("page.html").read_text(encoding="utf-8")).render(
        page=_clean(summary(report, words(language))), style=style, style_hash=f"sha256-{digest}"
    )
    return page.encode("utf-8", "backslashreplace")


def _clean(page: Summary) -> Summary:
    """The title is the one text of a log that is no quoted part and may have come in unchanged."""
    return replace(page, title=clean(page.title))
