"""``trajdiff compare runs``: two systems or versions on the same tasks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from trajdiff.cli.github import append_summary, github_option
from trajdiff.cli.options import common_options, output_options, reading_options
from trajdiff.cli.report import seed_option
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command
from trajdiff.cli.suite_options import families_for, families_option
from trajdiff.cli.values import Renderers, check_formats, emit_value, for_files
from trajdiff.comparison import Change, Comparison, compare_sides
from trajdiff.errors import InputError
from trajdiff.files import is_file, read_file
from trajdiff.natural import natural
from trajdiff.reliability.card import CardOptions
from trajdiff.render import runs_json, runs_markdown, runs_text
from trajdiff.render.safety import one_line
from trajdiff.report import FORMAT_VERSION, Report
from trajdiff.sides import Side, side_of, side_of_saved

if TYPE_CHECKING:
    from trajdiff.model import Corpus
    from trajdiff.reliability.families import Families

RENDERERS: Renderers = {
    "text": runs_text.render,
    "json": runs_json.render,
    "jsonl": runs_json.render_lines,
    "markdown": runs_markdown.render,
}


@click.command(
    "runs",
    cls=Command,
    short_help="two systems or versions, paired by task",
    examples=(
        "trajdiff compare runs runs/v1 runs/v2",
        "trajdiff compare runs base.json runs/v2 --k 4 --stats",
        "trajdiff compare runs 'runs/v1/*.json' runs/v2 --to comment.md",
    ),
    gate="--exit-code was given and there is a new failure or a new divergence",
)
@click.argument("baseline", help="File, folder, quoted glob, or a report saved as JSON.")
@click.argument("candidate", help="The same for the run to judge.")
@click.option(
    "--k", "k", type=click.IntRange(min=1), metavar="K", help="k of the decision.  [default: largest]"
)
@families_option
@click.option("--stats", is_flag=True, help="Standard errors, bootstrap, adjusted p.")
@click.option("--all", "all", is_flag=True, help="Every task whose divergences changed.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most N rows.")
@click.option("--name", metavar="NAME", help="Title, and name in the marker of Markdown.")
@github_option
@seed_option
@output_options
@reading_options
@common_options
@click.pass_context
def compare_runs(ctx: click.Context, /, baseline: str, candidate: str, **options: Any) -> int:
    """Two runs of the same tasks: differences per task, never two averages side by side.

    Tasks are paired by id; each side keeps its own number of trials. What is not the same on both sides
    stands above the figures.
    """
    k = options.pop("k")
    session = Session(ctx, options)
    check_formats(session, RENDERERS)
    before, after = read_side(session, baseline), read_side(session, candidate)
    families = paired_families(options, before, after)
    made = compare_sides(before, after, k=k, seed=options["seed"], families=families)
    view = session.view(stats=options["stats"], show_all=options["all"], name=session.settings.name)
    emit_value(session, made, RENDERERS, view)
    if options["github"]:
        shared, look = session.sharing.prepare(
            made, for_files(session, view), file=True, format_name="markdown"
        )
        append_summary(session, runs_markdown.render(shared, look))
    changed = next((one.task_id for one in made.changes if one.new), None)
    session.hint(
        f"trajdiff compare task {one_line(changed)} {one_line(candidate)}" if changed else "trajdiff check"
    )
    return 1 if options["exit_code"] and _worse(made) else 0


def read_side(session: Session, path: str) -> Side:
    """One side from traces, or from a report saved as JSON."""
    saved = saved_report(path)
    if saved is not None:
        return side_of_saved(saved, path)
    report, corpus = fresh(session, (path,))
    return side_of(report, corpus, path)


def fresh(session: Session, paths: tuple[str, ...], card: CardOptions | None = None) -> tuple[Report, Corpus]:
    """Reads and analyses traces; the report has a card."""
    corpus = session.load(paths, list_files=True)
    return session.report(corpus, card=card or CardOptions()), corpus


def paired_families(options: Mapping[str, Any], before: Side, after: Side) -> Families | None:
    """Families for both sides; a recorded property counts where either side has it."""
    known = {**before.tasks, **after.tasks}
    return families_for(options, (*before.trials, *after.trials), natural(known))


def saved_report(path: str) -> dict[str, Any] | None:
    """The content of a saved report; None for anything else, which is then read as traces."""
    if not is_file(path):
        return None
    try:
        data = read_file(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
    if FORMAT_VERSION.encode() not in data or not data.lstrip().startswith(b"{"):
        return None
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    found = isinstance(document, dict) and document.get("schema") == FORMAT_VERSION
    return document if found else None


def _worse(made: Comparison) -> bool:
    new = (one for change in made.changes for one in change.new)
    return bool(made.of(Change.BROKEN)) or any(not one.accepted for one in new)
