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

_CHOOSING = "Choosing what is shown"
#: Options that many commands share stand in sections of their own, after those of the command.
_SECTIONS = {
    _CHOOSING: ["task", "only", "min_grade", "actor", "kind", "tool", "stop", "limit"],
    "Output": ["format", "json", "md", "to", "redact", "no_redact", "no_content", "exit_code"],
    "Reading": [
        "from",
        "map",
        "outcomes",
        "suite",
        "group_by",
        "scorer",
        "threshold",
        "expected_trials",
        "unscored",
        "infra",
        "on_duplicate",
        "on_error",
        "strict",
    ],
    "Running": [
        "jobs",
        "scheduler",
        "timeout_per_task",
        "no_cache",
        "config",
        "no_config",
        "color",
        "ascii",
        "quiet",
        "verbose",
        "debug",
        "help",
    ],
}
#: With fewer options than this, one list is easier to read.
_MANY = 16


class Command(click.Command):
    """A command whose help ends with examples and exit codes. ``gate`` says what code 1 means, if it occurs."""

    def __init__(self, *arguments: Any, examples: tuple[str, ...] = (), gate: str = "", **more: Any) -> None:
        more.setdefault("context_settings", CONTEXT)
        super().__init__(*arguments, **more)
        self.examples = examples
        self.gate = gate

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options; long lists in sections: the command's own first, what many commands share after them."""
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        if len(options) < _MANY:
            super().format_options(ctx, formatter)
            return
        # --min-grade alone is no choice of rows: there it is an option of the command.
        chooses = any(one.name == "only" for one in options)
        of = {
            name: title for title, names in _SECTIONS.items() if chooses or title != _CHOOSING for name in names
        }
        found: dict[str, list[tuple[str, str]]] = {"Options": [], **{title: [] for title in _SECTIONS}}
        for option in options:
            record = option.get_help_record(ctx)
            name = "help" if "--help" in option.opts else option.name or ""
            if record is not None:
                found[of.get(name, "Options")].append(record)
        for title, records in found.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

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
