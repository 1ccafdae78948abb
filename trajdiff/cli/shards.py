"""``report --shard i/n --part FILE``: works on every n-th task and writes a part for ``merge``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from trajdiff.cli.diagnostics import tell
from trajdiff.cli.kept import code_stamp, reading_stamp
from trajdiff.cli.parts import OneShard, Shard, part_of
from trajdiff.cli.progress import Stage
from trajdiff.cli.work_options import runner_of
from trajdiff.cli.writing import STANDARD_OUTPUT, check_target, write
from trajdiff.errors import UsageError
from trajdiff.render.safety import one_line

if TYPE_CHECKING:
    from trajdiff.cli.session import Session

SHARD_OPTIONS = (
    click.option("--shard", type=Shard(), metavar="i/n", help="Work on every n-th task only; needs --part."),
    click.option(
        "--part", metavar="FILE", help="File for what came of it; trajdiff merge puts parts together."
    ),
)


def check_shard(options: Mapping[str, Any]) -> None:
    """Raises ``UsageError`` where one of the two options stands without the other."""
    if bool(options.get("shard")) is not bool(options.get("part")):
        raise UsageError(
            "--shard and --part belong together", "--shard 1/4 --part part-1 for the first of four"
        )
    if options.get("part"):
        if options["part"] == STANDARD_OUTPUT:
            raise UsageError("--part needs a file")
        check_target(options["part"])


def write_part(session: Session, traces: tuple[str, ...]) -> int:
    """Works on the tasks of one shard and writes them down; prints nothing."""
    from trajdiff.analysis import analyse
    from trajdiff.task_keys import naming

    options, settings = session.options, session.settings
    corpus = session.load(traces, list_files=True)
    reading = session.reading
    assert reading is not None
    steps = sum(len(trial.steps) for trial in corpus.trials)
    name = naming(corpus, code_stamp(anywhere=True), reading_stamp(reading))
    shard = OneShard(runner_of(options, steps), options["shard"], name)
    with Stage("align", "tasks", session.state, quiet=session.quiet) as stage:
        made = analyse(corpus, settings, progress=stage, references=session.references(corpus), runner=shard)
    lost = [one for one in made.problems if one.task_id in shard.lost]
    tell(lost, quiet=session.quiet, verbose=session.verbose)
    write(options["part"], part_of(shard, options["shard"], session.paths, corpus.files))
    session.note("wrote", one_line(options["part"]))
    return 0
