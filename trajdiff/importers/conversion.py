"""Writes a whole corpus as trajdiff/1 lines, so that reading them gives the same tasks and trials."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from trajdiff.importers.own_record import announcement_of, own_name, record_of
from trajdiff.model import Corpus


def converted(corpus: Corpus) -> str:
    """One record a line, tasks and trials in their order; a task without any trial is announced."""
    return _lines(_records(corpus))


def converted_to_atif(corpus: Corpus) -> str:
    """One ATIF trajectory a line, tasks and trials in their order; a task without any trial has none."""
    from trajdiff.importers.atif_export import trajectories

    return _lines(trajectories(corpus))


def _lines(records: Iterable[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(one, ensure_ascii=False, allow_nan=False)}\n" for one in records)


def _records(corpus: Corpus) -> Iterator[dict[str, Any]]:
    for task in corpus.tasks:
        name = own_name(task)
        for trial in task.trials:
            yield {**record_of(trial, task.task, task.expected_n, task.missing), "task_id": name}
        if not task.trials:
            yield {**announcement_of(task.task, task.expected_n, task.missing), "task_id": name}
