"""Puts the outcomes of interventions beside the divergences of a report; no finding or figure changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trajdiff.frozen import replace

if TYPE_CHECKING:
    from trajdiff.divergence.finding import Divergence
    from trajdiff.intervention.outcome import Outcome
    from trajdiff.report import Report, TaskReport


def with_outcomes(report: Report, outcomes: Sequence[Outcome]) -> Report:
    """The report with each outcome beside the divergences that were tested: those of the same identity.

    Each also stands in a line of its own below the tasks, since not every one was asked for by a divergence
    (another step was pinned, or the arms were run elsewhere).
    """
    lines = []
    tasks = {task.task_id: task for task in report.tasks}
    for outcome in outcomes:
        task = tasks.get(outcome.task_id)
        if task is None:
            continue
        if any(_concerns(outcome, entry) for entry in task.finding.divergences):
            tasks[task.task_id] = _tested(task, outcome)
        lines.append(_line(outcome))
    if not lines:
        return report
    changed = tuple(tasks[task.task_id] for task in report.tasks)
    return replace(report, tasks=changed, rules=(*report.rules, *lines))


def _concerns(outcome: Outcome, entry: Divergence) -> bool:
    return not entry.abstained and bool(entry.identity) and entry.identity == outcome.divergence


def _tested(task: TaskReport, outcome: Outcome) -> TaskReport:
    def changed(entry: Divergence) -> Divergence:
        return replace(entry, tested=(*entry.tested, outcome.note())) if _concerns(outcome, entry) else entry

    finding, lead = task.finding, task.finding.lead
    made = replace(
        finding,
        divergences=tuple(changed(entry) for entry in finding.divergences),
        lead=None if lead is None else changed(lead),
    )
    return replace(task, finding=made)


def _line(outcome: Outcome) -> str:
    said = outcome.note()
    counts = f"failures {said.control_failures}/{said.control_trials}"
    counts += f" → {said.pinned_failures}/{said.pinned_trials} with it"
    step = f" at {outcome.ref}" if outcome.ref else ""
    return f"tested: {outcome.task_id}: pinning {outcome.label}{step}: {counts}"
