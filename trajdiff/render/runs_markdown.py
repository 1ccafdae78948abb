"""Two runs, and the gates over them, as a Markdown comment (interface.md 10.1)."""

from __future__ import annotations

import re

from trajdiff.comparison import Comparison
from trajdiff.gate import CheckResult
from trajdiff.render.markdown_text import cell, code, table
from trajdiff.render.runs_text import (
    budget_line,
    changed,
    class_line,
    divergence_counts,
    figure_rows,
    matters,
    pairing_lines,
    signed,
    strip,
    verdict_lines,
    warning_lines,
    what_changed,
)
from trajdiff.render.safety import one_line
from trajdiff.render.view import View
from trajdiff.render.wording import plural

MOST_ROWS = 10


def render(comparison: Comparison, view: View) -> str:
    """The comparison as a comment."""
    made = comparison.decision
    result = f"pass^{made.k} {signed(made.difference)}"
    head = f"### trajdiff: {plural(made.tasks, 'task')} compared: {cell(result)}\n"
    return "\n".join([marker(None), head, *body(comparison, view)])


def render_check(result: CheckResult, view: View) -> str:
    """The gates, then the comparison behind them."""
    report = result.report
    failed, of = len(result.failed), len(result.results)
    words = f"{failed} of {plural(of, 'gate')} failed" if failed else f"{plural(of, 'gate')} passed"
    if int(result.code) == 3:
        words = "incomplete"
    title = f"{cell(report.name)}, " if report.name else ""
    parts = [marker(report.name), f"### trajdiff: {title}{plural(report.suite.tasks, 'task')}: {words}\n"]
    rows = [
        ("**" + str(one.outcome).upper() + "**", cell(one.name), cell(one_line(one.text)))
        for one in result.results
    ]
    parts.append(table(("", "gate", ""), rows, right=()))
    parts += [f"- incomplete: {cell(one_line(text))}" for text in result.incomplete]
    if result.comparison is not None:
        parts += ["", *body(result.comparison, view)]
    return "\n".join(parts) + "\n"


def marker(name: str | None) -> str:
    """The first line, by which a workflow finds its comment."""
    clean = re.sub(r"[^A-Za-z0-9._-]+", "-", one_line(name or "report")).strip("-") or "report"
    return f"<!-- trajdiff:{clean} -->"


def body(comparison: Comparison, view: View) -> list[str]:
    """Warnings, figures, what the decision says, changed tasks, budget."""
    parts = [f"**{cell(text)}**\n" for text in warning_lines(comparison)]
    headers = ("", "baseline", "candidate", "change", "95 %")
    rows = [tuple(cell(text) for text in row) for row in figure_rows(comparison)]
    parts.append(table(headers, rows, right=(1, 2, 3)))
    parts += [f"{cell(text)}\n" for text in verdict_lines(comparison, view.marks, stats=view.stats)]
    found = changed(comparison)
    shown = found if view.show_all else [one for one in found if matters(one)][:MOST_ROWS]
    if shown:
        lines = [
            (
                code(one.task_id),
                strip(one.baseline, view.marks),
                strip(one.candidate, view.marks),
                signed(one.difference),
                cell(what_changed(one, view.marks)),
            )
            for one in shown
        ]
        headers = ("task", "baseline", "candidate", "pass^1", "what changed")
        parts.append(table(headers, lines, right=(3,)))
    if len(found) > len(shown):
        parts.append(f"and {len(found) - len(shown)} more\n")
    foot = [
        divergence_counts(comparison),
        class_line(comparison),
        budget_line(comparison),
        *pairing_lines(comparison),
        "divergences are places to look",
    ]
    parts.append(f"<sub>{' · '.join(cell(text) for text in foot)}</sub>\n")
    return parts
