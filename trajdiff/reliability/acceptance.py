"""Acceptance by several criteria: all must hold, and none makes up for another."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from trajdiff.errors import UsageError
from trajdiff.model import Verdict

#: How far a recorded score may be from 1 and still mean "met".
TOLERANCE = 1e-6


def met(score: Any) -> bool | None:
    """Whether one criterion is met: true, or a number within 1e-6 of 1. None where nothing was recorded."""
    if isinstance(score, bool):
        return score
    if isinstance(score, (int, float)) and not math.isnan(score):
        return abs(score - 1) <= TOLERANCE
    return None


def verdict_of(scores: Mapping[str, Any], all_of: Sequence[str]) -> Verdict:
    """Pass only if every named criterion is met; fail if one is missed; unscored if one was not judged.

    Raises ``UsageError`` without criteria: an acceptance rule of nothing would accept everything.
    """
    if not all_of:
        raise UsageError("an acceptance rule needs at least one criterion")
    judged = [met(scores.get(name)) for name in all_of]
    if any(one is False for one in judged):
        return Verdict.FAIL
    return Verdict.PASS if all(judged) else Verdict.UNSCORED
