"""The options that several commands share, and what their values are called."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from trajdiff.cli.completing import complete_task
from trajdiff.cli.work_options import WORK_OPTIONS
from trajdiff.divergence.finding import Blame, FindingKind, Grade, Kind
from trajdiff.importers.protocol import GROUP_DIMENSIONS
from trajdiff.model import TerminationReason
from trajdiff.render.choosing import MIXED

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Paths(click.ParamType[str]):
    """A path, glob or ``-``; in an environment variable several are separated the way PATH is."""

    name = "path"
    envvar_list_splitter = os.pathsep


class Numbers(click.ParamType[tuple[int, ...]]):
    """Whole numbers from ``least``, separated by commas."""

    name = "numbers"

    def __init__(self, least: int = 1) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """``1,2,4`` as a tuple."""
        if isinstance(value, tuple):
            return value
        parts = [part.strip() for part in str(value).split(",")]
        if not all(part.isdecimal() and len(part) < 7 and int(part) >= self.least for part in parts):
            self.fail(f"{value!r} is no list of numbers from {self.least}, such as 1,2,4", param, ctx)
        return tuple(int(part) for part in parts)


class Rotation(click.ParamType[tuple[int, int]]):
    """``2/4``: the second of four rounds."""

    name = "rotation"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Both numbers."""
        if isinstance(value, tuple):
            return value[0], value[1]
        first, _, last = str(value).partition("/")
        numbers = all(part.isdecimal() and len(part) < 5 for part in (first, last))
        if not numbers or not 1 <= int(first) <= int(last):
            self.fail(f"{value!r} is no round, such as 2/4", param, ctx)
        return int(first), int(last)


