"""Two runs side by side for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trajdiff.comparison import Change, Comparison, TaskChange
from trajdiff.model import Verdict
from trajdiff.render.columns import Column, layout
from trajdiff.render.lines import Line, Span, fit, line, paint, wrap
from trajdiff.render.safety import cut_middle, one_line
from trajdiff.render.wording import plural, probability, shortlist

if TYPE_CHECKING:
    from trajdiff.reliability.paired import PairedDifference
    from trajdiff.render.marks import Marks
    from trajdiff.render.view import View
    from trajdiff.sides import SideTask

_LONGEST_ID = 32


def render(comparison: Comparison, view: View) -> str:
    """The whole comparison as text, no line wider than ``view.width`` cells."""
    lines: list[Line] = []
    for text in (*warning_lines(comparison), *pairing_lines(comparison)):
        lines += _wrapped(text, view)
    lines += [(), *_figures(comparison, view), ()]
    for text in verdict_lines(comparison, view.marks, stats=view.stats):
        lines += _wrapped(text, view)
    lines += [(), *_tasks(comparison, view)]
    for text in (divergence_counts(comparison), class_line(comparison), budget_line(comparison)):
        lines += _wrapped(text, view) if text else []
    return paint([fit(content, view.width, view.marks.ellipsis) for content in lines], color=view.color)


def warning_lines(comparison: Comparison) -> list[str]:
    """What is not the same on both sides: above every figure, since the figures rest on it."""
    return [f"not like with like: {one_line(text)}" for text in comparison.differs]


def pairing_lines(comparison: Comparison) -> list[str]:
    """How many tasks are paired, and which are not."""
    sizes = [sorted({getattr(c, side).n for c in comparison.changes}) for side in ("baseline", "candidate")]
    texts = [str(s[0]) if len(s) == 1 else f"{s[0]} to {s[-1]}" for s in sizes]
    trials = f"{texts[0]} trials on each side" if texts[0] == texts[1] else f"{texts[0]} and {texts[1]} trials"
    only = []
    if comparison.only_baseline:
        only.append(f"baseline {shortlist(comparison.only_baseline, 5)}")
    if comparison.only_candidate:
        only.append(f"candidate {shortlist(comparison.only_candidate, 5)}")
    paired = f"paired {plural(len(comparison.changes), 'task')}, {trials}"
    lines = [f"{paired}; only in one side: {'; '.join(only) or 'none'}"]
    if comparison.no_trials:
        lines.append(f"not compared, no counted trial on one side: {shortlist(comparison.no_trials, 5)}")
    return lines


def figure_rows(comparison: Comparison) -> list[tuple[str, str, str, str, str]]:
    """Rows of figures: name, baseline, candidate, change, interval of the change."""
    made = sorted((comparison.decision, *(one for one, _ in comparison.others)), key=lambda one: one.k)
    rows = [
        (f"pass^{one.k}", f"{one.mean_a:.2f}", f"{one.mean_b:.2f}", signed(one.difference), interval_words(one))
        for one in made
    ]
    for name, before, after in comparison.classes:
        change = f"{after - before:+d}" if after != before else "0"
        rows.append((name, str(before), str(after), change, ""))
    return rows


def signed(value: float) -> str:
    """A change with its sign; nothing that rounds to zero has one."""
    text = f"{value:+.2f}"
    return "0.00" if text in ("+0.00", "-0.00") else text


def interval_words(made: PairedDifference) -> str:
    """``-0.16 to +0.12``, or why there is none."""
    if made.low is None or made.high is None:
        return made.reason or "n/a"
    verb = "differs" if made.test.differing == 1 else "differ"
    few = f" (only {_units(made, made.test.differing)} {verb})" if made.few_differ else ""
    return f"{signed(made.low)} to {signed(made.high)}{few}"


def verdict_lines(comparison: Comparison, marks: Marks, *, stats: bool = False) -> list[str]:
    """What the decision says, in a sentence or two."""
    made = comparison.decision
    lines = [f"pass^{made.k} (the decision): {_clear(made)}; sign-flip p {_p(made)}"]
    lines[0] += f", better {plural(made.wins, 'task')}, worse {made.losses}, unchanged {made.ties}"
    if made.few_differ and made.test.differing:
        least = probability(float(made.test.attainable))
        lines.append(f"with {_units(made, made.test.differing, 'changed ')} no p below {least} is possible")
    if made.families is not None:
        lines.append(f"{plural(made.families, 'family', 'families')} as units of interval and sign flips")
    if made.differing_at_most is not None:
        lines.append(f"no task differs; at most {made.differing_at_most:.2f} of tasks may (one-sided 95 %)")
    if stats:
        lines += _more(comparison)
    return lines


def divergence_counts(comparison: Comparison) -> str:
    """``divergences: 1 new, 2 known (L1-017, L1-034), 1 gone``."""
    parts = []
    for name in ("new", "known", "gone"):
        tasks = [change.task_id for change in comparison.changes for _ in getattr(change, name)]
        named = f" ({shortlist(list(dict.fromkeys(tasks)), 5)})" if tasks else ""
        parts.append(f"{len(tasks)} {name}{named}")
    text = f"divergences: {', '.join(parts)}"
    if not any(change.new or change.gone for change in comparison.changes):
        return text
    most = max(side.n for change in comparison.changes for side in (change.baseline, change.candidate))
    chance = f"with {plural(most, 'trial')} a side may miss it by chance"
    return f"{text}. New and gone say which side shows it; {chance}"


def class_line(comparison: Comparison) -> str:
    """How many tasks changed in which way."""
    parts = [f"{change} {len(comparison.of(change))}" for change in Change if comparison.of(change)]
    return f"tasks: {'; '.join(parts)}"


def budget_line(comparison: Comparison) -> str:
    """What both sides took: more attempts are not a better agent."""
    parts = []
    for side, word in ((comparison.baseline, "baseline"), (comparison.candidate, "candidate")):
        cost = f", {side.cost:.2f} USD" if side.cost is not None else ""
        tokens = f", {side.tokens:,} tokens" if side.tokens is not None else ""
        parts.append(f"{word} {plural(side.counted, 'counted trial')}{tokens}{cost}")
    return f"budget: {'; '.join(parts)}"


def strip(task: SideTask, marks: Marks, most: int = 10) -> str:
    """The trials of one side as marks; counts where there are too many."""
    if len(task.verdicts) > most:
        return f"{task.c}/{task.n}"
    return "".join(marks.trial(verdict) for verdict in task.verdicts)


def what_changed(change: TaskChange, marks: Marks) -> str:
    """The first thing a reader wants to know about a changed task."""
    parts = []
    if change.new:
        first = change.new[0]
        grade = f"{first.grade} " if first.grade else ""
        more = f" +{len(change.new) - 1}" if len(change.new) > 1 else ""
        # After a fix the question is whether the old divergence is gone, still there, or has been replaced.
        name = "replaced by" if change.gone and not change.known else "new divergence"
        parts.append(f"{name} {grade}{marks.root} {one_line(first.text)}{more}")
    if change.new_same_path:
        parts.append("same path, different outcome")
    if change.gone:
        parts.append(f"gone: {marks.root} {one_line(change.gone[0].text)}")
    if change.known and not change.new:
        parts.append(f"known: {marks.root} {one_line(change.known[0].text)}")
    return "; ".join(parts) or str(change.change)


def changed(comparison: Comparison) -> list[TaskChange]:
    """Tasks with a change worth a row: new divergences first, then by how far the rate moved."""
    found = [
        one
        for one in comparison.changes
        if one.change is not Change.SAME or one.new or one.gone or one.new_same_path
    ]
    order = {task.task_id: at for at, task in enumerate(comparison.changes)}
    return sorted(found, key=lambda one: (not _strong(one), one.difference, order[one.task_id]))


def matters(change: TaskChange) -> bool:
    """Whether outcomes changed, or a new divergence rests on trials of both kinds (grade A or B)."""
    return change.change is not Change.SAME or change.new_same_path or _strong(change)


def _strong(change: TaskChange) -> bool:
    return any(one.grade in ("A", "B") for one in change.new)


def _figures(comparison: Comparison, view: View) -> list[Line]:
    headers = ("", "baseline", "candidate", "change", "95 % (paired)")
    columns = [Column(header=header, right=0 < at < 4) for at, header in enumerate(headers)]
    rows = [[line(text) for text in row] for row in figure_rows(comparison)]
    return list(layout(columns, rows, width=view.width, ellipsis=view.marks.ellipsis))


def _tasks(comparison: Comparison, view: View) -> list[Line]:
    found = changed(comparison)
    shown = found if view.show_all else [one for one in found if matters(one)][: view.choice.limit]
    if not shown:
        return [line(Span("no task changed", "muted"))]
    columns = [
        Column(header="task"),
        Column(header="baseline"),
        Column(header="candidate"),
        Column(header="pass^1", right=True),
        Column(header="what changed", wants=40),
    ]
    rows = [
        [
            line(cut_middle(one_line(one.task_id), _LONGEST_ID, view.marks.ellipsis)),
            _strip(one.baseline, view.marks),
            _strip(one.candidate, view.marks),
            line(signed(one.difference)),
            line(what_changed(one, view.marks)),
        ]
        for one in shown
    ]
    hidden = (
        f"and {len(found) - len(shown)} more, most with equal outcomes and divergences of grade C or D (--all)"
    )
    left = [line(Span(hidden, "muted"))] if len(found) > len(shown) else []
    return [*layout(columns, rows, width=view.width, ellipsis=view.marks.ellipsis), *left]


def _strip(task: SideTask, marks: Marks) -> Line:
    if len(task.verdicts) > 10:
        return line(strip(task, marks))
    styles = {Verdict.PASS: "passed", Verdict.FAIL: "failed"}
    return line(*(Span(marks.trial(one), styles.get(one, "") if one else "") for one in task.verdicts))


def _units(made: PairedDifference, count: int, before: str = "") -> str:
    """``3 tasks``, or families where these are the units."""
    one, many = ("task", "tasks") if made.families is None else ("family", "families")
    return plural(count, before + one, before + many)


def _clear(made: PairedDifference) -> str:
    if made.low is None:
        return made.reason or "no interval"
    if made.shown:
        return "better" if made.difference > 0 else "worse"
    return "no difference was shown"


def _p(made: PairedDifference) -> str:
    drawn = "" if made.test.exact else f" (drawn, seed {made.test.seed})"
    return probability(float(made.test.p)) + drawn


def _more(comparison: Comparison) -> list[str]:
    made, lines = comparison.decision, []
    if made.stderr is not None and made.detectable is not None and made.stderr_unpaired is not None:
        lines.append(
            f"standard error {made.stderr:.3f} paired, {made.stderr_unpaired:.3f} unpaired;"
            f" differences from {made.detectable:.2f} are found with 80 % power"
        )
    drawn = made.bootstrap
    if drawn is not None:
        degenerate = "degenerate, " if drawn.degenerate else ""
        units = "tasks" if made.families is None else "families"
        lines.append(
            f"bootstrap over {units} {signed(drawn.low)} to {signed(drawn.high)}"
            f" ({degenerate}{drawn.resamples:,} resamples, seed {drawn.seed})"
        )
    lines += [
        f"pass^{one.k}: sign-flip p {_p(one)}, adjusted for {len(comparison.others) + 1} k"
        f" (Holm) {probability(adjusted)}"
        for one, adjusted in comparison.others
    ]
    return lines


def _wrapped(text: str, view: View) -> list[Line]:
    return [line(part) for part in wrap(text, view.width, rest="  ")]
