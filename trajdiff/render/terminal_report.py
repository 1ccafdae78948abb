"""The annotated pass^k report for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trajdiff.divergence.finding import FindingKind
from trajdiff.frozen import replace
from trajdiff.reliability.estimators import format_k
from trajdiff.render.card_words import (
    adaptive_text,
    brief_lines,
    headline_lines,
    nodes_line,
    not_measured_line,
    plan_lines,
)
from trajdiff.render.choosing import chosen_tasks
from trajdiff.render.columns import Column, layout
from trajdiff.render.curve import Curve, CurveRow, infra_note, suite_curve_table, task_ks
from trajdiff.render.lines import Line, Span, fit, line, paint, plain, wrap
from trajdiff.render.registry import Renderer
from trajdiff.render.review_words import review_lines
from trajdiff.render.safety import cut_middle, one_line
from trajdiff.render.strip import strip_line
from trajdiff.render.terminal_statistics import slice_lines, statistics_lines
from trajdiff.render.wording import (
    FindingWords,
    caution,
    completeness_lines,
    counts_line,
    finding_words,
    plural,
    recurring_lines,
    self_check_line,
    summary_lines,
    support_text,
)

if TYPE_CHECKING:
    from trajdiff.render.marks import Marks
    from trajdiff.render.view import View
    from trajdiff.report import Report, TaskReport

_LONGEST_ID = 32


def render(report: Report, view: View) -> str:
    """The whole report as text, no line wider than ``view.width`` cells."""
    if view.brief:
        brief = [line(text) for text in brief_lines(report, view.marks)]
        return paint([fit(content, view.width, view.marks.ellipsis) for content in brief], color=view.color)
    lines: list[Line] = []
    if report.name:
        lines.append(line(Span(one_line(report.name), "heading")))
    lines += _wrapped(counts_line(report, view.marks), view)
    for text in completeness_lines(report, view.marks):
        lines += _wrapped(text, view)
    lines += [(), *curve_lines(report, view), *card_lines(report, view), ()]
    lines += task_lines(report, view)
    lines += [(), *closing_lines(report, view)]
    if view.stats:
        lines += statistics_lines(report, view)
    return paint([fit(content, view.width, view.marks.ellipsis) for content in lines], color=view.color)


def curve_lines(report: Report, view: View) -> list[Line]:
    """The curve: one column per k, and what infrastructure ends change about it."""
    if not report.suite.pass_hat_k:
        return [line("no task has a counted trial: pass^k is n/a")]
    adaptive = adaptive_text(report, view.marks)
    if adaptive:
        return _wrapped(adaptive, view)
    curve = suite_curve_table(report.suite, view.k, view.marks, card=report.card, stats=view.stats)
    if not view.k:
        curve = _narrowed(curve, view)
    names = [9, *_widths(curve)]
    lines = [_curve_line(CurveRow(name="", values=tuple(f"k={k}" for k in curve.ks)), names, "heading")]
    lines += [_curve_line(row, names, note=view.width) for row in curve.rows[: curve.head]]
    note = infra_note(report.suite)
    if note:
        lines.append(line(f"{'infra':<9}{note}"))
    lines += [_curve_line(row, names) for row in curve.rows[curve.head :]]
    return [*lines, *(line(Span(text, "muted")) for text in curve.notes)]


def card_lines(report: Report, view: View) -> list[Line]:
    """What stands below the curve: spread, hard gates, cost, slices, plan; each breaks at the width."""
    if report.card is None:
        return []
    made: list[Line] = []
    for text in (*headline_lines(report, view.marks), *plan_lines(report)):
        made += [line(part) for part in wrap(text, view.width, rest="  ")]
    return [*made, *slice_lines(report, view)]


def _widths(curve: Curve) -> list[int]:
    """Room of each column: its longest text and three blanks."""
    return [
        max(8, len(f"k={k}") + 3, *(len(row.values[at]) + 3 for row in curve.rows))
        for at, k in enumerate(curve.ks)
    ]


def _narrowed(curve: Curve, view: View) -> Curve:
    """The curve without columns in the middle where the screen is too narrow; --k chooses others."""
    columns = list(range(len(curve.ks)))
    widths = _widths(curve)
    while len(columns) > 2 and 9 + sum(widths[at] for at in columns) - 3 > view.width:
        del columns[-2]
    if len(columns) == len(curve.ks):
        return curve
    rows = tuple(replace(row, values=tuple(row.values[at] for at in columns)) for row in curve.rows)
    return replace(curve, ks=tuple(curve.ks[at] for at in columns), rows=rows)


def _curve_line(row: CurveRow, widths: list[int], style: str = "", note: int | None = None) -> Line:
    """One row; with ``note`` given, the note is left out where it would not fit into that width."""
    if note is not None and sum(widths) + len(row.note) > note:
        row = replace(row, note="")
    values = "".join(f"{value:<{width}}" for value, width in zip(row.values, widths[1:], strict=True))
    values = values if row.note else values.rstrip()  # blanks at the end would be cut off with a mark
    return line(Span(f"{row.name:<{widths[0]}}", style), Span(values, style), Span(row.note, "muted"))


def task_lines(report: Report, view: View) -> list[Line]:
    """The task table, then what was left out of it."""
    chosen = chosen_tasks(report, view.choice)
    quiet = FindingKind.ALWAYS_PASS
    hide = not view.show_all and view.choice.only != quiet and not view.choice.tasks
    shown = [task for task in chosen if not (hide and task.finding.kind is quiet)]
    lines: list[Line] = []
    if shown:
        ks = task_ks(report.suite, view.k)
        lines += layout(
            _columns(ks),
            [_row(task, ks, view.marks) for task in shown],
            width=view.width,
            ellipsis=view.marks.ellipsis,
        )
    hidden = len(chosen) - len(shown)
    if hidden:
        verb = "passes" if hidden == 1 else "pass"
        lines.append(line(Span(f"{plural(hidden, 'task')} always {verb} (--all lists them)", "muted")))
    if view.choice.words:
        filters = one_line(", ".join(view.choice.words))
        lines.append(line(f"shown: {len(chosen)} of {plural(len(report.tasks), 'task')} ({filters})"))
    support = bool(lines) and "support" in plain(lines[0]).split()
    if support and any(support_text(task.finding.lead) != "-" for task in shown):
        lines += _wrapped(
            "support: failed trials with it of all failed, passed trials with it of all passed", view, "muted"
        )
    return lines


def _columns(ks: tuple[int, ...]) -> list[Column]:
    """Middle pass^k columns go first, then support; the text is cut last."""
    figures = [
        Column(header=f"pass^{k}", right=True, drop=1 if 0 < at < len(ks) - 1 else None)
        for at, k in enumerate(ks)
    ]
    return [
        Column(header="task"),
        Column(header="trials"),
        *figures,
        Column(header="grade"),
        Column(header="where outcomes separate", wants=48),
        Column(header="support", drop=2),
    ]


def _row(task: TaskReport, ks: tuple[int, ...], marks: Marks) -> list[Line]:
    lead = task.finding.lead
    grade = str(lead.grade) if lead is not None and lead.grade is not None else "-"
    return [
        line(cut_middle(one_line(task.task_id), _LONGEST_ID, marks.ellipsis)),
        strip_line(task, marks),
        *(line(format_k(task.reliability.pass_hat_k, k)) for k in ks),
        line(grade),
        finding_line(finding_words(task, marks)),
        line(support_text(lead)),
    ]


def finding_line(words: FindingWords) -> Line:
    """The finding of a task; the mark of a divergence stands out."""
    if not words.mark:
        return line(words.text)
    return line(
        Span(words.mark, "divergence"), f" {words.rows} {words.text}" if words.rows else f" {words.text}"
    )


def closing_lines(report: Report, view: View) -> list[Line]:
    """Recurring divergences, counts of all groups, self-check, and what a divergence is."""
    lines: list[Line] = []
    recurring = recurring_lines(report, view.marks)
    if recurring:
        lines.append(line(Span("recurring", "heading")))
        lines += [line(part) for text in recurring for part in wrap(text, view.width, first="  ", rest="    ")]
    texts = (
        *summary_lines(report, view.marks),
        *review_lines(report, view.marks),
        *(view.marks.words(one_line(text)) for text in report.rules),
        self_check_line(report),
        caution(report),
        nodes_line(report),
        not_measured_line(report),
    )
    for text in filter(None, texts):
        lines += _wrapped(text, view)
    for text in report.method if view.show_all else report.method[:2]:
        lines += _wrapped(f"method: {view.marks.words(one_line(text))}", view, "muted")
    return lines


def _wrapped(text: str, view: View, style: str = "") -> list[Line]:
    """A sentence of ours, broken at blanks where it is wider than the screen."""
    return [line(Span(part, style)) for part in wrap(text, view.width)]


RENDERERS = (Renderer(name="text", subject="report", render=render),)
