"""``trajdiff intervene``: one step held fixed, with the same seeds, against control and placebo."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trajdiff.cli.diagnostics import tell
from trajdiff.cli.names import find_task, find_trial, parse_reference
from trajdiff.cli.options import Paths, common_options, reading_alone, traces_argument
from trajdiff.cli.progress import Stage
from trajdiff.cli.run import format_options, jobs_option
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command
from trajdiff.cli.streams import put
from trajdiff.errors import UsageError
from trajdiff.frozen import replace
from trajdiff.record.pins import KINDS
from trajdiff.render.safety import one_line

if TYPE_CHECKING:
    from trajdiff.intervention.outcome import Outcome
    from trajdiff.intervention.pinning import Book, Pinned
    from trajdiff.running import Plan


@click.command(
    cls=Command,
    short_help="hold one step fixed, run again, compare outcomes",
    examples=(
        "trajdiff intervene L1-061 --plan plan.toml",
        "trajdiff intervene L1-061 --plan plan.toml --pin L1-061/1@6 --trials 24",
        "trajdiff intervene --arms control.jsonl --arms pinned.jsonl",
    ),
)
@click.argument("task_id", required=False, help="Id of the task, or the beginning of one.")
@traces_argument
@click.option("--plan", metavar="PLAN", help="The plan whose agent is run.")
@click.option(
    "--pin", metavar="TASK/TRIAL@MESSAGE", help="The step to hold fixed.  [default: the found divergence]"
)
@click.option(
    "--as",
    "kind",
    type=click.Choice(KINDS, case_sensitive=False),
    help="What of the step is held fixed.  [default: what differs from the passed trials]",
)
@click.option("--value", metavar="JSON", help="The value to hold it to.  [default: that of the passed trials]")
@click.option(
    "--trials",
    type=click.IntRange(1, 10000),
    default=16,
    show_default=True,
    metavar="N",
    help="Trials of each arm.",
)
@click.option("--out", metavar="DIR", help="Folder for the arms.  [default: hidden in that of the plan]")
@click.option("--no-placebo", is_flag=True, help="Leave the arm with an unrelated step out.")
@click.option(
    "--arms",
    multiple=True,
    type=Paths(),
    metavar="TRACES",
    help="Compare arms that were run elsewhere instead: arm = control, pinned or placebo in each. Repeatable.",
)
@click.option(
    "--keep",
    metavar="FILE",
    help="Where the outcome is kept for later reports.  [default: trajdiff.interventions.jsonl]",
)
@jobs_option
@format_options
@reading_alone
@common_options
@click.pass_context
def intervene(
    ctx: click.Context, /, task_id: str | None, traces: tuple[str, ...], plan: str | None, **options: Any
) -> int:
    """Test a place to look: run the agent again with one step held fixed.

    Three arms with the same seeds: control, pinned, and placebo, in which an unrelated step is held fixed. The
    agent must use the recorder (trajdiff.record) or the MCP proxy, through which pins reach it. Later reports
    show the outcome beside the divergence.
    """
    from trajdiff.intervention import STORE
    from trajdiff.intervention.outcome import keep
    from trajdiff.render.intervention_text import outcome_json, outcome_text

    session = Session(ctx, options)
    if options["arms"]:
        if plan is not None or options["pin"] is not None:
            raise UsageError("--arms compares arms that were run elsewhere; it goes without --plan and --pin")
        given = tuple(one for one in (task_id, *traces) if one is not None)
        outcomes = _elsewhere(session, (*options["arms"], *given))
    elif task_id is None or plan is None:
        raise UsageError(
            "name a task and --plan PLAN, or give --arms TRACES", "trajdiff intervene --help shows both ways"
        )
    else:
        outcomes = [_run(session, task_id, traces, plan)]
    store = Path(options["keep"] or STORE)
    keep(store, outcomes)
    if session.format() == "json":
        put(outcome_json(outcomes), utf8=True)
    else:
        put(outcome_text(outcomes, session.view()))
    session.note("wrote", one_line(str(store)))
    return 0


def _elsewhere(session: Session, paths: tuple[str, ...]) -> list[Outcome]:
    """The outcomes of arms that another harness recorded, one for each task."""
    from trajdiff.importers import load
    from trajdiff.intervention.evaluation import by_arm, evaluate

    corpus = load(paths, replace(session.read_options(paths), group_by=()))
    tell(corpus.diagnostics, quiet=session.quiet, verbose=session.verbose)
    outcomes = []
    for task in corpus.tasks:
        arms = by_arm(task.trials)
        said = next((t.metadata["pin"] for t in arms["pinned"] if t.metadata.get("pin")), "a step")
        outcomes.append(evaluate(arms, label=str(said), text=f"{said}, in arms that were run elsewhere"))
    return outcomes


def _run(session: Session, task_id: str, traces: tuple[str, ...], plan_path: str) -> Outcome:
    from trajdiff.intervention.experiment import intervene as run_arms
    from trajdiff.intervention.placebo import placebo_for
    from trajdiff.running import load_plan

    options = session.options
    plan = load_plan(plan_path)
    book, pinned = _pinned(session, task_id, traces, plan)
    placebo = None if options["no_placebo"] else placebo_for(book, pinned)
    if placebo is None and not options["no_placebo"]:
        session.note("note", "no step is the same in all trials, so there is no placebo")
    out = Path(options["out"]) if options["out"] else _folder(plan, book.task.task_id, pinned)
    session.note("pin", f"{one_line(pinned.text)} ({one_line(pinned.ref)})")
    with Stage("run", "trials", session.state, quiet=session.quiet) as stage:
        outcome, ran = run_arms(
            plan,
            book.task.task_id,
            pinned,
            placebo,
            os.environ,
            trials=options["trials"],
            out=out,
            jobs=options["jobs"],
            progress=stage,
        )
    tell(ran.diagnostics, quiet=session.quiet, verbose=session.verbose)
    session.note("wrote", one_line(str(out)))
    return outcome


def _pinned(session: Session, task_id: str, traces: tuple[str, ...], plan: Plan) -> tuple[Book, Pinned]:
    """The pin: of the step the user names, else of the found divergence."""
    from trajdiff.analysis import analyse
    from trajdiff.intervention.asking import pin_step
    from trajdiff.intervention.pinning import Book, pin_divergence

    options = session.options
    corpus = session.load(traces or (str(plan.out),), tell_all=False)
    task = find_task(corpus, task_id, session.where)
    session.tell_about(corpus, task.task_id)
    with Stage("align", "tasks", session.state, quiet=session.quiet) as stage:
        analysis = analyse(corpus, session.settings, tasks=[task.task_id], whole=False, progress=stage)
    book = Book(task, analysis.findings[task.task_id])
    value, given = _value(options["value"])
    if options["pin"] is None:
        if options["kind"] is not None or given:
            raise UsageError("--as and --value need --pin TASK/TRIAL@MESSAGE")
        return book, pin_divergence(book, book.finding.lead)
    trial, message = find_trial(corpus, options["pin"], session.where)
    if message is None or trial.task_id != task.task_id:
        wanted = parse_reference(options["pin"])
        raise UsageError(
            f'--pin "{one_line(options["pin"])}" names no step of task "{one_line(task.task_id)}"',
            f"write {one_line(task.task_id)}/{one_line(wanted.trial)}@MESSAGE",
        )
    return book, pin_step(book, trial.trial_id, message, kind=options["kind"], value=value, given=given)


def _value(text: str | None) -> tuple[Any, bool]:
    """(the value of --value, whether it was given); what is no JSON is taken as a text."""
    if text is None:
        return None, False
    try:
        return json.loads(text), True
    except (ValueError, RecursionError):
        return text, True


def _folder(plan: Plan, task_id: str, pinned: Pinned) -> Path:
    """A folder for the arms of this pin, hidden in that of the plan's own trials, which a report must not mix
    with them; another pin gets another one."""
    import hashlib
    from dataclasses import asdict

    from trajdiff.running.slots import file_name

    said = json.dumps([asdict(pin) for pin in pinned.pins], sort_keys=True, default=str)
    name = f"{file_name(task_id)}-{hashlib.sha256(said.encode()).hexdigest()[:8]}"
    return plan.out / ".run" / "arms" / name
