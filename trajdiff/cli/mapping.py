"""``trajdiff map``: a mapping for an unknown layout, drafted and checked."""

from __future__ import annotations

from typing import Any

import click

from trajdiff.cli.diagnostics import tell
from trajdiff.cli.failures import BAD_INPUT
from trajdiff.cli.options import common_options, reading_options, traces_argument
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command, Group
from trajdiff.cli.streams import put, standard_input


@click.group(
    "map",
    cls=Group,
    short_help="mappings for own layouts",
    examples=("trajdiff map draft nightly.json > trajdiff.toml", "trajdiff map check nightly.json"),
)
def map_group() -> None:
    """Read any JSON layout: draft a mapping, check what it finds, then use it with --map NAME."""


@map_group.command(
    "check",
    cls=Command,
    short_help="what a mapping finds in files",
    examples=(
        "trajdiff map check nightly.json",
        "trajdiff map check runs --map nightly",
        "trajdiff map check nightly.json --json",
    ),
)
@traces_argument
@click.option(
    "--format",
    type=click.Choice(("text", "json"), case_sensitive=False),
    help="Format of the result.  [default: text]",
)
@click.option("--json", is_flag=True, help="Short for --format json.")
@reading_options
@common_options
@click.pass_context
def check(ctx: click.Context, /, traces: tuple[str, ...], **options: Any) -> int:
    """Coverage of every key, entries and records that nothing fits, and the first trial as it is read.

    Without --map the only mapping of the settings is taken. Exit code 3 if a file gives no trial.
    """
    from trajdiff.importers import check_mapping
    from trajdiff.render.map_check import map_check_json, map_check_text

    session = Session(ctx, options)
    paths = session.traces(traces)
    session.state.stage = "read"
    files = check_mapping(paths, session.read_options(paths))
    if session.format() == "json":
        put(map_check_json(files), utf8=True)
    else:
        tell([one for file in files for one in file.diagnostics], quiet=session.quiet, verbose=session.verbose)
        put(map_check_text(files, session.view()))
    return 0 if all(file.trials for file in files) else BAD_INPUT


@map_group.command(
    "draft",
    cls=Command,
    short_help="a mapping to start from, by the names of the keys",
    examples=(
        "trajdiff map draft nightly.json",
        "trajdiff map draft nightly.json | tee trajdiff.toml",
        "trajdiff map draft - -q",
    ),
)
@click.argument("file", help="A file of the layout to map, or - for standard input.")
@common_options
@click.pass_context
def draft(ctx: click.Context, /, file: str, **options: Any) -> int:
    """Print a draft of [map.NAME] for a file of an unknown layout.

    It is made from the names of the keys only; check every line of it.
    """
    from trajdiff.importers import draft_mapping

    # The settings may be the very file that the draft is written to: they are neither needed nor read.
    session = Session(ctx, {**options, "no_config": True, "config": None})
    put(draft_mapping(file, standard_input() if file == "-" else None))
    session.hint(f"trajdiff map check {file}")
    return 0
