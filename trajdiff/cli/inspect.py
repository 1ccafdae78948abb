"""``trajdiff inspect``: what was detected, and what is missing. No analysis."""

from __future__ import annotations

import os
from typing import Any

import click

from trajdiff.cli.options import common_options, output_options, reading_options, traces_argument
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command
from trajdiff.cli.streams import put, width


@click.command(
    cls=Command,
    short_help="what was detected; completeness",
    examples=(
        "trajdiff inspect runs",
        "trajdiff inspect runs --expected-trials 4 --exit-code",
        "trajdiff inspect --settings",
    ),
    gate="--exit-code was given and something is missing",
)
@traces_argument
@click.option(
    "--settings", is_flag=True, help="Print every setting in effect and where it came from; read nothing."
)
@output_options
@reading_options
@common_options
@click.pass_context
def inspect(ctx: click.Context, /, traces: tuple[str, ...], **options: Any) -> int:
    """Formats, tasks, trials, verdicts and the rule that gave them; tools with their effect."""
    session = Session(ctx, options, "inspect")
    if options["settings"]:
        _print_settings(session)
        return 0
    from trajdiff.render.inspect_input import has_gap

    corpus = session.load(traces)
    made = session.report(corpus, ())
    session.emit("inspect", made, session.view())
    session.hint(f"trajdiff report {session.where}")
    return 1 if options["exit_code"] and has_gap(made) else 0


def _print_settings(session: Session) -> None:
    """Key, value and origin of every setting."""
    from trajdiff.render.settings_table import settings_json, settings_text
    from trajdiff.settings import explain

    rows = explain(session.settings)
    if session.format() == "json":
        put(settings_json(rows), utf8=True)
    else:
        put(settings_text(rows, width(os.environ)))
