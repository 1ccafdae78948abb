"""Finds the renderers by themselves: a module of this package that defines ``RENDERERS`` is one.

To write a new output, add one module; nothing else has to know about it. Those that commands print are looked
for where they lie first: to import all modules takes longer than most commands have.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from trajdiff.errors import UsageError
from trajdiff.render.safety import one_line

if TYPE_CHECKING:
    from trajdiff.render.view import View
    from trajdiff.report import Report

#: What can be rendered. Each is a part of a report, chosen by the view.
SUBJECTS = (
    "report",
    "task",
    "trials",
    "unstable",
    "inspect",
    "export-trials",
    "export-alignment",
    "export-divergences",
)


#: Where the renderer of a subject and format lies, for those that are asked for most.
AT_HAND = {
    ("report", "text"): "terminal_report",
    ("report", "json"): "json_report",
    ("task", "text"): "terminal_task",
    ("task", "json"): "json_compare",
    ("trials", "text"): "terminal_trials",
    ("trials", "json"): "json_compare",
    ("unstable", "text"): "unstable",
    ("unstable", "json"): "unstable",
    ("inspect", "text"): "inspect_input",
    ("inspect", "json"): "inspect_input",
}


class Renderer(Struct, frozen=True, kw_only=True):
    """One output format of one subject.

    ``name`` is what ``--format`` takes, ``suffixes`` what ``--to`` recognises (with their dot); ``render``
    is a pure function of the report and the view. Text is encoded as UTF-8 by whoever writes it. Where it says
    nothing about the whole input (levels, self-check), ``whole`` is off.
    """

    name: str
    subject: str
    render: Callable[[Report, View], str | bytes]
    suffixes: tuple[str, ...] = ()
    whole: bool = True


@cache
def renderers() -> tuple[Renderer, ...]:
    """All renderers, ordered by subject and name. Two with the same subject and name are a defect."""
    package = importlib.import_module("trajdiff.render")
    found: list[Renderer] = []
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        found.extend(_inside(info.name))
    found.sort(key=lambda renderer: (SUBJECTS.index(renderer.subject), renderer.name))
    names = [(renderer.subject, renderer.name) for renderer in found]
    if len(set(names)) != len(names):
        raise RuntimeError(f"two renderers share a name: {names}")
    return tuple(found)


def _inside(module: str) -> tuple[Renderer, ...]:
    """The renderers that a module of this package defines."""
    found: tuple[Renderer, ...] = getattr(importlib.import_module(f"trajdiff.render.{module}"), "RENDERERS", ())
    return found


def by_name(subject: str, name: str) -> Renderer:
    """The renderer of this subject and format; raises ``UsageError`` that lists the known formats."""
    module = AT_HAND.get((subject, name))
    found = _named(subject, name, _inside(module)) if module is not None else None
    found = found or _named(subject, name, renderers())
    if found is not None:
        return found
    known = ", ".join(sorted(renderer.name for renderer in renderers() if renderer.subject == subject))
    raise UsageError(f"no format {one_line(name)} here", f"known: {known}")


def _named(subject: str, name: str, known: Iterable[Renderer]) -> Renderer | None:
    return next((one for one in known if one.subject == subject and one.name == name), None)


def by_suffix(subject: str, target: str) -> Renderer:
    """The renderer for a file name; raises ``UsageError`` that lists the known suffixes."""
    lower = target.lower()
    for renderer in renderers():
        if renderer.subject == subject and any(lower.endswith(suffix) for suffix in renderer.suffixes):
            return renderer
    known = sorted(
        {suffix for renderer in renderers() if renderer.subject == subject for suffix in renderer.suffixes}
    )
    raise UsageError(
        f"{one_line(target)}: the suffix names no format that can be written", f"known: {' '.join(known)}"
    )
