"""The trials to run: one slot for each task, number and arm, with a seed and a place."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from trajdiff.record import Pin
from trajdiff.running.plan import Plan, PlannedTask

_LONGEST_NAME = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One arm of an intervention: its name and the steps it holds fixed."""

    name: str
    pins: tuple[Pin, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One trial to run; ``arm`` is None in an ordinary run."""

    task: PlannedTask
    number: int
    seed: int
    arm: Arm | None = None

    @property
    def trial_id(self) -> str:
        """The trial's id: its number, in an arm behind the arm's name."""
        return str(self.number) if self.arm is None else f"{self.arm.name}-{self.number}"

    @property
    def place(self) -> Path:
        """Where the trial lies, relative to the folder of the run, without suffix."""
        inside = Path(file_name(self.task.id)) / str(self.number)
        return inside if self.arm is None else Path(file_name(self.arm.name)) / inside

    @property
    def key(self) -> str:
        """The slot in one word, for the journal."""
        return self.place.as_posix()


def file_name(task_id: str) -> str:
    """A task id as the name of a folder, the same on every system; long ones end in a hash."""
    name = quote(task_id, safe=" -_+,=@()", errors="backslashreplace")
    if name.startswith((".", " ")) or name.endswith((".", " ")) or len(name) > _LONGEST_NAME or not name:
        name = (
            f"task-{name[: _LONGEST_NAME // 2].strip('. ')}-{hashlib.sha256(task_id.encode()).hexdigest()[:10]}"
        )
    return name


def seed_of(seed: int, task_id: str, number: int) -> int:
    """The seed of a trial: from the plan's seed, the task and the number only, below 2^31."""
    text = f"{seed}:{task_id}:{number}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(text).digest()[:4]) >> 1


def slots_of(
    plan: Plan, *, until: int | None = None, arms: Sequence[Arm | None] = (None,), tasks: Sequence[str] = ()
) -> tuple[Slot, ...]:
    """All slots, number by number over all tasks and arms, so that a stop leaves tasks and arms equally far."""
    wanted = [task for task in plan.tasks if not tasks or task.id in tasks]
    numbers = range(plan.trials if until is None else until)
    return tuple(
        Slot(task=task, number=number, seed=seed_of(plan.seed, task.id, number), arm=arm)
        for number in numbers
        for task in wanted
        for arm in arms
    )
