"""Which steps of a trial depend on each other, and which may change places.

Two calls depend on each other by dataflow (a value first seen in the result of one is an argument of the
other) or by conflict (they name the same entity and at least one of them writes). Everything else commutes,
so reordering it is benign; reordering dependent steps is a deviation.
"""

from __future__ import annotations

from trajdiff.align.mentions import states
from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.model import Effect


def entities(step: PreparedStep) -> frozenset[str]:
    """Identifiers among a call's arguments: what the call is about."""
    return step.entities


def changes(step: PreparedStep) -> bool:
    """Whether a step may change something: a call that did not fail and is not known to be harmless."""
    return step.is_call and not step.failed and step.effect in (Effect.WRITE, Effect.UNKNOWN)


def conflict(left: PreparedStep, right: PreparedStep) -> bool:
    """Whether two calls touch the same entity and at least one of them may change it."""
    return (changes(left) or changes(right)) and bool(entities(left) & entities(right))


def feeds(trial: PreparedTrial, source: PreparedStep, user: PreparedStep) -> bool:
    """Whether a call uses an identifier that the trial has from another call's result and from nowhere before
    either of them. Positions do not matter: a call made before its source still belongs behind it."""
    wanted = entities(user) & source.result_values
    before = trial.steps[: min(source.position, user.position)]
    return any(not any(_holds(step, value) for step in before) for value in sorted(wanted))


def dependent(trial: PreparedTrial, left: PreparedStep, right: PreparedStep) -> bool:
    """Whether two calls of one trial may not change places."""
    if not (left.is_call and right.is_call):
        return False
    return conflict(left, right) or feeds(trial, left, right) or feeds(trial, right, left)


def commutes(trial: PreparedTrial, position: int, target: int) -> bool:
    """Whether the call at ``position`` could stand right before ``target`` without passing a step it depends
    on."""
    step = trial.steps[position]
    passed = trial.steps[target:position] if target <= position else trial.steps[position + 1 : target]
    return not any(dependent(trial, other, step) for other in passed)


def _holds(step: PreparedStep, value: str) -> bool:
    if step.is_message:
        return states(step.text, value)
    return value in step.argument_values or value in step.result_values
