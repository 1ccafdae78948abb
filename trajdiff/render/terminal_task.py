"""One task for a terminal: its finding, the strip, and the aligned tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from trajdiff.reliability.estimators import format_k
from trajdiff.render.aligned import Fit, Sides, aligned_lines
from trajdiff.render.curve import task_ks
from trajdiff.render.lines import Line, Span, fit, line, paint, width_of
from trajdiff.render.places import first_row, manifest_row, root_row, tells_first
from trajdiff.render.registry import Renderer
from trajdiff.render.safety import cells, one_line
from trajdiff.render.strip import VariantRow, strip_line, strip_lines, variant_rows
from trajdiff.render.task_findings import claims, groups, opening_lines, sources_lines
from trajdiff.render.view import task_of

if TYPE_CHECKING:
    from trajdiff.align.table import Row
    from trajdiff.divergence.finding import Divergence
    from trajdiff.render.view import View
    from trajdiff.report import Report, TaskReport


def render(report: Report, view: View) -> str:
    """The task the view is about, no line wider than ``view.width`` cells."""
    task = task_of(report, view)
    variants = variant_rows(task, view.trials)
    marked = _marked(task, variants)
    lines = [*header_lines(task, view), (), *opening_lines(task, variants, view)]
    strip = strip_lines(task, variants, _places(task, marked, view), width=view.width, marks=view.marks)
    lines += [(), *strip] if strip else []
    lines += table_lines(task, variants, view)
    lines += _sources(task, view)
    return paint([fit(content, view.width, view.marks.ellipsis) for content in lines], color=view.color)


def header_lines(task: TaskReport, view: View) -> list[Line]:
    """Task id, title, trials and pass^k; on two lines where one is too narrow."""
    figures = "   ".join(
        f"pass^{k} {format_k(task.reliability.pass_hat_k, k)}" for k in task_ks(task.reliability, view.k)
    )
    title = f"  {one_line(task.title)}" if task.title else ""
    name = line(Span(one_line(task.task_id), "heading"), title)
    right = line(strip_line(task, view.marks, most=40), f"   {figures}")
    if width_of(name) + width_of(right) + 3 <= view.width:
        return [line(name, "   ", right)]
    return [name, line("  ", right)]


def table_lines(task: TaskReport, variants: tuple[VariantRow, ...], view: View) -> list[Line]:
    """The reference against each failing variant; the first whole, of the others the rows around their root."""
    table = task.finding.table
    if table is None or not variants:
        return []
    left = variants[0]
    failing = [variant for variant in variants[1:] if variant.failed]
    if not failing:  # nothing failed: infrastructure ends beside a pass, or variants on request
        unjudged = [variant for variant in variants[1:] if not variant.passed]
        failing = unjudged or (list(variants[1:]) if view.full else [])
    lead = task.finding.lead.trial_id if task.finding.lead else None
    failing.sort(key=lambda variant: all(trial.trial_id != lead for trial in variant.trials))
    lines: list[Line] = []
    for position, right in enumerate(failing):
        divergence = _divergence_of(task, right)
        sides = Sides(
            left=left.shown,
            right=right.shown,
            left_title=line(_title(left, view), " (reference)" if left.shown == table.reference else ""),
            right_title=_title(right, view),
            places=_places(task, divergence, view),
        )
        lines.append(())
        if not _fit(view).side_by_side:
            lines.append(line("A  ", sides.left_title, "   B  ", sides.right_title))
        around = None if position == 0 or view.full else _around(task, divergence)
        lines += aligned_lines(table, sides, _fit(view), around)
    return lines


def _fit(view: View) -> Fit:
    return Fit(width=view.width, marks=view.marks, context=view.context, full=view.full, layout=view.layout)


def _title(variant: VariantRow, view: View) -> Line:
    styles = {view.marks.passed: "passed", view.marks.failed: "failed"}
    verdicts = dict.fromkeys(view.marks.trial(trial.verdict) for trial in variant.trials)
    return line(*(Span(mark, styles.get(mark, "")) for mark in verdicts), f" {variant.names}")


def _divergence_of(task: TaskReport, variant: VariantRow) -> Divergence | None:
    """The divergence (or abstention) of the first failed trial of a variant."""
    trials = [trial.trial_id for trial in variant.trials]
    return next((entry for entry in task.finding.divergences if entry.trial_id in trials), None)


def _marked(task: TaskReport, variants: tuple[VariantRow, ...]) -> Divergence | None:
    """The divergence whose places are marked below the strip."""
    shown = {trial.trial_id for variant in variants for trial in variant.trials}
    for divergence, trials in groups(task):
        if shown.intersection(trials):
            return divergence
    return None


def _places(task: TaskReport, divergence: Divergence | None, view: View) -> dict[int, str]:
    """Marks of root, manifest step and first difference, by row number; the root wins."""
    if divergence is None:
        return {}
    found: dict[int, str] = {}
    first = first_row(task.finding, divergence)
    if first is not None and tells_first(task.finding, divergence):
        found[first] = view.marks.first
    if claims(divergence):
        manifest, root = manifest_row(task.finding, divergence), root_row(task.finding, divergence)
        if manifest is not None:
            found[manifest] = view.marks.manifest
        if root is not None:
            found[root] = view.marks.root
    return found


def _around(task: TaskReport, divergence: Divergence | None) -> Callable[[Row], bool]:
    """Rows from the root to the manifest step of a divergence."""
    if divergence is None or not claims(divergence):
        return lambda row: False
    rows = [row for row in (root_row(task.finding, divergence), manifest_row(task.finding, divergence)) if row]
    return lambda row: bool(rows) and min(rows) <= row.number <= max(rows)


def _sources(task: TaskReport, view: View) -> list[Line]:
    """Source references of each group of failed trials."""
    lines: list[Line] = []
    for divergence, _ in groups(task):
        lines += sources_lines(task, divergence, view)
    if lines:
        return [(), *lines]
    refs = [one_line(trial.ref) for trial in task.trials if trial.ref]
    longest = max([cells(ref) for ref in refs] or [0])
    return [
        (),
        *(
            line(
                f"{'source' if at == 0 else '':<8}",
                f"{view.marks.trial(trial.verdict)} ",
                f"{one_line(trial.ref):<{longest}}   " if longest + 30 < view.width else one_line(trial.ref),
                Span(one_line(trial.pointer), "muted") if longest + 30 < view.width else "",
            )
            for at, trial in enumerate(trial for trial in task.trials if trial.ref)
        ),
    ]


RENDERERS = (Renderer(name="text", subject="task", render=render, whole=False),)
