"""Findings as nodes of tables, so that ``reliability`` can say how strongly each goes with failing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trajdiff.align.table import AlignedTable, Op, Row
from trajdiff.model import TaskTrials, Verdict
from trajdiff.natural import natural_key
from trajdiff.reliability.association import Relabelling, relabelling
from trajdiff.reliability.nodes import Lead, NodeReport, NodeTable, node_report

if TYPE_CHECKING:
    from trajdiff.divergence.finding import Divergence, TaskFinding
    from trajdiff.reliability.estimators import TaskReliability

#: A cell that follows the reference of its row.
_FOLLOWS = frozenset({Op.SAME, Op.REFERENCE, Op.MOVED})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """The trials of a task that stand in its aligned table: passed and failed ones, in trial order."""

    table: AlignedTable
    reference: str
    passed: tuple[str, ...]
    failed: tuple[str, ...]


def nodes_of(
    tasks: Sequence[TaskTrials],
    findings: Sequence[TaskFinding],
    rows: Sequence[TaskReliability],
    *,
    detailed: bool = False,
    seed: int = 0,
) -> NodeReport:
    """All divergences as nodes: the same kind, actor, tool and headline is one node, whatever its task.

    ``tasks`` and ``findings`` are in the same order; ``rows`` are those of the tasks in the suite's figures.
    ``detailed`` adds the relabelling p of each task.
    """
    found: dict[tuple[str, str, str, str], dict[str, NodeTable]] = {}
    leads: list[Lead] = []
    deviating = cells = 0
    pairs = sorted(zip(tasks, findings, strict=True), key=lambda pair: natural_key(pair[0].task_id))
    for task, finding in pairs:
        for row in finding.divergences:
            table = _node_table(row)
            if table is not None and row.kind is not None and row.actor is not None:
                key = (row.actor.value, row.headline, row.kind.value, row.tool or "")
                found.setdefault(key, {}).setdefault(task.task_id, table)
        compared = _compared(task, finding)
        lead = _node_table(finding.lead)
        if lead is not None:
            leads.append(
                Lead(
                    table=lead,
                    compared=len(compared.table.skeleton) if compared is not None else 0,
                    relabelling=_relabelling(compared, seed) if detailed else None,
                )
            )
        more, of = _passes_that_deviate(compared)
        deviating, cells = deviating + more, cells + of
    return node_report(
        [
            (f"{actor}: {headline}", list(found[actor, headline, kind, tool].values()))
            for actor, headline, kind, tool in sorted(found)
        ],
        leads,
        [(row.task_id, row.n, row.c) for row in rows],
        deviating=(deviating, cells),
    )


def _node_table(row: Divergence | None) -> NodeTable | None:
    """Support of a claimed divergence against passed trials of its own task, None for anything else."""
    if row is None or row.abstained or row.support is None or not row.support.passed:
        return None
    return NodeTable(
        task_id=row.task_id,
        failed_with=row.support.failed_with,
        failed=row.support.failed,
        passed_with=row.support.passed_with,
        passed=row.support.passed,
    )


def _compared(task: TaskTrials, finding: TaskFinding) -> _Compared | None:
    if finding.table is None or finding.reference is None:
        return None
    inside = set(finding.table.columns)
    sides = {
        verdict: tuple(t.trial_id for t in task.trials if t.verdict is verdict and t.trial_id in inside)
        for verdict in (Verdict.PASS, Verdict.FAIL)
    }
    return _Compared(
        table=finding.table,
        reference=finding.reference,
        passed=sides[Verdict.PASS],
        failed=sides[Verdict.FAIL],
    )


def _relabelling(compared: _Compared | None, seed: int) -> Relabelling | None:
    """Each row is a node: does a trial follow the reference there? So no relabelling needs a new alignment."""
    if compared is None or not (compared.passed and compared.failed and compared.table.skeleton):
        return None
    trials = (*compared.passed, *compared.failed)
    nodes = [[not _follows(row, trial) for trial in trials] for row in compared.table.skeleton]
    return relabelling([trial in compared.passed for trial in trials], nodes, seed=seed)


def _follows(row: Row, trial_id: str) -> bool:
    """A trial without a cell in a row that the reference does not have either follows it there."""
    return next((cell.op in _FOLLOWS for cell in row.cells if cell.trial_id == trial_id), True)


def _passes_that_deviate(compared: _Compared | None) -> tuple[int, int]:
    """(deviating, all) cells of passed trials other than the reference, over the rows of the aligned table."""
    if compared is None:
        return 0, 0
    others = [trial for trial in compared.passed if trial != compared.reference]
    rows = compared.table.skeleton
    return sum(not _follows(row, trial) for row in rows for trial in others), len(rows) * len(others)
