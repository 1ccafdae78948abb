"""Analyses a large made-up task and prints what is said about its last failing trial.

``python -m tests.divergence.large steps 5000`` or ``… trials 60``. After 20 seconds
of its own work (not of waiting for others) the process is ended.
"""

from __future__ import annotations

import json
import resource
import sys

from tests.divergence.desk import ASK, BYE, DONE, FIRST, LOOK, OFFER, OPENING, YES, refund
from tests.divergence.made import Line, Steps, analysed, call, records

SECONDS = 20


def long_trial(amount: float, fillers: int) -> list[Line]:
    """A trial that turns many pages before it refunds."""
    looks = [call("get_page", {"page": n, "items": [f"I-{n}"]}, page=n) for n in range(fillers)]
    return [ASK, *looks, LOOK, refund(amount), DONE]


def main(what: str, size: int) -> None:
    """One task: two passes and a failure of that many steps, or that many of each."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    passes: list[Steps] = [FIRST] * size
    failing: list[Steps] = [(*OPENING, OFFER, YES, refund(94.9), DONE, BYE)] * size
    if what == "steps":
        passes = [long_trial(49.9, size - 4), long_trial(49.9, size - 10)]
        failing = [long_trial(94.9, size - 4)]
    said = analysed(records(passes, failing)).findings["T1"].divergences[-1]
    place = said.root.step if said.root else None
    print(json.dumps({"kind": said.kind, "grade": said.grade, "step": place, "group": len(said.group)}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
