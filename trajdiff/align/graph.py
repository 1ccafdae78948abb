"""The ways to succeed: passing trials merged into one partial-order graph, and trials aligned to it.

The medoid pass comes first and the others are aligned into it. A column is a semantic step; it carries which
passes show it (its support). Several ways to succeed are several branches. Failing trials are aligned to the
graph and never reshape it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from trajdiff.align.anchors import anchors
from trajdiff.align.order import commutes
from trajdiff.align.pairwise import align
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.align.similarity import FULL, GAP_OPEN, Costs, weight

if TYPE_CHECKING:
    import networkx as nx

#: With more passes than this the reference is the first one, not the medoid of all pairs.
ALL_PAIRS_LIMIT = 16
#: A column that few passes show may be left out cheaply, but never for nothing.
MIN_SHARE = 4
#: Notes about different ways; the aligned table shows them all.
MOST_WAYS = 3
#: A step found farther away than this is another step, not a moved one; each one passed is looked at.
FARTHEST_MOVE = 400
#: Neighbouring extra calls that are tried as one step done in two.
MOST_PAIRS = 100
#: Share of values (of 1000) that two parts must cover for a step done in two calls.
SPLIT_COVER = 800


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One semantic step of the passes: (trial number in ``SuccessGraph.trials``, position) of its members."""

    members: tuple[tuple[int, int], ...]

    def position(self, trial: int) -> int | None:
        """Position of this trial's step in the column, or None."""
        return next((position for number, position in self.members if number == trial), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One place of an alignment to the graph: a column, a position of the trial, or both.

    ``moved`` marks a step found elsewhere in the trial; ``split`` a step done in two calls (the second one).
    """

    column: int | None
    position: int | None
    moved: bool = False
    split: int | None = None


@dataclass(frozen=True, kw_only=True)
class SuccessGraph:
    """Merged passes. ``trials[0]`` is the reference."""

    trials: tuple[PreparedTrial, ...]
    columns: tuple[Column, ...]
    costs: Costs

    def steps(self, column: int) -> tuple[PreparedStep, ...]:
        """The passes' steps in a column, reference first."""
        return tuple(self.trials[trial].steps[position] for trial, position in self.columns[column].members)

    def support(self, column: int) -> int:
        """How many passes show the column."""
        return len(self.columns[column].members)

    def column_of(self, trial: int, position: int) -> int | None:
        """Column that holds a step of a pass."""
        return self._column_index.get((trial, position))

    @cached_property
    def _column_index(self) -> dict[tuple[int, int], int]:
        return {member: number for number, column in enumerate(self.columns) for member in column.members}

    @cached_property
    def digraph(self) -> nx.DiGraph[int]:
        """The partial order as a DAG: an edge where some pass goes from one column to the next.

        Nodes are column numbers, -1 is the start; node attribute ``support`` is the number of passes.
        """
        import networkx as nx

        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_node(-1, support=len(self.trials))
        for number in range(len(self.columns)):
            graph.add_node(number, support=self.support(number))
        for trial in range(len(self.trials)):
            last = -1
            for number, column in enumerate(self.columns):
                if column.position(trial) is not None:
                    graph.add_edge(last, number)
                    last = number
        return graph

    def alternatives(self, column: int) -> tuple[int, ...]:
        """Columns of other passes that stand beside this one: neither leads to the other."""
        import networkx as nx

        graph = self.digraph
        related = {column, *nx.ancestors(graph, column), *nx.descendants(graph, column)}
        return tuple(number for number in range(len(self.columns)) if number not in related)

    def ways(self) -> tuple[str, ...]:
        """Where the passes succeed in different ways: calls that only some make, beside what others do."""
        calls = [
            number
            for number in range(len(self.columns))
            if self.support(number) < len(self.trials)
            and (step := self.steps(number)[0]).is_call
            and not (step.folded or step.failed or step.thinks)
        ]
        out = []
        for number in calls:
            beside = [other for other in self.alternatives(number) if other > number and other in calls]
            if beside:
                names = [self.steps(n)[0].step.name for n in (number, beside[0])]
                counts = [self.support(n) for n in (number, beside[0])]
                if names[0] != names[1]:
                    out.append(
                        f"ways to succeed differ: {names[0]} in {counts[0]}, {names[1]} in {counts[1]} of "
                        f"{len(self.trials)} passed trials"
                    )
        return tuple(dict.fromkeys(out))[:MOST_WAYS]


def success_graph(passes: Sequence[PreparedTrial], costs: Costs | None = None) -> SuccessGraph:
    """Merges passing trials of one task (at least one, in a fixed order) into their success graph.

    ``costs`` remembers what it built, by trial ids: share it within a task, never between tasks.
    """
    costs = costs or Costs()
    named = tuple(trial.trial_id for trial in passes)
    known = costs.graphs.get(named)
    if known is None:
        known = costs.graphs[named] = _build(passes, costs)
    return cast("SuccessGraph", known)


def _build(passes: Sequence[PreparedTrial], costs: Costs) -> SuccessGraph:
    first = medoid(passes, costs)
    trials = (passes[first], *(trial for number, trial in enumerate(passes) if number != first))
    columns = tuple(Column(members=((0, step.position),)) for step in trials[0].steps)
    graph = SuccessGraph(trials=trials[:1], columns=columns, costs=costs)
    for trial in trials[1:]:
        graph = _merge(graph, trial)
    return graph


def medoid(trials: Sequence[PreparedTrial], costs: Costs) -> int:
    """Number of the trial that is closest to all others; the first of equals."""
    if len(trials) < 3 or len(trials) > ALL_PAIRS_LIMIT:
        return 0
    totals = [0] * len(trials)
    for a, left in enumerate(trials):
        for b in range(a + 1, len(trials)):
            cost = pair_cost(left, trials[b], costs)
            totals[a] += cost
            totals[b] += cost
    return totals.index(min(totals))


def pair_cost(left: PreparedTrial, right: PreparedTrial, costs: Costs) -> int:
    """Cost of aligning two trials of one task directly; the same either way round."""
    named = (left.trial_id, right.trial_id)
    if named not in costs.pairs:
        costs.pairs[named] = align(
            lambda i, j: costs.substitute(left.steps[i], right.steps[j]),
            [weight(step) for step in left.steps],
            [weight(step) for step in right.steps],
            GAP_OPEN,
            lambda: anchors([[step.full_key] for step in left.steps], [step.full_key for step in right.steps]),
        ).cost
    return costs.pairs[named]


def align_to(graph: SuccessGraph, trial: PreparedTrial) -> tuple[Match, ...]:
    """Aligns a trial to the graph: every column and every step appears exactly once (a split step is named by
    the match of its first call)."""
    total = len(graph.trials)
    members = [graph.steps(number) for number in range(len(graph.columns))]
    deletes = [
        max(max(map(weight, steps)) * len(steps) // total, max(map(weight, steps)) // MIN_SHARE)
        for steps in members
    ]

    def cost(column: int, position: int) -> int | None:
        found = (graph.costs.substitute(step, trial.steps[position]) for step in members[column])
        return min((value for value in found if value is not None), default=None)

    def fixed() -> Sequence[tuple[int, int]]:
        keys = [[step.full_key for step in steps] for steps in members]
        return anchors(keys, [step.full_key for step in trial.steps])

    found = align(cost, deletes, [weight(step) for step in trial.steps], GAP_OPEN, fixed)
    matches = [Match(column=column, position=position) for column, position in found.pairs]
    return tuple(_repair_splits(graph, trial, _repair_moves(graph, trial, matches)))


def _merge(graph: SuccessGraph, trial: PreparedTrial) -> SuccessGraph:
    number = len(graph.trials)
    columns: list[Column] = []
    for match in align_to(graph, trial):
        if match.column is None:
            if match.position is not None:
                columns.append(Column(members=((number, match.position),)))
            continue
        members = graph.columns[match.column].members
        if match.position is not None:
            members = (*members, (number, match.position))
        columns.append(Column(members=members))
        if match.split is not None:
            columns.append(Column(members=((number, match.split),)))
    return SuccessGraph(trials=(*graph.trials, trial), columns=tuple(columns), costs=graph.costs)


def _repair_moves(graph: SuccessGraph, trial: PreparedTrial, matches: list[Match]) -> list[Match]:
    """An unmatched step that equals an unmatched column elsewhere and commutes is a move, not two gaps."""
    spare = {m.position: at for at, m in enumerate(matches) if m.column is None and m.position is not None}
    equal: dict[str, list[int]] = {}
    for position in sorted(spare):
        equal.setdefault(trial.steps[position].call_key, []).append(position)
    out: list[Match | None] = list(matches)
    places = _places(matches, len(trial.steps))
    for at, match in enumerate(matches):
        if match.column is None or match.position is not None:
            continue
        reference = graph.steps(match.column)
        if not reference[0].is_call:
            continue
        alike = {p for other in reference for p in equal.get(other.call_key, ()) if p in spare}
        if not alike:
            continue
        target = places[at]
        for position in sorted(alike, key=lambda p: (abs(p - target), p)):
            if abs(position - target) <= FARTHEST_MOVE and commutes(trial, position, target):
                out[at] = Match(column=match.column, position=position, moved=True)
                out[spare.pop(position)] = None
                break
    return [match for match in out if match is not None]


def _repair_splits(graph: SuccessGraph, trial: PreparedTrial, matches: list[Match]) -> list[Match]:
    """One step of the passes done in two calls: two neighbouring extra calls cover its arguments and result."""
    out: list[Match] = []
    skip: set[int] = set()
    pairs = _two_calls(trial, [m.position for m in matches if m.column is None and m.position is not None])
    for match in matches:
        if pairs and match.column is not None and match.position is None:
            pair = _split_pair(graph.steps(match.column)[0], trial, pairs)
            if pair is not None:
                skip.update(pair)
                pairs = [p for p in pairs if skip.isdisjoint(p)]
                match = Match(column=match.column, position=pair[0], split=pair[1])
        out.append(match)
    return [m for m in out if m.column is not None or m.position not in skip]


def _two_calls(trial: PreparedTrial, extras: list[int]) -> list[tuple[int, int]]:
    """Neighbouring extra calls of two tools with one effect: they may be one step done in two."""
    out = []
    for first, second in pairwise(extras):
        left, right = trial.steps[first], trial.steps[second]
        if second - first > 2 or not (left.is_call and right.is_call) or left.failed or right.failed:
            continue
        if left.effect is right.effect and left.label != right.label:
            out.append((first, second))
    return out[:MOST_PAIRS]


def _split_pair(
    whole: PreparedStep, trial: PreparedTrial, pairs: list[tuple[int, int]]
) -> tuple[int, int] | None:
    if not whole.is_call or whole.failed or whole.folded:
        return None
    for first, second in pairs:
        left, right = trial.steps[first], trial.steps[second]
        if left.effect is not whole.effect:
            continue
        arguments = {v for _, v in (*left.argument_leaves, *right.argument_leaves)}
        results = {v for _, v in (*left.result_leaves, *right.result_leaves)}
        if _covered(whole.argument_leaves, arguments) and _covered(whole.result_leaves, results):
            return first, second
    return None


def _covered(found: tuple[tuple[str, str], ...], values: set[str]) -> bool:
    return bool(found) and FULL * sum(v in values for _, v in found) >= SPLIT_COVER * len(found)


def _places(matches: list[Match], end: int) -> list[int]:
    """For each match the position of the trial at which a missing column would stand: that of the next step
    after it."""
    out = [0] * len(matches)
    place = max(end - 1, 0)
    for at in range(len(matches) - 1, -1, -1):
        position = matches[at].position
        if position is not None and not matches[at].moved:
            place = position
        out[at] = place
    return out
