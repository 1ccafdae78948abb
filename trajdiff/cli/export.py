"""``trajdiff export``: one table as a file. The four tables share their options and their body."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from trajdiff.cli.names import find_task
from trajdiff.cli.options import (
    Names,
    choosing_options,
    common_options,
    reading_options,
    reference_option,
    sharing,
    together,
    traces_argument,
)
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command, Group
from trajdiff.cli.streams import put
from trajdiff.cli.suggest import nearest
from trajdiff.cli.writing import STANDARD_OUTPUT, check_target, write
from trajdiff.errors import UsageError
from trajdiff.frozen import replace
from trajdiff.render.choosing import Choice, chosen_divergences, chosen_tasks
from trajdiff.render.registry import by_name, by_suffix
from trajdiff.render.safety import one_line
from trajdiff.render.table_columns import MEANINGS, known_columns
from trajdiff.render.tables import TABLES, finding_of
from trajdiff.render.wording import plural

if TYPE_CHECKING:
    from trajdiff.report import Report

_FORMATS = ("csv", "tsv", "json", "jsonl", "markdown", "html", "xlsx", "parquet")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Export:
    """One of the tables: its name, what a row of it is, its help and its examples."""

    name: str
    row: str
    text: str
    examples: tuple[str, ...]


EXPORTS = (
    _Export(
        name="alignment",
        row="a step of a trial per row, gaps included",
        text="The aligned tables of the chosen tasks: one row per step and trial.\n\n"
        "As .xlsx also side by side, with drop-downs for a reviewer's verdict.",
        examples=(
            "trajdiff export alignment --task L1-061 --to review.xlsx",
            "trajdiff export alignment runs --only mixed --to steps.parquet",
            "trajdiff export alignment --task L1-061 --format csv --to -",
        ),
    ),
    _Export(
        name="divergences",
        row="a failing trial per row: its divergence or abstention",
        text="One row per failing or infrastructure trial, with columns for a reviewer to fill.\n\n"
        "trajdiff review import FILE reads them back.",
        examples=(
            "trajdiff export divergences --only mixed --to review.xlsx",
            "trajdiff export divergences runs --min-grade B --to divergences.jsonl",
            "trajdiff export divergences runs --columns row_id,sentence --to short.csv",
        ),
    ),
    _Export(
        name="report",
        row="a task per row: pass^k and its finding",
        text="The task table of the report: one row per task. As .md the comment, as .html the report.",
        examples=(
            "trajdiff export report runs --to tasks.xlsx",
            "trajdiff export report runs --only mixed --to tasks.tsv",
            "trajdiff export report runs --format jsonl --to -",
        ),
    ),
    _Export(
        name="trials",
        row="a trial per row",
        text="All trials with verdict, reward, ending, counts and source; missing ones included.",
        examples=(
            "trajdiff export trials runs --to trials.csv",
            "trajdiff export trials runs --stop max_steps --to cut.tsv",
            "trajdiff export trials runs --format jsonl --to -",
        ),
    ),
)

_options = together(
    traces_argument,
    click.option(
        "--to",
        metavar="FILE",
        help="File to write: .csv .tsv .xlsx .parquet .json .jsonl .md .html; - is standard output and needs"
        " --format.",
    ),
    click.option(
        "--format",
        type=click.Choice(_FORMATS, case_sensitive=False),
        help="Format, where the suffix does not tell.",
    ),
    click.option(
        "--columns", type=Names(), default=(), metavar="A,B", help="Only these columns, in this order."
    ),
    click.option("--list-columns", is_flag=True, help="Name the columns with what they mean, and end."),
    click.option("--excel", is_flag=True, help="CSV with a byte order mark, which Excel needs for UTF-8."),
    reference_option,
    choosing_options,
    *sharing,
    reading_options,
    common_options,
    click.pass_context,
)


@click.group(
    cls=Group,
    short_help="write one table",
    examples=(
        "trajdiff export alignment --task L1-061 --to review.xlsx",
        "trajdiff export divergences --only mixed --to review.xlsx",
        "trajdiff export trials runs --to trials.jsonl",
    ),
)
def export() -> None:
    """Write one table and print nothing else."""


def _command(table: _Export) -> click.Command:
    @_options
    def run(ctx: click.Context, /, traces: tuple[str, ...], **options: Any) -> int:
        if options["list_columns"]:
            return _list_columns(table.name)
        return _export(Session(ctx, options), table.name, traces)

    return click.command(
        table.name, cls=Command, short_help=table.row, help=table.text, examples=table.examples
    )(run)


for _table in EXPORTS:
    export.add_command(_command(_table))


def _list_columns(name: str) -> int:
    columns = known_columns(name)
    size = max(len(column) for column in columns)
    put("".join(f"{column:<{size}}  {MEANINGS[column]}\n" for column in columns))
    return 0


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
    _check_columns(name, session.options["columns"])
    corpus = session.load(traces)
    tasks = tuple(find_task(corpus, task, session.where).task_id for task in session.options["task"])
    choice = replace(session.choice(), tasks=tasks)
    made = _analysed(session, corpus, name, choice)
    view = replace(
        session.view(), choice=choice, columns=session.options["columns"], excel=session.options["excel"]
    )
    content, told = session.document(renderer, made, view)
    write(target, content)
    if target != STANDARD_OUTPUT:
        session.note("wrote", f"{one_line(target)}   {_summary(name, made, choice)}   {told}")
        session.hint(_next(name, target, choice))
    return 0


def _analysed(session: Session, corpus: Any, name: str, choice: Choice) -> Report:
    """The report as far as the table needs it: a table of trials needs no alignment, a table of some tasks
    holds only these, so that what is hidden in others is not counted."""
    if name == "trials" and not (choice.only or choice.about_divergences):
        return session.report(corpus, ())
    made = session.report(corpus, choice.tasks or None, card=None)
    if name == "report":
        return made
    unlimited = replace(choice, limit=None)
    return replace(made, tasks=chosen_tasks(made, unlimited))


def _check_columns(name: str, wanted: Sequence[str]) -> None:
    known = known_columns(name)
    for column in wanted:
        if column not in known and not _numbered(column):
            near = nearest(column, list(known))
            raise UsageError(
                f"no column {one_line(column)} in the table {name}",
                *([f"did you mean {near[0]}?"] if near else []),
                f"trajdiff export {name} --list-columns names them",
            )


def _numbered(column: str) -> bool:
    """``pass_hat_7``: how far these go depends on the data."""
    head, _, k = column.rpartition("_")
    return head in ("pass_hat", "pass_at") and k.isdecimal()


def _next(name: str, target: str, choice: Choice) -> str:
    suffixes = {"alignment": (".xlsx",), "divergences": (".xlsx", ".csv", ".tsv")}.get(name, ())
    if target.lower().endswith(suffixes):
        return f"fill in the review columns, then: trajdiff review import {one_line(target)}"
    task = f"compare task {one_line(choice.tasks[0])}" if choice.tasks else "report"
    return f"trajdiff {task}"


def _summary(name: str, made: Report, choice: Choice) -> str:
    """How many rows of what."""
    if name == "alignment":
        rows = TABLES[name].rows(made, choice)
        tables = [task.finding.table for task in made.tasks if task.finding.table is not None]
        inside = ""
        if len(tables) == 1 and choice.limit is None:
            steps, trials = plural(len(tables[0].rows), "step"), plural(len(tables[0].columns), "trial")
            inside = f" ({steps} × {trials})"
        return plural(len(rows), "row") + inside
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
