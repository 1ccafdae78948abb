"""Puts the page together: template, style, script, and one chunk of data per task."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from trajdiff.render.choosing import chosen_tasks
from trajdiff.render.curve import suite_curve_table, task_ks
from trajdiff.render.html import overview
from trajdiff.render.html.chunks import SharedTexts, Texts, packed, shared_texts
from trajdiff.render.html.curve_svg import drawing
from trajdiff.render.html.facets import CHIPS, facets
from trajdiff.render.html.task_data import OPS, task_data
from trajdiff.render.html.task_lines import task_lines
from trajdiff.render.marks import MEANINGS, UNICODE
from trajdiff.render.safety import clean, one_line
from trajdiff.render.wording import counts_line

if TYPE_CHECKING:
    from trajdiff.render.view import View
    from trajdiff.report import Report, TaskReport

#: Scripts in the order in which they stand in the file; each is a part of one program.
SCRIPTS = ("page.js", "filters.js", "cells.js", "found.js", "table.js", "task.js", "keys.js")


def render(report: Report, view: View) -> bytes:
    """The whole page in UTF-8; equal reports give equal bytes. Marks are always those of Unicode."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["line"] = one_line
    page = environment.get_template("report.html").render(**_context(report, view))
    return page.encode("utf-8", "backslashreplace")


def _harmless(value: Any) -> Any:
    """No control character gets into the page, whatever a template shows; our own parts are marked safe."""
    return clean(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


@cache
def asset(name: str) -> str:
    """A file of this package as text."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def lean(source: str) -> str:
    """Script or style without indentation, blank lines and comment lines; it has no text over several lines."""
    lines = (line.strip() for line in source.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith(("//", "/**")))


def lean_style(source: str) -> str:
    """A style sheet without the blanks that only help to read it."""
    return re.sub(r"\s*([{};,])\s*", r"\1", lean(source))


def _context(report: Report, view: View) -> dict[str, Any]:
    tasks = chosen_tasks(report, view.choice)
    ks = task_ks(report.suite, view.k)
    shared = shared_texts(tasks)
    script, style = "\n".join(lean(asset(name)) for name in SCRIPTS), lean_style(asset("report.css"))
    return {
        "report": report,
        "name": one_line(report.name or "") or "trajectories",
        "counts": counts_line(report, UNICODE),
        "filters": view.choice.words,
        "all_tasks": len(report.tasks),
        "ks": ks,
        "lines": task_lines(tasks, ks),
        "curve": drawing(report),
        "curve_table": suite_curve_table(report.suite, view.k, UNICODE, card=report.card, stats=view.stats),
        "tiles": overview.tiles(report),
        "findings": overview.findings(report),
        "figures": overview.figures(report),
        "stops": overview.stop_reasons(report),
        "recurring": overview.recurring(report, tasks),
        "not_compared": overview.not_compared(report),
        "notices": overview.notices(report.diagnostics),
        "notices_left": max(0, len(report.diagnostics) - len(overview.notices(report.diagnostics))),
        "hidden": overview.hidden(report),
        "settings": overview.settings(report),
        "grades": overview.GRADES,
        "legend": overview.legend(),
        "facets": facets(tasks),
        "chips": CHIPS,
        "shared": packed(shared.texts) if shared.texts else "",
        "chunks": [_chunk(task, shared, view) for task in tasks],
        "constants": _constants(),
        "style": style,
        "script": script,
        "style_hash": _hash(style),
        "script_hash": _hash(script),
    }


def _chunk(task: TaskReport, shared: SharedTexts, view: View) -> str:
    return packed(task_data(task, Texts(shared), view))


def _constants() -> str:
    """Marks and their words for the script, as JSON that cannot close its element."""
    marks = {name: getattr(UNICODE, name) for name in MEANINGS}
    ops = {letter: {"mark": UNICODE.step(op), "words": str(op).replace("_", " ")} for op, letter in OPS.items()}
    made = json.dumps({"marks": marks, "ops": ops, "words": MEANINGS}, ensure_ascii=False, sort_keys=True)
    return made.replace("<", "\\u003c")


def _hash(text: str) -> str:
    """What the policy of the page allows to run: the base64 SHA-256 of exactly this text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
