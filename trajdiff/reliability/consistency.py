"""Consistency beside correctness: the same wrong way every time is not reliable."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from enum import StrEnum
from fractions import Fraction

from msgspec import Struct

from trajdiff.reliability.pass_k import InvalidCountsError


class Reading(StrEnum):
    """The ways in which outcomes and outputs can go together; one trial shows none of them."""

    RIGHT = "consistent and right"
    WRONG = "consistent and wrong"
    WAYS = "correct in different ways"
    WRONG_WAYS = "wrong in different ways"
    MIXED = "mixed"
    ONE = "one trial"


class Met(StrEnum):
    """How often a criterion was met over the trials of a task."""

    ALWAYS = "always met"
    SOMETIMES = "sometimes missed"
    NEVER = "always missed"


class Consistency(Struct, frozen=True, kw_only=True):
    """One task. Agreements are chances that two different trials agree, None for one trial.

    ``distinct`` counts different outputs, ``modal_share`` is the share of the commonest.
    """

    trials: int
    distinct: int
    pass_rate: float
    output_agreement: float | None
    modal_share: float
    verdict_agreement: float | None
    reading: Reading


class Criterion(Struct, frozen=True, kw_only=True):
    """One criterion over the trials that judged it."""

    name: str
    met: int
    trials: int

    @property
    def stability(self) -> Met:
        """Always met, sometimes missed or always missed."""
        if self.met == self.trials:
            return Met.ALWAYS
        return Met.SOMETIMES if self.met else Met.NEVER


def consistency(outputs: Sequence[Hashable], passed: Sequence[bool]) -> Consistency:
    """Outputs and outcomes of the trials of one task. Raises ``InvalidCountsError`` where they do not match."""
    if not outputs or len(outputs) != len(passed):
        raise InvalidCountsError(f"{len(outputs)} outputs for {len(passed)} outcomes")
    n = len(outputs)
    counts = Counter(outputs)
    wins = sum(map(bool, passed))
    verdicts = Counter(map(bool, passed))
    return Consistency(
        trials=n,
        distinct=len(counts),
        pass_rate=wins / n,
        output_agreement=_agreement(list(counts.values()), n),
        modal_share=max(counts.values()) / n,
        verdict_agreement=_agreement(list(verdicts.values()), n),
        reading=_reading(len(counts) == 1, wins, n),
    )


def criterion(name: str, met: Sequence[bool]) -> Criterion:
    """A criterion over trials. Raises ``InvalidCountsError`` where no trial judged it."""
    if not met:
        raise InvalidCountsError(f'criterion "{name}" was judged in no trial')
    return Criterion(name=name, met=sum(map(bool, met)), trials=len(met))


def _agreement(sizes: Sequence[int], n: int) -> float | None:
    if n < 2:
        return None
    return float(Fraction(sum(math.comb(size, 2) for size in sizes), math.comb(n, 2)))


def _reading(same: bool, wins: int, n: int) -> Reading:
    if n == 1:
        return Reading.ONE
    if wins == n:
        return Reading.RIGHT if same else Reading.WAYS
    if wins == 0:
        return Reading.WRONG if same else Reading.WRONG_WAYS
    return Reading.MIXED
