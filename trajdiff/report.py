"""The neck of the bottle: joins findings and reliability rows into one ``Report`` that renderers read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from trajdiff import __version__
from trajdiff.divergence.finding import (
    Divergence,
    FindingKind,
    Grade,
    SelfCheck,
    TaskFinding,
    ToolEffect,
)
from trajdiff.model import Corpus, Diagnostic, Effect, InputFile, TaskTrials, Trial, Verdict
from trajdiff.natural import natural_key
from trajdiff.reliability.estimators import (
    SuiteReliability,
    TaskReliability,
    suite_reliability,
    task_reliability,
)
from trajdiff.reliability.scope import out_of_scope

if TYPE_CHECKING:
    from trajdiff.analysed import Analysis
    from trajdiff.reliability.card import Card, CardOptions
    from trajdiff.settings import Settings

#: Additions keep the number; anything else raises it.
FORMAT_VERSION = "trajdiff.report/1"


class TrialRow(Struct, frozen=True, kw_only=True):
    """One trial as the report lists it. ``ref`` is ``path#task/trial``; ``slot`` False marks a missing one."""

    task_id: str
    trial_id: str
    verdict: Verdict | None
    reward: float | None
    verdict_rule: str
    verdict_raw: Any
    termination: str
    termination_raw: str | None
    producer_id: str | None
    steps: int
    tool_calls: int
    errors: int
    tokens: int | None
    cost: float | None
    duration: float | None
    variant: int | None
    ref: str
    path: str
    pointer: str
    comparable: bool
    error: str | None = None


class TaskReport(Struct, frozen=True, kw_only=True):
    """One task: its trials (missing ones too), its reliability row and its finding."""

    task_id: str
    title: str | None
    suite: str | None
    trials: tuple[TrialRow, ...]
    missing: tuple[str, ...]
    reliability: TaskReliability
    finding: TaskFinding


class Recurring(Struct, frozen=True, kw_only=True):
    """The same kind of divergence at the same tool, argument and place in several tasks. ``place`` is the call
    that went ahead without a missing step, None where the place is no call of another tool."""

    headline: str
    kind: str
    actor: str
    tool: str | None
    trials: tuple[str, ...]
    tasks: tuple[str, ...]
    place: str | None = None


class Report(Struct, frozen=True, kw_only=True):
    """Everything a renderer may show. Tasks stand in display order (unstable with a divergence first).

    ``card`` holds intervals and everything else about reliability; None where nobody asked for it.
    ``redacted`` counts what was hidden by kind, None where nothing was looked for; ``content`` is False where
    texts and values were left out. ``rules`` says what the accept list and the ignore rules did.
    """

    format_version: str
    tool_version: str
    name: str | None
    inputs: tuple[InputFile, ...]
    settings: dict[str, Any]
    suite: SuiteReliability
    tasks: tuple[TaskReport, ...]
    self_check: SelfCheck
    recurring: tuple[Recurring, ...]
    tools: tuple[ToolEffect, ...]
    diagnostics: tuple[Diagnostic, ...]
    method: tuple[str, ...]
    card: Card | None = None
    redacted: tuple[tuple[str, int], ...] | None = None
    content: bool = True
    rules: tuple[str, ...] = ()

    def task(self, task_id: str) -> TaskReport | None:
        """The task with this id, or None."""
        return next((task for task in self.tasks if task.task_id == task_id), None)


#: Display order of findings: what a reader can act on first.
_ORDER = (
    FindingKind.DIVERGENCE,
    FindingKind.SAME_PATH,
    FindingKind.ABSTAINED,
    FindingKind.INFRASTRUCTURE,
    FindingKind.NEVER_PASS,
    FindingKind.NOT_COMPARED,
    FindingKind.ALWAYS_PASS,
)


def build_report(
    corpus: Corpus,
    analysis: Analysis,
    settings: Settings,
    *,
    name: str | None = None,
    card: CardOptions | None = None,
) -> Report:
    """Joins reliability rows and findings; tasks come out in display order.

    Tasks without a finding in ``analysis`` (not asked for) are listed as not compared. Tasks that the record
    puts out of scope are listed and stand in no rate. ``card`` asks for intervals and the rest of the report
    card; then ``UsageError`` is raised for weights or slices that do not fit the tasks.
    """
    tasks = [_task_report(task, analysis, settings) for task in corpus.tasks]
    inside = [made for task, made in zip(corpus.tasks, tasks, strict=True) if not out_of_scope(task)]
    rows = [task.reliability for task in inside or tasks]
    suite = suite_reliability(rows, infra=settings.infra, unscored=settings.unscored)
    shown: dict[str, Any] = {
        "infra": settings.infra,
        "unscored": settings.unscored,
        "levels": list(analysis.levels),
    }
    if card is not None:
        shown["seed"] = card.seed
    return Report(
        format_version=FORMAT_VERSION,
        tool_version=__version__,
        name=name or settings.name,
        inputs=corpus.files,
        settings=shown,
        suite=suite,
        tasks=tuple(sorted(tasks, key=_display_key)),
        self_check=analysis.self_check,
        recurring=_recurring(tasks),
        tools=analysis.tools,
        diagnostics=(*corpus.diagnostics, *analysis.problems),
        method=method(analysis),
        card=None if card is None else _card(corpus, tasks, suite, rows, analysis, settings, card),
    )


