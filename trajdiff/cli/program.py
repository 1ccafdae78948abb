"""The program: its commands in the order of the documentation, ``--version`` and ``--completion``."""

from __future__ import annotations

import click

from trajdiff import __version__
from trajdiff.cli.cache import cache
from trajdiff.cli.check import check_command
from trajdiff.cli.compare import compare
from trajdiff.cli.convert import convert
from trajdiff.cli.curves import check_curve_command
from trajdiff.cli.demo import demo
from trajdiff.cli.export import export
from trajdiff.cli.formats import formats
from trajdiff.cli.inspect import inspect
from trajdiff.cli.intervene import intervene
from trajdiff.cli.judges import judges
from trajdiff.cli.mapping import map_group
from trajdiff.cli.merge import merge
from trajdiff.cli.record import record_group
from trajdiff.cli.replay import replay
from trajdiff.cli.report import report
from trajdiff.cli.review import review
from trajdiff.cli.run import run
from trajdiff.cli.runs import compare_runs
from trajdiff.cli.selfcheck import benchmark, selfcheck
from trajdiff.cli.shapes import CONTEXT, Group
from trajdiff.cli.streams import put
from trajdiff.cli.unstable import unstable
from trajdiff.cli.validate import validate

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
    cls=Group,
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


compare.add_command(compare_runs)
for command in (
    report,
    compare,
    unstable,
    export,
    inspect,
    validate,
    convert,
    check_command,
    review,
    judges,
    formats,
    demo,
    run,
    intervene,
    record_group,
    replay,
    selfcheck,
    benchmark,
    check_curve_command,
    merge,
    cache,
    map_group,
):
    cli.add_command(command)
