"""``trajdiff check``: the gate for CI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from trajdiff.cli.github import append_summary, github_option
from trajdiff.cli.options import Names, common_options, output_options, reading_options, traces_argument
from trajdiff.cli.report import seed_option
from trajdiff.cli.runs import fresh, paired_families, read_side
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command
from trajdiff.cli.suite_options import calibration_of, families_of, labels_of, suite_options
from trajdiff.cli.values import Renderers, check_formats, emit_value, for_files
from trajdiff.cli.writing import check_target, write
from trajdiff.comparison import compare_sides
from trajdiff.divergence.finding import Grade
from trajdiff.errors import UsageError
from trajdiff.gate import FAIL_ON, NEED_BASELINE, CheckResult, GateOptions, check
from trajdiff.gate_thresholds import minimum
from trajdiff.reliability.card import CardOptions
from trajdiff.render import check_text, runs_markdown
from trajdiff.render.safety import one_line
from trajdiff.sides import side_of

if TYPE_CHECKING:
    from trajdiff.render.view import View

RENDERERS: Renderers = {
    "text": check_text.render,
    "json": check_text.render_json,
    "jsonl": check_text.render_lines,
    "markdown": runs_markdown.render_check,
}


@click.command(
    "check",
    cls=Command,
    short_help="the gate for CI",
    examples=(
        "trajdiff check runs/v2 --min 'pass^4=0.50'",
        "trajdiff check runs/v2 --baseline runs/v1 --fail-on new-divergence",
        "trajdiff check runs/v2 --baseline base.json --fail-on pass-k-drop",
    ),
    gate="a gate failed, whatever may still be missing",
)
@traces_argument
@click.option("--baseline", metavar="PATH", help="Traces or a saved report to compare with.")
@click.option("--fail-on", type=Names(), default=(), metavar="LIST", help=f"Of: {', '.join(FAIL_ON)}.")
@click.option(
    "--min",
    "min",
    multiple=True,
    metavar="FIGURE=VALUE",
    help="Least lower end of the interval: pass^4=0.50, pass@2=0.9, mean=0.7, kappa=0.6. Repeatable.",
)
@click.option(
    "--min-grade",
    metavar="GRADE",
    type=click.Choice(tuple(grade.value for grade in Grade), case_sensitive=False),
    default="B",
    show_default=True,
    help="Least grade of a new divergence that counts, A to D.",
)
@click.option("--k", "k", type=click.IntRange(min=1), metavar="K", help="k of pass-k-drop.  [default: largest]")
@click.option(
    "--margin",
    type=click.FloatRange(0, 1),
    metavar="X",
    help="Strict pass-k-drop: fails unless the interval shows a drop of at most X.",
)
@click.option("--point", is_flag=True, help="Judge the estimate instead of the lower end.")
@click.option("--allow-incomplete", is_flag=True, help="Accept missing and unscored trials.")
@click.option("--max-unstable", type=click.IntRange(min=0), metavar="N", help="Most mixed tasks.")
@click.option("--max-cost", type=click.FloatRange(min=0), metavar="USD", help="Most per accepted delivery.")
@click.option("--max-p95", type=click.FloatRange(min=0), metavar="SECONDS", help="Most seconds at P95.")
@click.option("--name", metavar="NAME", help="Title, and name in the marker of Markdown.")
@click.option("--junit", metavar="FILE", help="Also write JUnit XML.")
@github_option
@suite_options
@seed_option
@output_options
@reading_options
@common_options
@click.pass_context
def check_command(ctx: click.Context, /, traces: tuple[str, ...], **options: Any) -> int:
    """Judge a run: thresholds on interval ends, hard gates of the settings, comparison with a baseline.

    Hard gates always count. Incomplete data end with 3, never with 0, unless --allow-incomplete is given; a
    failure that no missing trial can undo ends with 1 even then.
    """
    k = options.pop("k")
    asked = _asked(options)
    session = Session(ctx, options)
    check_formats(session, RENDERERS)
    if options["junit"]:
        check_target(options["junit"])
    if not (asked.fail_on or asked.minimums or session.settings.gate or _limits(asked)):
        raise UsageError(
            "nothing to check",
            "give --min, --max-unstable, --fail-on with --baseline, or [[gate]] in the settings",
        )
    report, corpus = fresh(session, traces, _card(options))
    comparison = None
    if options["baseline"]:
        side = side_of(report, corpus, " ".join(traces) or "candidate")
        before = read_side(session, options["baseline"])
        families = paired_families(options, before, side)
        comparison = compare_sides(before, side, k=k, seed=options["seed"], families=families)
    result = check(report, asked, comparison)
    view = session.view()
    emit_value(session, result, RENDERERS, view)
    _files(session, result, view)
    led = runs_markdown.new_divergences(result)
    where = " ".join(map(one_line, traces))
    command = f"compare task {one_line(led[0][0].task_id)}" if led else "report"
    session.hint(f"trajdiff {command} {where}".rstrip())
    return int(result.code)


def _card(options: dict[str, Any]) -> CardOptions:
    """What the figures of the candidate rest on."""
    return CardOptions(
        seed=options["seed"],
        families=families_of(options),
        labels=labels_of(options),
        calibration=calibration_of(options),
        design=options["design"],
    )


def _asked(options: dict[str, Any]) -> GateOptions:
    unknown = [name for name in options["fail_on"] if name not in FAIL_ON]
    if unknown:
        raise UsageError(f"--fail-on {one_line(unknown[0])}: no such gate", f"known: {', '.join(FAIL_ON)}")
    needed = [name for name in options["fail_on"] if name in NEED_BASELINE]
    if needed and not options["baseline"]:
        raise UsageError(f"--fail-on {needed[0]} needs --baseline")
    return GateOptions(
        fail_on=tuple(dict.fromkeys(options["fail_on"])),
        minimums=tuple(minimum(text) for text in options["min"]),
        min_grade=options["min_grade"],
        point=options["point"],
        allow_incomplete=options["allow_incomplete"],
        max_unstable=options["max_unstable"],
        max_cost=options["max_cost"],
        max_p95=options["max_p95"],
        margin=options["margin"],
    )


def _limits(asked: GateOptions) -> bool:
    return any(limit is not None for limit in (asked.max_unstable, asked.max_cost, asked.max_p95))


def _files(session: Session, result: CheckResult, view: View) -> None:
    """JUnit and the step summary, cleaned like every file."""
    if session.options["junit"]:
        shared, _ = session.sharing.prepare(result, view, file=True, format_name="junit")
        write(session.options["junit"], check_text.render_junit(shared))
        session.note("wrote", one_line(session.options["junit"]))
    if session.options["github"]:
        shared, look = session.sharing.prepare(
            result, for_files(session, view), file=True, format_name="markdown"
        )
        append_summary(session, runs_markdown.render_check(shared, look))
