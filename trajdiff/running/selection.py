"""Which tasks of a plan are run: all, a hard subset with a weighted random rest, or one turn of a rotation."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajdiff.errors import UsageError
from trajdiff.frozen import replace

if TYPE_CHECKING:
    from trajdiff.running.plan import PlannedTask


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """How tasks are chosen.

    ``all``; ``hard``: the tasks named in ``hard`` or failed in the traces ``hard_from``, and ``rest`` of the
    others, drawn by weight; ``rotation``: the tasks of one of ``turns`` parts, ``turn`` counted from 1.
    """

    kind: str = "all"
    hard: Sequence[str] = ()
    hard_from: str | None = None
    rest: int = 0
    turns: int = 1
    turn: int = 1


def select(
    tasks: Sequence[PlannedTask], said: Mapping[str, Any], seed: int, path: str, folder: Path
) -> tuple[PlannedTask, ...]:
    """The tasks that the design runs, in the order of the plan. Raises ``UsageError``."""
    design = Design(**said)
    if design.kind == "rotation":
        return _turn(tasks, design, seed, path)
    if design.kind != "hard":
        return tuple(tasks)
    hard = set(design.hard) | (_failed(design.hard_from, folder) if design.hard_from else set())
    unknown = sorted(set(design.hard) - {task.id for task in tasks})
    if unknown:
        raise UsageError(f'{path}: design: no task "{unknown[0]}" in the plan')
    others = [task for task in tasks if task.id not in hard]
    drawn = {task.id for task in _weighted(others, design.rest, seed)}
    return tuple(
        replace(task, stratum="hard" if task.id in hard else "rest")
        for task in tasks
        if task.id in hard or task.id in drawn
    )


def _weighted(tasks: Sequence[PlannedTask], count: int, seed: int) -> list[PlannedTask]:
    """A draw without replacement by weight: the largest of u^(1/w) (Efraimidis and Spirakis, 2006)."""
    draw = random.Random(f"rest:{seed}")
    keys = [(draw.random() ** (1.0 / task.weight) if task.weight > 0 else -1.0, task) for task in tasks]
    ordered = sorted(keys, key=lambda one: (-one[0], one[1].id))
    return [task for key, task in ordered[:count] if key >= 0]


def _turn(tasks: Sequence[PlannedTask], design: Design, seed: int, path: str) -> tuple[PlannedTask, ...]:
    """The tasks in a random order that depends on the seed only, dealt out to the turns one by one."""
    if design.turn > design.turns:
        raise UsageError(f"{path}: design: turn {design.turn} of {design.turns}")
    ordered = sorted(tasks, key=lambda task: hashlib.sha256(f"turn:{seed}:{task.id}".encode()).hexdigest())
    chosen = {task.id for place, task in enumerate(ordered) if place % design.turns == design.turn - 1}
    if not chosen:
        raise UsageError(f"{path}: design: turn {design.turn} of {design.turns} has no task")
    return tuple(replace(task, stratum=f"turn {design.turn}") for task in tasks if task.id in chosen)


def _failed(traces: str, folder: Path) -> set[str]:
    """Tasks with a trial that did not pass. Their trials of then do not enter the figures of the new run."""
    from trajdiff.importers import load
    from trajdiff.model import Verdict

    corpus = load([str(folder / traces)])
    return {t.task_id for t in corpus.trials if t.verdict in (Verdict.FAIL, Verdict.INFRA)}
