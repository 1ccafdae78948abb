"""Two trials of a task for a terminal: what differs, and no grade."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from trajdiff.align.table import Op, Row
from trajdiff.render.aligned import Fit, Sides, aligned_lines, equal
from trajdiff.render.lines import Line, Span, fit, line, paint, wrap
from trajdiff.render.registry import Renderer
from trajdiff.render.safety import cells, one_line
from trajdiff.render.steps import cell_of, op_of, rows_with
from trajdiff.render.view import pair_of
from trajdiff.render.wording import plural

if TYPE_CHECKING:
    from trajdiff.render.view import Pair, View
    from trajdiff.report import Report, TrialRow


def render(report: Report, view: View) -> str:
    """Both trials, row by row, equal steps folded."""
    pair = pair_of(view)
    sides = Sides(
        left=pair.a.trial_id,
        right=pair.b.trial_id,
        left_title=_title(pair.a, view),
        right_title=_title(pair.b, view),
        places={},
    )
    shape = Fit(
        width=view.width,
        marks=view.marks,
        context=view.context,
        full=view.full,
        layout=view.layout,
        keep=pair.keep,
    )
    lines: list[Line] = [*_headings(pair, view), ()]
    lines += aligned_lines(pair.table, sides, shape)
    lines += [(), *_closing(report, pair, view)]
    return paint([fit(content, view.width, view.marks.ellipsis) for content in lines], color=view.color)


def _title(trial: TrialRow, view: View) -> Line:
    styles = {view.marks.passed: "passed", view.marks.failed: "failed"}
    mark = view.marks.trial(trial.verdict)
    return line(Span(mark, styles.get(mark, "")), f" trial {one_line(trial.trial_id)}")


def _headings(pair: Pair, view: View) -> list[Line]:
    """``A  ✓ path#task/trial   8 steps, user_done``."""
    styles = {view.marks.passed: "passed", view.marks.failed: "failed"}
    refs = [one_line(trial.ref) for trial in (pair.a, pair.b)]
    longest = max(cells(ref) for ref in refs)
    lines = []
    for letter, trial, ref in zip("AB", (pair.a, pair.b), refs, strict=True):
        mark = view.marks.trial(trial.verdict)
        end = f"{plural(trial.steps, 'step')}, {one_line(trial.termination)}"
        blanks = " " * (longest - cells(ref) + 3) if longest + cells(end) + 8 <= view.width else "   "
        lines.append(
            line(Span(letter, "heading"), "  ", Span(mark, styles.get(mark, "")), f" {ref}{blanks}{end}")
        )
    return lines


def _closing(report: Report, pair: Pair, view: View) -> list[Line]:
    """How many steps differ and how, and why that is not an answer yet."""
    a, b = pair.a.trial_id, pair.b.trial_id
    rows = rows_with(pair.table, (a, b))
    ways = Counter(_way(row, a, b) for row in rows if not equal(row, a, b))
    differing = sum(ways.values())
    task = report.task(pair.a.task_id)
    trials = len([trial for trial in task.trials if trial.verdict is not None]) if task else 0
    use = f" trajdiff compare task {one_line(pair.a.task_id)} uses all {trials}." if trials > 2 else ""
    if differing:
        order = ("missing in B", "only in B", "changed", "with another result")
        parts = ", ".join(f"{ways[way]} {way}" for way in order if ways[way])
        text = (
            f"{differing} of {plural(len(rows), 'step')} {'differs' if differing == 1 else 'differ'}: {parts}."
            f" Two trials show what differs, not what matters;{use or ' more trials would tell.'}"
        )
    else:
        text = f"All {plural(len(rows), 'step')} match.{use}"
    return [line(part) for part in wrap(text, view.width)]


def _way(row: Row, a: str, b: str) -> str:
    """In which way two trials differ in a row."""
    if cell_of(row, b) is None:
        return "missing in B"
    if cell_of(row, a) is None:
        return "only in B"
    ops = (op_of(row, a), op_of(row, b))
    return "with another result" if Op.OTHER_RESULT in ops else "changed"


RENDERERS = (Renderer(name="text", subject="trials", render=render),)
