"""Command classes: help with examples and exit codes, and a tree for the program without a command."""

from __future__ import annotations

from typing import Any

import click

from trajdiff.cli.streams import put

CONTEXT = {"help_option_names": ["-h", "--help"]}

_EXIT_CODES = (
    ("0", "done"),
    ("1", "--exit-code was given and there is a finding"),
    ("2", "usage: unknown option, task or trial, bad settings"),
    ("3", "bad or incomplete input"),
    ("130", "interrupted"),
)


class Command(click.Command):
    """A command whose help ends with examples and exit codes. ``gate`` says what code 1 means, if it occurs."""

    def __init__(self, *arguments: Any, examples: tuple[str, ...] = (), gate: str = "", **more: Any) -> None:
        more.setdefault("context_settings", CONTEXT)
        super().__init__(*arguments, **more)
        self.examples = examples
        self.gate = gate

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Examples, then exit codes."""
        with formatter.section("Examples"):
            formatter.write("".join(f"  {example}\n" for example in self.examples))
        codes = [
            (code, self.gate if code == "1" else text) for code, text in _EXIT_CODES if code != "1" or self.gate
        ]
        with formatter.section("Exit codes"):
            formatter.write_dl(codes)


class Group(click.Group):
    """A group that lists its commands in the order they were added."""

    command_class = Command

    def __init__(self, *arguments: Any, examples: tuple[str, ...] = (), **more: Any) -> None:
        more.setdefault("context_settings", CONTEXT)
        super().__init__(*arguments, **more)
        self.examples = examples

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the documentation."""
        return list(self.commands)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One example per command."""
        if self.examples:
            with formatter.section("Examples"):
                formatter.write("".join(f"  {example}\n" for example in self.examples))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Without arguments a group prints its tree."""
        if not args and not ctx.resilient_parsing:
            put(tree(self, ctx.command_path))
            ctx.exit(0)
        return super().parse_args(ctx, args)


def tree(group: Group, path: str) -> str:
    """All commands with their arguments and a few words, then one example per group."""
    rows = _rows(group, path)
    size = max(len(usage) for usage, _ in rows)
    lines = [f"{usage:<{size}}   {words}" for usage, words in rows]
    examples = [f"  {example}" for example in group.examples]
    return (
        "\n".join([*lines, "", "Examples:", *examples, "", f"{path} COMMAND --help explains a command."]) + "\n"
    )


def _rows(group: Group, path: str) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for name, command in group.commands.items():
        if isinstance(command, Group):
            rows += _rows(command, f"{path} {name}")
            continue
        arguments = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
        words = [_usage(argument) for argument in arguments]
        rows.append((" ".join((path, name, *words)), command.short_help or ""))
    return rows


def _usage(argument: click.Argument) -> str:
    name = (argument.metavar or (argument.name or "").upper()).strip("[].")
    if argument.nargs == -1:
        name += "..."
    return name if argument.required else f"[{name}]"
