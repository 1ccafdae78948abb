"""``trajdiff run``: the trials of a plan with the user's own agent."""

from __future__ import annotations

import os
from typing import Any

import click

from trajdiff.cli.diagnostics import tell
from trajdiff.cli.failures import BAD_INPUT
from trajdiff.cli.options import common_options, together
from trajdiff.cli.progress import Stage
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command
from trajdiff.cli.streams import put
from trajdiff.render.safety import one_line

format_options = together(
    click.option(
        "--format",
        type=click.Choice(("text", "json"), case_sensitive=False),
        help="Format of the result.  [default: text]",
    ),
    click.option("--json", is_flag=True, help="Short for --format json."),
)
jobs_option = click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Trials at a time.  [default: that of the plan]"
)


@click.command(
    cls=Command,
    short_help="run tasks and trials of a plan with your own agent",
    examples=(
        "trajdiff run plan.toml",
        "trajdiff run plan.toml --jobs 4",
        "trajdiff run plan.toml --look 4 --json",
    ),
)
@click.argument("plan", help="TOML file: agent, reset and grader commands, tasks, trials, limits.")
@jobs_option
@click.option(
    "--look", type=click.IntRange(min=1), metavar="N", help="Stop after N trials, a look of the plan."
)
@format_options
@common_options
@click.pass_context
def run(ctx: click.Context, /, plan: str, look: int | None, **options: Any) -> int:
    """Run what of a plan is not done yet; the same command goes on after an interruption.

    For each trial: the reset, the agent with task, trial, seed and path of the trace in the environment
    (TRAJDIFF_TASK, TRAJDIFF_TRIAL, TRAJDIFF_SEED, TRAJDIFF_TRACE), then the grader. The code is 3 where a trial
    was not judged or started from another state.
    """
    from trajdiff.render.run_text import run_json, run_text
    from trajdiff.running import load_plan, run_plan

    session = Session(ctx, options)
    made = load_plan(plan)
    trials = look or made.trials
    session.note("plan", f"{one_line(plan)}: {len(made.tasks)} tasks × {trials} trials, seed {made.seed}")
    with Stage("run", "trials", session.state, quiet=session.quiet) as stage:
        result = run_plan(made, os.environ, jobs=options["jobs"], until=look, progress=stage)
    tell(result.diagnostics, quiet=session.quiet, verbose=session.verbose)
    folder = str(result.folder)
    if session.format() == "json":
        put(run_json(result, [task.id for task in made.tasks], folder), utf8=True)
    else:
        put(run_text(result, len(made.tasks)))
    session.note("wrote", one_line(folder))
    session.hint(f"trajdiff report {one_line(folder)}")
    return 0 if result.clean else BAD_INPUT
