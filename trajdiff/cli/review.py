"""``trajdiff review``: reads the verdicts of a filled-in workbook back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trajdiff.cli.options import common_options, reading_options, traces_argument
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command, Group
from trajdiff.cli.streams import put, say
from trajdiff.cli.writing import check_target, write
from trajdiff.errors import InputError
from trajdiff.natural import plural
from trajdiff.render.choosing import Choice
from trajdiff.render.delimited import safe_cell
from trajdiff.render.json_text import to_json
from trajdiff.render.review_words import import_lines, import_object, proposals
from trajdiff.render.safety import one_line
from trajdiff.render.table_columns import REVIEW_COLUMNS
from trajdiff.render.tables import divergence_rows, flat
from trajdiff.review.importing import Imported, disagreements, import_rows
from trajdiff.review.joining import with_reviews
from trajdiff.review.sheets import SheetRow, cell_text, plain_text, read_rows
from trajdiff.review.verdicts import VERDICTS, merged, read_reviews, to_lines

if TYPE_CHECKING:
    from trajdiff.report import Report

#: Columns that are allowed to change between export and import.
_MOVING = (*REVIEW_COLUMNS, "row_id", "accepted")


@click.group(
    cls=Group,
    short_help="verdicts of reviewers",
    examples=(
        "trajdiff export divergences --only mixed --to review.xlsx",
        "trajdiff review import review.xlsx",
    ),
)
def review() -> None:
    """Have people judge the divergences, and keep what they said."""


@review.command(
    "import",
    cls=Command,
    short_help="read verdicts back",
    examples=(
        "trajdiff review import review.xlsx",
        "trajdiff review import review.csv runs --to reviews/shop.jsonl",
        "trajdiff review import review.xlsx runs --exit-code",
    ),
    gate="--exit-code was given and a reviewer disagrees",
)
@click.argument("file", help="The filled-in review: .xlsx .ods .csv .tsv .json .jsonl.")
@traces_argument
@click.option(
    "--to",
    metavar="FILE",
    help="Keep the verdicts in this file.  [default: trajdiff.reviews.jsonl beside the traces]",
)
@click.option("--json", is_flag=True, help="Print the result as JSON.")
@click.option("--exit-code", is_flag=True, help="End with 1 if a reviewer disagrees.")
@reading_options
@common_options
@click.pass_context
def review_import(ctx: click.Context, /, file: str, traces: tuple[str, ...], **options: Any) -> int:
    """Read the verdicts of a filled-in review and keep them, one line per verdict.

    Rows are matched by row_id, in any order and with any added column. Later reports of the same logs show the
    verdicts; in reports of other runs they are carried to the same divergence and marked.
    """
    session = Session(ctx, options)
    rows = read_rows(Path(file), one_line(file))
    corpus = session.load(traces)
    made = session.report(corpus, reviewed=False)
    found = import_rows(rows, made, _facts(made))
    _tell(session, file, rows, found)
    target = Path(options["to"]) if options["to"] else session.reviews_file()
    shown = one_line(str(target))
    check_target(str(target))
    old = read_reviews(target, shown)
    kept = merged(old, found.reviews)
    joined = with_reviews(made, found.reviews)
    put(
        to_json(import_object(found, joined, shown))
        if options["json"]
        else "\n".join([*import_lines(found, joined, session.view().marks), *proposals(joined)]) + "\n",
        utf8=bool(options["json"]),
    )
    if kept == old:
        session.note("note", f"{shown} holds these verdicts already")
    else:
        write(str(target), to_lines(kept))
        session.note("wrote", f"{shown}   {len(kept)} verdict{'s' * (len(kept) != 1)}")
    session.hint("trajdiff report")
    return 1 if options["exit_code"] and disagreements(found.reviews) else 0


def _facts(made: Report) -> dict[str, dict[str, str]]:
    """What the columns that are no reviewer's say now, as texts the way a file holds them."""
    return {
        row["row_id"]: {
            column: plain_text(cell_text(safe_cell(flat(value))).strip())
            for column, value in row.items()
            if column not in _MOVING
        }
        for row in divergence_rows(made, Choice())
    }


def _tell(session: Session, file: str, rows: tuple[SheetRow, ...], found: Imported) -> None:
    """How much of the file was read. Raises ``InputError`` where none of it belongs to these traces."""
    total, matched = len(found.reviews), len(found.matched)
    if not total:
        raise InputError(
            f"{one_line(file)}: no row has a verdict",
            f"{plural(len(rows), 'row')} {'was' if len(rows) == 1 else 'were'} read",
            f"fill in the column review_verdict: {', '.join(VERDICTS)}",
        )
    if not matched:
        raise InputError(
            f"{one_line(file)}: none of {total} verdicts belongs to these traces",
            f"read: {session.where}",
            "name the traces the review was made from",
        )
    session.note(
        "read",
        f"{one_line(file)}   {found.rows} rows, {total} with a verdict, {matched} of {total} found by row id",
    )
    for what, names in (
        (
            "not in these traces any more (stale, kept)",
            [f"{one.task_id}/{one.trial_id}" for one in found.stale],
        ),
        ("changed in the file, not used", list(found.edited)),
        ("a note without a verdict, not kept", list(found.silent)),
    ):
        if names:
            more = [f"  and {len(names) - 5} more"] if len(names) > 5 else []
            say("\n".join([f"warning: {what}:", *(f"  {one_line(name)}" for name in names[:5]), *more]))
