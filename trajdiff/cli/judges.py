"""``trajdiff judges``: how far two or more sets of labels agree."""

from __future__ import annotations

from typing import Any

import click

from trajdiff.cli.options import common_options, output_options, reading_options, traces_argument
from trajdiff.cli.report import seed_option
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command
from trajdiff.cli.suite_options import calibration_of, calibration_option, labels_of
from trajdiff.cli.values import Renderers, check_formats, emit_value
from trajdiff.reliability.labels import judge_report, score_labels, verdict_labels
from trajdiff.render import judges_text
from trajdiff.render.safety import one_line

RENDERERS: Renderers = {
    "text": judges_text.render,
    "json": judges_text.render_json,
    "jsonl": judges_text.render_lines,
    "markdown": judges_text.render_markdown,
}


@click.command(
    "judges",
    cls=Command,
    short_help="agreement between two sets of labels",
    examples=(
        "trajdiff judges --labels people.csv",
        "trajdiff judges runs --score db --score communicate",
        "trajdiff judges runs --labels people.csv --calibration 45,50,38,40",
    ),
    gate="--exit-code was given and the labels of some trial differ",
)
@traces_argument
@click.option("--labels", metavar="FILE", help="CSV with task_id, trial_id, rater, label (pass or fail).")
@click.option(
    "--score", "score", multiple=True, metavar="NAME", help="A recorded score as a judge; repeatable."
)
@calibration_option
@click.option("--all", "all", is_flag=True, help="Name every trial they disagree on.")
@seed_option
@output_options
@reading_options
@common_options
@click.pass_context
def judges(ctx: click.Context, /, traces: tuple[str, ...], **options: Any) -> int:
    """Agreement between the recorded verdicts and other labels, or between recorded scores.

    pass^k that rests on a judge is no better than the judge: read the agreement first.
    """
    calibration = calibration_of(options)
    session = Session(ctx, options)
    check_formats(session, RENDERERS)
    given = labels_of(options)
    corpus = session.load(traces)
    scores = tuple(score_labels(corpus.tasks, name) for name in options["score"])
    found = (*scores, *given)
    if len(scores) < 2:
        found = (verdict_labels(corpus.tasks), *found)
    made = judge_report(
        found,
        known=frozenset((trial.task_id, trial.trial_id) for trial in corpus.trials),
        calibration=calibration,
        seed=options["seed"],
    )
    emit_value(session, made, RENDERERS, session.view(show_all=options["all"]))
    first = made.differ[0].rpartition("/")[0] if made.differ else ""
    session.hint(f"trajdiff compare task {one_line(first)}" if first else "trajdiff report")
    return 1 if options["exit_code"] and made.differ else 0
