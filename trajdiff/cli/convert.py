"""``trajdiff convert``: recorded trials in trajdiff's own format, or as ATIF, one per line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from trajdiff.cli.options import common_options, reading_options, traces_argument
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command
from trajdiff.cli.writing import check_target, write
from trajdiff.redaction import Redactor, counts_text
from trajdiff.render.safety import one_line
from trajdiff.render.wording import plural

if TYPE_CHECKING:
    from trajdiff.model import Corpus


@click.command(
    cls=Command,
    short_help="into trajdiff's own trace format, or ATIF",
    examples=(
        "trajdiff convert runs --to trials.jsonl",
        "trajdiff convert nightly.json --map nightly --to - | head -1",
        "trajdiff convert runs --as atif --to atif.jsonl",
    ),
)
@traces_argument
@click.option("--to", required=True, metavar="FILE", help="File to write, or - for standard output.")
@click.option(
    "--as",
    "as_",
    type=click.Choice(("trajdiff", "atif"), case_sensitive=False),
    default="trajdiff",
    help="Format to write.  [default: trajdiff]",
)
@click.option("--redact", is_flag=True, help="Hide secrets and personal data.  [default: hide nothing]")
@reading_options
@common_options
@click.pass_context
def convert(ctx: click.Context, /, traces: tuple[str, ...], **options: Any) -> int:
    """Write all trials as trajdiff/1, one per line, with verdicts and names as they were read.

    Reading the result gives the same report; its sources are places in the new file. Nothing is hidden
    without --redact: equal values then get the same placeholder, so that differences stay visible.
    With --as atif each line is an ATIF trajectory; what ATIF has no place for stands under its "extra".
    """
    session = Session(ctx, options)
    target = options["to"]
    check_target(target)
    corpus = session.load(traces, list_files=True)
    hidden = "not redacted (--redact to change)"
    if options["redact"]:
        redactor = Redactor(session.settings.redact)
        corpus = redactor.apply(corpus)
        hidden = counts_text(redactor.counts)
    write(target, _text(corpus, options["as_"]))
    empty = [task.task_id for task in corpus.tasks if not task.trials]
    if options["as_"] == "atif" and empty:
        session.note("note", f"{plural(len(empty), 'task')} without any trial cannot be written as ATIF")
    if target != "-":
        session.note("wrote", f"{one_line(target)}   {plural(len(corpus.trials), 'trial')}   {hidden}")
        session.hint(f"trajdiff report {one_line(target)}")
    return 0


def _text(corpus: Corpus, format_: str) -> str:
    from trajdiff.importers import converted, converted_to_atif

    return converted_to_atif(corpus) if format_ == "atif" else converted(corpus)
