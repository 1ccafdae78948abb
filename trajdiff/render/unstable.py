"""The ranked list of unstable tasks, in every format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trajdiff.frozen import replace
from trajdiff.natural import natural_key
from trajdiff.render.choosing import chosen_tasks, is_mixed
from trajdiff.render.columns import Column, layout
from trajdiff.render.json_report import envelope, task_object
from trajdiff.render.json_text import to_json, to_jsonl
from trajdiff.render.lines import Line, fit, line, paint, wrap
from trajdiff.render.markdown_text import cell, code, table
from trajdiff.render.registry import Renderer
from trajdiff.render.safety import cut_middle, one_line
from trajdiff.render.strip import strip_line
from trajdiff.render.terminal_report import finding_line
from trajdiff.render.wording import finding_words, plural, trial_strip

if TYPE_CHECKING:
    from trajdiff.divergence.finding import Grade
    from trajdiff.render.view import View
    from trajdiff.report import Report, TaskReport

_MEANING = "disagree: share of pairs of trials with different outcomes."


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A mixed task and its place, counted from 1."""

    rank: int
    task: TaskReport

    @property
    def disagree(self) -> float:
        """Share of pairs of counted trials with different outcomes."""
        return self.task.reliability.disagreement or 0.0


def ranked(report: Report, view: View) -> tuple[Ranked, ...]:
    """Mixed tasks: most disagreement first, then better grade, more failed trials, natural order of ids."""
    limit = view.choice.limit
    mixed = sorted((task for task in report.tasks if is_mixed(task)), key=_order)
    wanted = {task.task_id for task in chosen_tasks(report, _without_limit(view))}
    rows = tuple(Ranked(rank=rank, task=task) for rank, task in enumerate(mixed, 1) if task.task_id in wanted)
    return rows if limit is None else rows[:limit]


def _without_limit(view: View) -> Any:
    return replace(view.choice, limit=None)


def _order(task: TaskReport) -> tuple[float, str, int, Any]:
    lead = task.finding.lead
    grade = lead.grade if lead is not None and lead.grade is not None else None
    row = task.reliability
    return (-(row.disagreement or 0.0), _grade_key(grade), -(row.n - row.c), natural_key(task.task_id))


def _grade_key(grade: Grade | None) -> str:
    return grade.value if grade is not None else "Z"


def render_text(report: Report, view: View) -> str:
    """The list for a terminal."""
    rows = ranked(report, view)
    lines: list[Line] = []
    if rows:
        lines += layout(
            [
                Column(header="rank", right=True, drop=1),
                Column(header="task"),
                Column(header="trials"),
                Column(header="passed", right=True),
                Column(header="disagree", right=True),
                Column(header="grade"),
                Column(header="finding", wants=36),
            ],
            [_text_row(row, view) for row in rows],
            width=view.width,
            ellipsis=view.marks.ellipsis,
        )
    text = f"{len(rows)} of {plural(report.suite.tasks, 'task')}. {_MEANING}" if rows else "no task is mixed"
    lines += [line(part) for part in wrap(text, view.width)]
    return paint([fit(content, view.width, view.marks.ellipsis) for content in lines], color=view.color)


def _text_row(row: Ranked, view: View) -> list[Line]:
    task, lead = row.task, row.task.finding.lead
    return [
        line(str(row.rank)),
        line(cut_middle(one_line(task.task_id), 32, view.marks.ellipsis)),
        strip_line(task, view.marks),
        line(f"{task.reliability.c}/{task.reliability.n}"),
        line(f"{row.disagree:.2f}"),
        line(str(lead.grade) if lead is not None and lead.grade is not None else "-"),
        finding_line(finding_words(task, view.marks)),
    ]


def render_json(report: Report, view: View) -> str:
    """The list with the whole task behind each row."""
    return to_json({**envelope(report, "unstable"), "rows": [_object(row) for row in ranked(report, view)]})


def render_jsonl(report: Report, view: View) -> str:
    """One object per row."""
    return to_jsonl(_object(row) for row in ranked(report, view))


def _object(row: Ranked) -> dict[str, Any]:
    return {"rank": row.rank, "disagree": row.disagree, "task": task_object(row.task)}


def render_markdown(report: Report, view: View) -> str:
    """The list as a Markdown table."""
    rows = [
        (
            str(row.rank),
            code(row.task.task_id),
            trial_strip(row.task, view.marks),
            f"{row.task.reliability.c}/{row.task.reliability.n}",
            f"{row.disagree:.2f}",
            cell(finding_words(row.task, view.marks).joined),
        )
        for row in ranked(report, view)
    ]
    if not rows:
        return "no task is mixed\n"
    return (
        table(("rank", "task", "trials", "passed", "disagree", "finding"), rows, right=(0, 3, 4))
        + f"\n{_MEANING}\n"
    )


RENDERERS = (
    Renderer(name="text", subject="unstable", render=render_text),
    Renderer(name="json", subject="unstable", render=render_json, suffixes=(".json",)),
    Renderer(name="jsonl", subject="unstable", render=render_jsonl, suffixes=(".jsonl",)),
    Renderer(name="markdown", subject="unstable", render=render_markdown, suffixes=(".md",)),
)
