"""Cost of a delivery, human time and latency."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from trajdiff.errors import InputError
from trajdiff.reliability.pass_k import InvalidCountsError

NO_DELIVERY = "no successful delivery"
#: Below so many trials P95 is all but the maximum, which is then printed too.
MAXIMUM_BELOW = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What all trials cost, failed and aborted ones included, per accepted delivery.

    ``per_accepted`` is None with ``reason`` where nothing was accepted or no cost is recorded. With trials
    ``without_cost`` the figures are lower bounds.
    """

    trials: int
    without_cost: int
    total: float | None
    accepted: int
    per_accepted: float | None
    reason: str | None = None

    @property
    def lower_bound(self) -> bool:
        """Whether some trial has no recorded cost."""
        return self.total is not None and self.without_cost > 0

    @property
    def label(self) -> str:
        """What has to be said beside the figure; empty where nothing."""
        if self.total is None:
            return "cost is not recorded"
        if not self.lower_bound:
            return ""
        return f"lower bound ({self.without_cost} of {self.trials} trials without cost)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Seconds over the trials that have a duration; every value was observed.

    ``maximum`` is given for fewer than 20 trials. ``at_limit``: P95 is a trial stopped by a time limit, so
    the true value is at least that.
    """

    trials: int
    without: int
    p50: float
    p95: float
    maximum: float | None
    at_limit: bool = False


def delivery_cost(costs: Sequence[float | None], accepted: int) -> Cost:
    """Cost of all trials (None: not recorded) for so many accepted deliveries.

    Raises ``InputError`` for a negative or non-finite cost, ``InvalidCountsError`` for impossible counts.
    """
    if accepted < 0 or accepted > len(costs):
        raise InvalidCountsError(f"{accepted} accepted of {len(costs)} trials")
    known = [_amount(cost, "cost") for cost in costs if cost is not None]
    return _cost(known, len(costs), accepted)


def latency(seconds: Sequence[float | None], at_limit: Sequence[bool] | None = None) -> Latency | None:
    """P50 and P95 by the inverse empirical distribution; None where no trial has a duration.

    ``at_limit`` says which trials were stopped by a time limit.
    """
    limits = at_limit if at_limit is not None else [False] * len(seconds)
    known = sorted(
        (float(_amount(value, "duration")), limit)
        for value, limit in zip(seconds, limits, strict=True)
        if value is not None
    )
    if not known:
        return None
    p50, p95 = known[_rank(len(known), 50)], known[_rank(len(known), 95)]
    return Latency(
        trials=len(known),
        without=len(seconds) - len(known),
        p50=p50[0],
        p95=p95[0],
        maximum=known[-1][0] if len(known) < MAXIMUM_BELOW else None,
        at_limit=any(limit for value, limit in known if value == p95[0]),
    )


def _cost(known: Sequence[Fraction], trials: int, accepted: int) -> Cost:
    if not known:
        return Cost(
            trials=trials,
            without_cost=trials,
            total=None,
            accepted=accepted,
            per_accepted=None,
            reason="cost is not recorded",
        )
    total = sum(known, Fraction(0))
    if total > sys.float_info.max:
        raise InputError("costs add up to more than any amount of money: are they dollars?")
    return Cost(
        trials=trials,
        without_cost=trials - len(known),
        total=float(total),
        accepted=accepted,
        per_accepted=float(total / accepted) if accepted else None,
        reason=None if accepted else NO_DELIVERY,
    )


def _rank(n: int, percent: int) -> int:
    """Index of the smallest observation whose cumulative share is at least ``percent``."""
    return max(-(-n * percent // 100) - 1, 0)


def _amount(value: float, what: str) -> Fraction:
    """An amount as the decimal it was written as, so that sums do not depend on order."""
    if isinstance(value, bool) or not math.isfinite(value) or value < 0:
        raise InputError(f"{what} is {value!r}, not a finite amount from 0")
    return Fraction(repr(float(value)))
