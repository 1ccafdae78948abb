"""The parts of the page around the task table: summary, what recurs, what is not compared, method."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trajdiff.divergence.finding import FindingKind
from trajdiff.model import Diagnostic, Verdict
from trajdiff.natural import natural_key
from trajdiff.redaction import counts_text
from trajdiff.render.card_words import headline_lines, nodes_line, not_measured_line, plan_lines
from trajdiff.render.choosing import is_mixed
from trajdiff.render.curve import infra_note
from trajdiff.render.marks import MEANINGS, UNICODE
from trajdiff.render.safety import clean, one_line
from trajdiff.render.wording import caution, completeness_lines, self_check_line, summary_lines

if TYPE_CHECKING:
    from trajdiff.report import Report, TaskReport, TrialRow

#: What stands behind each grade, as the reader is told.
GRADES = (
    (
        "A",
        "every passed trial agrees (two or more), no failed trial of the group does, the difference reaches a"
        " state-changing call or the end, and leaving out any one passed trial gives the same answer",
    ),
    (
        "B",
        "one of these is missing: only one passed trial, not all passed trials agree, or the difference rests"
        " on message text",
    ),
    (
        "C",
        "the reference is borrowed: expected actions of the benchmark, or a passed trial of another version",
    ),
    ("D", "no reference: a finding inside one trial, such as a loop"),
)
#: Rows of a list before the rest is folded away.
_MOST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """A group of tasks with its count; ``value`` is what the filter calls it, empty for none."""

    count: int
    label: str
    style: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecurringLine:
    """A divergence that is in several tasks; ``tasks`` are their numbers in the table (those shown there)."""

    headline: str
    actor: str
    trials: int
    tasks: int
    names: tuple[str, ...]
    numbers: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotCompared:
    """Something that no divergence is about, and why."""

    what: str
    reason: str


def tiles(report: Report) -> tuple[Tile, ...]:
    """The three groups of tasks by outcome, and those without a counted trial."""
    suite = report.suite
    divided = sum(is_mixed(task) and task.finding.kind is FindingKind.DIVERGENCE for task in report.tasks)
    made = [
        Tile(count=suite.always, label="always pass", style="pass", note="nothing to separate"),
        Tile(
            count=suite.sometimes,
            label="mixed",
            style="mixed",
            note=f"{divided} with a step that separates outcomes",
        ),
        Tile(count=suite.never, label="never pass", style="fail", note="no passed trial to compare with"),
    ]
    if suite.no_trials:
        made.append(
            Tile(count=len(suite.no_trials), label="not counted", style="none", note="no counted trial")
        )
    return tuple(made)


def findings(report: Report) -> tuple[str, ...]:
    """What was found, in sentences: groups of tasks, kinds, self-check, what a divergence is."""
    lines = [*summary_lines(report, UNICODE), self_check_line(report), caution(report), nodes_line(report)]
    return tuple(one_line(line) for line in lines if line)


def figures(report: Report) -> tuple[str, ...]:
    """What stands behind the curve: completeness, infrastructure, spread, gates, cost, what is not measured."""
    lines = [
        *completeness_lines(report, UNICODE),
        *([f"infrastructure: {infra_note(report.suite)}"] if report.suite.infra else []),
        *headline_lines(report, UNICODE),
        *plan_lines(report),
        not_measured_line(report),
        *report.rules,
        hidden(report),
    ]
    return tuple(one_line(line) for line in lines if line)


def stop_reasons(report: Report) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """How trials ended, the most frequent first, with passed, failed and other trials."""
    counts: Counter[tuple[str, str]] = Counter()
    for task in report.tasks:
        for trial in task.trials:
            group = {Verdict.PASS: "pass", Verdict.FAIL: "fail"}.get(trial.verdict or Verdict.INFRA, "other")
            counts[one_line(trial.termination), group] += 1
    names = {name for name, _ in counts}
    rows = [(name, tuple(counts[name, group] for group in ("pass", "fail", "other"))) for name in names]
    return tuple(sorted(rows, key=lambda row: (-sum(row[1]), row[0])))


def recurring(report: Report, shown: Sequence[TaskReport]) -> tuple[RecurringLine, ...]:
    """The same divergence in several tasks, most trials first."""
    numbers = {task.task_id: number for number, task in enumerate(shown)}
    return tuple(
        RecurringLine(
            headline=_without_actor(UNICODE.words(one_line(entry.headline)), entry.actor),
            actor=entry.actor,
            trials=len(entry.trials),
            tasks=len(entry.tasks),
            names=tuple(one_line(task) for task in entry.tasks),
            numbers=" ".join(str(numbers[task]) for task in entry.tasks if task in numbers),
        )
        for entry in report.recurring
    )


def _without_actor(headline: str, actor: str) -> str:
    return headline.removeprefix(f"{actor}:").strip()


def not_compared(report: Report) -> tuple[NotCompared, ...]:
    """Tasks without a contrast and trials without a verdict, each with its reason, in natural order."""
    found: list[NotCompared] = []
    for task in sorted(report.tasks, key=lambda one: natural_key(one.task_id)):
        name = one_line(task.task_id)
        reason = _no_contrast(task)
        if reason:
            found.append(NotCompared(what=f"task {name}", reason=reason))
        found += [
            NotCompared(what=f"trial {name}/{one_line(trial)}", reason="planned, and not there")
            for trial in task.missing
        ]
        found += [
            NotCompared(
                what=f"trial {name}/{one_line(trial.trial_id)}",
                reason=one_line(trial.error or _no_verdict(trial)),
            )
            for trial in task.trials
            if trial.verdict in (Verdict.UNSCORED, Verdict.INFRA)
        ]
    return tuple(found)


def _no_verdict(trial: TrialRow) -> str:
    return "no verdict" if trial.verdict is Verdict.UNSCORED else trial.termination.replace("_", " ")


def _no_contrast(task: TaskReport) -> str:
    match task.finding.kind:
        case FindingKind.NOT_COMPARED:
            return one_line(task.finding.text.removeprefix("not compared: ")) or "not compared"
        case FindingKind.NEVER_PASS:
            return "no passed trial: the failed ones are aligned among themselves"
        case FindingKind.ALWAYS_PASS:
            return "no failed trial: nothing to separate"
        case FindingKind.INFRASTRUCTURE:
            return "all failures were ended by infrastructure"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A diagnostic as the page lists it."""

    severity: str
    text: str
    where: str


