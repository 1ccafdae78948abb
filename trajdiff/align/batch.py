"""Many alignments at once: the search of ``pairwise`` with one row of all problems per step.

The numbers and the rule for ties are those of ``pairwise.align``, so that both give the same pairs. A row of a
problem costs about as much as twenty cells one by one, hence short problems are better searched there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from trajdiff.align.pairwise import LONG, Alignment, align

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int32]

Found = TypeVar("Found")

#: Stands for a pair that may not be one: above any sum of costs of a problem that is not ``LONG``; four of it
#: stay below the end of the integers.
BLOCKED = 1 << 28
#: Cells of all problems together from which rows at once are quicker than cell by cell: with the time that
#: loading numpy takes, and where it is loaded already.
WORTH_LOADING, WORTH_IT = 20_000, 250
#: Steps of all trials from which loading numpy pays in any case.
MANY_STEPS = 3_000
#: Cells that one batch holds in memory at most (12 bytes each).
MOST_CELLS = 1_000_000
_MATCH, _DELETE, _INSERT = 0, 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One alignment: costs of pairs (``BLOCKED`` where the two do not belong together), of what is left out of
    the reference and of what the candidate has beyond it. Shape of ``pairs``: (deletes, inserts)."""

    pairs: Integers
    deletes: Sequence[int] | Integers
    inserts: Sequence[int] | Integers

    @property
    def cells(self) -> int:
        """Size of the search."""
        return (len(self.deletes) + 1) * (len(self.inserts) + 1)


def batched(cells: Sequence[int]) -> bool:
    """Whether problems of these sizes are worth a batch."""
    enough = WORTH_IT if "numpy" in sys.modules else WORTH_LOADING
    return sum(size for size in cells if size <= LONG) >= enough


def expect(steps: int) -> None:
    """Told how many steps there are in all, loads numpy at once where it will pay."""
    if steps >= MANY_STEPS:
        import numpy as np  # noqa: F401


def align_many(problems: Sequence[Problem], gap_open: int) -> list[Alignment]:
    """The alignments of all problems, in their order: for each the one ``pairwise.align`` gives."""

    def traced(batch: Sequence[Problem]) -> list[Alignment]:
        rows, starts = _laid_out(batch)
        found = _fill(rows, gap_open)
        return [_traced(found, number, start, gap_open) for number, start in enumerate(starts)]

    return _in_batches(problems, lambda one: _one_by_one(one, gap_open), traced)


def cost_many(problems: Sequence[Problem], gap_open: int) -> list[int]:
    """The cost of the alignment of each problem."""

    def least(batch: Sequence[Problem]) -> list[int]:
        rows, starts = _laid_out(batch)
        begun: dict[int, list[int]] = {}
        for number, (top, _) in enumerate(starts):
            begun.setdefault(top, []).append(number)
        found = {}
        for i, (matched, deleted, inserted) in _rows(rows, gap_open):
            for number in begun.get(i, ()):
                left = starts[number][1]
                gaps = min(deleted[number, left], inserted[number, left]) + gap_open
                found[number] = int(min(matched[number, left], gaps))
        return [found[number] for number in range(len(batch))]

    return _in_batches(problems, lambda one: _one_by_one(one, gap_open).cost, least)


def _in_batches(
    problems: Sequence[Problem],
    alone: Callable[[Problem], Found],
    together: Callable[[Sequence[Problem]], Sequence[Found]],
) -> list[Found]:
    """What is found for each problem: for long ones alone, for others with those of about their size."""
    found: dict[int, Found] = {}
    batch: list[int] = []
    for number in sorted(range(len(problems)), key=lambda at: (problems[at].cells, at)):
        problem = problems[number]
        if problem.cells > LONG:
            found[number] = alone(problem)
            continue
        if batch and problem.cells * (len(batch) + 1) > MOST_CELLS:
            found |= zip(batch, together([problems[at] for at in batch]), strict=True)
            batch = []
        batch.append(number)
    if batch:
        found |= zip(batch, together([problems[at] for at in batch]), strict=True)
    return [found[number] for number in range(len(problems))]


def _one_by_one(problem: Problem, gap_open: int) -> Alignment:
    rows = problem.pairs.tolist()
    deletes, inserts = ([int(cost) for cost in costs] for costs in (problem.deletes, problem.inserts))
    return align(lambda i, j: None if rows[i][j] >= BLOCKED else rows[i][j], deletes, inserts, gap_open)


@dataclass(frozen=True, slots=True)
class _Laid:
    """Problems in one block, each in its lower right corner, where the search begins. Shapes: (n + 1, problems,
    m + 1), (n + 1, problems, 1), (problems, m + 1)."""

    pairs: Integers
    deletes: Integers
    inserts: Integers


