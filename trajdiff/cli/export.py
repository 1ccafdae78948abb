"""``trajdiff export``: one table as a file."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

from trajdiff.cli.names import find_task
from trajdiff.cli.options import choosing_options, common_options, reading_options, together, traces_argument
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command, Group
from trajdiff.cli.streams import put
from trajdiff.cli.writing import STANDARD_OUTPUT, check_target, write
from trajdiff.errors import UsageError
from trajdiff.render.choosing import Choice, chosen_divergences
from trajdiff.render.registry import by_name, by_suffix
from trajdiff.render.safety import one_line
from trajdiff.render.tables import TABLES, finding_of
from trajdiff.render.wording import plural
from trajdiff.report import Report

_target = together(
    click.option(
        "--to",
        metavar="FILE",
        help="File to write: .csv .tsv .json .jsonl; - is standard output and needs --format.",
    ),
    click.option(
        "--format",
        type=click.Choice(("csv", "tsv", "json", "jsonl"), case_sensitive=False),
        help="Format, where the suffix does not tell.",
    ),
)


@click.group(
    cls=Group,
    short_help="write one table",
    examples=(
        "trajdiff export divergences --to review.csv",
        "trajdiff export alignment --task L1-061 --to L1-061.csv",
        "trajdiff export trials runs --to trials.jsonl",
    ),
)
def export() -> None:
    """Write one table and print nothing else."""


@export.command(
    "alignment",
    cls=Command,
    short_help="a step of a trial per row, gaps included",
    examples=(
        "trajdiff export alignment --task L1-061 --to L1-061.csv",
        "trajdiff export alignment runs --only mixed --to steps.jsonl",
        "trajdiff export alignment --task L1-061 --format csv --to -",
    ),
)
@traces_argument
@_target
@choosing_options
@reading_options
@common_options
@click.pass_context
def alignment(ctx: click.Context, /, traces: tuple[str, ...], **options: Any) -> int:
    """The aligned tables of the chosen tasks: one row per step and trial."""
    return _export(Session(ctx, options), "alignment", traces)


@export.command(
    "divergences",
    cls=Command,
    short_help="a failing trial per row: its divergence or abstention",
    examples=(
        "trajdiff export divergences runs --to review.csv",
        "trajdiff export divergences runs --min-grade B --to divergences.jsonl",
        "trajdiff export divergences runs --format jsonl --to - | head",
    ),
)
@traces_argument
@_target
@choosing_options
@reading_options
@common_options
@click.pass_context
def divergences(ctx: click.Context, /, traces: tuple[str, ...], **options: Any) -> int:
    """One row per failing or infrastructure trial, with empty columns for a reviewer."""
    return _export(Session(ctx, options), "divergences", traces)


@export.command(
    "report",
    cls=Command,
    short_help="a task per row: pass^k and its finding",
    examples=(
        "trajdiff export report runs --to tasks.csv",
        "trajdiff export report runs --only mixed --to tasks.tsv",
        "trajdiff export report runs --format jsonl --to -",
    ),
)
@traces_argument
@_target
@choosing_options
@reading_options
@common_options
@click.pass_context
def report_table(ctx: click.Context, /, traces: tuple[str, ...], **options: Any) -> int:
    """The task table of the report: one row per task."""
    return _export(Session(ctx, options), "report", traces)


@export.command(
    "trials",
    cls=Command,
    short_help="a trial per row",
    examples=(
        "trajdiff export trials runs --to trials.csv",
        "trajdiff export trials runs --stop max_steps --to cut.tsv",
        "trajdiff export trials runs --format jsonl --to -",
    ),
)
@traces_argument
@_target
@choosing_options
@reading_options
@common_options
@click.pass_context
def trials(ctx: click.Context, /, traces: tuple[str, ...], **options: Any) -> int:
    """All trials with verdict, reward, ending, counts and source; missing ones included."""
    return _export(Session(ctx, options), "trials", traces)


def _export(session: Session, name: str, traces: tuple[str, ...]) -> int:
    """Read, analyse as far as the table needs it, and write."""
    target, chosen = session.options["to"], session.options["format"]
    if target is None and chosen is None:
        raise UsageError("nowhere to write", "give --to FILE, or --format with --to -")
    target = target or STANDARD_OUTPUT
    if target == STANDARD_OUTPUT and chosen is None:
        raise UsageError("--to - needs --format")
    subject = name if name == "report" else f"export-{name}"
    renderer = by_name(subject, chosen) if chosen else by_suffix(subject, target)
    check_target(target)
    corpus = session.load(traces)
    for task in session.options["task"]:
        find_task(corpus, task, session.where)
    choice = session.choice()
    bare = name == "trials" and not (choice.only or choice.about_divergences)
    made = session.report(corpus, () if bare else None)
    content = renderer.render(made, session.view())
    if target == STANDARD_OUTPUT:
        put(content, utf8=True)
        return 0
    write(target, content)
    session.note("wrote", f"{one_line(target)}   {_summary(name, made, choice)}")
    return 0


def _summary(name: str, made: Report, choice: Choice) -> str:
    """How many rows of what."""
    if name != "divergences":
        return plural(len(TABLES[name].rows(made, choice)), "row")
    pairs = chosen_divergences(made, choice)
    kinds = Counter(finding_of(divergence) for _, divergence in pairs)
    words = {
        "divergence": "divergence",
        "same_path_other_outcome": "same path",
        "abstained": "abstained",
        "infrastructure": "infrastructure",
    }
    parts = [
        plural(kinds[kind], word) if kind == "divergence" else f"{kinds[kind]} {word}"
        for kind, word in words.items()
        if kinds[kind]
    ]
    tasks = len({task.task_id for task, _ in pairs})
    inside = f" ({', '.join(parts)})" if parts else ""
    return f"{plural(len(pairs), 'failing trial')} of {plural(tasks, 'task')}{inside}"
