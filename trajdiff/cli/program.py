"""The program: its commands in the order of the documentation, ``--version`` and ``--completion``.

A command is imported when it is called: all of them together take longer than most of them.
"""

from __future__ import annotations

import click

from trajdiff import __version__
from trajdiff.cli.later import LaterGroup, Place
from trajdiff.cli.shapes import CONTEXT
from trajdiff.cli.streams import put

PLACES = (
    Place(
        name="report",
        module="trajdiff.cli.report",
        attribute="report",
        short_help="pass^k report annotated with divergence points",
    ),
    Place(name="compare", module="trajdiff.cli.comparing", attribute="compare", short_help="compare trials"),
    Place(
        name="unstable",
        module="trajdiff.cli.unstable",
        attribute="unstable",
        short_help="ranked list of unstable tasks",
    ),
    Place(name="export", module="trajdiff.cli.export", attribute="export", short_help="write one table"),
    Place(
        name="inspect",
        module="trajdiff.cli.inspect",
        attribute="inspect",
        short_help="what was detected; completeness",
    ),
    Place(
        name="validate",
        module="trajdiff.cli.validate",
        attribute="validate",
        short_help="checks against the schema of each format",
    ),
    Place(
        name="convert",
        module="trajdiff.cli.convert",
        attribute="convert",
        short_help="into trajdiff's own trace format, or ATIF",
    ),
    Place(name="check", module="trajdiff.cli.check", attribute="check_command", short_help="the gate for CI"),
    Place(name="review", module="trajdiff.cli.review", attribute="review", short_help="verdicts of reviewers"),
    Place(
        name="judges",
        module="trajdiff.cli.judges",
        attribute="judges",
        short_help="agreement between two sets of labels",
    ),
    Place(
        name="formats",
        module="trajdiff.cli.formats",
        attribute="formats",
        short_help="formats read and written; JSON schemas",
    ),
    Place(
        name="demo",
        module="trajdiff.cli.demo",
        attribute="demo",
        short_help="the report on bundled sample traces",
    ),
    Place(
        name="run",
        module="trajdiff.cli.run",
        attribute="run",
        short_help="run tasks and trials of a plan with your own agent",
    ),
    Place(
        name="intervene",
        module="trajdiff.cli.intervene",
        attribute="intervene",
        short_help="hold one step fixed, run again, compare outcomes",
    ),
    Place(name="record", module="trajdiff.cli.record", attribute="record_group", short_help="record an agent"),
    Place(
        name="replay",
        module="trajdiff.cli.replay",
        attribute="replay",
        short_help="make recorded calls again and compare results",
    ),
    Place(
        name="selfcheck",
        module="trajdiff.cli.selfcheck",
        attribute="selfcheck",
        short_help="false alarms on the passing trials",
    ),
    Place(
        name="benchmark",
        module="trajdiff.cli.selfcheck",
        attribute="benchmark",
        short_help="divergences against labelled places",
    ),
    Place(
        name="check-curve",
        module="trajdiff.cli.curves",
        attribute="check_curve_command",
        short_help="can a published curve be right?",
    ),
    Place(
        name="merge",
        module="trajdiff.cli.merge",
        attribute="merge",
        short_help="one report from parts of report --shard",
    ),
    Place(
        name="cache",
        module="trajdiff.cli.cache",
        attribute="cache",
        short_help="what is kept of earlier commands",
    ),
    Place(
        name="map", module="trajdiff.cli.mapping", attribute="map_group", short_help="mappings for own layouts"
    ),
)

_SHELLS = ("bash", "zsh", "fish", "powershell")


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        put(f"trajdiff {__version__}\n")
        ctx.exit(0)


def _completion(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    """Prints the script that teaches a shell to complete our commands and options."""
    if value is None or ctx.resilient_parsing:
        return
    from click.shell_completion import get_completion_class

    shell = get_completion_class(value)
    if shell is not None:
        put(shell(ctx.command, {}, "trajdiff", "_TRAJDIFF_COMPLETE").source() + "\n")
    ctx.exit(0)


@click.group(
    cls=LaterGroup,
    places=PLACES,
    context_settings={**CONTEXT, "auto_envvar_prefix": "TRAJDIFF"},
    examples=(
        "trajdiff demo",
        "trajdiff report runs/nightly/*.json",
        "trajdiff compare task L1-061",
        "trajdiff export divergences --only mixed --to review.csv",
    ),
)
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Print the version."
)
@click.option(
    "--completion",
    metavar="SHELL",
    type=click.Choice(_SHELLS),
    expose_value=False,
    is_eager=True,
    callback=_completion,
    help="Print the completion script for bash, zsh, fish or powershell.",
)
def cli() -> None:
    """Find where failing trials of an agent task left the ways of succeeding, beside pass^k.

    A divergence separates outcomes in the recorded trials: it is a place to look.
    """
