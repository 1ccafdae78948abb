"""One side of a comparison: what a report says about its tasks, from a fresh report or from a saved one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trajdiff.errors import InputError
from trajdiff.saved_report import SavedCost, SavedDivergence, SavedStatistics, SavedTask, read_saved

if TYPE_CHECKING:
    from trajdiff.divergence.finding import Divergence, FindingKind
    from trajdiff.model import Corpus, TaskTrials, Verdict
    from trajdiff.report import Report, TaskReport


@dataclass(frozen=True, slots=True, kw_only=True)
class SideDivergence:
    """A divergence of one failed trial; ``identity`` is the same in a rerun."""

    identity: str
    trial_id: str
    grade: str
    text: str
    support: str = ""
    accepted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SideTask:
    """One task: n counted and c accepted trials, verdicts in order (None: missing), finding, divergences.

    ``trials`` are the ids of the recorded trials.
    """

    task_id: str
    n: int
    c: int
    verdicts: tuple[Verdict | None, ...]
    kind: FindingKind
    text: str
    divergences: tuple[SideDivergence, ...]
    complete: bool
    trials: tuple[str, ...] = ()

    @property
    def mixed(self) -> bool:
        """Whether trials of the task end differently."""
        return 0 < self.c < self.n


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A run: its tasks by id, what it took, what identifies its parts.

    ``cost`` and ``tokens`` are None where nothing is recorded. ``trials`` holds the records, empty for a saved
    report. ``versions`` are recorded values by property.
    """

    name: str
    tasks: Mapping[str, SideTask]
    counted: int
    cost: float | None
    tokens: int | None
    complete: bool
    versions: Mapping[str, tuple[str, ...]]
    trials: tuple[TaskTrials, ...] = ()
    saved: bool = False


def side_of(report: Report, corpus: Corpus, name: str) -> Side:
    """The side of a report that carries a card."""
    card = report.card
    versions = {one.name: one.values for one in card.versions if one.recorded} if card is not None else {}
    cost = card.effort.cost.total if card is not None else None
    tokens = card.effort.tokens if card is not None else None
    return Side(
        name=name,
        tasks={task.task_id: _task(task) for task in report.tasks},
        counted=report.suite.counted,
        cost=cost,
        tokens=tokens,
        complete=report.suite.complete,
        versions=versions,
        trials=corpus.tasks,
    )


def side_of_saved(document: Mapping[str, Any], name: str) -> Side:
    """The side of a report saved as JSON. Raises ``InputError`` for anything else."""
    saved = read_saved(document, name)
    if saved.shown.tasks != saved.shown.of:
        raise InputError(
            f"{name}: the saved report holds {saved.shown.tasks} of {saved.shown.of} tasks",
            "save it without --task, --only and the other filters",
        )
    statistics = saved.statistics or SavedStatistics()
    cost = statistics.cost or SavedCost()
    counts = saved.trials
    return Side(
        name=name,
        tasks=_saved_tasks(saved.tasks, name),
        counted=counts.counted,
        cost=cost.total,
        tokens=cost.tokens,
        complete=not (counts.missing or counts.unscored or saved.suite.no_trials),
        versions={key: tuple(one.values) for key, one in statistics.versions.items() if one.values},
        saved=True,
    )


def _task(task: TaskReport) -> SideTask:
    row = task.reliability
    return SideTask(
        task_id=task.task_id,
        n=row.n,
        c=row.c,
        verdicts=(*(trial.verdict for trial in task.trials), *(None for _ in task.missing)),
        kind=task.finding.kind,
        text=task.finding.text,
        divergences=tuple(
            _divergence(one) for one in task.finding.divergences if not one.abstained and one.identity
        ),
        complete=not (row.missing or row.unscored) and row.n > 0,
        trials=tuple(trial.trial_id for trial in task.trials),
    )


def _divergence(one: Divergence) -> SideDivergence:
    support = one.support
    text = ""
    if support is not None:
        text = f"{support.failed_with}/{support.failed} failed, {support.passed_with}/{support.passed} passed"
    return SideDivergence(
        identity=one.identity,
        trial_id=one.trial_id,
        grade="" if one.grade is None else one.grade.value,
        text=f"{one.actor.value}: {one.headline}" if one.actor is not None else one.headline,
        support=text,
        accepted=one.accepted is not None,
    )


def _saved_tasks(entries: Sequence[SavedTask], name: str) -> dict[str, SideTask]:
    tasks: dict[str, SideTask] = {}
    for entry in entries:
        if entry.task_id in tasks:
            raise InputError(f'{name}: the saved report holds task "{entry.task_id}" twice')
        tasks[entry.task_id] = _saved_task(entry, name)
    return tasks


def _saved_task(entry: SavedTask, name: str) -> SideTask:
    n, c = entry.n_counted, entry.passed
    if not 0 <= c <= n:
        raise InputError(f'{name}: task "{entry.task_id}": {c} accepted of {n} counted trials is impossible')
    verdicts = [trial.verdict for trial in entry.trials]
    return SideTask(
        task_id=entry.task_id,
        n=n,
        c=c,
        verdicts=(*verdicts, *(None,) * (len(entry.missing) - verdicts.count(None))),
        kind=entry.finding.kind,
        text=entry.finding.text,
        divergences=tuple(
            _saved_divergence(one) for one in entry.divergences if not one.abstained and one.identity
        ),
        complete=not (entry.missing or entry.unscored) and n > 0,
        trials=tuple(trial.trial_id for trial in entry.trials),
    )


def _saved_divergence(one: SavedDivergence) -> SideDivergence:
    support = one.support
    text = ""
    if support is not None:
        text = f"{support.failed_with}/{support.failed} failed, {support.passed_with}/{support.passed} passed"
    return SideDivergence(
        identity=one.identity,
        trial_id=one.trial_id,
        grade=one.grade or "",
        text=f"{one.actor}: {one.headline}" if one.actor else one.headline,
        support=text,
        accepted=one.accepted is not None,
    )


def counts_of(side: Side, task_ids: Sequence[str]) -> list[tuple[int, int]]:
    """(n, c) of these tasks, in this order."""
    return [(side.tasks[task].n, side.tasks[task].c) for task in task_ids]
