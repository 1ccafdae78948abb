"""The rows of the task table as they stand in the file, readable without script."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trajdiff.divergence.finding import FindingKind
from trajdiff.model import Verdict
from trajdiff.natural import natural_key
from trajdiff.reliability.estimators import format_k
from trajdiff.render.html.facets import task_facets
from trajdiff.render.marks import UNICODE
from trajdiff.render.safety import clean, one_line
from trajdiff.render.wording import (
    REASON_SENTENCES,
    FindingWords,
    finding_words,
    plural,
    support_text,
    trial_marks,
)

if TYPE_CHECKING:
    from trajdiff.report import TaskReport

#: Trials drawn as marks in a row; more are told as a count.
MOST_MARKS = 24
WORDS = {
    Verdict.PASS: "passed",
    Verdict.FAIL: "failed",
    Verdict.INFRA: "infrastructure",
    Verdict.UNSCORED: "unscored",
    None: "missing",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The outcome of one trial: its glyph, the name of its style, and in words."""

    glyph: str
    style: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLine:
    """One row. ``facets`` and ``tools`` are JSON for the filters; ``rank`` is the place by id."""

    number: int
    task_id: str
    title: str
    marks: tuple[Mark, ...]
    outcome: str
    count: str
    figures: tuple[str, ...]
    mean: float
    grade: str
    words: FindingWords
    sentence: str
    failed: str
    passed: str
    facets: str
    tools: str
    rank: int


def task_lines(tasks: Sequence[TaskReport], ks: Sequence[int]) -> tuple[TaskLine, ...]:
    """The rows of these tasks, in the order of the report."""
    ranks = {
        number: rank
        for rank, number in enumerate(
            sorted(range(len(tasks)), key=lambda number: natural_key(tasks[number].task_id))
        )
    }
    return tuple(_line(task, number, ranks[number], ks) for number, task in enumerate(tasks))


def _line(task: TaskReport, number: int, rank: int, ks: Sequence[int]) -> TaskLine:
    lead = task.finding.lead
    support = support_text(lead).split(" ") if support_text(lead) != "-" else ["", ""]
    marks = _marks(task)
    row = task.reliability
    return TaskLine(
        number=number,
        task_id=one_line(task.task_id),
        title=one_line(task.title or ""),
        marks=marks if len(marks) <= MOST_MARKS else (),
        outcome=f"{row.c} of {plural(row.n, 'counted trial')} passed",
        count=f"{row.c}/{row.n}",
        figures=tuple(format_k(row.pass_hat_k, k) for k in ks),
        mean=row.pass_hat_k[0] if row.pass_hat_k else -1.0,
        grade=str(lead.grade) if lead is not None and lead.grade is not None else "",
        words=finding_words(task, UNICODE),
        sentence=_sentence(task),
        failed=support[0],
        passed=support[1] if support[1] != "-" else "",
        facets=json.dumps(task_facets(task), ensure_ascii=False),
        tools=" ".join(_tools(task)),
        rank=rank,
    )


def _marks(task: TaskReport) -> tuple[Mark, ...]:
    verdicts = {UNICODE.trial(verdict): verdict for verdict in (*Verdict, None)}
    made = []
    for glyph in trial_marks(task, UNICODE):
        verdict = verdicts[glyph]
        made.append(
            Mark(glyph=glyph, style="absent" if verdict is None else verdict.value, words=WORDS[verdict])
        )
    return tuple(made)


def _sentence(task: TaskReport) -> str:
    """The sentence below the finding: that of the divergence, or what an abstention means."""
    lead, kind = task.finding.lead, task.finding.kind
    if lead is not None and lead.sentence and not lead.abstained:
        return " ".join(clean(lead.sentence).split())
    if kind is FindingKind.ALWAYS_PASS:
        return ""
    silent = next((one for one in task.finding.divergences if one.abstained), None)
    if silent is None:
        return ""
    told = " ".join(clean(silent.sentence).split())
    if told and told.rstrip(".").casefold() in finding_words(task, UNICODE).text.casefold():
        return ""
    return told or (REASON_SENTENCES[silent.reason] if silent.reason is not None else "")


def _tools(task: TaskReport) -> list[str]:
    table = task.finding.table
    if table is None:
        return []
    return sorted({one_line(cell.tool) for row in table.skeleton for cell in row.cells if cell.tool})
