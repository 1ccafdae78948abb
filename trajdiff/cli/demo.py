"""``trajdiff demo``: the report on sample traces that come with the package, or on trials run for it."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import Any

import click

from trajdiff.cli.diagnostics import tell
from trajdiff.cli.options import choosing_options, common_options, output_options
from trajdiff.cli.progress import Stage
from trajdiff.cli.report import card_options, check_summary, report_options, show
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command
from trajdiff.errors import UsageError

_FOLDER = "sample_traces"


@click.command(
    cls=Command,
    short_help="the report on bundled sample traces",
    examples=(
        "trajdiff demo --to demo.md",
        "trajdiff demo --copy sample_traces",
        "trajdiff demo --live shop",
    ),
    gate="--exit-code was given and there is a divergence at or above --min-grade",
)
@click.option("--copy", metavar="DIR", help="Write the sample traces to this folder instead.")
@click.option(
    "--live", metavar="DIR", help="Run a small scripted agent in this folder instead, and report on its trials."
)
@report_options
@choosing_options
@output_options
@common_options
@click.pass_context
def demo(ctx: click.Context, /, copy: str | None, live: str | None, **options: Any) -> int:
    """The report on sample traces, made up for this demo: no network, no key, no file unless asked for."""
    options["no_config"], options["config"] = True, None
    session = Session(ctx, options, "report")
    if live is not None:
        return _live(session, Path(live))
    check_summary(options)
    home = samples()
    if copy is not None:
        return _copy(session, home, Path(copy))
    session.note("note", "bundled sample traces, made up for this demo")
    with contextlib.chdir(home.parent):  # so that paths in the output are the same on every machine
        corpus = session.load([_FOLDER])
    made = session.report(corpus, card=card_options(session))
    return show(session, made, "trajdiff demo --to demo.md", "or, on your own logs: trajdiff report PATH")


def _live(session: Session, folder: Path) -> int:
    """The plans of the demo shop as files of the user's own, its trials, and the report on them."""
    from trajdiff.demo.plans import PLANS
    from trajdiff.running import load_plan, run_plan

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in PLANS.items():
            file = folder / name
            if not file.exists():
                file.write_text(text, encoding="utf-8")
                session.note("wrote", str(file))
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written ({error.strerror or error})") from error
    plan = load_plan(folder / "plan.toml")
    with Stage("run", "trials", session.state, quiet=session.quiet) as stage:
        result = run_plan(plan, os.environ, progress=stage)
    tell(result.diagnostics, quiet=session.quiet, verbose=session.verbose)
    corpus = session.load([str(plan.out)])
    made = session.report(corpus, card=card_options(session))
    return show(session, made, f"trajdiff intervene move-delivery --plan {folder / 'plan.toml'}")


def samples() -> Path:
    """The folder of sample traces: inside an installed package, or in the checkout."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_bundled" / _FOLDER, package.parent / _FOLDER):
        if folder.is_dir():
            return folder
    raise UsageError("the sample traces did not come with this installation")


def _copy(session: Session, home: Path, target: Path) -> int:
    """The samples as files of the user's own; nothing that is there is overwritten."""
    try:
        target.mkdir(parents=True, exist_ok=True)
        for file in sorted(home.iterdir()):
            if file.is_file():
                if (target / file.name).exists():
                    raise UsageError(f"{target / file.name}: is there already")
                shutil.copyfile(file, target / file.name)
                session.note("wrote", str(target / file.name))
    except OSError as error:
        raise UsageError(f"{target}: cannot be written ({error.strerror or error})") from error
    session.hint(f"trajdiff report {target}")
    return 0
