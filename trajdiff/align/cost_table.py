"""Costs of pairs of steps as numbers of a table: each distinct pair of a task is compared once, ever.

Trials of one task make mostly the same calls, so that a task of hundreds of steps has a few dozen distinct
ones. Alignments then read whole blocks of the table instead of asking pair by pair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from trajdiff.align.batch import BLOCKED
from trajdiff.align.prepared import PreparedStep
from trajdiff.align.similarity import ENOUGH, cost_of_pair, weight

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int32]

#: Distinct steps of a table at most (four bytes a pair); larger tasks ask pair by pair.
MOST_STEPS = 3_000
_UNKNOWN = -1

#: How alike the two steps of each pair are.
Likenesses = Callable[[Sequence[tuple[PreparedStep, PreparedStep]]], Sequence[int]]


class CostTable:
    """Costs of all pairs of the steps it was shown, from how alike they are."""

    def __init__(self, likenesses: Likenesses) -> None:
        import numpy as np

        self._likenesses = likenesses
        self._places: dict[tuple[str, int], int] = {}
        #: Of each step that was shown, and of all of a trial, by its id, which stays its: it stands beside.
        self._shown: dict[int, tuple[int, PreparedStep]] = {}
        self._whole: dict[int, tuple[Integers, Sequence[PreparedStep]]] = {}
        self._steps: list[PreparedStep] = []
        self._codes: list[dict[object, int]] = [{}, {}, {}]
        self._coded = np.empty((3, 0), np.int32)
        self._weights = np.empty(0, np.int32)
        self._table = np.empty((0, 0), np.int32)

    def places(self, steps: Sequence[PreparedStep]) -> Integers | None:
        """The place of each step in the table; None where the table would become too large."""
        import numpy as np

        whole = self._whole.get(id(steps))
        if whole is not None:
            return whole[0]
        out = []
        for step in steps:
            known = self._shown.get(id(step))
            if known is None:
                place = self._place(step)
                if place is None:
                    return None
                known = self._shown[id(step)] = place, step
            out.append(known[0])
        found = np.array(out, np.int32)
        if isinstance(steps, tuple):
            self._whole[id(steps)] = found, steps
        return found

    def _place(self, step: PreparedStep) -> int | None:
        key = (step.full_key, weight(step))
        place = self._places.get(key)
        if place is None and len(self._steps) < MOST_STEPS:
            place = self._places[key] = len(self._steps)
            self._steps.append(step)
        return place

    def weights(self, places: Integers) -> Integers:
        """Cost of leaving out each of these steps, which are covered."""
        found: Integers = self._weights[places]
        return found

    def block(self, rows: Integers, columns: Integers) -> Integers:
        """Costs of pairs that are covered, ``BLOCKED`` where two steps do not belong together; shape (rows,
        columns)."""
        found: Integers = self._table[rows[:, None], columns]
        return found

    def cover(self, blocks: Sequence[tuple[Integers, Integers]]) -> None:
        """Works out what is not known yet of these blocks (rows, columns), all together."""
        import numpy as np

        self._grow()
        size = len(self._steps)
        unknown = []
        for rows, columns in blocks:
            at, to = np.nonzero(self.block(rows, columns) == _UNKNOWN)
            if len(at):
                one, other = rows[at], columns[to]
                unknown.append(np.minimum(one, other).astype(np.int64) * size + np.maximum(one, other))
        if unknown:
            # Not ``np.unique``, which loads a part of the library that takes longer than all of this.
            pairs = np.array(sorted(set(np.concatenate(unknown).tolist())))
            one, other = np.divmod(pairs, size)
            steps = zip(map(self._steps.__getitem__, one), map(self._steps.__getitem__, other), strict=True)
            alike = np.array(self._likenesses(list(steps)))
            costs = cost_of_pair(self._weights[one].astype(np.int64) + self._weights[other], alike)
            self._table[one, other] = self._table[other, one] = np.where(alike < ENOUGH, BLOCKED, costs)

    def _grow(self) -> None:
        """Makes room for the steps that were added. Decided at once are pairs of unlike kind or actor, and of
        other tools with other results: only an equal answer can make two tools one."""
        import numpy as np

        old, new = len(self._weights), len(self._steps)
        if new == old:
            return
        added = self._steps[old:]
        keys = [
            ((s.step.kind, s.step.actor), s.is_call and s.label, s.is_call and s.result_text) for s in added
        ]
        codes = [[c.setdefault(key, len(c)) for c, key in zip(self._codes, each, strict=True)] for each in keys]
        self._coded = np.concatenate([self._coded, np.array(codes, np.int32).T], axis=1)
        weights = np.array([weight(step) for step in added], np.int32)
        self._weights = np.concatenate([self._weights, weights])
        kind, label, result = (code[:, None] != code for code in self._coded)
        table = np.where(kind | (label & result), BLOCKED, _UNKNOWN).astype(np.int32)
        np.fill_diagonal(table, 0)
        table[:old, :old] = self._table
        self._table = table
