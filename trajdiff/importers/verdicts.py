"""How a recorded outcome becomes a verdict: four states, the raw value kept, the rule named."""

from __future__ import annotations

import math
from typing import Any

from trajdiff.importers.jsontext import plain_number
from trajdiff.importers.naming import shortened
from trajdiff.importers.notices import Where
from trajdiff.model import LIMITS, NONE_CHOSEN, Judgement, Severity, Termination, Verdict

#: Rewards are computed from floats; this much below 1 is still 1.
TOLERANCE = 1e-6


def infra(raw: Any, rule: str, scorer: str | None = None) -> Judgement:
    """The producer says that the trial is not valid; a number beside it does not count."""
    return Judgement(state=Verdict.INFRA, raw=raw, scorer=scorer, rule=rule)


def from_reward(
    raw: Any, *, threshold: float | None = None, error: str | None = None, scorer: str | None = None
) -> Judgement:
    """The verdict of a recorded reward.

    ``raw`` is the reward as recorded, None where there is none; ``error`` the error the trial recorded, if it
    is more than a limit; ``threshold`` makes ``reward >= threshold`` a pass, else a pass is a reward of 1.
    """
    if isinstance(raw, bool):
        state = Verdict.PASS if raw else Verdict.FAIL
        return Judgement(state=state, raw=raw, scorer=scorer, rule="recorded verdict")
    number = plain_number(raw)
    if number is not None and threshold is not None:
        state = Verdict.PASS if number >= threshold else Verdict.FAIL
        rule = f"reward >= {threshold:g}"
        return Judgement(state=state, raw=raw, scorer=scorer, rule=rule, threshold=threshold)
    if number is not None:
        state = Verdict.PASS if abs(number - 1) <= TOLERANCE else Verdict.FAIL
        return Judgement(state=state, raw=raw, scorer=scorer, rule="reward = 1")
    if error is not None:
        return infra(raw, "recorded error", scorer)
    return Judgement(state=Verdict.UNSCORED, raw=raw, scorer=scorer, rule="no reward")


def odd_reward(raw: Any) -> str | None:
    """What is odd about a reward that is neither a number nor missing, in words; None if nothing is."""
    if raw is None or isinstance(raw, bool) or plain_number(raw) is not None:
        return None
    if isinstance(raw, float):
        return "the reward is not a number" if math.isnan(raw) else "the reward is infinite"
    return "the reward is not a number"


def tell_unscored(where: Where, judgement: Judgement, termination: Termination, raw: Any, *, at: str) -> None:
    """Tell that a trial has no outcome, what stands in its place and how it counts; ``at`` is its place."""
    if judgement.state is not Verdict.UNSCORED or judgement.rule == NONE_CHOSEN:
        # That several scores wait for a choice is told once a file.
        return
    if termination.reason in LIMITS:
        consequence: tuple[str, ...] = ("it stopped at a limit, which counts as a failure",)
    else:
        consequence = ("it is listed; pass^k counts it, as failed, only with --unscored fail",)
    odd = odd_reward(raw)
    if odd:
        where.warn("odd_reward", f"{odd} ({shortened(repr(raw), 30)})", *consequence, at=at)
    else:
        where.add(Severity.WARNING, "no_outcome", f"{where.who} has no outcome", *consequence, at=at)
