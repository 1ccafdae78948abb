"""The figures behind ``--stats``: each task, each node, spread, consistency, versions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from trajdiff.reliability.consistency import Reading
from trajdiff.render.columns import Column, layout
from trajdiff.render.curve import interval_text
from trajdiff.render.lines import Line, Span, line, wrap
from trajdiff.render.safety import cut_middle, one_line
from trajdiff.render.wording import plural, probability

if TYPE_CHECKING:
    from trajdiff.reliability.card import Card
    from trajdiff.reliability.nodes import NodeFigures, TaskSplit
    from trajdiff.reliability.slices import Slice
    from trajdiff.render.marks import Marks
    from trajdiff.render.view import View
    from trajdiff.report import Report

_LONGEST = 44
#: What the columns of the task table are.
_TASK_NOTES = (
    "gap: the task's mean minus its pass^k at the largest k; the suite's gap is the mean of these.",
    "p: Fisher, two-sided, of the lead divergence. least p: the smallest these trials could give.",
    "luck: chance that noise alone separates them perfectly at some row{cells}.",
    "relabelled: share of all ways to deal these passes and failures to the trials for which some row separates"
    " them as well as the best one does here.",
)


def statistics_lines(report: Report, view: View) -> list[Line]:
    """Every block of the card that the default report leaves out."""
    card = report.card
    if card is None:
        return []
    blocks = (
        ("each task", task_table(card, view)),
        ("across tasks", node_table(card, view)),
        ("spread", _texts(spread_lines(card), view)),
        ("consistency", consistency_table(card, view)),
        ("required steps", _texts(required_lines(card), view)),
        ("versions", _texts(version_lines(card), view)),
    )
    lines: list[Line] = []
    for title, content in blocks:
        if content:
            lines += [(), line(Span(title, "heading")), *content]
    return lines


def slice_lines(report: Report, view: View) -> list[Line]:
    """One table per key that was asked for."""
    card = report.card
    if card is None or not card.slices:
        return []
    lines: list[Line] = []
    for key in dict.fromkeys(one.key for one in card.slices):
        chosen = [one for one in card.slices if one.key == key]
        lines += [(), *_slice_table(key, chosen, view)]
    return lines


def task_table(card: Card, view: View) -> list[Line]:
    """n, c, Wilson interval, contribution to the gap, and the split of the lead divergence."""
    splits = {split.task_id: split for split in card.nodes.splits}
    rows = [
        [
            line(_id(one.task_id, view.marks)),
            line(f"{one.c}/{one.n}"),
            line(interval_text(one.low, one.high, view.marks)),
            line(f"{one.gap:.2f}"),
            *(line(text) for text in _split(splits.get(one.task_id))),
        ]
        for one in card.figures.tasks
    ]
    columns = [
        Column(header="task"),
        Column(header="passed", right=True),
        Column(header="95 %"),
        Column(header="gap", right=True),
        Column(header="p", right=True),
        Column(header="least p", right=True),
        Column(header="luck", right=True),
        Column(header="relabelled", right=True, drop=1),
    ]
    share = card.nodes.deviating
    cells = "" if share is None else f" (passed trials deviate in {share:.2f} of cells)"
    notes = [text.format(cells=cells) for text in _TASK_NOTES]
    table = layout(columns, rows, width=view.width, ellipsis=view.marks.ellipsis)
    return [*table, *_texts(notes, view)] if rows else []


def node_table(card: Card, view: View) -> list[Line]:
    """Each node over its tasks; untestable ones are counted."""
    shown = [node for node in card.nodes.nodes if node.q is not None]
    columns = [
        Column(header="divergence", wants=40),
        Column(header="tasks", right=True),
        Column(header="difference", right=True, drop=2),
        Column(header="mid-p", right=True, drop=1),
        Column(header="q", right=True),
        Column(header=f"pass^{shown[0].k} at most" if shown else "", right=True),
    ]
    lines: list[Line] = []
    if shown:
        rows = [_node(node, view.marks) for node in shown]
        lines = list(layout(columns, rows, width=view.width, ellipsis=view.marks.ellipsis))
    if card.nodes.nodes:
        lines += _texts(
            [
                f"{card.nodes.tested} tested, {card.nodes.untestable} not testable (no outcome of so few trials"
                " reaches .05). Exact test inside tasks, mid-p, q by Benjamini-Hochberg; exploratory, since the"
                " same trials found them. No more than an association with failure; ceilings do not add."
            ],
            view,
        )
    return lines


def spread_lines(card: Card) -> list[str]:
    """Histogram, means per trial index, variance components, shared fault."""
    figures, lines = card.figures, []
    for n, tasks in figures.histogram:
        lines.append(f"tasks with 0 to {n} passes of {n}: {' '.join(map(str, tasks))}")
    means = " ".join(f"{mean:.2f}" for _, mean, _ in figures.index_means)
    lines.append(f"mean per trial number: {means}")
    if figures.spread is not None:
        icc = "n/a" if figures.spread.icc is None else f"{figures.spread.icc:.2f}"
        lines.append(
            f"variance of one trial: within tasks {float(figures.spread.within):.3f}, between"
            f" {float(figures.spread.between):.3f} (share between {icc})"
        )
    fault = figures.fault
    if fault is not None:
        text = f"Cochran's Q {fault.q:.2f}, p {probability(fault.p)}"
        if fault.suspected:
            text = (
                f"trial {fault.index} differs from the others ({fault.rate:.2f} against {fault.others:.2f}):"
                f" shared fault? {text}"
            )
        lines.append(text)
    return lines


def consistency_table(card: Card, view: View) -> list[Line]:
    """Paths, writes and answers per task beside the pass rate; then counts of the readings."""
    columns = [
        Column(header="task"),
        Column(header="pass rate", right=True),
        Column(header="paths", right=True),
        Column(header="writes", right=True),
        Column(header="answers", right=True),
        Column(header="writes agree", right=True, drop=1),
        Column(header="reading"),
    ]
    rows = [
        [
            line(_id(one.task_id, view.marks)),
            line(f"{one.writes.pass_rate:.2f}"),
            line(str(one.paths)),
            line(str(one.writes.distinct)),
            line(str(one.answers)),
            line("n/a" if one.writes.output_agreement is None else f"{one.writes.output_agreement:.2f}"),
            line(_reading(one.writes.reading, one.failures_alike)),
        ]
        for one in card.behaviour
    ]
    if not rows:
        return []
    table = layout(columns, rows, width=view.width, ellipsis=view.marks.ellipsis)
    return [*table, *_texts(_criteria(card), view)]


def required_lines(card: Card) -> list[str]:
    """How passed and failed trials compare with the recorded required steps: a description, no verdict."""
    lines = []
    for passed, word in ((True, "passed"), (False, "failed")):
        chosen = [row for row in card.required if row.passed is passed]
        if not chosen:
            continue
        recall = sum(row.recall for row in chosen) / len(chosen)
        precise = [row.precision for row in chosen if row.precision is not None]
        precision = f"{sum(precise) / len(precise):.2f}" if precise else "n/a"
        kinds = ", ".join(
            f"{kind} {sum(row.relation == kind for row in chosen)}"
            for kind in ("exact", "superset", "subset", "neither")
        )
        lines.append(
            f"{plural(len(chosen), word + ' trial')} of tasks with required steps: recall {recall:.2f},"
            f" precision {precision}; {kinds}"
        )
    return lines


def version_lines(card: Card) -> list[str]:
    """What is recorded about each property of the trials."""
    lines = []
    for version in card.versions:
        if not version.recorded:
            lines.append(f"{version.name}: not recorded")
            continue
        values = ", ".join(map(one_line, version.values[:4]))
        more = f" and {len(version.values) - 4} more" if len(version.values) > 4 else ""
        differs = " (differs between trials)" if len(version.values) > 1 else ""
        without = f"; {plural(version.without, 'trial')} without" if version.without else ""
        lines.append(f"{version.name}: {values}{more}{differs}{without}")
    return lines


def _slice_table(key: str, chosen: Sequence[Slice], view: View) -> list[Line]:
    of_tasks = chosen[0].tasks is not None
    largest = max((len(one.pass_hat_k) for one in chosen), default=0)
    columns = [Column(header=one_line(key), wants=24)]
    if of_tasks:
        columns += [
            Column(header="tasks", right=True),
            Column(header="trials", right=True),
            Column(header="pass^1", right=True),
            Column(header="95 %"),
            Column(header=f"pass^{largest}", right=True),
            Column(header="", drop=1),
        ]
    else:
        columns += [Column(header="trials", right=True), Column(header="passed", right=True)]
    rows = []
    for one in chosen:
        cells = [line(one_line(one.value))]
        if of_tasks:
            ends = (
                "-" if one.interval is None else interval_text(one.interval.low, one.interval.high, view.marks)
            )
            values = [f"{value:.2f}" for value in one.pass_hat_k]
            last = values[largest - 1] if 0 < largest <= len(values) else "n/a"
            texts = (str(one.tasks), str(one.trials), values[0] if values else "n/a", ends, last)
            cells += [line(text) for text in (*texts, "few tasks" if one.few_tasks else "")]
        else:
            cells += [line(str(one.trials)), line(str(one.passed))]
        rows.append(cells)
    return list(layout(columns, rows, width=view.width, ellipsis=view.marks.ellipsis))


def _split(split: TaskSplit | None) -> tuple[str, str, str, str]:
    if split is None:
        return "-", "-", "-", "-"
    luck = "n/a" if split.luck is None else f"{split.luck:.2f}"
    found = split.relabelling
    again = "n/a" if found is None else probability(float(found.p))
    return probability(split.p), probability(split.attainable), luck, again


def _node(node: NodeFigures, marks: Marks) -> list[Line]:
    difference = "n/a" if node.difference is None else f"{node.difference:+.2f}"
    mid = "n/a" if node.test.mid_p is None else probability(float(node.test.mid_p))
    return [
        line(cut_middle(one_line(node.name), _LONGEST, marks.ellipsis)),
        line(str(len(node.tables))),
        line(difference),
        line(mid),
        line("n/a" if node.q is None else probability(node.q)),
        line("n/a" if node.ceiling is None else f"{node.ceiling:.2f}"),
    ]


def _reading(reading: Reading, failures_alike: bool | None) -> str:
    if failures_alike is None:
        return str(reading)
    same = "failures all alike" if failures_alike else "failures differ"
    return f"{reading}; {same}" if reading is Reading.MIXED else str(reading)


def _criteria(card: Card) -> list[str]:
    """Criteria that are not always met, by name with their counts over tasks."""
    seen: dict[str, list[str]] = {}
    for task in card.behaviour:
        for one in task.criteria:
            seen.setdefault(one.name, []).append(str(one.stability))
    lines = []
    for name in sorted(seen):
        kinds = seen[name]
        counts = ", ".join(
            f"{kind} in {plural(kinds.count(kind), 'task')}" for kind in dict.fromkeys(sorted(kinds))
        )
        lines.append(f"criterion {one_line(name)}: {counts}")
    return lines[:20] + ([f"and {len(lines) - 20} more criteria"] if len(lines) > 20 else [])


def _texts(texts: Iterable[str], view: View) -> list[Line]:
    return [
        line(part)
        for text in texts
        for part in wrap(view.marks.words(text), view.width, first="  ", rest="    ")
    ]


def _id(task_id: str, marks: Marks) -> str:
    return cut_middle(one_line(task_id), 32, marks.ellipsis)
