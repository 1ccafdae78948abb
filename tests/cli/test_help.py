"""Help, the tree, environment variables and completion."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from tests.cli.conftest import run
from trajdiff.cli import cli
from trajdiff.cli.program import PLACES
from trajdiff.cli.shapes import Command, Group


def commands(group: Group, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], click.Command]:
    found: dict[tuple[str, ...], click.Command] = {}
    for name, command in group.commands.items():
        if isinstance(command, Group):
            found |= commands(command, (*path, name))
        else:
            found[(*path, name)] = command
    return found


assert isinstance(cli, Group)
COMMANDS = commands(cli)


def test_the_tree_names_every_command_and_an_example_per_group() -> None:
    result = run()
    assert result.code == 0
    for path in COMMANDS:
        assert re.search(rf"^trajdiff {' '.join(path)}( |$)", result.out, flags=re.M), path
    examples = result.out.split("Examples:\n")[1]
    assert len(re.findall(r"^  trajdiff ", examples, flags=re.M)) == 4
    assert run("compare").out.splitlines()[0].startswith("trajdiff compare task TASK_ID [TRACES...]")
    assert run("export").code == 0


def test_only_what_is_built_is_listed() -> None:
    assert list(cli.commands) == [
        "report",
        "compare",
        "unstable",
        "export",
        "inspect",
        "validate",
        "convert",
        "check",
        "review",
        "judges",
        "formats",
        "demo",
        "run",
        "intervene",
        "record",
        "replay",
        "selfcheck",
        "benchmark",
        "check-curve",
        "merge",
        "cache",
        "map",
    ]
    assert list(COMMANDS) == [
        ("report",),
        ("compare", "task"),
        ("compare", "trials"),
        ("compare", "runs"),
        ("unstable",),
        ("export", "alignment"),
        ("export", "divergences"),
        ("export", "report"),
        ("export", "trials"),
        ("inspect",),
        ("validate",),
        ("convert",),
        ("check",),
        ("review", "import"),
        ("judges",),
        ("formats",),
        ("demo",),
        ("run",),
        ("intervene",),
        ("record", "mcp"),
        ("replay",),
        ("selfcheck",),
        ("benchmark",),
        ("check-curve",),
        ("merge",),
        ("cache", "info"),
        ("cache", "clear"),
        ("map", "check"),
        ("map", "draft"),
    ]


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_has_three_examples_that_parse_and_the_exit_codes(path: tuple[str, ...]) -> None:
    command = COMMANDS[path]
    assert isinstance(command, Command)
    short, long = run(*path, "-h"), run(*path, "--help")
    assert short == long
    assert long.code == 0
    assert "Exit codes:" in long.out
    assert ("  1 " in long.out.split("Exit codes:")[1]) is bool(command.gate)
    assert len(command.examples) == 3
    for example in command.examples:
        assert f"\n  {example}\n" in long.out
        words = example.split(" | ")[0].split()
        assert words[: len(path) + 1] == ["trajdiff", *path]
        context = click.Context(command, info_name=path[-1])
        command.parse_args(context, words[len(path) + 1 :])
    assert all(len(line) <= 80 for line in long.out.splitlines())


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_common_options_are_everywhere(path: tuple[str, ...]) -> None:
    names = {name for parameter in COMMANDS[path].params for name in parameter.opts}
    assert {
        "--config",
        "--no-config",
        "--color",
        "--ascii",
        "-q",
        "--quiet",
        "-v",
        "--verbose",
        "--debug",
    } <= names


def test_version() -> None:
    from trajdiff import __version__

    assert run("--version").out == f"trajdiff {__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_completion_scripts(shell: str) -> None:
    result = run("--completion", shell)
    assert result.code == 0
    assert "_TRAJDIFF_COMPLETE" in result.out


@pytest.mark.parametrize(
    ("variable", "value", "arguments", "expected"),
    [
        ("TRAJDIFF_REPORT_ALL", "1", ("report",), r"^box-10 +✓✓✓✓"),
        ("TRAJDIFF_REPORT_K", "1,2", ("report",), r"^ +k=1 +k=2$"),
        ("TRAJDIFF_REPORT_NAME", "nightly", ("report",), r"^nightly$"),
        ("TRAJDIFF_REPORT_FORMAT", "markdown", ("report",), r"^<!-- trajdiff:report -->$"),
        (
            "TRAJDIFF_REPORT_TASK",
            "box-1 box-2",
            ("report",),
            r"^shown: 2 of 3 tasks \(--task box-1, --task box-2\)$",
        ),
        ("TRAJDIFF_COMPARE_TASK_LAYOUT", "inline", ("compare", "task", "box-1"), r"^A  ✓ trial"),
        ("TRAJDIFF_TRACES", "other.jsonl", ("inspect",), r"^other\.jsonl "),
    ],
)
def test_environment_sets_any_option(
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    arguments: tuple[str, ...],
    expected: str,
) -> None:
    (here / "other.jsonl").write_bytes((here / "traces" / "parcels.jsonl").read_bytes())
    assert not re.search(expected, run(*arguments).out, flags=re.M)
    monkeypatch.setenv(variable, value)
    assert re.search(expected, run(*arguments).out, flags=re.M)


def test_an_option_wins_over_its_variable_and_both_over_the_file(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "mine.toml").write_text('name = "file"\ninfra = "exclude"\n', encoding="utf-8")
    monkeypatch.setenv("TRAJDIFF_CONFIG", "mine.toml")
    assert run("report").out.startswith("file\n")
    monkeypatch.setenv("TRAJDIFF_REPORT_NAME", "variable")
    assert run("report").out.startswith("variable\n")
    assert run("report", "--name", "option").out.startswith("option\n")
    monkeypatch.setenv("TRAJDIFF_INSPECT_INFRA", "fail")
    entries = {row["key"]: row for row in run("inspect", "--settings", "--json").json["settings"]}
    assert entries["infra"] == {"key": "infra", "value": '"fail"', "from": "TRAJDIFF_INSPECT_INFRA"}


def test_long_help_is_in_sections_and_names_every_option_once() -> None:
    shared = ["Output:", "Reading:", "Running:"]
    chosen = ["Options:", "Choosing what is shown:", *shared]
    wanted = {("report",): chosen, ("check",): ["Options:", *shared], ("formats",): ["Options:"]}
    for path, titles in wanted.items():
        out = run(*path, "--help").out
        found = re.findall(r"^(?!Usage|Positional|Exit|Examples)[A-Z][a-z ]+:$", out, flags=re.M)
        assert found == titles
        listed = out.split("\nOptions:\n")[1]
        for parameter in COMMANDS[path].get_params(click.Context(COMMANDS[path])):
            for option in parameter.opts if isinstance(parameter, click.Option) else ():
                assert len(re.findall(rf"^  (?:-., )?{option}[ \n,]", listed, flags=re.M)) == 1, (path, option)
    own = run("check", "--help").out.split("\nOutput:")[0]
    assert "--min-grade GRADE" in own
    assert "--baseline PATH" in own


def test_words_of_help_are_those_of_the_commands() -> None:
    """Help does not import the commands; what it says about them must be what they say themselves."""
    told = {place.name: place.short_help for place in PLACES}
    assert told == {name: command.short_help for name, command in cli.commands.items()}
    assert all(name == command.name for name, command in cli.commands.items())
