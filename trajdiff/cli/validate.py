"""``trajdiff validate``: each file against the schema of its format."""

from __future__ import annotations

from typing import Any

import click

from trajdiff.cli.failures import BAD_INPUT
from trajdiff.cli.options import common_options, reading_options, traces_argument
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command
from trajdiff.cli.streams import put


@click.command(
    cls=Command,
    short_help="checks against the schema of each format",
    examples=(
        "trajdiff validate runs",
        "trajdiff validate runs/new.jsonl --from trajdiff",
        "trajdiff validate runs --json",
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
def validate(ctx: click.Context, /, traces: tuple[str, ...], **options: Any) -> int:
    """Check every file against its format; each problem comes with its place in the file.

    Problems are the result and go to standard output. An invalid file gives exit code 3.
    """
    from trajdiff.importers import validate as check
    from trajdiff.render.validation import validation_json, validation_text

    session = Session(ctx, options)
    paths = session.traces(traces)
    session.state.stage = "read"
    files = check(paths, session.read_options(paths))
    if session.format() == "json":
        put(validation_json(files), utf8=True)
    else:
        put(validation_text(files, session.view()))
    valid = all(file.valid for file in files)
    session.hint(f"trajdiff report {session.where}" + ("" if valid else " --on-error skip"))
    return 0 if valid else BAD_INPUT
