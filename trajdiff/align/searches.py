"""Alignments of steps to columns of steps, all that are asked for at once: together where that is worth it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trajdiff.align.anchors import anchors
from trajdiff.align.batch import Problem, align_many, batched, cost_many
from trajdiff.align.cost_table import CostTable
from trajdiff.align.pairwise import LONG, Alignment, align
from trajdiff.align.prepared import PreparedStep
from trajdiff.align.similarity import GAP_OPEN, Costs, weight

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int32]

#: A column that few passes show may be left out cheaply, but never for nothing.
MIN_SHARE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """One alignment of ``steps`` to columns: ``kinds`` are the distinct steps of each, ``support`` how many
    of the ``total`` trials have it."""

    kinds: Sequence[Sequence[PreparedStep]]
    support: Sequence[int]
    steps: Sequence[PreparedStep]
    total: int

    @property
    def cells(self) -> int:
        """Size of the search."""
        return (len(self.kinds) + 1) * (len(self.steps) + 1)

    def deletes(self) -> list[int]:
        """Cost of leaving out each column."""
        heaviest = [max(map(weight, steps)) for steps in self.kinds]
        return [
            max(heavy * count // self.total, heavy // MIN_SHARE)
            for heavy, count in zip(heaviest, self.support, strict=True)
        ]


def search_all(jobs: Sequence[Search], costs: Costs) -> list[Alignment]:
    """The alignment of each job: those of usual length together where that is worth it."""
    problems = _problems(jobs, costs)
    found = dict(zip(problems, align_many(list(problems.values()), GAP_OPEN), strict=True))
    return [found[at] if at in found else _alone(job, costs) for at, job in enumerate(jobs)]


def costs_of_all(jobs: Sequence[Search], costs: Costs) -> list[int]:
    """The cost of the alignment of each job, without the alignments."""
    problems = _problems(jobs, costs)
    found = dict(zip(problems, cost_many(list(problems.values()), GAP_OPEN), strict=True))
    return [found[at] if at in found else _alone(job, costs).cost for at, job in enumerate(jobs)]


def _problems(jobs: Sequence[Search], costs: Costs) -> dict[int, Problem]:
    """By their numbers the jobs that are worth searching together; those of a task with too many distinct steps
    for a table are not."""
    if not batched([job.cells for job in jobs]):
        return {}
    table: CostTable = costs.table or CostTable(costs.likenesses)
    costs.table = table
    places = {}
    for number, job in enumerate(jobs):
        if job.cells <= LONG and job.kinds and job.steps:
            members = table.places([step for steps in job.kinds for step in steps])
            steps = table.places(job.steps)
            if members is not None and steps is not None:
                places[number] = members, steps
    table.cover(list(places.values()))
    return {number: _problem(jobs[number], table, *found) for number, found in places.items()}


def _problem(job: Search, table: CostTable, members: Integers, steps: Integers) -> Problem:
    """A job as numbers; ``members`` are the places of all its kinds, ``steps`` those of its steps."""
    import numpy as np

    heaviest, pairs = table.weights(members), table.block(members, steps)
    if len(members) > len(job.kinds):
        sizes = np.array([len(one) for one in job.kinds])
        starts = np.cumsum(sizes) - sizes
        heaviest, pairs = np.maximum.reduceat(heaviest, starts), np.minimum.reduceat(pairs, starts, axis=0)
    return Problem(
        pairs=pairs,
        deletes=np.maximum(heaviest * np.array(job.support) // job.total, heaviest // MIN_SHARE),
        inserts=table.weights(steps),
    )


def _alone(job: Search, costs: Costs) -> Alignment:
    """One job by itself, pair by pair."""

    def cost(column: int, position: int) -> int | None:
        found = (costs.substitute(step, job.steps[position]) for step in job.kinds[column])
        return min((value for value in found if value is not None), default=None)

    def fixed() -> Sequence[tuple[int, int]]:
        keys = [[step.full_key for step in steps] for steps in job.kinds]
        return anchors(keys, [step.full_key for step in job.steps])

    return align(cost, job.deletes(), [weight(step) for step in job.steps], GAP_OPEN, fixed)
