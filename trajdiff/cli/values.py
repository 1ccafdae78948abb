"""Output of commands whose result is no report: one table of renderers, the same options as everywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajdiff.cli.streams import put
from trajdiff.cli.writing import STANDARD_OUTPUT, check_target, write
from trajdiff.errors import UsageError
from trajdiff.frozen import replace
from trajdiff.render.marks import ASCII, UNICODE
from trajdiff.render.safety import one_line
from trajdiff.render.view import View

if TYPE_CHECKING:
    from trajdiff.cli.session import Session

Renderers = Mapping[str, Callable[[Any, View], str]]

_SUFFIXES = {".json": "json", ".jsonl": "jsonl", ".md": "markdown", ".txt": "text"}


def check_formats(session: Session, renderers: Renderers) -> list[tuple[str, str]]:
    """The files asked for with their formats. Raises ``UsageError`` before anything is read."""
    if session.format() not in renderers:
        raise UsageError(f"no format {session.format()} here", f"known: {', '.join(sorted(renderers))}")
    targets = []
    for target in session.options.get("to") or ():
        if target == STANDARD_OUTPUT:
            continue
        name = _SUFFIXES.get(Path(target).suffix.lower())
        if name is None or name not in renderers:
            known = " ".join(suffix for suffix, name in sorted(_SUFFIXES.items()) if name in renderers)
            raise UsageError(
                f"{one_line(target)}: the suffix names no format that can be written", f"known: {known}"
            )
        check_target(target)
        targets.append((target, name))
    if session.options.get("md"):
        check_target(session.options["md"])
        targets.append((session.options["md"], "markdown"))
    return targets


def emit_value(session: Session, value: Any, renderers: Renderers, view: View) -> None:
    """Print the value and write the files asked for."""
    targets = check_formats(session, renderers)
    name = session.format()
    plain, for_file = replace(view, color=False), for_files(session, view)
    rendered = []
    for target, kind in targets:
        shared, look = session.sharing.prepare(value, for_file, file=True, format_name=kind)
        content = renderers[kind](shared, look)
        rendered.append((target, content, session.sharing.told(content)))
    shared, look = session.sharing.prepare(
        value, view if name == "text" else plain, file=False, format_name=name
    )
    put(renderers[name](shared, look), utf8=name != "text")
    for target, content, told in rendered:
        write(target, content)
        session.note("wrote", f"{one_line(target)}   {told}")


def for_files(session: Session, view: View) -> View:
    """A file must not depend on the terminal it was made at."""
    return replace(view, color=False, width=100, marks=ASCII if session.options.get("ascii") else UNICODE)
