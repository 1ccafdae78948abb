"""``trajdiff selfcheck`` and ``trajdiff benchmark``: how far the answers hold on a user's own logs."""

from __future__ import annotations

from typing import Any

import click

from trajdiff.cli.options import common_options, reading_options, traces_argument
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command
from trajdiff.cli.streams import put
from trajdiff.errors import InputError
from trajdiff.files import read_text
from trajdiff.render.safety import one_line


def _format_options(command: Any) -> Any:
    command = click.option("--json", is_flag=True, help="Short for --format json.")(command)
    return click.option(
        "--format",
        type=click.Choice(("text", "json"), case_sensitive=False),
        help="Format of the result.  [default: text]",
    )(command)


@click.command(
    cls=Command,
    short_help="false alarms on the passing trials",
    examples=(
        "trajdiff selfcheck runs",
        "trajdiff selfcheck runs --exit-code",
        "trajdiff selfcheck runs --json",
    ),
    gate="--exit-code was given and a passing trial is accused",
)
@traces_argument
@_format_options
@click.option("--exit-code", is_flag=True, help="Exit with 1 when a passing trial is accused.")
@reading_options
@common_options
@click.pass_context
def selfcheck(ctx: click.Context, /, traces: tuple[str, ...], **options: Any) -> int:
    """Treat each passing trial as if it had failed, and count what would be claimed about it.

    A claim is a false alarm: the trial passed. The rate says how much a divergence is worth on these logs.
    """
    from trajdiff.analysis import analyse
    from trajdiff.render.measured import selfcheck_json, selfcheck_text

    session = Session(ctx, options)
    corpus = session.load(traces)
    analysis = analyse(corpus, session.settings)
    if session.format() == "json":
        put(selfcheck_json(analysis.self_check, analysis.levels), utf8=True)
    else:
        put(selfcheck_text(analysis.self_check, analysis.levels))
    alarms = analysis.self_check.alarms
    session.hint(
        f"trajdiff compare task {one_line(alarms[0].rpartition('/')[0])}" if alarms else "trajdiff report"
    )
    return 1 if options["exit_code"] and analysis.self_check.false_alarms else 0


@click.command(
    cls=Command,
    short_help="divergences against labelled places",
    examples=(
        "trajdiff benchmark labels.jsonl runs",
        "trajdiff benchmark labels.jsonl runs/nightly.json --json",
        "trajdiff benchmark labels.jsonl runs --from tau_bench",
    ),
)
@click.argument("labels", metavar="LABELS")
@traces_argument
@_format_options
@reading_options
@common_options
@click.pass_context
def benchmark(ctx: click.Context, /, labels: str, traces: tuple[str, ...], **options: Any) -> int:
    """Score the divergences against your own labels, beside five rules of thumb.

    LABELS is JSONL, one failing trial a line: task_id, trial_id, critical (message indices of the root),
    acceptable (indices that are right too), kinds, and optionally actors and group.
    """
    from trajdiff.analysis import analyse
    from trajdiff.localization import measure, read_labels
    from trajdiff.render.measured import benchmark_json, benchmark_text

    session = Session(ctx, options)
    try:
        found = read_labels(read_text(labels), labels)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "not UTF-8 text"
        raise InputError(f"{one_line(labels)}: cannot be read ({why})", "give a JSONL file of labels") from None
    corpus = session.load(traces)
    measured = measure(corpus, analyse(corpus, session.settings), found, session.settings)
    if session.format() == "json":
        put(benchmark_json(measured), utf8=True)
    else:
        put(benchmark_text(measured))
    session.hint("trajdiff selfcheck")
    return 0
