"""What a runner tells the agent of a trial, by variables of the environment.

The library does not read the environment elsewhere; a recorder must, since the user's agent is started by a
command and its own arguments are the user's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from trajdiff.record.lines import RecordError

TASK, TRIAL, SEED = "TRAJDIFF_TASK", "TRAJDIFF_TRIAL", "TRAJDIFF_SEED"
TRACE, PINS, STEP_LIMIT, WORK = "TRAJDIFF_TRACE", "TRAJDIFF_PINS", "TRAJDIFF_STEP_LIMIT", "TRAJDIFF_WORK"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Task id, trial id, seed, trace path, file of pins, step limit and work folder; None where not told."""

    task: str | None = None
    trial: str | None = None
    seed: int | None = None
    trace: str | None = None
    pins: str | None = None
    step_limit: int | None = None
    work: str | None = None

    def variables(self) -> dict[str, str]:
        """The same as variables of the environment."""
        said = {
            TASK: self.task,
            TRIAL: self.trial,
            SEED: self.seed,
            TRACE: self.trace,
            PINS: self.pins,
            STEP_LIMIT: self.step_limit,
            WORK: self.work,
        }
        return {name: str(value) for name, value in said.items() if value is not None}


def setup_from(environment: Mapping[str, str] | None = None) -> Setup:
    """What the runner told (by default in the environment of this process). Raises ``RecordError``."""
    told = os.environ if environment is None else environment
    return Setup(
        task=told.get(TASK) or None,
        trial=told.get(TRIAL) or None,
        seed=_number(told, SEED),
        trace=told.get(TRACE) or None,
        pins=told.get(PINS) or None,
        step_limit=_number(told, STEP_LIMIT),
        work=told.get(WORK) or None,
    )


def _number(told: Mapping[str, str], name: str) -> int | None:
    text = told.get(name)
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise RecordError(f"{name} is no whole number: {text!r}") from None
