"""Analyses a large made-up task and prints what is said about its last failing trial.

``python -m tests.divergence.large steps 5000``, ``… trials 60``, or another shape. Also said is how many times
as long that takes as a quarter of the size: seconds would say more about the machine. A process that works for
minutes (not that waits for others) is ended.
"""

from __future__ import annotations

import json
import resource
import sys
import time

from tests.divergence.desk import ASK, BYE, DONE, FIRST, LOOK, OFFER, OPENING, YES, refund
from tests.divergence.made import Line, Steps, agent, analysed, call, records, user

SECONDS = 200


def long_trial(amount: float, fillers: int) -> list[Line]:
    """A trial that turns many pages before it refunds."""
    looks = [call("get_page", {"page": n, "items": [f"I-{n}"]}, page=n) for n in range(fillers)]
    return [ASK, *looks, LOOK, refund(amount), DONE]


def looks(first: int, end: int) -> list[Line]:
    """Pages turned one by one."""
    return [call("get_page", {"page": n, "items": [f"I-{n}"]}, page=n) for n in range(first, end)]


def notes(order: str, size: int, *, other: bool = False) -> list[Line]:
    """Writes: all the same, or each about another order."""
    names = [f"{order}{1000 + n}" if other else order for n in range(size)]
    return [call("add_note", {"ok": True}, order_id=name, text="fragile") for name in names]


def shape(what: str, size: int) -> tuple[list[Steps], list[Steps]]:
    """Passes and failing trials of a large task."""
    right, wrong = refund(49.9), refund(94.9)
    match what:
        case "steps":
            passes = [long_trial(49.9, size - 4), long_trial(49.9, size - 10)]
            return [*passes], [long_trial(94.9, size - 4)]
        case "ends":  # the trials differ where they begin and where they end
            start, end = user("Hello, refund A1001."), agent("Good bye.")
            passes = [[ASK, *looks(0, size - n), LOOK, right, DONE] for n in (4, 9)]
            return [*passes], [[start, LOOK, *looks(3, size - 4), wrong, end]]
        case "nothing":  # no page of the one is a page of the other
            page = [[ASK, *looks(n, n + size - 4), LOOK, right, DONE] for n in (0, size)]
            return [*page], [[ASK, *looks(2 * size, 3 * size - 4), LOOK, wrong, DONE]]
        case "equal writes":
            whole = [ASK, *notes("A1001", size - 2), DONE]
            return [whole, whole], [[ASK, *notes("A1001", size - 2), wrong, DONE]]
        case "other writes":
            whole = [ASK, *notes("A", size - 2, other=True), DONE]
            return [whole, whole], [[ASK, *notes("B", size - 2, other=True), DONE]]
        case "commands":
            whole = [
                ASK,
                *(call("bash", f"line {n}", command=f"sed -n {n}p src/a.py") for n in range(size - 2)),
            ]
            edit = call("bash", "", command="sed -i s/a/b/ src/a.py")
            return [[*whole, edit, DONE], [*whole[: size // 2], edit, DONE]], [[*whole, DONE]]
        case _:
            return [FIRST] * size, [(*OPENING, OFFER, YES, refund(94.9), DONE, BYE)] * size


def main(what: str, size: int) -> None:
    """One task of this shape: steps of each trial, or trials of each verdict."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    seconds = []
    for steps in (size // 4, size):
        made = records(*shape(what, steps))
        began = time.process_time()
        said = analysed(made).findings["T1"].divergences[-1]
        seconds.append(time.process_time() - began)
    place = said.root.step if said.root else None
    answer = {"kind": said.kind, "grade": said.grade, "step": place, "group": len(said.group)}
    print(json.dumps({**answer, "times": seconds[1] / seconds[0]}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
