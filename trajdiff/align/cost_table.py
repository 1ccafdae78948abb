"""Costs of pairs of steps as numbers of a table: each distinct pair of a task is compared once, ever.

Trials of one task make mostly the same calls, so that a task of hundreds of steps has a few dozen distinct
ones. Alignments then read whole blocks of the table instead of asking pair by pair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from trajdiff.align.batch import BLOCKED
from trajdiff.align.prepared import PreparedStep

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int32]

#: Distinct steps of a table at most (four bytes a pair); larger tasks ask pair by pair.
MOST_STEPS = 3_000
_UNKNOWN = -1

#: Cost of putting two steps into one row, None where they do not belong together.
StepCost = Callable[[PreparedStep, PreparedStep], int | None]


class CostTable:
    """Costs of all pairs of the steps it was shown; ``weigh`` gives the cost of leaving out a step."""

    def __init__(self, cost: StepCost, weigh: Callable[[PreparedStep], int]) -> None:
        import numpy as np

        self._cost, self._weigh = cost, weigh
        self._places: dict[tuple[str, int], int] = {}
        #: Of each step that was shown, by the object: the step itself stands beside, so that its id stays its.
        self._shown: dict[int, tuple[int, PreparedStep]] = {}
        self._steps: list[PreparedStep] = []
        self._kinds: dict[tuple[str, str], int] = {}
        self._kind = np.empty(0, np.int32)
        self._weights = np.empty(0, np.int32)
        self._table = np.empty((0, 0), np.int32)

    def places(self, steps: Sequence[PreparedStep]) -> list[int] | None:
        """The place of each step in the table; None where the table would become too large."""
        out = []
        for step in steps:
            known = self._shown.get(id(step))
            if known is None:
                place = self._place(step)
                if place is None:
                    return None
                known = self._shown[id(step)] = place, step
            out.append(known[0])
        self._grow()
        return out

    def _place(self, step: PreparedStep) -> int | None:
        key = (step.full_key, self._weigh(step))
        place = self._places.get(key)
        if place is None and len(self._steps) < MOST_STEPS:
            place = self._places[key] = len(self._steps)
            self._steps.append(step)
        return place

    def weights(self, places: Sequence[int]) -> Integers:
        """Cost of leaving out each of these steps."""
        found: Integers = self._weights[list(places)]
        return found

    def block(self, rows: Sequence[int], columns: Sequence[int]) -> Integers:
        """Costs of pairs, ``BLOCKED`` where two steps do not belong together; shape (rows, columns)."""
        import numpy as np

        left, right = np.array(rows)[:, None], np.array(columns)
        found: Integers = self._table[left, right]
        at, to = np.nonzero(found == _UNKNOWN)
        if len(at):
            size = len(self._steps)
            pairs = np.unique(left[at, 0] * size + right[to])
            for a, b in zip((pairs // size).tolist(), (pairs % size).tolist(), strict=True):
                if self._table[a, b] == _UNKNOWN:
                    cost = self._cost(self._steps[a], self._steps[b])
                    self._table[a, b] = self._table[b, a] = BLOCKED if cost is None else cost
            found = self._table[left, right]
        return found

    def _grow(self) -> None:
        """Makes room for the steps that were added; pairs of unlike kind or actor are decided at once."""
        import numpy as np

        old, new = len(self._kind), len(self._steps)
        if new == old:
            return
        added = self._steps[old:]
        kinds = [self._kinds.setdefault((s.step.kind, s.step.actor), len(self._kinds)) for s in added]
        self._kind = np.concatenate([self._kind, np.array(kinds, np.int32)])
        weights = np.array([self._weigh(step) for step in added], np.int32)
        self._weights = np.concatenate([self._weights, weights])
        table = np.where(self._kind[:, None] == self._kind[None, :], _UNKNOWN, BLOCKED).astype(np.int32)
        table[:old, :old] = self._table
        self._table = table
