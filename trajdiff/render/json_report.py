"""The report as one JSON object, schema ``trajdiff.report/1``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from trajdiff.model import Diagnostic, Verdict
from trajdiff.natural import natural_key
from trajdiff.render.choosing import chosen_tasks
from trajdiff.render.json_card import card_object
from trajdiff.render.json_divergence import divergence_object, step_object
from trajdiff.render.json_text import to_json, to_jsonl
from trajdiff.render.registry import Renderer

if TYPE_CHECKING:
    from trajdiff.reliability.card import Card
    from trajdiff.reliability.estimators import SuiteReliability, TaskReliability
    from trajdiff.render.view import View
    from trajdiff.report import Report, TaskReport, TrialRow


def render(report: Report, view: View) -> str:
    """The report as text; equal reports give equal bytes."""
    return to_json(report_object(report, view))


def render_lines(report: Report, view: View) -> str:
    """One object per task, in the order of the report."""
    return to_jsonl(task_object(task) for task in chosen_tasks(report, view.choice))


def report_object(report: Report, view: View) -> dict[str, Any]:
    """The whole report; figures are those of all tasks, ``tasks`` holds the chosen ones."""
    chosen = chosen_tasks(report, view.choice)
    document: dict[str, Any] = {
        **envelope(report, "report"),
        "name": report.name,
        "trials": completeness_object(report),
        "suite": suite_object(report.suite),
        "shown": {"tasks": len(chosen), "of": len(report.tasks), "filters": list(view.choice.words)},
        "tasks": [task_object(task) for task in chosen],
        "self_check": {
            "false_alarms": report.self_check.false_alarms,
            "passing_trials": report.self_check.passing_trials,
            "alarms": list(report.self_check.alarms),
        },
        "recurring": [
            {
                "headline": entry.headline,
                "kind": entry.kind,
                "actor": entry.actor,
                "tool": entry.tool,
                "place": entry.place,
                "trials": list(entry.trials),
                "tasks": list(entry.tasks),
            }
            for entry in report.recurring
        ],
        "tools": tools_object(report),
    }
    if report.card is not None:
        document["statistics"] = card_object(report, report.card)
        _add_intervals(document["suite"], report.card)
    return document


def _add_intervals(suite: dict[str, Any], card: Card) -> None:
    """The ends of the headline interval beside each value of the two curves."""
    figures = card.figures
    for name, intervals in (("pass_hat_k", figures.hat), ("pass_at_k", figures.at)):
        for point, interval in zip(suite[name], intervals, strict=False):
            if interval is not None:
                point.update(low=interval.low, high=interval.high)


def envelope(report: Report, kind: str) -> dict[str, Any]:
    """What every JSON document of a report begins with: schema, version, inputs, settings, warnings, method."""
    return {
        "schema": f"trajdiff.{kind}/1" if kind != "report" else report.format_version,
        "tool_version": report.tool_version,
        "inputs": [
            {
                "path": file.path,
                "format": file.format,
                "recognised_by": file.recognised_by,
                "sha256": file.sha256,
                "tasks": file.tasks,
                "trials": file.trials,
            }
            for file in report.inputs
        ],
        "settings": dict(report.settings),
        "warnings": [diagnostic_object(diagnostic) for diagnostic in report.diagnostics],
        "method": list(report.method),
        "redacted": None if report.redacted is None else dict(report.redacted),
        "content": report.content,
        "rules": list(report.rules),
    }


def completeness_object(report: Report) -> dict[str, Any]:
    """Expected, completed and counted trials; those that are missing, unscored or ended by infrastructure."""
    suite = report.suite
    tasks = sorted(report.tasks, key=lambda task: natural_key(task.task_id))
    result: dict[str, Any] = {
        "expected": suite.expected,
        "completed": suite.completed,
        "counted": suite.counted,
        "missing": [
            {"task_id": task.task_id, "trial_id": trial_id} for task in tasks for trial_id in task.missing
        ],
        "unscored": _with_verdict(tasks, Verdict.UNSCORED),
        "infra": _with_verdict(tasks, Verdict.INFRA),
    }
    if suite.expected is None:
        result["expected_reason"] = "no plan recorded"
    return result


def _with_verdict(tasks: Sequence[TaskReport], verdict: Verdict) -> list[dict[str, Any]]:
    return [
        {
            "task_id": task.task_id,
            "trial_id": trial.trial_id,
            "reason": trial.error or trial.verdict_rule or trial.termination,
        }
        for task in tasks
        for trial in task.trials
        if trial.verdict is verdict
    ]


def suite_object(suite: SuiteReliability) -> dict[str, Any]:
    """Figures over all tasks; a k above the smallest n is absent."""
    used = suite.tasks - len(suite.no_trials)
    result: dict[str, Any] = {
        "tasks": suite.tasks,
        "passed": suite.passed,
        "failed": suite.failed,
        "pass_hat_k": _curve(suite.pass_hat_k, used),
        "pass_at_k": _curve(suite.pass_at_k, used),
        "mean": suite.pass_hat_k[0] if suite.pass_hat_k else None,
        "micro": suite.micro,
        "always": suite.always,
        "sometimes": suite.sometimes,
        "never": suite.never,
        "n_min": suite.n_min,
        "n_max": suite.n_max,
        "no_trials": list(suite.no_trials),
        "infra_policy": suite.infra_policy,
        "unscored_policy": suite.unscored_policy,
        "sensitivity": {
            "excluded": _curve(suite.pass_hat_k_excluded, suite.tasks - len(suite.excluded_no_trials)),
            "best": _curve(suite.pass_hat_k_best, suite.tasks),
            "worst": _curve(suite.pass_hat_k_worst, suite.tasks),
        },
    }
    if not suite.pass_hat_k:
        result["mean_reason"] = result["micro_reason"] = "no counted trial"
    return result


def _curve(values: Sequence[float], tasks: int) -> list[dict[str, Any]]:
    return [{"k": k, "value": value, "tasks": tasks} for k, value in enumerate(values, 1)]


def task_object(task: TaskReport) -> dict[str, Any]:
    """One task: its trials, its reliability figures, its finding, and a divergence for each failed trial."""
    finding = task.finding
    return {
        "task_id": task.task_id,
        "title": task.title,
        "suite": task.suite,
        "trials": [trial_object(trial) for trial in task.trials],
        **_figures(task.reliability),
        "finding": {
            "kind": str(finding.kind),
            "text": finding.text,
            "lead": finding.lead.trial_id if finding.lead else None,
            "other_groups": finding.other_groups,
            "reference": finding.reference,
            "variants": [list(variant.trials) for variant in finding.variants],
            "notes": list(finding.notes),
            "ways": [
                {
                    "trials": list(way.trials),
                    "text": way.text,
                    "writes": list(way.writes),
                    "ending": way.ending,
                    "at": [step_object(task, step) for step in way.at],
                }
                for way in finding.ways
            ],
            "near_misses": [
                {
                    "trial_id": near.trial_id,
                    "kind": near.kind,
                    "text": near.text,
                    "at": step_object(task, near.step),
                }
                for near in finding.near_misses
            ],
        },
        "divergences": [divergence_object(task, divergence) for divergence in finding.divergences],
    }


def _figures(row: TaskReliability) -> dict[str, Any]:
    result: dict[str, Any] = {
        "n_expected": row.expected,
        "n_completed": row.completed,
        "n_counted": row.n,
        "passed": row.c,
        "infra": list(row.infra),
        "unscored": list(row.unscored),
        "missing": list(row.missing),
        "pass_hat_k": [{"k": k, "value": value} for k, value in enumerate(row.pass_hat_k, 1)],
        "pass_at_k": [{"k": k, "value": value} for k, value in enumerate(row.pass_at_k, 1)],
        "disagree": row.disagreement,
    }
    if row.disagreement is None:
        result["disagree_reason"] = "fewer than two counted trials"
    return result


def trial_object(trial: TrialRow) -> dict[str, Any]:
    """One trial; ``verdict`` is null for an expected trial that is not there."""
    return {
        "task_id": trial.task_id,
        "trial_id": trial.trial_id,
        "ref": trial.ref,
        "path": trial.path,
        "json_path": trial.pointer,
        "producer_id": trial.producer_id,
        "verdict": None if trial.verdict is None else str(trial.verdict),
        "verdict_rule": trial.verdict_rule,
        "verdict_raw": trial.verdict_raw,
        "reward": trial.reward,
        "termination": trial.termination,
        "termination_raw": trial.termination_raw,
        "error": trial.error,
        "comparable": trial.comparable,
        "steps": trial.steps,
        "tool_calls": trial.tool_calls,
        "errors": trial.errors,
        "tokens": trial.tokens,
        "cost": trial.cost,
        "duration": trial.duration,
        "variant": trial.variant,
    }


def tools_object(report: Report) -> list[dict[str, Any]]:
    """Tools with their effect and the rule behind it."""
    return [
        {
            "tool": tool.tool,
            "effect": tool.effect,
            "rule": tool.rule,
            "calls": tool.calls,
            "errors": tool.errors,
        }
        for tool in report.tools
    ]


def diagnostic_object(diagnostic: Diagnostic) -> dict[str, Any]:
    """Something the reader must be told about the input."""
    return {
        "severity": str(diagnostic.severity),
        "slug": diagnostic.slug,
        "message": diagnostic.message,
        "path": diagnostic.path,
        "json_path": diagnostic.pointer,
        "task_id": diagnostic.task_id,
        "trial_id": diagnostic.trial_id,
        "details": list(diagnostic.details),
    }


RENDERERS = (
    Renderer(name="json", subject="report", render=render, suffixes=(".json",)),
    Renderer(name="jsonl", subject="report", render=render_lines, suffixes=(".jsonl",)),
)