class Names(click.ParamType[tuple[str, ...]]):
    """Names separated by commas."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """``0,1`` as a tuple."""
        if isinstance(value, tuple):
            return value
        return tuple(part.strip() for part in str(value).split(",") if part.strip())


class Dimensions(click.ParamType[tuple[str, ...]]):
    """What keeps trials of one task apart, separated by commas; ``none`` is nothing."""

    name = "dimensions"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """``model,agent`` as a tuple, ``none`` as an empty one."""
        if isinstance(value, tuple):
            return value
        wanted = tuple(part.strip().replace("-", "_") for part in str(value).split(",") if part.strip())
        if wanted == ("none",):
            return ()
        for one in wanted:
            if one not in GROUP_DIMENSIONS:
                self.fail(f"{one!r} is none of {', '.join(GROUP_DIMENSIONS)}, none", param, ctx)
        return wanted


def together(*decorators: Decorator) -> Decorator:
    """Several options as one decorator; they are listed in the order given."""

    def apply(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


def _choice(*values: str) -> click.Choice[str]:
    return click.Choice(values, case_sensitive=False)


reference_option = click.option(
    "--reference",
    metavar="REF",
    help="Compare with this: a passed trial (TASK/TRIAL, PATH#TASK/TRIAL), or the passes of another run"
    " (PATH) where a task has none. From elsewhere it is borrowed: grade C.",
)

traces_argument = click.argument(
    "traces",
    nargs=-1,
    type=Paths(),
    envvar="TRAJDIFF_TRACES",
    help="Files, folders, globs, or - for standard input. Without any: traces of the settings, ./traces,"
    " ./sample_traces.",
)

common_options = together(
    click.option("--config", metavar="FILE", envvar="TRAJDIFF_CONFIG", help="Settings file to use."),
    click.option("--no-config", is_flag=True, help="Use no settings file."),
    click.option(
        "--color",
        type=_choice("auto", "always", "never"),
        default="auto",
        show_default=True,
        help="Colour; auto follows the terminal, NO_COLOR and FORCE_COLOR.",
    ),
    click.option("--ascii", is_flag=True, help="Marks in ASCII; by itself where the output is not UTF-8."),
    click.option("-q", "--quiet", is_flag=True, help="No progress and no notes."),
    click.option("-v", "--verbose", is_flag=True, help="More notes."),
    click.option("--debug", is_flag=True, help="Traceback for an internal error."),
)

reading_alone = together(
    click.option("--from", "from", metavar="NAME", help="Read everything as this format (trajdiff formats)."),
    click.option("--map", "map", metavar="NAME", help="Read everything by this mapping of the settings."),
    click.option(
        "--outcomes",
        "outcomes",
        multiple=True,
        type=Paths(),
        metavar="FILE",
        help="Verdicts by task and trial, or a manifest: CSV, JSONL or TOML. Repeatable.",
    ),
    click.option("--suite", metavar="NAME", help="Suite of trials that record none."),
    click.option(
        "--group-by",
        type=Dimensions(),
        metavar="WHAT",
        help="What keeps trials of one task apart, such as model,sampling, or none.  [default: model,agent]",
    ),
    click.option("--scorer", metavar="NAME[.KEY]", help="Which of several scorers or reward keys decides."),
    click.option("--threshold", type=float, metavar="X", help="A reward from X on is a pass."),
    click.option("--expected-trials", type=click.IntRange(min=1), metavar="N", help="Planned trials per task."),
    click.option(
        "--unscored",
        type=_choice("exclude", "fail"),
        help="Trials without a verdict: not counted, or failed.  [default: exclude]",
    ),
    click.option(
        "--infra",
        type=_choice("fail", "exclude"),
        help="Trials ended by infrastructure: failed, or not counted.  [default: fail]",
    ),
    click.option(
        "--on-duplicate",
        type=_choice("error", "latest", "first"),
        help="Two records of one trial. Without it: an error where the verdicts differ, else the latest.",
    ),
    click.option(
        "--on-error",
        type=_choice("skip", "fail"),
        default="skip",
        show_default=True,
        help="A file or trial that cannot be read: name it and go on, or stop with code 3.",
    ),
    click.option("--strict", is_flag=True, help="Like --on-error fail; also for unscored or missing trials."),
)
#: With where the work is done, for commands that have no ``--jobs`` of another meaning.
reading_options = together(reading_alone, *WORK_OPTIONS)

_FINDINGS = (MIXED, *(kind.value for kind in FindingKind))

choosing_options = together(
    click.option(
        "--task",
        "task",
        multiple=True,
        metavar="ID",
        shell_complete=complete_task,
        help="Only this task; repeatable.",
    ),
    click.option(
        "--only", metavar="FINDING", type=_choice(*_FINDINGS), help=f"Only tasks with: {', '.join(_FINDINGS)}."
    ),
    click.option(
        "--min-grade",
        metavar="GRADE",
        type=_choice(*(grade.value for grade in Grade)),
        help="Only divergences of this grade or a better one, A to D.",
    ),
    click.option(
        "--actor",
        metavar="ACTOR",
        type=_choice(*(actor.value for actor in Blame)),
        help=f"Only divergences of: {', '.join(actor.value for actor in Blame)}.",
    ),
    click.option(
        "--kind",
        metavar="KIND",
        type=_choice(*(kind.value for kind in Kind)),
        help="Only divergences of this kind, for instance missing_step.",
    ),
    click.option("--tool", metavar="NAME", help="Only divergences at this tool."),
    click.option(
        "--stop",
        metavar="REASON",
        type=_choice(*(reason.value for reason in TerminationReason)),
        help="Only trials that ended for this reason, for instance max_steps, and their tasks.",
    ),
    click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most N rows."),
)

_to_option = click.option(
    "--to",
    multiple=True,
    metavar="FILE",
    help="Also write a file; its suffix names the format. Repeatable; - is standard output and needs --format.",
)

#: On everything that writes files.
sharing = (
    click.option("--redact", is_flag=True, help="Hide secrets and personal data on standard output, too."),
    click.option("--no-redact", is_flag=True, help="Hide nothing in the files written."),
    click.option("--no-content", is_flag=True, help="Shape only: tools, marks, outcomes, counts; no texts."),
)

output_options = together(
    click.option(
        "--format",
        type=_choice("text", "json", "jsonl", "markdown"),
        help="Format of standard output.  [default: text]",
    ),
    click.option("--json", is_flag=True, help="Short for --format json."),
    click.option("--md", metavar="FILE", help="Also write Markdown to this file."),
    _to_option,
    *sharing,
    click.option("--exit-code", is_flag=True, help="End with 1 if there is a finding."),
)
