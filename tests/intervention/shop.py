"""The demo shop in this process: trials as the runner would record them, in milliseconds."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from trajdiff import record
from trajdiff.analysis import analyse
from trajdiff.demo import agent, stock
from trajdiff.importers import ReadOptions, load
from trajdiff.intervention.pinning import Book
from trajdiff.model import Trial
from trajdiff.record import Pin, Setup, write_pins
from trajdiff.running import seed_of
from trajdiff.settings import Settings

#: The task that shows each fault.
TASKS = {
    "date": "move-delivery",
    "permission": "refund-lamp",
    "retry": "pay-invoice",
    "error": "replace-mug",
    "silence": "close-ticket",
}


def run_arm(
    folder: Path, task: str, trials: int, *, arm: str | None = None, pins: Sequence[Pin] = (), salt: str = ""
) -> Path:
    """A trace file with so many trials; ``salt`` gives other seeds."""
    folder.mkdir(parents=True, exist_ok=True)
    trace = folder / f"{arm or 'trials'}.jsonl"
    file = folder / "pins.json"
    write_pins(file, pins, **({} if arm is None else {"arm": arm}))
    for number in range(trials):
        stock.reset(folder)
        name = str(number) if arm is None else f"{arm}-{number}"
        setup = Setup(
            task=task,
            trial=name,
            seed=seed_of(348, salt + task, number),
            trace=str(trace),
            pins=str(file),
            work=str(folder),
        )
        with contextlib.suppress(RuntimeError):
            agent.run(setup, agent.FAULTS)
        verdict = "pass" if stock.passed(folder, task) else "fail"
        lines = trace.read_text(encoding="utf-8").splitlines()
        last = record.lines.encoded(
            {**_head(lines[-1]), "event": "set", "set": {"verdict": verdict}},
        )
        with trace.open("ab") as out:
            out.write(last + b"\n")
    return trace


def _head(line: str) -> dict[str, object]:
    import json

    said = json.loads(line)
    return {key: said[key] for key in ("schema", "task_id", "trial_id", "recording")}


def book_of(trace: Path, task: str) -> Book:
    """The analysed task of a trace."""
    corpus = load([str(trace)])
    found = next(one for one in corpus.tasks if one.task_id == task)
    return Book(found, analyse(corpus, Settings()).findings[task])


def trials_in(*traces: Path) -> list[Trial]:
    """All trials of these files."""
    return list(load([str(trace) for trace in traces], ReadOptions(group_by=())).trials)
