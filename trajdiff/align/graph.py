"""The ways to succeed: passing trials merged into one partial-order graph, and trials aligned to it.

The medoid pass comes first and the others are aligned into it. A column is a semantic step; it carries which
passes show it (its support). Several ways to succeed are several branches. Failing trials are aligned to the
graph and never reshape it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, cast

from trajdiff.align.order import commutes
from trajdiff.align.pairwise import LONG
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.align.searches import Search, costs_of_all, search_all
from trajdiff.align.similarity import FULL, Costs, weight

if TYPE_CHECKING:
    import networkx as nx

#: With more passes than this the reference is the first one, not the medoid of all pairs.
ALL_PAIRS_LIMIT = 16
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
    """Merged passes. ``trials[0]`` is the reference; ``kinds`` are the distinct steps of each column, in the
    order in which trials brought them; ``aligned`` remembers trials and their alignments."""

    trials: tuple[PreparedTrial, ...]
    columns: tuple[Column, ...]
    costs: Costs
    kinds: tuple[tuple[PreparedStep, ...], ...] = field(compare=False, repr=False)
    aligned: dict[int, tuple[PreparedTrial, tuple[Match, ...]]] = field(
        default_factory=dict, compare=False, repr=False
    )
    _steps: dict[int, tuple[PreparedStep, ...]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def steps(self, column: int) -> tuple[PreparedStep, ...]:
        """The passes' steps in a column, reference first."""
        found = self._steps.get(column)
        if found is None:
            members = self.columns[column].members
            found = self._steps[column] = tuple([self.trials[trial].steps[at] for trial, at in members])
        return found

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
        behind = self._behind
        return tuple(
            number
            for number in range(len(self.columns))
            if number != column and not (behind[column] >> number | behind[number] >> column) & 1
        )

    @cached_property
    def _behind(self) -> list[int]:
        """For each column the ones that the order of ``digraph`` puts behind it, as the bits of a number: for
        this question alone a library of graphs takes longer to load than to answer."""
        following: list[set[int]] = [set() for _ in self.columns]
        last: dict[int, int] = {}
        for number, column in enumerate(self.columns):
            for trial, _ in column.members:
                if trial in last:
                    following[last[trial]].add(number)
                last[trial] = number
        found = [0] * len(self.columns)
        for number in range(len(self.columns) - 1, -1, -1):
            for after in following[number]:
                found[number] |= found[after] | 1 << after
        return found

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
    return success_graphs([passes], costs or Costs())[0]


def success_graphs(groups: Sequence[Sequence[PreparedTrial]], costs: Costs) -> tuple[SuccessGraph, ...]:
    """The success graph of each group of passes of one task. Groups that begin with the same trials share the
    work, and the alignments of all groups are searched together."""
    names = [tuple(trial.trial_id for trial in passes) for passes in groups]
    wanted = {name: passes for name, passes in zip(names, groups, strict=True) if name not in costs.graphs}
    pair_costs([pair for passes in wanted.values() for pair in _to_compare(passes)], costs)
    orders = {name: _in_order(passes, costs) for name, passes in wanted.items()}
    # Groups of the same passes may come to one order.
    new = {_ids(order): order for order in orders.values() if _ids(order) not in costs.merged}
    built: dict[tuple[str, ...], SuccessGraph] = {}
    for size in range(1, max(map(len, new), default=0) + 1):
        begun: dict[tuple[str, ...], tuple[PreparedTrial, ...]] = {}
        for order in new.values():
            if len(order) >= size:
                begun.setdefault(_ids(order[:size]), order[:size])
        built = _extended(built, begun, costs)
        costs.merged |= {name: built[name] for name in new if len(name) == size}
    costs.graphs |= {name: costs.merged[_ids(order)] for name, order in orders.items()}
    return tuple(cast("SuccessGraph", costs.graphs[name]) for name in names)


