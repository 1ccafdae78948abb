"""``trajdiff record mcp``: a proxy that records and pins the tool calls of an MCP-based agent."""

from __future__ import annotations

import os
from typing import Any

import click

from trajdiff.cli.options import common_options
from trajdiff.cli.session import Session
from trajdiff.cli.shapes import Command, Group
from trajdiff.errors import InputError, UsageError
from trajdiff.frozen import replace
from trajdiff.render.safety import one_line


@click.group(
    "record", cls=Group, short_help="record an agent", examples=("trajdiff record mcp -- python server.py",)
)
def record_group() -> None:
    """Record an agent without touching it."""


@record_group.command(
    "mcp",
    cls=Command,
    short_help="proxy between an MCP client and its server",
    examples=(
        "trajdiff record mcp -- python server.py",
        "trajdiff record mcp --trace trial.jsonl --task L1-061 -- python server.py",
        "trajdiff record mcp --trace trial.jsonl --pins pins.json -- server --flag",
    ),
    context_settings={"help_option_names": ["-h", "--help"], "ignore_unknown_options": False},
)
@click.argument("server", nargs=-1, required=True, type=click.UNPROCESSED, help="Command of the MCP server.")
@click.option("--trace", metavar="FILE", help="Where the trial is recorded.  [default: TRAJDIFF_TRACE]")
@click.option("--task", metavar="ID", help="Id of the task.  [default: TRAJDIFF_TASK]")
@click.option("--trial", metavar="ID", help="Id of the trial.  [default: TRAJDIFF_TRIAL]")
@click.option("--pins", metavar="FILE", help="Steps to hold fixed.  [default: TRAJDIFF_PINS]")
@common_options
@click.pass_context
def record_mcp(ctx: click.Context, /, server: tuple[str, ...], **options: Any) -> int:
    """Put this in place of the server's command in the agent's configuration.

    Standard input and output carry the protocol. Tool calls are recorded as they happen; messages of user and
    model do not pass here and are not. Under trajdiff run the options come from the environment.
    """
    from trajdiff.record import RecordError, setup_from, trial
    from trajdiff.record.mcp_proxy import run_proxy

    Session(ctx, options)
    try:
        told = setup_from(os.environ)
        given = {name: options[name] for name in ("trace", "task", "trial", "pins") if options[name]}
        told = replace(told, **given)
        if told.trace is None:
            raise UsageError("no trace to write to", "give --trace FILE, or run under trajdiff run")
        if not run_proxy(trial(setup=told, agent="mcp client"), server, os.environ):
            raise InputError(f"{one_line(server[0])}: the server ended while its client was still there")
    except ImportError as error:
        raise UsageError("recording MCP needs an extra: pip install 'trajdiff[mcp]'") from error
    except RecordError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(f"{one_line(server[0])}: cannot be started ({error.strerror or error})") from error
    return 0