def notices(diagnostics: Sequence[Diagnostic]) -> tuple[Notice, ...]:
    """What the reader must be told about the input: errors first, in the order in which they were found."""
    order = {"error": 0, "warning": 1, "note": 2}
    made = [
        Notice(
            severity=str(one.severity),
            text=clean(one.message),
            where=one_line(" ".join(part for part in (one.path, one.pointer) if part)),
        )
        for one in diagnostics
    ]
    return tuple(sorted(made, key=lambda one: order.get(one.severity, 3)))[:_MOST]


def hidden(report: Report) -> str:
    """What was taken out of the page before it was written."""
    told = "not redacted" if report.redacted is None else counts_text(dict(report.redacted))
    return told if report.content else f"shape only: no texts and no values; {told}"


def settings(report: Report) -> tuple[tuple[str, str], ...]:
    """The settings in effect, by name."""
    made = []
    for name, value in sorted(report.settings.items()):
        text = ", ".join(str(one) for one in value) if isinstance(value, list | tuple) else str(value)
        made.append((one_line(str(name)), one_line(text) or "none"))
    return tuple(made)


def legend() -> tuple[tuple[str, str], ...]:
    """Every mark with its meaning."""
    marks = [(getattr(UNICODE, name), meaning) for name, meaning in MEANINGS.items()]
    return (*marks, ("r W m", "reading call, state-changing call, message (reference row of a strip)"))
