"""What was detected in the traces, without any analysis, in every format."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trajdiff.model import InputFile, Verdict
from trajdiff.render.columns import Column, layout
from trajdiff.render.json_report import completeness_object, envelope, tools_object, trial_object
from trajdiff.render.json_text import to_json, to_jsonl
from trajdiff.render.lines import Line, Span, fit, line, paint, wrap
from trajdiff.render.markdown_text import cell, code, table
from trajdiff.render.registry import Renderer
from trajdiff.render.safety import cut_middle, one_line
from trajdiff.render.wording import plural, shortlist

if TYPE_CHECKING:
    from trajdiff.render.view import View
    from trajdiff.report import Report, TrialRow

_NO = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """One file: what it is, what came out of it, and by which rule its verdicts were given."""

    path: str
    format: str
    tasks: str
    trials: str
    verdicts_from: str
    notes: str


def source_rows(report: Report) -> tuple[SourceRow, ...]:
    """All files in the order they were read, then the paths that gave no trial."""
    trials = [trial for task in report.tasks for trial in task.trials if trial.verdict is not None]
    rows = [_file_row(file, [trial for trial in trials if trial.path == file.path]) for file in report.inputs]
    known = {file.path for file in report.inputs}
    unread: dict[str, str] = {}
    for diagnostic in report.diagnostics:
        if diagnostic.path is not None and diagnostic.path not in known and diagnostic.severity == "error":
            unread.setdefault(diagnostic.path, diagnostic.message)
    rows += [
        SourceRow(path=path, format="not read", tasks=_NO, trials=_NO, verdicts_from=_NO, notes=message)
        for path, message in unread.items()
    ]
    return tuple(rows)


def _file_row(file: InputFile, trials: list[TrialRow]) -> SourceRow:
    rules = Counter(one_line(trial.verdict_rule) for trial in trials if trial.verdict_rule)
    verdicts = Counter(trial.verdict for trial in trials)
    notes = [f"{verdicts[verdict]} {word}" for verdict, word in _NOTED if verdicts[verdict]]
    notes += (
        [f"{sum(not trial.comparable for trial in trials)} without steps"]
        if any(not trial.comparable for trial in trials)
        else []
    )
    ordered = sorted(rules.items(), key=lambda item: (-item[1], item[0]))
    return SourceRow(
        path=file.path,
        format=file.format,
        tasks=str(file.tasks),
        trials=str(file.trials),
        verdicts_from="; ".join(rule for rule, _ in ordered[:2]) + (" ..." if len(ordered) > 2 else "") or _NO,
        notes=", ".join(notes) or _NO,
    )


_NOTED = ((Verdict.INFRA, "infra"), (Verdict.UNSCORED, "unscored"))


def completeness_lines(report: Report) -> list[str]:
    """Tasks and trials, what is missing or unscored, and how far pass^k can go."""
    suite = report.suite
    expected = "unknown (no plan)" if suite.expected is None else str(suite.expected)
    missing = shortlist(suite.missing) if suite.missing else "none"
    lines = [
        f"{plural(suite.tasks, 'task')} · trials: expected {expected}, completed {suite.completed},"
        f" counted {suite.counted}, missing {missing}"
    ]
    sizes = Counter(task.reliability.n for task in report.tasks if task.reliability.n)
    if len(sizes) == 1:
        (size,) = sizes
        lines.append(f"every task with counted trials has {size}: suite figures go up to k={size}")
    elif sizes:
        parts = ", ".join(
            f"{plural(count, 'task')} with {size}" for size, count in sorted(sizes.items(), reverse=True)
        )
        lines.append(f"counted trials: {parts}: suite figures go up to k={min(sizes)}")
    for word, names in (
        ("infrastructure", suite.infra),
        ("unscored", suite.unscored),
        ("stopped by their own limit without a verdict, counted as failed", suite.limit_unscored),
        ("beyond the plan, not counted", suite.unplanned),
        ("tasks without a counted trial", suite.no_trials),
    ):
        if names:
            lines.append(f"{word}: {shortlist(names)}")
    return lines


def has_gap(report: Report) -> bool:
    """Whether anything is missing: trials, verdicts, or a file that could not be read."""
    suite = report.suite
    unread = any(diagnostic.severity == "error" for diagnostic in report.diagnostics)
    return bool(suite.missing or suite.unscored or suite.no_trials or unread)


def render_text(report: Report, view: View) -> str:
    """Files, completeness and tools for a terminal."""
    marks = view.marks
    lines = layout(
        [
            Column(header="source", wants=28),
            Column(header="format"),
            Column(header="tasks", right=True),
            Column(header="trials", right=True),
            Column(header="verdicts from", wants=20),
            Column(header="notes", wants=12, drop=1),
        ],
        [
            [
                line(cut_middle(one_line(row.path), 60, marks.ellipsis)),
                line(one_line(row.format)),
                line(row.tasks),
                line(row.trials),
                line(one_line(row.verdicts_from)),
                line(one_line(row.notes)),
            ]
            for row in source_rows(report)
        ],
        width=view.width,
        ellipsis=marks.ellipsis,
    )
    lines.append(())
    for text in completeness_lines(report):
        lines += [line(part) for part in wrap(marks.words(text), view.width)]
    lines += _tool_lines(report, view)
    return paint([fit(content, view.width, marks.ellipsis) for content in lines], color=view.color)


def _tool_lines(report: Report, view: View) -> list[Line]:
    if not report.tools:
        return []
    rows = [
        [
            line(cut_middle(one_line(tool.tool), 40, view.marks.ellipsis)),
            line(Span(tool.effect, "changed" if tool.effect == "write" else "")),
            line(str(tool.calls)),
            line(str(tool.errors)),
            line(view.marks.words(one_line(tool.rule))),
        ]
        for tool in report.tools
    ]
    columns = [
        Column(header="tool"),
        Column(header="effect"),
        Column(header="calls", right=True, drop=2),
        Column(header="errors", right=True, drop=1),
        Column(header="known from", wants=24),
    ]
    return [(), *layout(columns, rows, width=view.width, ellipsis=view.marks.ellipsis)]


def render_json(report: Report, view: View) -> str:
    """Files, completeness, tools and trials."""
    return to_json(
        {
            **envelope(report, "inspect"),
            "tasks": report.suite.tasks,
            "trials": completeness_object(report),
            "sources": [_source_object(row) for row in source_rows(report)],
            "tools": tools_object(report),
            "rows": [trial_object(trial) for task in report.tasks for trial in task.trials],
        }
    )


def render_jsonl(report: Report, view: View) -> str:
    """One object per file."""
    return to_jsonl(_source_object(row) for row in source_rows(report))


def _source_object(row: SourceRow) -> dict[str, Any]:
    return {
        "path": row.path,
        "format": row.format,
        "tasks": None if row.tasks == _NO else int(row.tasks),
        "trials": None if row.trials == _NO else int(row.trials),
        "verdicts_from": row.verdicts_from,
        "notes": row.notes,
    }


def render_markdown(report: Report, view: View) -> str:
    """Files and tools as Markdown tables."""
    sources = [
        (code(row.path), cell(row.format), row.tasks, row.trials, cell(row.verdicts_from), cell(row.notes))
        for row in source_rows(report)
    ]
    parts = [
        table(("source", "format", "tasks", "trials", "verdicts from", "notes"), sources, right=(2, 3)),
        "".join(f"- {cell(view.marks.words(text))}\n" for text in completeness_lines(report)),
    ]
    if report.tools:
        tools = [
            (code(tool.tool), cell(tool.effect), str(tool.calls), str(tool.errors), cell(tool.rule))
            for tool in report.tools
        ]
        parts.append(table(("tool", "effect", "calls", "errors", "known from"), tools, right=(2, 3)))
    return "\n".join(parts)


RENDERERS = (
    Renderer(name="text", subject="inspect", render=render_text),
    Renderer(name="json", subject="inspect", render=render_json, suffixes=(".json",)),
    Renderer(name="jsonl", subject="inspect", render=render_jsonl, suffixes=(".jsonl",)),
    Renderer(name="markdown", subject="inspect", render=render_markdown, suffixes=(".md",)),
)