def _laid_out(problems: Sequence[Problem]) -> tuple[_Laid, list[tuple[int, int]]]:
    """The problems in one block, and where each of them begins."""
    import numpy as np

    count = len(problems)
    n = max(len(problem.deletes) for problem in problems)
    m = max(len(problem.inserts) for problem in problems)
    pairs = np.full((n + 1, count, m + 1), BLOCKED, np.int32)
    deletes = np.zeros((n + 1, count, 1), np.int32)
    inserts = np.zeros((count, m + 1), np.int32)
    deletes[n] = BLOCKED
    starts = []
    for number, problem in enumerate(problems):
        top, left = n - len(problem.deletes), m - len(problem.inserts)
        pairs[top:n, number, left:m] = problem.pairs
        deletes[top:n, number, 0] = problem.deletes
        inserts[number, left:m] = problem.inserts
        starts.append((top, left))
    return _Laid(pairs, deletes, inserts), starts


def _fill(laid: _Laid, gap_open: int) -> tuple[Integers, Integers, Integers]:
    """Cost of the best rest from each cell by its first move, without the opening of a gap."""
    import numpy as np

    cells = laid.pairs, np.empty_like(laid.pairs), np.empty_like(laid.pairs)
    for i, row in _rows(laid, gap_open):
        for whole, part in zip(cells, row, strict=True):
            whole[i] = part
    return cells


def _rows(laid: _Laid, gap_open: int) -> Iterator[tuple[int, tuple[Integers, Integers, Integers]]]:
    """From the last row to the first: cost of the best rest from each of its cells by the first move (match,
    delete, insert), without the opening of a gap. Shape of each: (problems, m + 1); they hold until the next
    row is asked for.

    The insert of a cell continues the insert right of it, which as a running minimum is one operation a row:
    with the cost of inserting all up to the end taken off, a longer insert costs nothing more.
    """
    import numpy as np

    rows, count, width = laid.pairs.shape
    to_end = np.cumsum(laid.inserts[:, ::-1], axis=1, dtype=np.int32)[:, ::-1]
    matched, deleted, inserted, best, opened, going_on = (np.empty((count, width), np.int32) for _ in range(6))
    inserted[:, -1] = BLOCKED
    backwards = going_on[:, ::-1]
    after_match = np.full((count, width + 1), BLOCKED, np.int32)
    after_delete = np.full((count, width), BLOCKED, np.int32)
    for i in range(rows - 1, -1, -1):
        np.add(laid.pairs[i], after_match[:, 1:], out=matched)
        np.add(after_delete, laid.deletes[i], out=deleted)
        if i == rows - 1:  # the end of both costs nothing
            matched[:, -1] = 0
        np.add(deleted, gap_open, out=best)
        np.minimum(best, matched, out=best)
        # Inside an insert: the best way on from each cell, or one more insert.
        np.subtract(best, to_end, out=going_on)
        np.minimum.accumulate(backwards, axis=1, out=backwards)
        np.add(going_on, to_end, out=going_on)
        np.add(laid.inserts[:, :-1], going_on[:, 1:], out=inserted[:, :-1])
        np.add(inserted, gap_open, out=opened)
        np.minimum(best, opened, out=after_match[:, :-1])
        np.minimum(matched, deleted, out=after_delete)
        np.minimum(after_delete, opened, out=after_delete)
        yield i, (matched, deleted, inserted)


def _traced(
    found: tuple[Integers, Integers, Integers], number: int, start: tuple[int, int], gap_open: int
) -> Alignment:
    """Reads an alignment forward; of equal moves the diagonal comes first, then a delete, then an insert."""
    matched, deleted, inserted = (cells[:, number].item for cells in found)
    (top, left), (n, m) = start, (found[0].shape[0] - 1, found[0].shape[2] - 1)
    pairs: list[tuple[int | None, int | None]] = []
    (i, j), state = start, _MATCH
    total: int | None = None
    while i < n or j < m:
        by_match = matched(i, j)
        by_delete = deleted(i, j) + (0 if state == _DELETE else gap_open)
        by_insert = inserted(i, j) + (0 if state == _INSERT else gap_open)
        if total is None:
            total = min(by_match, by_delete, by_insert)
        if by_match <= by_delete and by_match <= by_insert:
            pairs.append((i - top, j - left))
            i, j, state = i + 1, j + 1, _MATCH
        elif by_delete <= by_insert:
            pairs.append((i - top, None))
            i, state = i + 1, _DELETE
        else:
            pairs.append((None, j - left))
            j, state = j + 1, _INSERT
    return Alignment(pairs=tuple(pairs), cost=total or 0)
