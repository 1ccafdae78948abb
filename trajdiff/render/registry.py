"""Finds the renderers by themselves: a module of this package that defines ``RENDERERS`` is one.

To write a new output, add one module; nothing else has to know about it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from trajdiff.errors import UsageError
from trajdiff.render.safety import one_line
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Renderer:
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
        module = importlib.import_module(f"trajdiff.render.{info.name}")
        found.extend(getattr(module, "RENDERERS", ()))
    found.sort(key=lambda renderer: (SUBJECTS.index(renderer.subject), renderer.name))
    names = [(renderer.subject, renderer.name) for renderer in found]
    if len(set(names)) != len(names):
        raise RuntimeError(f"two renderers share a name: {names}")
    return tuple(found)


def by_name(subject: str, name: str) -> Renderer:
    """The renderer of this subject and format; raises ``UsageError`` that lists the known formats."""
    for renderer in renderers():
        if renderer.subject == subject and renderer.name == name:
            return renderer
    known = ", ".join(sorted(renderer.name for renderer in renderers() if renderer.subject == subject))
    raise UsageError(f"no format {one_line(name)} here", f"known: {known}")


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
