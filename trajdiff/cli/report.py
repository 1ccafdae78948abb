"""``trajdiff report``: the pass^k report, annotated with the steps that separate outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from trajdiff.cli.github import append_summary, github_option
from trajdiff.cli.names import find_task
from trajdiff.cli.options import (
    Numbers,
    Rotation,
    choosing_options,
    common_options,
    output_options,
    reading_options,
    reference_option,
    together,
    traces_argument,
)
from trajdiff.cli.session import Session, read_text
from trajdiff.cli.shapes import Command
from trajdiff.cli.shards import SHARD_OPTIONS, check_shard, write_part
from trajdiff.cli.suite_options import calibration_of, families_of, labels_of, suite_options
from trajdiff.cli.writing import check_target, write
from trajdiff.divergence.finding import FindingKind
from trajdiff.errors import UsageError
from trajdiff.reliability.card import CardOptions
from trajdiff.reliability.weights import read_weights
from trajdiff.render.choosing import has_divergence
from trajdiff.render.registry import by_name
from trajdiff.render.safety import one_line
from trajdiff.render.summary_page import renderer_for
from trajdiff.render.summary_words import LANGUAGES

if TYPE_CHECKING:
    from trajdiff.render.view import View
    from trajdiff.report import Report

seed_option = click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Seed of whatever is drawn.",
)

report_options = together(
    click.option("--k", "k", type=Numbers(), metavar="K,K", help="Columns of pass^k, for instance 1,2,4."),
    click.option("--all", "all", is_flag=True, help="List the tasks that always pass, too."),
    click.option("--name", metavar="NAME", help="Title, and name in the marker of Markdown."),
    click.option("--html", metavar="FILE", help="Also write the report as one HTML file that opens offline."),
    click.option(
        "--summary", metavar="FILE", help="Also write one page for people who do not read traces, .md or .html."
    ),
    click.option(
        "--lang",
        type=click.Choice(LANGUAGES),
        default=LANGUAGES[0],
        show_default=True,
        help="Language of --summary.",
    ),
    click.option(
        "--stats", is_flag=True, help="Every figure: bootstrap, standard errors, p, consistency, versions."
    ),
    click.option("--brief", is_flag=True, help="Five lines for a chat message instead of the report."),
    click.option("--weights", metavar="FILE", help="Traffic shares: JSON or CSV with task_id, weight, source."),
    click.option(
        "--by",
        multiple=True,
        metavar="KEY",
        help="Slices: tools, writes, suite, model, termination, or any recorded metadata. Repeatable.",
    ),
    reference_option,
    github_option,
    click.option("--plan", is_flag=True, help="Say which tasks to repeat next, and what that can show."),
    click.option(
        "--rotation",
        type=Rotation(),
        metavar="I/N",
        help="With --plan: round I of N, so that N rounds repeat every task that always passed.",
    ),
    suite_options,
    seed_option,
)


@click.command(
    cls=Command,
    short_help="pass^k report annotated with divergence points",
    examples=(
        "trajdiff report runs/nightly/*.json",
        "trajdiff report runs --only mixed --min-grade B",
        "trajdiff report runs --html report.html --to comment.md --name shop",
    ),
    gate="--exit-code was given and there is a divergence at or above --min-grade",
)
@traces_argument
@report_options
@together(*SHARD_OPTIONS)
@choosing_options
@output_options
@reading_options
@common_options
@click.pass_context
def report(ctx: click.Context, /, traces: tuple[str, ...], **options: Any) -> int:
    """pass^k of every task, and beside it the earliest step that separates outcomes.

    Tasks that always pass are hidden behind a count. Where no step separates outcomes, the row says so.
    """
    session = Session(ctx, options, "report")
    check_summary(options)
    check_shard(options)
    if options["shard"]:
        return write_part(session, traces)
    corpus = session.load(traces, list_files=True)
    for task in options["task"]:
        find_task(corpus, task, session.where)
    return show(session, session.report(corpus, card=card_options(session)))


def card_options(session: Session) -> CardOptions:
    """What of the report card the options ask for; JSON carries all of it."""
    options = session.options
    weights = options.get("weights")
    targets = [str(target).lower() for target in options.get("to") or ()]
    everything = session.format() in ("json", "jsonl") or any(t.endswith((".json", ".jsonl")) for t in targets)
    return CardOptions(
        detailed=bool(options.get("stats")) or everything,
        seed=options.get("seed") or 0,
        weights=read_weights(read_text(weights, "weights"), weights) if weights else None,
        by=tuple(options.get("by") or ()),
        plan=bool(options.get("plan")),
        rotation=_rotation(options),
        families=families_of(options),
        labels=labels_of(options),
        calibration=calibration_of(options),
        design=options.get("design"),
    )


def _rotation(options: Mapping[str, Any]) -> tuple[int, int] | None:
    found: tuple[int, int] | None = options.get("rotation")
    if found is not None and not options.get("plan"):
        raise UsageError("--rotation is a part of --plan")
    return found


def show(session: Session, made: Report, *hints: str) -> int:
    """Print a report, write the files asked for, and give the exit code."""
    options = session.options
    view = session.view(
        show_all=bool(options["all"]), stats=bool(options.get("stats")), brief=bool(options.get("brief"))
    )
    session.emit("report", made, view)
    if options.get("summary"):
        _write_summary(session, made, view)
    if options.get("github"):
        append_summary(session, str(session.document(by_name("report", "markdown"), made, view)[0]))
    led = [task.task_id for task in made.tasks if task.finding.kind is FindingKind.DIVERGENCE]
    session.hint(*(hints or (f"trajdiff compare task {led[0]}",) if led else hints))
    found = has_divergence(made, session.options["min_grade"])
    return 1 if session.options["exit_code"] and found else 0


def check_summary(options: Mapping[str, Any]) -> None:
    """Raises ``UsageError`` for a summary that cannot be written, before any work is done for it."""
    if options["summary"]:
        check_target(options["summary"])
        renderer_for(options["summary"], options["lang"])


def _write_summary(session: Session, made: Report, view: View) -> None:
    target = session.options["summary"]
    content, told = session.document(renderer_for(target, session.options["lang"]), made, view)
    write(target, content)
    session.note("wrote", f"{one_line(target)}   {told}")
