"""Which steps of a trial depend on each other, and which may change places.

Two calls depend on each other by dataflow (a value first seen in the result of one is an argument of the
other) or by conflict (they name the same entity and at least one of them writes). Everything else commutes,
so reordering it is benign; reordering dependent steps is a deviation.
"""

from __future__ import annotations

from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.align.values import is_reference
from trajdiff.model import Effect


def entities(step: PreparedStep) -> frozenset[str]:
    """Identifiers among a call's arguments: what the call is about."""
    return frozenset(value for path, value in step.argument_leaves if is_reference(path, value))


def changes(step: PreparedStep) -> bool:
    """Whether a step may change something: a call that did not fail and is not known to be harmless."""
    return step.is_call and not step.failed and step.effect in (Effect.WRITE, Effect.UNKNOWN)


def conflict(left: PreparedStep, right: PreparedStep) -> bool:
    """Whether two calls touch the same entity and at least one of them may change it."""
    return (changes(left) or changes(right)) and bool(entities(left) & entities(right))


def feeds(earlier: PreparedStep, later: PreparedStep) -> bool:
    """Whether an argument of the later call is an identifier that the earlier call's result holds."""
    wanted = entities(later) - entities(earlier)
    return bool(wanted) and any(value in wanted for _, value in earlier.result_leaves)


def dependent(earlier: PreparedStep, later: PreparedStep) -> bool:
    """Whether two calls of one trial may not change places."""
    if not (earlier.is_call and later.is_call):
        return False
    return conflict(earlier, later) or feeds(earlier, later)


def commutes(trial: PreparedTrial, position: int, target: int) -> bool:
    """Whether the call at ``position`` could stand at ``target`` without passing a step it depends on."""
    step = trial.steps[position]
    low, high = sorted((position, target))
    for other in trial.steps[low : high + 1]:
        if other.position == position:
            continue
        first, second = (other, step) if other.position < position else (step, other)
        if dependent(first, second):
            return False
    return True
