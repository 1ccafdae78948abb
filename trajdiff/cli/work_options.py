"""Where the work is done: ``--jobs``, ``--scheduler`` and ``--timeout-per-task``, wherever traces are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from trajdiff.errors import UsageError
from trajdiff.execution.runner import SERIAL, Runner

#: With ``--jobs auto`` processes are started from this many steps on: below, they cost more than they save.
WORTH_PROCESSES = 10_000
#: What a worker process loads before its first job.
_PRELOAD = ("trajdiff.task_analysis",)


class Jobs(click.ParamType[str]):
    """``auto`` or a number of processes."""

    name = "jobs"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text, checked."""
        text = str(value).strip().lower()
        if text != "auto" and not (text.isdecimal() and len(text) < 4 and int(text) > 0):
            self.fail(f"{value!r} is neither auto nor a number from 1 to 999", param, ctx)
        return text


WORK_OPTIONS = (
    click.option(
        "--jobs",
        type=Jobs(),
        metavar="N|auto",
        default="1",
        show_default=True,
        help="Processes that work on tasks; auto starts one per processor where it pays.",
    ),
    click.option("--scheduler", metavar="URL", help="Work on a dask cluster: tcp://HOST:PORT."),
    click.option(
        "--timeout-per-task",
        type=click.FloatRange(min=0, min_open=True),
        metavar="S",
        help="Longest time for one task; one that takes longer is named and left out.",
    ),
    click.option("--no-cache", is_flag=True, help="Neither use nor keep results of earlier commands."),
)


def check_work(options: Mapping[str, Any]) -> None:
    """Raises ``UsageError`` for options that exclude each other, before anything is read."""
    if options.get("scheduler") and options.get("jobs") not in (None, "1"):
        raise UsageError("--jobs and --scheduler exclude each other", "the cluster knows its own workers")


def runner_of(options: Mapping[str, Any], steps: int) -> Runner:
    """Where the tasks are worked on; ``steps`` is how many steps there are in all."""
    seconds = options.get("timeout_per_task")
    if options.get("scheduler"):
        from trajdiff.execution.cluster import Cluster

        return Cluster(options["scheduler"], seconds=seconds)
    jobs = options.get("jobs") or "1"
    if seconds is None and (jobs == "1" or (jobs == "auto" and steps < WORTH_PROCESSES)):
        return SERIAL
    from trajdiff.execution.processes import Processes, available

    workers = int(jobs) if jobs != "auto" else available() if steps >= WORTH_PROCESSES else 1
    if workers == 1 and seconds is None:
        return SERIAL
    # Only another process can be stopped when its time is over.
    return Processes(workers, seconds=seconds, preload=_PRELOAD)
