"""The known answer of every failed or crashed trial, read off the marks in the scenarios."""

from __future__ import annotations

from typing import Any

from tests.samples.notation import Task, Trial, compact, messages_of


def known_roots(tasks: tuple[Task, ...]) -> str:
    """JSON text: a list with one object for every trial that failed or was ended by infrastructure."""
    rows = [
        compact(_answer(task, number, trial))
        for task in tasks
        for number, trial in task.recorded
        if trial.state in {"fail", "infra"}
    ]
    return "[\n " + ",\n ".join(rows) + "\n]\n"


def _answer(task: Task, number: int, trial: Trial) -> dict[str, Any]:
    places = list(zip(trial.lines, messages_of(trial.lines), strict=True))
    roots = [message for line, (message, _) in places if line.mark == "root"]
    if len(roots) > 1:
        raise ValueError(f"{task.task_id}/{number}: a trial has one root, not {len(roots)}")
    near = {message for line, (message, _) in places if line.mark}
    near |= {message for line, (_, message) in places if line.result_mark and message is not None}
    return {
        "task_id": task.task_id,
        "trial_id": str(number),
        "kind": list(trial.kinds),
        "actor": trial.actor,
        "root": roots[0] if roots else None,
        "acceptable": sorted(near),
        "why": trial.why,
    }