def _in_order(passes: Sequence[PreparedTrial], costs: Costs) -> tuple[PreparedTrial, ...]:
    """The passes in the order in which they are merged: the medoid first."""
    first = medoid(passes, costs)
    return (passes[first], *(trial for number, trial in enumerate(passes) if number != first))


class NotMergedError(Exception):
    """Somebody asks for the columns of passes that wait to be merged together with others."""


class GraphToCome(SuccessGraph):
    """The success graph of passes, which are merged only where somebody looks at its columns: many answers need
    no more than the passes in their order. One that ``waits`` raises ``NotMergedError`` there instead, until
    ``success_graphs`` has merged the same passes: several are merged in less time together."""

    def __init__(self, passes: Sequence[PreparedTrial], costs: Costs, *, waits: bool = False) -> None:
        order = _in_order(passes, costs)
        for name, value in (("trials", order), ("costs", costs), ("_waits", waits)):
            object.__setattr__(self, name, value)

    @property
    def is_made(self) -> bool:
        """Whether somebody has looked."""
        return "_made" in self.__dict__

    @cached_property
    def _made(self) -> SuccessGraph:
        if self.__dict__["_waits"] and _ids(self.trials) not in self.costs.merged:
            raise NotMergedError
        return success_graph(self.trials, self.costs)

    @property
    def columns(self) -> tuple[Column, ...]:
        """See ``SuccessGraph``."""
        return self._made.columns

    @property
    def kinds(self) -> tuple[tuple[PreparedStep, ...], ...]:
        """See ``SuccessGraph``."""
        return self._made.kinds

    @property
    def aligned(self) -> dict[int, tuple[PreparedTrial, tuple[Match, ...]]]:
        """See ``SuccessGraph``."""
        return self._made.aligned

    @property
    def _steps(self) -> dict[int, tuple[PreparedStep, ...]]:
        return self._made._steps


def graphs_to_come(
    groups: Sequence[Sequence[PreparedTrial]], costs: Costs, *, wait: bool = False
) -> list[GraphToCome]:
    """The graph of each group of passes of one task, to be merged when it is looked at."""
    pair_costs([pair for passes in groups for pair in _to_compare(passes)], costs)
    return [GraphToCome(passes, costs, waits=wait) for passes in groups]


def _ids(trials: Sequence[PreparedTrial]) -> tuple[str, ...]:
    return tuple(trial.trial_id for trial in trials)


def _extended(
    built: Mapping[tuple[str, ...], SuccessGraph],
    begun: Mapping[tuple[str, ...], tuple[PreparedTrial, ...]],
    costs: Costs,
) -> dict[tuple[str, ...], SuccessGraph]:
    """The graphs of ``begun`` from those of all but their last trials."""
    if any(len(trials) == 1 for trials in begun.values()):
        return {
            name: SuccessGraph(
                trials=trials,
                columns=tuple(Column(members=((0, step.position),)) for step in trials[0].steps),
                costs=costs,
                kinds=tuple((step,) for step in trials[0].steps),
            )
            for name, trials in begun.items()
        }
    jobs = [(built[name[:-1]], trials[-1]) for name, trials in begun.items()]
    found = align_all(jobs)
    return {
        name: _merge(graph, trial, matches)
        for name, (graph, trial), matches in zip(begun, jobs, found, strict=True)
    }


def medoid(trials: Sequence[PreparedTrial], costs: Costs) -> int:
    """Number of the trial that is closest to all others; the first of equals."""
    totals = [0] * len(trials)
    numbers = [(a, b) for a in range(len(trials)) for b in range(a + 1, len(trials))]
    for (a, b), cost in zip(numbers, pair_costs(_to_compare(trials), costs), strict=False):
        totals[a] += cost
        totals[b] += cost
    return totals.index(min(totals))


def _to_compare(trials: Sequence[PreparedTrial]) -> list[tuple[PreparedTrial, PreparedTrial]]:
    """The pairs whose costs decide on the medoid: none where it is the first trial in any case."""
    if len(trials) < 3 or len(trials) > ALL_PAIRS_LIMIT:
        return []
    return list(combinations(trials, 2))


