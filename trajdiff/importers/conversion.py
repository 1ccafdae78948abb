"""Writes a whole corpus as trajdiff/1 lines, so that reading them gives the same tasks and trials."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from trajdiff.importers.own_record import announcement_of, record_of
from trajdiff.model import Corpus, TaskTrials


def converted(corpus: Corpus) -> str:
    """One record a line, tasks and trials in their order; a task without any trial is announced."""
    lines = (json.dumps(record, ensure_ascii=False, allow_nan=False) for record in _records(corpus))
    return "".join(f"{line}\n" for line in lines)


def _records(corpus: Corpus) -> Iterator[dict[str, Any]]:
    for task in corpus.tasks:
        name = _own_name(task)
        for trial in task.trials:
            yield {**record_of(trial, task.task, task.expected_n, task.missing), "task_id": name}
        if not task.trials:
            yield {**announcement_of(task.task, task.expected_n, task.missing), "task_id": name}


def _own_name(task: TaskTrials) -> str:
    """The id without the group in brackets; the group follows from model and agent again when it is read."""
    return task.task_id if task.group is None else task.task_id.removesuffix(f" [{task.group}]")
