"""``trajdiff merge``: one report from parts that were worked on apart."""

from __future__ import annotations

from typing import Any

import click

from trajdiff.cli.names import find_task
from trajdiff.cli.options import Paths, choosing_options, common_options, output_options, reading_options
from trajdiff.cli.parts import read_parts
from trajdiff.cli.report import card_options, check_summary, report_options, show
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command


@click.command(
    cls=Command,
    short_help="one report from parts of report --shard",
    examples=(
        "trajdiff merge part-1 part-2",
        "trajdiff merge parts/* --to report.json",
        "trajdiff merge parts/* --traces runs/nightly --html report.html",
    ),
    gate="--exit-code was given and there is a divergence at or above --min-grade",
)
@click.argument("parts", nargs=-1, required=True, help="Files that report --shard wrote.")
@click.option(
    "--traces", type=Paths(), multiple=True, metavar="PATH", help="The traces, where they lie elsewhere by now."
)
@report_options
@choosing_options
@output_options
@reading_options
@common_options
@click.pass_context
def merge(ctx: click.Context, /, parts: tuple[str, ...], traces: tuple[str, ...], **options: Any) -> int:
    """The report of all tasks, byte for byte what report would print, without working on any task again.

    The traces are read as they were for the parts: with the same settings, options and version.
    """
    session = Session(ctx, options, "report")
    check_summary(options)
    session.parts = read_parts(parts)
    corpus = session.load(traces or tuple(session.parts.traces), list_files=True)
    for task in options["task"]:
        find_task(corpus, task, session.where)
    return show(session, session.report(corpus, card=card_options(session)))
