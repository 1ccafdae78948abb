"""From whatever happens to an exit code and a message.

0 done, 1 a finding was asked for and is there, 2 usage, 3 bad input (or a defect of ours), 130 interrupted.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

import click

from trajdiff.cli.streams import ClosedPipeError, State, UnwritableError, flush, say, silence
from trajdiff.cli.suggest import nearest
from trajdiff.errors import TrajdiffError
from trajdiff.render.safety import cut_middle, one_line

#: Characters of a line of a message: the name of a file or a value may be of any length.
_LONGEST = 1000
USAGE, BAD_INPUT, INTERRUPTED = 2, 3, 130
TOO_DEEP = ("trajdiff validate names the file; leave that record out, or flatten it",)


def run(program: click.Command, arguments: Sequence[str] | None) -> int:
    """Runs the program; every way it can end becomes one of the five codes."""
    given = sys.argv[1:] if arguments is None else arguments
    state = State(debug="--debug" in given)  # also for what goes wrong before options are read
    if not state.debug and not sys.warnoptions:
        warnings.simplefilter("ignore")  # of libraries: they name no file, no place and nothing to do
    try:
        try:
            result = program.main(
                args=arguments if arguments is None else list(arguments),
                prog_name="trajdiff",
                standalone_mode=False,
                windows_expand_args=False,
                obj=state,
            )
            flush()
            return result if isinstance(result, int) else 0
        except Exception as error:
            return _failed(error, state)
    except (KeyboardInterrupt, EOFError):
        return _interrupted(state)
    except ClosedPipeError:  # while a message was written
        silence()
        return 0


def _failed(error: Exception, state: State) -> int:
    """The code of an exception, its message on standard error."""
    if isinstance(error, ClosedPipeError):
        silence()
        return 0
    if isinstance(error, click.Abort):
        return _interrupted(state)
    if isinstance(error, TrajdiffError):
        say(message("error", error.message, *error.details))
        if isinstance(error, UnwritableError):
            silence()  # else the interpreter tries once more when it ends, and complains
        return error.exit_code
    if isinstance(error, click.ClickException):
        say(message("error", *_usage(error)))
        return USAGE
    if isinstance(error, RecursionError) and not state.debug:
        say(message("error", "a value in the input is nested too deeply to be handled", *TOO_DEEP))
        return BAD_INPUT
    if isinstance(error, (OSError, MemoryError)) and not state.debug:
        say(message("error", *_surroundings(error)))
        return BAD_INPUT
    if state.debug:
        import traceback

        say("".join(traceback.format_exception(error)).rstrip("\n"))
    say("internal error: please report this with the output of --debug")
    return BAD_INPUT


def _surroundings(error: OSError | MemoryError) -> tuple[str, ...]:
    """What the machine refused, where no command has a better word for it."""
    if isinstance(error, MemoryError):
        return "not enough memory for these traces", "read fewer files at a time, or use fewer --jobs"
    name = f"{error.filename}: " if error.filename else ""
    return f"{name}{error.strerror or error}", "--debug shows where it happened"


def _interrupted(state: State) -> int:
    """An interrupt says how far it came."""
    say(f"interrupted: {state.stage}" if state.stage else "interrupted")
    return INTERRUPTED


def message(severity: str, text: str, *details: str) -> str:
    """``error: WHERE: WHAT``, then the details, each indented by two."""
    lines = text.split("\n") + [part for detail in details for part in detail.split("\n")]
    # Texts and names of logs stand in messages too: nothing of them may steer the terminal.
    shown = (cut_middle(one_line(part), _LONGEST) for part in lines if part.strip())
    return f"{severity}: " + "\n  ".join(shown)


def _usage(error: click.ClickException) -> tuple[str, ...]:
    """A usage problem in our words, with a suggestion where something is nearly right."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context is not None else "trajdiff"
    if isinstance(error, click.NoSuchOption):
        known = [] if context is None else _options_of(context)
        near = nearest(error.option_name, known)
        hint = f". Did you mean {near[0]}?" if near else ""
        return f"no such option {error.option_name}{hint}", f"{path} --help lists the options"
    if isinstance(error, click.exceptions.NoSuchCommand):
        group = context.command if context is not None else None
        names = list(group.commands) if isinstance(group, click.Group) else []
        near = nearest(error.command_name, names)
        hint = f". Did you mean {path} {near[0]}?" if near else ""
        return f'no such command "{error.command_name}"{hint}', f"known: {', '.join(names)}"
    text = error.format_message().rstrip(".")
    return text[:1].lower() + text[1:], f"{path} --help explains the options"


def _options_of(context: click.Context) -> list[str]:
    return [
        name
        for parameter in context.command.get_params(context)
        for name in (*parameter.opts, *parameter.secondary_opts)
        if name.startswith("--")
    ]
