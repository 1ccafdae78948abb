"""How slow this machine is now: limits in seconds are for a usual one."""

from __future__ import annotations

import time

COUNTED = 1_000_000
#: Seconds of processor that counting so far takes on a usual machine.
USUAL = 0.07


def slowness() -> float:
    """How many times as long as a usual machine this one takes, at least 1: limits are never tightened."""
    began = time.process_time()
    total = 0
    for number in range(COUNTED):
        total += number
    return max(1.0, (time.process_time() - began) / USUAL)
