"""``trajdiff unstable``: tasks whose trials disagree most."""

from __future__ import annotations

from typing import Any

import click

from trajdiff.cli.names import find_task
from trajdiff.cli.options import (
    choosing_options,
    common_options,
    output_options,
    reading_options,
    traces_argument,
)
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command
from trajdiff.render.safety import one_line


@click.command(
    cls=Command,
    short_help="ranked list of unstable tasks",
    examples=(
        "trajdiff unstable runs",
        "trajdiff unstable runs --limit 10",
        "trajdiff unstable runs --actor agent --to unstable.json",
    ),
    gate="--exit-code was given and a task is mixed",
)
@traces_argument
@choosing_options
@output_options
@reading_options
@common_options
@click.pass_context
def unstable(ctx: click.Context, /, traces: tuple[str, ...], **options: Any) -> int:
    """Mixed tasks, ranked by the share of pairs of trials with different outcomes."""
    from trajdiff.render.unstable import ranked

    session = Session(ctx, options, "unstable")
    corpus = session.load(traces)
    for task in options["task"]:
        find_task(corpus, task, session.where)
    made = session.report(corpus)
    view = session.view()
    session.emit("unstable", made, view)
    found = ranked(made, view)
    session.hint(f"trajdiff compare task {one_line(found[0].task.task_id)}" if found else "trajdiff report")
    return 1 if options["exit_code"] and found else 0
