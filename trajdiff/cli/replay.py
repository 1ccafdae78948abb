"""``trajdiff replay``: recorded calls made again in the user's environment, and the patch test."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trajdiff.cli.names import find_trial
from trajdiff.cli.options import common_options, reading_options, traces_argument
from trajdiff.cli.run import format_options
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command
from trajdiff.cli.streams import put
from trajdiff.errors import UsageError
from trajdiff.render.safety import one_line

if TYPE_CHECKING:
    from trajdiff.model import Corpus, Trial
    from trajdiff.render.replay_text import Patch
    from trajdiff.running.replay import Call, Environment, Replayed


@click.command(
    cls=Command,
    short_help="make recorded calls again and compare results",
    examples=(
        "trajdiff replay L1-061/1 --environment ./env",
        "trajdiff replay L1-061/1 runs --environment ./env --patch 6=L1-061/0@6",
        "trajdiff replay L1-061/1 --environment ./env --patch +6=L1-061/0@4 --json",
    ),
    gate="--exit-code was given and a result is another one now",
)
@click.argument("trial", help="TASK/TRIAL, or PATH#TASK/TRIAL.")
@traces_argument
@click.option(
    "--environment",
    required=True,
    metavar="COMMAND",
    help="Reads one JSON object a line (reset, call, state) and answers each with one. {python} is our Python.",
)
@click.option(
    "--patch",
    metavar="[+]MESSAGE=[REF]",
    help="Replace the call of a message by that of a passed trial, TASK/TRIAL@MESSAGE; with + put it before;"
    " with nothing behind = leave the call out (then against the trial of --against).",
)
@click.option("--against", metavar="TASK/TRIAL", help="The passed trial whose end state is compared.")
@click.option(
    "--answer-limit",
    type=click.FloatRange(min=0.01),
    default=60.0,
    show_default=True,
    metavar="S",
    help="Seconds for one answer.",
)
@click.option("--exit-code", is_flag=True, help="End with 1 if a result is another one now.")
@format_options
@reading_options
@common_options
@click.pass_context
def replay(ctx: click.Context, /, trial: str, traces: tuple[str, ...], **options: Any) -> int:
    """Find state that the trace does not hold, and test one call.

    Every recorded call is made again from a fresh start; the first other result is shown. With --patch one call
    is replaced by that of a passed trial, everything is made again, and the end states are compared.
    """
    from trajdiff.render.replay_text import replay_json, replay_text
    from trajdiff.running.replay import replay as make_again

    session = Session(ctx, options)
    corpus = session.load(traces, tell_all=False)
    found, _ = find_trial(corpus, trial, session.where)
    session.tell_about(corpus, found.task_id)
    start = _starter(options["environment"], options["answer_limit"])
    with start() as environment:
        made = make_again(found, environment)
    patch = None
    if options["patch"] is not None:
        patch = _patch(session, corpus, found, made, start)
    if session.format() == "json":
        put(replay_json(made, patch), utf8=True)
    else:
        put(replay_text(made, patch, session.view()))
    return 1 if options["exit_code"] and made.first_difference is not None else 0


def _starter(command: str, limit: float) -> Callable[[], Environment]:
    from trajdiff.running.replay import Environment

    try:
        words = [sys.executable if word == "{python}" else word for word in shlex.split(command)]
    except ValueError as error:
        raise UsageError(f"--environment: {error}") from error
    if not words:
        raise UsageError("--environment is empty")
    return lambda: Environment(words, os.environ, Path.cwd(), limit)


def _patch(
    session: Session, corpus: Corpus, failed: Trial, made: Replayed, start: Callable[[], Environment]
) -> Patch:
    from trajdiff.render.replay_text import Patch
    from trajdiff.running.replay import calls_of, differences, patched
    from trajdiff.running.replay import replay as make_again

    text = str(session.options["patch"])
    head, equals, ref = text.partition("=")
    insert = head.startswith("+")
    if not equals or not head.removeprefix("+").isdecimal() or (insert and not ref):
        raise UsageError(
            f'--patch "{one_line(text)}" is not understood', "write 6=TASK/TRIAL@MESSAGE, +6=REF, or 6="
        )
    at = int(head.removeprefix("+"))
    passed, by = _passed(session, corpus, failed, ref)
    calls = patched(calls_of(failed), at, by, insert=insert)
    with start() as environment:
        replayed = make_again(failed, environment, calls)
    with start() as environment:
        other = make_again(passed, environment)
    known = made.state is not None and other.state is not None
    what = "is left out" if by is None else f"{'comes after' if insert else 'becomes'} {by.name} of {ref}"
    return Patch(
        text=f"the call of message {at} {what}",
        replayed=replayed,
        passed=other,
        before=differences(made.state, other.state) if known else None,
        after=differences(replayed.state, other.state) if known else None,
    )


def _passed(session: Session, corpus: Corpus, failed: Trial, ref: str) -> tuple[Trial, Call | None]:
    """The passing trial whose end is the aim, and its call; a trial of another task is refused."""
    from trajdiff.running.replay import calls_of

    against = session.options["against"] or ref
    if not against:
        raise UsageError("--against TASK/TRIAL names the passed trial whose end state is compared")
    passed, _ = find_trial(corpus, against, session.where)
    by = None
    if ref:
        trial, message = find_trial(corpus, ref, session.where)
        by = next((call for call in calls_of(trial) if call.message == message), None)
        if by is None:
            known = ", ".join(str(call.message) for call in calls_of(trial))
            raise UsageError(f"{one_line(ref)} names no call", f"messages with calls: {known}")
    if passed.task_id != failed.task_id:
        raise UsageError(f"{one_line(against)} is a trial of another task than {one_line(failed.task_id)}")
    return passed, by
