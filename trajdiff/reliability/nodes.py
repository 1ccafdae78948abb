"""Divergences as nodes of a 2x2 table per task: strength of each, and what repairing one could give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trajdiff.reliability.association import (
    ExactTest,
    Relabelling,
    Table,
    benjamini_hochberg,
    ceiling,
    exact_test,
    luck_probability,
    perfect_split_p,
    risk_difference,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTable:
    """One node in one task: failing and passing trials that deviate, of all compared ones."""

    task_id: str
    failed_with: int
    failed: int
    passed_with: int
    passed: int

    @property
    def table(self) -> Table:
        """The same as deviate-and-fail, deviate, fail, all."""
        return Table(
            a=self.failed_with,
            r=self.failed_with + self.passed_with,
            c=self.failed,
            n=self.failed + self.passed,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFigures:
    """One node over all tasks where it was found. ``exploratory``: found with the trials that test it.

    ``q`` is the adjusted mid-p, None for a node that no outcome could have brought to .05. ``ceiling`` is
    pass^k at ``k`` if each of its failing trials had passed; ceilings of several nodes must not be added.
    """

    name: str
    tables: tuple[NodeTable, ...]
    test: ExactTest
    difference: float | None
    q: float | None
    k: int
    ceiling: float | None
    exploratory: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """The lead divergence of a task: its table, and how many nodes the task has."""

    table: NodeTable
    compared: int
    relabelling: Relabelling | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSplit:
    """The lead divergence of one task: exact p, the least its margins allow, and the chance of such a split.

    ``luck`` asks how often at least one of ``compared`` irrelevant nodes separates the outcomes perfectly,
    ``relabelling`` how often some node does as well as the best one if passes and failures are dealt anew.
    """

    task_id: str
    table: NodeTable
    p: float
    attainable: float
    luck: float | None
    compared: int
    relabelling: Relabelling | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReport:
    """All nodes, strongest first, and all splits in the order of tasks given.

    ``deviating`` is the share of deviating cells of passing trials that the luck of each split rests on.
    """

    nodes: tuple[NodeFigures, ...] = ()
    tested: int = 0
    untestable: int = 0
    splits: tuple[TaskSplit, ...] = ()
    deviating: float | None = None

    @property
    def sentence(self) -> str:
        """What the default report says of all this, without a figure that could be misread."""
        if not self.nodes:
            return ""
        strong = [node for node in self.nodes if node.q is not None and node.q <= 0.05]
        if not self.tested:
            return "no divergence recurs in enough tasks for a test across tasks; each is a lead for its task"
        found = f"{len(strong)} of {self.tested} testable divergences associated with failure across tasks"
        return f"{found}, {self.untestable} not testable (exploratory: found with the same trials)"


def node_report(
    found: Sequence[tuple[str, Sequence[NodeTable]]],
    leads: Sequence[Lead],
    counts: Sequence[tuple[str, int, int]],
    *,
    deviating: tuple[int, int] = (0, 0),
) -> NodeReport:
    """Tests all nodes.

    ``found`` are (name, tables), ``leads`` the lead divergences of tasks, ``counts`` (task id, n, c) of the
    whole suite, ``deviating`` (deviating, all) cells of passing trials other than the reference.
    """
    tests = [exact_test([table.table for table in tables]) for _, tables in found]
    mid = [None if test.mid_p is None else float(test.mid_p) for test in tests]
    least = [None if test.attainable_mid_p is None else float(test.attainable_mid_p) for test in tests]
    adjusted = benjamini_hochberg(mid, least)
    k = min((n for _, n, _ in counts if n), default=0)
    nodes = [
        NodeFigures(
            name=name,
            tables=tuple(tables),
            test=test,
            difference=_float(risk_difference([table.table for table in tables])),
            q=q,
            k=k,
            ceiling=_ceiling(tables, counts, k),
        )
        for (name, tables), test, q in zip(found, tests, adjusted.q, strict=True)
    ]
    nodes.sort(key=lambda node: (2.0 if node.q is None else node.q, -len(node.tables), node.name))
    share = deviating[0] / deviating[1] if deviating[1] else None
    return NodeReport(
        nodes=tuple(nodes),
        tested=adjusted.tested,
        untestable=adjusted.untestable,
        splits=tuple(_split(lead, share) for lead in leads),
        deviating=share,
    )


def _split(lead: Lead, share: float | None) -> TaskSplit:
    table, compared = lead.table, lead.compared
    test = exact_test([table.table])
    luck = None if share is None else luck_probability(table.passed, table.failed, compared, share)
    return TaskSplit(
        task_id=table.task_id,
        table=table,
        p=1.0 if test.p is None else float(test.p),
        attainable=float(perfect_split_p(table.passed, table.failed)),
        luck=luck,
        compared=compared,
        relabelling=lead.relabelling,
    )


def _ceiling(tables: Sequence[NodeTable], counts: Sequence[tuple[str, int, int]], k: int) -> float | None:
    repaired = {table.task_id: table.failed_with for table in tables}
    rows = [(n, c, min(repaired.get(task_id, 0), n - c)) for task_id, n, c in counts if n]
    return ceiling(rows, k) if rows and k else None


def _float(value: object) -> float | None:
    return None if value is None else float(value)  # type: ignore[arg-type]
