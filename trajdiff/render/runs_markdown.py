"""Two runs, and the gates over them, as a Markdown comment."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trajdiff.natural import natural_key
from trajdiff.redaction import counts_text
from trajdiff.render.markdown import BUDGET, steps_block, within
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
from trajdiff.render.wording import plural

if TYPE_CHECKING:
    from trajdiff.comparison import Comparison
    from trajdiff.divergence.finding import Divergence
    from trajdiff.gate import CheckResult
    from trajdiff.render.view import View
    from trajdiff.report import Report, TaskReport

MOST_ROWS = 10
_DETAILS = 5


def render(comparison: Comparison, view: View) -> str:
    """The comparison as a comment."""
    made = comparison.decision
    result = f"pass^{made.k} {signed(made.difference)}"
    head = f"### trajdiff: {plural(made.tasks, 'task')} compared: {cell(result)}\n"
    return within("\n".join([marker(view.name), head, *body(comparison, view)]))


def render_check(result: CheckResult, view: View) -> str:
    """The gates, then the comparison behind them and the steps of new divergences. Cut in this order when too
    long: steps, then rows, then whatever is left; a line says what was cut."""
    found = new_divergences(result)
    for details, rows in ((_DETAILS, MOST_ROWS), (0, MOST_ROWS), (0, 3)):
        text = _check(result, view, found[:details], rows)
        if len(found) > details:
            left = plural(len(found) - details, "new divergence")
            text += f"\nsteps of {left} left out\n"
        if len(text) <= BUDGET:
            return text
    return within(text)


def _check(result: CheckResult, view: View, details: Sequence[tuple[TaskReport, Divergence]], rows: int) -> str:
    report = result.report
    failed, of = len(result.failed), len(result.results)
    words = f"{failed} of {plural(of, 'gate')} failed" if failed else f"{plural(of, 'gate')} passed"
    if int(result.code) == 3:
        words = "incomplete"
    title = f"{cell(report.name)}, " if report.name else ""
    parts = [marker(report.name), f"### trajdiff: {title}{plural(report.suite.tasks, 'task')}: {words}\n"]
    gates = [
        ("**" + str(one.outcome).upper() + "**", cell(one.name), cell(one_line(one.text)))
        for one in result.results
    ]
    parts.append(table(("", "gate", ""), gates, right=()))
    parts += [f"- incomplete: {cell(one_line(text))}" for text in result.incomplete]
    if result.comparison is not None:
        parts += ["", *body(result.comparison, view, rows, _standing(report))]
    parts += [steps_block(task, divergence, view) for task, divergence in details]
    return "\n".join(part for part in parts if part is not None) + "\n"


def _standing(report: Report) -> list[str]:
    """What the foot of a comment says about rules, and about what was hidden."""
    accepted = sum(one.accepted is not None for task in report.tasks for one in task.finding.divergences)
    said = [f"{accepted} accepted", *report.rules]
    if report.redacted is None:
        said.append("not redacted")
    elif report.redacted:
        said.append(counts_text(dict(report.redacted)))
    return said


def new_divergences(result: CheckResult) -> list[tuple[TaskReport, Divergence]]:
    """Divergences that the baseline lacks and no entry accepts, one per identity, the best grade first."""
    if result.comparison is None:
        return []
    found = []
    for change in result.comparison.changes:
        task = result.report.task(change.task_id)
        wanted = {one.identity for one in change.new if not one.accepted}
        for entry in task.finding.divergences if task is not None else ():
            if task is not None and entry.identity in wanted and not entry.abstained:
                wanted.discard(entry.identity)
                found.append((task, entry))
    return sorted(found, key=lambda pair: (pair[1].grade or "Z", natural_key(pair[0].task_id)))


def marker(name: str | None) -> str:
    """The first line, by which a workflow finds its comment."""
    clean = re.sub(r"[^A-Za-z0-9._-]+", "-", one_line(name or "report")).strip("-") or "report"
    return f"<!-- trajdiff:{clean} -->"


def body(comparison: Comparison, view: View, most: int = MOST_ROWS, more: Sequence[str] = ()) -> list[str]:
    """Warnings, figures, what the decision says, changed tasks, budget; ``more`` ends the small print."""
    parts = [f"**{cell(text)}**\n" for text in warning_lines(comparison)]
    headers = ("", "baseline", "candidate", "change", "95 %")
    rows = [tuple(cell(text) for text in row) for row in figure_rows(comparison)]
    parts.append(table(headers, rows, right=(1, 2, 3)))
    parts += [f"{cell(text)}\n" for text in verdict_lines(comparison, view.marks, stats=view.stats)]
    found = changed(comparison)
    shown = found if view.show_all else [one for one in found if matters(one)][:most]
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
        *more,
        "divergences are places to look",
    ]
    said = (cell(view.marks.words(text)) for text in foot)
    parts.append(f"<sub>{view.marks.dot.join(said)}</sub>\n")
    return parts