def _card(
    corpus: Corpus,
    tasks: Sequence[TaskReport],
    suite: SuiteReliability,
    rows: Sequence[TaskReliability],
    analysis: Analysis,
    settings: Settings,
    options: CardOptions,
) -> Card:
    """The report card; the findings enter it as nodes, and which trials took the same path."""
    from trajdiff.reliability.card import build_card
    from trajdiff.report_nodes import nodes_of

    findings = [task.finding for task in tasks]
    return build_card(
        corpus.tasks,
        [task.reliability for task in tasks],
        suite,
        nodes_of(corpus.tasks, findings, rows, detailed=options.detailed, seed=options.seed),
        options,
        rules=settings.gate,
        write_tools={tool.tool for tool in analysis.tools if tool.effect == Effect.WRITE},
        paths={
            task.task_id: {row.trial_id: row.variant for row in task.trials if row.variant is not None}
            for task in tasks
        },
    )


def method(analysis: Analysis) -> tuple[str, ...]:
    """How the figures came about, one statement a line; printed under Method in every report."""
    used = ", ".join(["writes", *analysis.levels]) if analysis.levels else "writes"
    check = analysis.self_check
    unused = [f"{level} accuse {n}" for level, n in check.by_level if level not in analysis.levels]
    left = f"; not used: {', '.join(unused)} of {check.passing_trials}" if unused else ""
    return (
        "pass^k = C(c,k)/C(n,k), pass@k = 1 - C(n-c,k)/C(n,k) per task, then the equal-weight mean of tasks",
        "for future runs this assumes independent trials with a fixed success probability per task; all figures"
        " hold for this agent, model, task set and configuration",
        f"compared at the levels: {used} (a level is used while held-out passes do not trip over it{left})",
        "a divergence separates outcomes in the recorded trials and is a place to look, not a proof of cause",
    )


def _task_report(task: TaskTrials, analysis: Analysis, settings: Settings) -> TaskReport:
    finding = analysis.findings.get(task.task_id) or TaskFinding(
        task_id=task.task_id, kind=FindingKind.NOT_COMPARED, text="not compared: not asked for"
    )
    variants = {t: number for number, v in enumerate(finding.variants, 1) for t in v.trials}
    return TaskReport(
        task_id=task.task_id,
        title=task.task.title,
        suite=task.task.suite,
        trials=tuple(_trial_row(trial, variants.get(trial.trial_id)) for trial in task.trials),
        missing=task.missing,
        reliability=task_reliability(task, infra=settings.infra, unscored=settings.unscored),
        finding=finding,
    )


def _trial_row(trial: Trial, variant: int | None) -> TrialRow:
    known = [tokens for tokens in (trial.usage.input, trial.usage.output) if tokens is not None]
    return TrialRow(
        task_id=trial.task_id,
        trial_id=trial.trial_id,
        verdict=trial.verdict,
        reward=trial.reward,
        verdict_rule=trial.judgement.rule,
        verdict_raw=trial.judgement.raw,
        termination=trial.termination.reason.value,
        termination_raw=trial.termination.raw,
        producer_id=trial.producer_id,
        steps=trial.tally.steps,
        tool_calls=trial.tally.calls,
        errors=trial.tally.failed,
        tokens=sum(known) if known else None,
        cost=trial.cost_usd,
        duration=trial.duration_s,
        variant=variant,
        ref=f"{trial.source.path}#{trial.task_id}/{trial.trial_id}",
        path=trial.source.path,
        pointer=trial.source.pointer,
        comparable=trial.comparable,
        error=trial.error,
    )


def _display_key(task: TaskReport) -> tuple[int, str, int, tuple[Any, ...]]:
    lead = task.finding.lead
    grade = (lead.grade if lead is not None else None) or Grade.D
    covered = len(lead.group) if lead is not None else 0
    place = _ORDER.index(task.finding.kind)
    return place, grade.value, -covered, natural_key(task.task_id)


def _recurring(tasks: Sequence[TaskReport]) -> tuple[Recurring, ...]:
    """Divergences with the same kind, tool, argument and place in more than one task, most trials first."""
    groups: dict[tuple[str, str, str, str, str], list[Divergence]] = {}
    for task in tasks:
        for row in task.finding.divergences:
            if not row.abstained and row.kind is not None and row.actor is not None and row.grade is not None:
                key = (row.kind.value, row.actor.value, row.tool or "", row.headline, row.before or "")
                groups.setdefault(key, []).append(row)
    found = [
        Recurring(
            headline=f"{rows[0].headline} before {place}" if place else rows[0].headline,
            kind=kind,
            actor=actor,
            tool=tool or None,
            trials=tuple(f"{row.task_id}/{row.trial_id}" for row in rows),
            tasks=tuple(dict.fromkeys(row.task_id for row in rows)),
            place=place or None,
        )
        for (kind, actor, tool, _, place), rows in groups.items()
        if len({row.task_id for row in rows}) > 1
    ]
    return tuple(sorted(found, key=lambda r: (-len(r.trials), -len(r.tasks), r.headline, r.actor)))
