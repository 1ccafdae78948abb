"""What makes the gate fail, and which code says so."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum, StrEnum

from msgspec import Struct

from trajdiff.natural import plural
from trajdiff.reliability.intervals import LEVEL, SuiteInterval, highest_lower_end
from trajdiff.reliability.pass_k import InvalidCountsError, why_absent


class Code(IntEnum):
    """Exit codes of the gate."""

    PASSED = 0
    FAILED = 1
    USAGE = 2
    INCOMPLETE = 3


class Outcome(StrEnum):
    """What one gate says."""

    PASS = "pass"
    FAIL = "fail"
    NOT_EVALUABLE = "not_evaluable"


class GateResult(Struct, frozen=True, kw_only=True):
    """One gate. ``final`` marks a failure that no missing trial can undo."""

    name: str
    outcome: Outcome
    text: str
    threshold: float | None = None
    value: float | None = None
    reason: str | None = None
    final: bool = False


def exit_code(
    *,
    usage_ok: bool = True,
    readable: bool = True,
    hard_failed: bool = False,
    complete: bool = True,
    incomplete_allowed: bool = False,
    evaluable: bool = True,
    soft_failed: bool = False,
    soft_failed_in_best_case: bool = False,
) -> Code:
    """The one code: what is worst and cannot be undone comes first."""
    if not usage_ok:
        return Code.USAGE
    if not readable:
        return Code.INCOMPLETE
    if hard_failed or (soft_failed and soft_failed_in_best_case):
        return Code.FAILED
    if not evaluable or not (complete or incomplete_allowed):
        return Code.INCOMPLETE
    return Code.FAILED if soft_failed else Code.PASSED


def code_of(results: Sequence[GateResult], *, complete: bool, incomplete_allowed: bool) -> Code:
    """The code of several gates on data that could be read."""
    failed = [result for result in results if result.outcome is Outcome.FAIL]
    return exit_code(
        hard_failed=any(result.final for result in failed),
        complete=complete,
        incomplete_allowed=incomplete_allowed,
        evaluable=all(result.outcome is not Outcome.NOT_EVALUABLE for result in results),
        soft_failed=bool(failed),
    )


def threshold_gate(
    name: str,
    threshold: float,
    *,
    interval: SuiteInterval | None,
    best_case: SuiteInterval | None = None,
    point: bool = False,
    why_not: str = "1 task: no interval",
) -> GateResult:
    """Whether the lower end of the headline interval reaches a threshold; ``point`` judges the estimate.

    ``best_case`` is the interval if everything open had passed: a threshold missed even there is final.
    """
    if interval is None:
        return GateResult(
            name=name,
            outcome=Outcome.NOT_EVALUABLE,
            threshold=threshold,
            text=why_not,
            reason=why_not,
        )
    value = interval.estimate if point else interval.low
    reached = value >= threshold
    text = f"{interval.estimate:.2f}, lower end {interval.low:.2f}"
    reason = None
    if not reached and not point:
        most = highest_lower_end(interval.units)
        if most < threshold:
            units = plural(interval.units, interval.unit, None if interval.unit == "task" else "families")
            reason = f"cannot be reached with {units} (at most {most:.2f})"
            text = f"{text}: {reason}"
    best = best_case if best_case is not None else interval
    final = not reached and (best.estimate if point else best.low) < threshold
    return GateResult(
        name=name,
        outcome=Outcome.PASS if reached else Outcome.FAIL,
        threshold=threshold,
        value=value,
        text=text,
        reason=reason,
        final=final,
    )


def absent_k(name: str, threshold: float, k: int, smallest_n: int) -> GateResult:
    """A gate on a k that the data do not have: never a pass."""
    why = f"n/a ({why_absent(k, smallest_n)})"
    return GateResult(name=name, outcome=Outcome.NOT_EVALUABLE, threshold=threshold, text=why, reason=why)


def upper_bound(events: int, units: int, level: float = LEVEL) -> float:
    """One-sided Clopper-Pearson upper bound on the share of units with an event: 0 of 50 leave up to 0.058."""
    if units < 1 or not 0 <= events <= units:
        raise InvalidCountsError(f"{events} events in {units} units")
    if events == units:
        return 1.0
    if events == 0:
        return float(1 - (1 - level) ** (1 / units))
    from scipy.special import betaincinv  # type: ignore[import-untyped]

    return float(betaincinv(events + 1, units - events, level))
