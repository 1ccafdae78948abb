"""A plan: which tasks, how many trials, and the commands that make and judge one trial."""

from __future__ import annotations

import shlex
import shutil
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trajdiff.errors import UsageError
from trajdiff.files import read_text, real_path
from trajdiff.running.selection import Design, select

#: Default limits: seconds of a trial, of a reset and of a grader; bytes of output and of a trace.
TIME_LIMIT_S, OTHER_LIMIT_S = 600.0, 120.0
OUTPUT_LIMIT, TRACE_LIMIT = 1_000_000, 64_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTask:
    """A task of the plan. ``weight`` is its share of the traffic, ``stratum`` how the design chose it."""

    id: str
    title: str | None = None
    weight: float = 1.0
    environment: Mapping[str, str] = field(default_factory=dict)
    stratum: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What ``trajdiff run`` does. Commands are word lists, run in ``folder`` (that of the plan).

    ``trials`` is the same for every task; ``looks`` are the numbers of trials after which results may be looked
    at, fixed beforehand. ``state`` are files of the start state, relative to the work folder of the trial;
    ``fingerprint`` is a command that prints it instead. Times in seconds, sizes in bytes.
    """

    path: str
    folder: Path
    agent: tuple[str, ...]
    tasks: tuple[PlannedTask, ...]
    trials: int
    out: Path
    name: str | None = None
    suite: str | None = None
    seed: int = 0
    reset: tuple[str, ...] = ()
    grade: tuple[str, ...] = ()
    verdict_file: str | None = None
    state: tuple[str, ...] = ()
    fingerprint: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    jobs: int = 1
    time_limit: float = TIME_LIMIT_S
    reset_limit: float = OTHER_LIMIT_S
    grade_limit: float = OTHER_LIMIT_S
    step_limit: int | None = None
    output_limit: int = OUTPUT_LIMIT
    trace_limit: int = TRACE_LIMIT
    looks: tuple[int, ...] = ()
    keep_work: bool = False
    design: Design = field(default_factory=Design)

    def identity(self) -> dict[str, Any]:
        """What must not change between the parts of one run: everything that shapes a trial or a figure."""
        return {
            "agent": list(self.agent),
            "reset": list(self.reset),
            "grade": list(self.grade),
            "verdict_file": self.verdict_file,
            "state": list(self.state),
            "fingerprint": list(self.fingerprint),
            "environment": dict(sorted(self.environment.items())),
            "tasks": [[task.id, dict(sorted(task.environment.items()))] for task in self.tasks],
            "trials": self.trials,
            "looks": list(self.looks),
            "seed": self.seed,
            "time_limit": self.time_limit,
            "step_limit": self.step_limit,
        }


def load_plan(path: str | Path) -> Plan:
    """The plan in a TOML file. Raises ``UsageError`` with the place for anything that is not right."""
    file = Path(path)
    try:
        said = tomllib.loads(read_text(file))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror or error})") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: no TOML: {str(error)[:200]}") from error
    _check(str(path), said)
    folder = file.parent
    made = Plan(
        path=str(path),
        folder=folder,
        agent=_command(path, said, "agent", folder),
        tasks=_tasks(path, said, folder),
        trials=said["trials"],
        out=folder / said.get("out", file.stem + "-runs"),
        reset=_command(path, said, "reset", folder),
        grade=_command(path, said, "grade", folder),
        fingerprint=_command(path, said, "fingerprint", folder),
        state=tuple(said.get("state", ())),
        environment=_texts(said.get("environment", {})),
        looks=tuple(said.get("looks", ())),
        design=Design(**said.get("design", {})),
        **{name: said[name] for name in _PLAIN if name in said},
    )
    if made.looks and (list(made.looks) != sorted(set(made.looks)) or made.looks[-1] != made.trials):
        problem = f"{path}: looks must rise and end in the number of trials ({made.trials})"
        raise UsageError(problem, f"found: {', '.join(str(one) for one in made.looks)}")
    if made.state and made.fingerprint:
        raise UsageError(f"{path}: state and fingerprint exclude each other")
    return made


_PLAIN = (
    "name",
    "suite",
    "seed",
    "verdict_file",
    "jobs",
    "time_limit",
    "reset_limit",
    "grade_limit",
    "step_limit",
    "output_limit",
    "trace_limit",
    "keep_work",
)


def _check(path: str, said: Mapping[str, Any]) -> None:
    from trajdiff.schema import violations

    found = list(violations(said, "plan"))
    if found:
        first = found[0]
        place = first.pointer.removeprefix("$.")
        details = [f"at {place}: expected {first.expected}, found {first.found}"]
        if len(found) > 1:
            details.append(f"and {len(found) - 1} more")
        raise UsageError(f"{path}: {first.problem}", *details, "trajdiff formats --schema plan lists the keys")


def _texts(said: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in said.items()}


def _command(path: str | Path, said: Mapping[str, Any], key: str, folder: Path) -> tuple[str, ...]:
    """The words of a command; ``{python}`` is the interpreter that runs trajdiff."""
    value = said.get(key)
    if value is None:
        return ()
    try:
        words = shlex.split(value) if isinstance(value, str) else list(value)
    except ValueError as error:
        raise UsageError(f"{path}: {key}: {error}") from error
    words = [sys.executable if word == "{python}" else word for word in words]
    if not words or (
        shutil.which(words[0]) is None and shutil.which(real_path(str(folder / words[0]))) is None
    ):
        named = f'no program "{words[0]}"' if words else "is empty"
        raise UsageError(f"{path}: {key}: {named}", "commands are run without a shell; write sh -c '…' for one")
    return tuple(words)


def _tasks(path: str | Path, said: Mapping[str, Any], folder: Path) -> tuple[PlannedTask, ...]:
    tasks = [PlannedTask(id=str(one)) for one in said.get("tasks", ())]
    for one in said.get("task", ()):
        tasks.append(
            PlannedTask(
                id=str(one["id"]),
                title=one.get("title"),
                weight=float(one.get("weight", 1)),
                environment=_texts(one.get("environment", {})),
            )
        )
    ids = [task.id for task in tasks]
    twice = sorted({one for one in ids if ids.count(one) > 1})
    if twice:
        raise UsageError(f'{path}: task "{twice[0]}" is named twice')
    if not tasks:
        raise UsageError(f"{path}: no tasks", 'write tasks = ["ID", …], or a [[task]] with an id for each')
    return select(tasks, said.get("design", {}), said.get("seed", 0), str(path), folder)