def pair_cost(left: PreparedTrial, right: PreparedTrial, costs: Costs) -> int:
    """Cost of aligning two trials of one task directly; the same either way round."""
    return pair_costs([(left, right)], costs)[0]


def pair_costs(pairs: Sequence[tuple[PreparedTrial, PreparedTrial]], costs: Costs) -> list[int]:
    """Cost of aligning each of these pairs of trials directly."""
    wanted = {_ids(pair): pair for pair in pairs if _ids(pair) not in costs.pairs}
    jobs = [
        Search(kinds=[(s,) for s in a.steps], support=[1] * len(a.steps), steps=b.steps, total=1)
        for a, b in wanted.values()
    ]
    for (left, right), job, found in zip(wanted, jobs, costs_of_all(jobs, costs), strict=True):
        costs.pairs[left, right] = found
        if job.cells <= LONG:  # which is searched whole, so that the way round does not matter
            costs.pairs[right, left] = found
    return [costs.pairs[one.trial_id, other.trial_id] for one, other in pairs]


def align_to(graph: SuccessGraph, trial: PreparedTrial) -> tuple[Match, ...]:
    """Aligns a trial to the graph: every column and every step appears exactly once (a split step is named by
    the match of its first call)."""
    return align_all([(graph, trial)])[0]


def align_all(jobs: Sequence[tuple[SuccessGraph, PreparedTrial]]) -> list[tuple[Match, ...]]:
    """Aligns each trial to its graph; all graphs are of one task and share their costs. What was aligned once
    is remembered with the graph."""
    new = {(id(graph), id(trial)): (graph, trial) for graph, trial in jobs if id(trial) not in graph.aligned}
    if new:
        costs = next(iter(new.values()))[0].costs
        asked = [
            Search(
                kinds=graph.kinds,
                support=[len(column.members) for column in graph.columns],
                steps=trial.steps,
                total=len(graph.trials),
            )
            for graph, trial in new.values()
        ]
        for (graph, trial), found in zip(new.values(), search_all(asked, costs), strict=True):
            matches = [Match(column=column, position=position) for column, position in found.pairs]
            repaired = tuple(_repair_splits(graph, trial, _repair_moves(graph, trial, matches)))
            graph.aligned[id(trial)] = trial, repaired
    return [graph.aligned[id(trial)][1] for graph, trial in jobs]


def _merge(graph: SuccessGraph, trial: PreparedTrial, matches: Sequence[Match]) -> SuccessGraph:
    number = len(graph.trials)
    columns: list[Column] = []
    kinds: list[tuple[PreparedStep, ...]] = []

    def own(position: int) -> None:
        columns.append(Column(members=((number, position),)))
        kinds.append((trial.steps[position],))

    for match in matches:
        if match.column is None:
            if match.position is not None:
                own(match.position)
            continue
        members, known = graph.columns[match.column].members, graph.kinds[match.column]
        if match.position is not None:
            members = (*members, (number, match.position))
            known = _with_kind(known, trial.steps[match.position], graph.costs)
        columns.append(Column(members=members))
        kinds.append(known)
        if match.split is not None:
            own(match.split)
    return SuccessGraph(
        trials=(*graph.trials, trial), columns=tuple(columns), costs=graph.costs, kinds=tuple(kinds)
    )


def _with_kind(known: tuple[PreparedStep, ...], step: PreparedStep, costs: Costs) -> tuple[PreparedStep, ...]:
    """The distinct steps of a column with one more step: most trials bring one that is there."""
    if any(one.shared is step.shared for one in known):
        return known
    what = (costs.number(step), weight(step))
    return known if any((costs.number(one), weight(one)) == what for one in known) else (*known, step)


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
        arguments = left.argument_values | right.argument_values
        results = left.result_values | right.result_values
        if _covered(whole.argument_leaves, arguments) and _covered(whole.result_leaves, results):
            return first, second
    return None


def _covered(found: tuple[tuple[str, str], ...], values: frozenset[str]) -> bool:
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
