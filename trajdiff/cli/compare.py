"""``trajdiff compare task`` and ``trials``: all trials of one task, or two of them, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from trajdiff.cli.completing import complete_task, complete_trial
from trajdiff.cli.names import find_task, find_trial, named_trials, path_named
from trajdiff.cli.options import (
    Names,
    common_options,
    output_options,
    reading_options,
    reference_option,
    together,
    traces_argument,
)
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command
from trajdiff.divergence.finding import Grade
from trajdiff.errors import UsageError
from trajdiff.frozen import replace
from trajdiff.render.choosing import has_divergence
from trajdiff.render.places import trial_row
from trajdiff.render.safety import one_line
from trajdiff.render.view import Pair

if TYPE_CHECKING:
    from trajdiff.model import Trial
    from trajdiff.report import Report, TaskReport, TrialRow

_showing = together(
    click.option("--pager/--no-pager", default=None, help="Use a pager, or none.  [default: for long text]"),
    click.option("--full", is_flag=True, help="Every step and whole texts."),
    click.option(
        "--context",
        type=click.IntRange(min=0),
        default=1,
        show_default=True,
        metavar="N",
        help="Equal steps kept around a difference.",
    ),
    click.option(
        "--layout",
        type=click.Choice(("side", "inline", "auto")),
        default="auto",
        show_default=True,
        help="Two columns or one; auto takes two from a width of 100.",
    ),
)


@click.command(
    "task",
    cls=Command,
    short_help="one task: all its trials, aligned",
    examples=(
        "trajdiff compare task L1-061",
        "trajdiff compare task L1-061 runs/*.json --full",
        "trajdiff compare task L1-061 --trials 0,1 --json",
    ),
    gate="--exit-code was given and there is a divergence at or above --min-grade",
)
@click.argument("task_id", shell_complete=complete_task, help="Id of the task, or the beginning of one.")
@traces_argument
@click.option("--trials", type=Names(), default=(), metavar="ID,ID", help="Only these trials as columns.")
@reference_option
@_showing
@click.option(
    "--min-grade",
    metavar="GRADE",
    type=click.Choice(tuple(grade.value for grade in Grade), case_sensitive=False),
    help="Least grade that counts for --exit-code.",
)
@output_options
@reading_options
@common_options
@click.pass_context
def compare_task(ctx: click.Context, /, task_id: str, traces: tuple[str, ...], **options: Any) -> int:
    """One task: the sentence, a strip of all variants, and the steps that differ.

    The reference is the passed trial closest to the other passed ones. Equal steps are folded with a count.
    """
    session = Session(ctx, options, "task")
    corpus = session.load(traces, tell_all=False)
    task = find_task(corpus, task_id, session.where)
    session.tell_about(corpus, task.task_id)
    made = session.report(corpus, [task.task_id])
    found = made.task(task.task_id)
    if found is None:
        raise UsageError(f'no task "{one_line(task_id)}" in the report')
    trials = _known_trials(found, options["trials"])
    view = session.view(
        task_id=task.task_id,
        trials=trials,
        full=options["full"],
        context=options["context"],
        layout=options["layout"],
    )
    session.emit("task", made, replace(view, choice=replace(view.choice, min_grade=None)))
    _hint(session, found)
    only = replace(made, tasks=(found,))
    return 1 if options["exit_code"] and has_divergence(only, options["min_grade"]) else 0


def _known_trials(task: TaskReport, wanted: tuple[str, ...]) -> tuple[str, ...]:
    known = [trial.trial_id for trial in task.trials if trial.verdict is not None]
    named = named_trials(wanted, known)
    for trial in named:
        if trial not in known:
            raise UsageError(
                f'no trial "{one_line(trial)}" of task "{one_line(task.task_id)}"',
                f"its trials: {', '.join(one_line(name) for name in known)}",
            )
    return named


def _hint(session: Session, task: TaskReport) -> None:
    lead, reference = task.finding.lead, task.finding.reference
    if lead is not None and reference is not None:
        pair = f"{one_line(task.task_id)}/{reference} {one_line(task.task_id)}/{lead.trial_id}"
        session.hint(f"trajdiff compare trials {pair} --full")


@click.command(
    "trials",
    cls=Command,
    short_help="two trials, step by step",
    examples=(
        "trajdiff compare trials L1-061/0 L1-061/1",
        "trajdiff compare trials L1-061/0 L1-061/1 runs --layout inline",
        "trajdiff compare trials runs/a.json#L1-061/0 runs/a.json#L1-061/1@8 --full",
    ),
    gate="--exit-code was given and the trials differ",
)
@click.argument("trial_a", shell_complete=complete_trial, help="TASK/TRIAL, or PATH#TASK/TRIAL.")
@click.argument("trial_b", shell_complete=complete_trial, help="Another trial of the same task.")
@traces_argument
@_showing
@output_options
@reading_options
@common_options
@click.pass_context
def compare_trials(
    ctx: click.Context, /, trial_a: str, trial_b: str, traces: tuple[str, ...], **options: Any
) -> int:
    """Two trials of one task, whatever their outcomes.

    Two trials show what differs, not what matters; compare task uses all of them.
    """
    from trajdiff.analysis import compare_trials as align_two

    session = Session(ctx, options, "trials")
    named = [path_named(text) for text in (trial_a, trial_b)]
    paths = traces or tuple(dict.fromkeys(path for path in named if path is not None))
    corpus = session.load(paths, tell_all=False)
    (a, at_a), (b, at_b) = (find_trial(corpus, text, session.where) for text in (trial_a, trial_b))
    if a.task_id != b.task_id:
        raise UsageError(
            f"{one_line(trial_a)} and {one_line(trial_b)} are trials of different tasks",
            "two trials are compared within one task",
        )
    if a is b:
        raise UsageError(f"{one_line(trial_a)} and {one_line(trial_b)} are the same trial")
    session.tell_about(corpus, a.task_id)
    made = session.report(corpus, ())
    table = align_two(corpus, session.settings, (a.task_id, a.trial_id), (b.task_id, b.trial_id))
    keep = tuple(
        row.number
        for row in table.rows
        for cell in row.cells
        if (cell.trial_id, cell.message_index) in ((a.trial_id, at_a), (b.trial_id, at_b))
        and cell.message_index is not None
    )
    pair = Pair(a=_row(made, a), b=_row(made, b), table=table, keep=keep)
    view = session.view(pair=pair, full=options["full"], context=options["context"], layout=options["layout"])
    session.emit("trials", made, view)
    session.hint(f"trajdiff compare task {one_line(a.task_id)}")
    if not options["exit_code"]:
        return 0
    from trajdiff.render.json_compare import differs

    return 1 if any(differs(row, pair) for row in table.rows) else 0


def _row(made: Report, trial: Trial) -> TrialRow:
    task = made.task(trial.task_id)
    row = trial_row(task, trial.trial_id) if task is not None else None
    if row is None:
        raise UsageError(f"{one_line(trial.task_id)}/{one_line(trial.trial_id)} is not in the report")
    return row
