"""What a notebook shows: a plain table and the sentences. No script; every text from a log is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from trajdiff.divergence.finding import FindingKind
from trajdiff.reliability.estimators import format_k
from trajdiff.render.curve import task_ks
from trajdiff.render.marks import UNICODE
from trajdiff.render.safety import one_line
from trajdiff.render.wording import (
    caution,
    counts_line,
    finding_words,
    plural,
    self_check_line,
    summary_lines,
    support_text,
    trial_strip,
)

if TYPE_CHECKING:
    from trajdiff.model import Corpus
    from trajdiff.report import Report, TaskReport

#: Tasks shown in a notebook, and files of a reading.
MOST_ROWS = 20


def report_html(report: Report) -> str:
    """The task table, tasks that always pass behind a count, and what is to be said about all of them."""
    shown = [task for task in report.tasks if task.finding.kind is not FindingKind.ALWAYS_PASS]
    ks = task_ks(report.suite, ())
    head = ("task", "trials", *(f"pass^{k}" for k in ks), "grade", "where outcomes separate", "support")
    rows = [_row(task, ks) for task in shown[:MOST_ROWS]]
    left = len(shown) - len(rows)
    always = len(report.tasks) - len(shown)
    notes = [f"and {left} more tasks: report.tasks"] if left else []
    notes += [f"{plural(always, 'task')} always {'passes' if always == 1 else 'pass'}"] if always else []
    notes += [*summary_lines(report, UNICODE), self_check_line(report), caution(report)]
    return _paragraph(counts_line(report, UNICODE)) + _table(head, rows) + "".join(map(_paragraph, notes))


def _row(task: TaskReport, ks: Sequence[int]) -> tuple[str, ...]:
    lead = task.finding.lead
    sentence = lead.sentence if lead is not None and not lead.abstained else ""
    words = finding_words(task, UNICODE).joined
    return (
        task.task_id,
        trial_strip(task, UNICODE),
        *(format_k(task.reliability.pass_hat_k, k) for k in ks),
        str(lead.grade) if lead is not None and lead.grade is not None else "-",
        f"{words}. {sentence}" if sentence else words,
        support_text(lead),
    )


def runs_html(corpus: Corpus) -> str:
    """The files that were read, and how many problems there are."""
    rows = [(file.path, file.format, str(file.tasks), str(file.trials)) for file in corpus.files[:MOST_ROWS]]
    left = len(corpus.files) - len(rows)
    notes = [f"and {plural(left, 'more file')}"] if left else []
    if corpus.diagnostics:
        notes.append(f"{plural(len(corpus.diagnostics), 'note')} about the input: runs.warnings")
    return _table(("file", "format", "tasks", "trials"), rows) + "".join(map(_paragraph, notes))


def _table(head: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{escape(one_line(text))}</th>' for text in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(one_line(text))}</td>' for text in row)}</tr>\n" for row in rows
    )
    return f"<table>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"


def _paragraph(text: str) -> str:
    return f"<p>{escape(one_line(text))}</p>\n"
