"""``trajdiff check-curve``: whether a published curve can come from so many tasks and trials."""

from __future__ import annotations

from typing import Any

import click

from trajdiff import __version__
from trajdiff.cli.options import common_options
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command
from trajdiff.cli.streams import put
from trajdiff.errors import UsageError
from trajdiff.reliability.curve_check import CurveCheck, Published, Status, check_curve, published
from trajdiff.render.json_text import to_json


@click.command(
    "check-curve",
    cls=Command,
    short_help="can a published curve be right?",
    examples=(
        "trajdiff check-curve .420 .273 .220 .200 --tasks 50 --trials 4",
        "trajdiff check-curve pass^1=75.9% pass@3=87.0% --tasks 108 --trials 3",
        "trajdiff check-curve .60 .40 --tasks 20 --trials 2 --json",
    ),
    gate="--exit-code was given and the curve is impossible",
)
@click.argument(
    "figures", nargs=-1, required=True, help="pass^1, pass^2 and so on as printed, or pass@K=VALUE."
)
@click.option("--tasks", type=click.IntRange(min=1), required=True, metavar="M", help="Number of tasks.")
@click.option("--trials", type=click.IntRange(1, 64), required=True, metavar="N", help="Trials of each task.")
@click.option("--json", "json", is_flag=True, help="The answer as JSON.")
@click.option("--exit-code", is_flag=True, help="End with 1 if the curve is impossible.")
@common_options
@click.pass_context
def check_curve_command(ctx: click.Context, /, figures: tuple[str, ...], **options: Any) -> int:
    """Look for the numbers of tasks with 0, 1, 2 ... passes that round to the figures.

    "None" means that tasks, trials, the same number of trials everywhere, the convention or the figures do
    not fit together; it does not say which.
    """
    session = Session(ctx, options)
    made = check_curve(
        [_figure(text, at) for at, text in enumerate(figures, 1)], options["tasks"], options["trials"]
    )
    put(to_json(_object(made)) if options["json"] else f"{made.text}\n", utf8=options["json"])
    session.hint("trajdiff report PATH")
    return 1 if options["exit_code"] and made.status is Status.IMPOSSIBLE else 0


def _figure(text: str, at: int) -> Published:
    name, equals, value = text.partition("=")
    if not equals:
        return published("pass_hat", at, text)
    metric, k = name[:5], name[5:]
    if metric not in ("pass^", "pass@") or not k.isdecimal() or len(k) > 4:
        raise UsageError(f"{text!r} is no figure", "such as .420, pass^2=.273 or pass@3=87.0%")
    return published("pass_hat" if metric == "pass^" else "pass_at", int(k), value)


def _object(made: CurveCheck) -> dict[str, Any]:
    return {
        "schema": "trajdiff.check-curve/1",
        "tool_version": __version__,
        "status": str(made.status),
        "tasks": made.tasks,
        "trials": made.n,
        "histogram": list(made.histogram) or None,
        "ranges": [{"passes": c, "least": low, "most": high} for c, (low, high) in enumerate(made.ranges)],
        "unrounded": [float(value) for value in made.unrounded],
        "possible_with_trials": list(made.possible_with),
        "text": made.text,
    }
