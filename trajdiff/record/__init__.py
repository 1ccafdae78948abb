"""Records the trials of a running agent as ``trajdiff/1`` lines; needs nothing but the standard library.

    from trajdiff import record

    @record.tool
    def get_order(order_id: str) -> dict: ...

    with record.trial(model="m-1") as trial:
        trial.user("My lamp came broken.")
        order = get_order("A1001")
        trial.agent("I have refunded it.")

Under ``trajdiff run`` task, trial number, seed and path come from the environment; without a path nothing is
recorded and the tools run as they are. Every step is on disk before the agent goes on, so that a crash keeps
what happened. Pins of ``trajdiff intervene`` reach the agent through the tools and through what ``user`` and
``agent`` return.
"""

from __future__ import annotations

from trajdiff.record.lines import RecordError
from trajdiff.record.pins import Pin, read_pins, write_pins
from trajdiff.record.setup import Setup, setup_from
from trajdiff.record.tools import tool
from trajdiff.record.trial import StepLimitReached, Trial, current, trial

__all__ = [
    "Pin",
    "RecordError",
    "Setup",
    "StepLimitReached",
    "Trial",
    "current",
    "read_pins",
    "setup_from",
    "tool",
    "trial",
    "write_pins",
]
