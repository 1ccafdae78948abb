"""The neck of the bottle: joins findings and reliability rows into one ``Report`` that renderers read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trajdiff.divergence.finding import SelfCheck, TaskFinding, ToolEffect
from trajdiff.model import Diagnostic, InputFile, Verdict
from trajdiff.reliability.estimators import SuiteReliability, TaskReliability

#: Additions keep the number; anything else raises it.
FORMAT_VERSION = "trajdiff.report/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRow:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReport:
    """One task: its trials (missing ones too), its reliability row and its finding."""

    task_id: str
    title: str | None
    suite: str | None
    trials: tuple[TrialRow, ...]
    missing: tuple[str, ...]
    reliability: TaskReliability
    finding: TaskFinding


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurring:
    """The same kind of divergence, at the same tool and argument, in several trials or tasks."""

    headline: str
    kind: str
    actor: str
    tool: str | None
    trials: tuple[str, ...]
    tasks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything a renderer may show. Tasks stand in display order (unstable with a divergence first)."""

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

    def task(self, task_id: str) -> TaskReport | None:
        """The task with this id, or None."""
        return next((task for task in self.tasks if task.task_id == task_id), None)
