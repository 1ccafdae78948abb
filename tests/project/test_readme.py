"""README.md says what the program does: its commands run, its options exist, its examples are valid."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import click
import pytest

from tests.__main__ import checks, main
from tests.project.readme_output import PLACE, filled
from trajdiff.importers import validate
from trajdiff.settings import load_settings


@pytest.fixture(scope="module")
def readme(project: Path) -> str:
    return (project / "README.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.M | re.S)


@pytest.fixture(scope="module")
def program() -> click.Group:
    from trajdiff.cli import cli

    assert isinstance(cli, click.Group)
    return cli


def test_the_two_commands_stand_in_the_readme(readme: str) -> None:
    assert [block.strip() for block in blocks(readme, "sh")] == [
        "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/trajdiff compare task L1-061",
        "python3 -m venv .venv && .venv/bin/pip install -e '.[test]' && .venv/bin/python -m tests",
    ]


def test_ci_runs_the_second_command_in_an_environment_of_its_own(readme: str, project: Path) -> None:
    script = project / ".ci" / "run"
    assert script.stat().st_mode & 0o111, "not executable"
    lines = script.read_text(encoding="utf-8").splitlines()
    _, install, test = (part.strip() for part in blocks(readme, "sh")[1].split("&&"))
    assert install.replace(".venv", ".ci-venv") in lines
    assert test.replace(".venv", ".ci-venv") == lines[-1]
    assert '"$python" -m venv .ci-venv' in lines
    assert lines.index("rm -rf .ci-venv") < lines.index('"$python" -m venv .ci-venv')
    subprocess.run(["bash", "-n", str(script)], check=True)


def test_what_python_m_tests_runs_is_installed_by_the_test_extra(project: Path) -> None:
    table = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    extra = {re.split(r"[<>=]", name)[0] for name in table["project"]["optional-dependencies"]["test"]}
    assert {command[0] for command in checks(quick=False).values()} | {"pytest-xdist", "build"} <= extra
    assert "slow" in " ".join(checks(quick=True)["tests"])
    assert main(["--fast"]) == 2


def commands_in(text: str) -> list[list[str]]:
    """Every command line of trajdiff in the text, from code spans and code blocks."""
    spans = re.findall(r"`(?:\.venv/bin/)?trajdiff ([^`]+)`", text)
    prompts = re.findall(
        r"(?:^\$ |&& \S*|# |output of: )trajdiff (\S[^\n&]*?)(?: \(\d+ lines\))?(?: -->)?$", text, flags=re.M
    )
    return [shlex.split(line) for line in (*spans, *prompts)]


def test_commands_and_options_in_the_readme_exist(readme: str, program: click.Group) -> None:
    lines = commands_in(readme)
    assert len(lines) > 10
    for words in lines:
        if words[0] == "COMMAND":
            continue
        command: click.Command = program
        rest = list(words)
        while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
            found = command.get_command(click.Context(command), rest[0])
            assert found is not None, f"trajdiff {' '.join(words)}: no such command"
            command, rest = found, rest[1:]
        context = click.Context(command)
        known = {name for parameter in command.get_params(context) for name in parameter.opts}
        used = {word.split("=")[0] for word in rest if word.startswith("-") and word != "-"}
        assert used <= known, f"trajdiff {' '.join(words)}: no such option"


def test_every_command_of_the_program_is_in_the_table(readme: str, program: click.Group) -> None:
    context = click.Context(program)
    for name in program.list_commands(context):
        command = program.get_command(context, name)
        assert command is not None
        if not command.hidden:
            assert f"| `trajdiff {name}" in readme


def test_settings_example_is_valid(readme: str, tmp_path: Path) -> None:
    (example,) = blocks(readme, "toml")
    (tmp_path / "trajdiff.toml").write_text(example, encoding="utf-8")
    made = load_settings(start=tmp_path)
    assert (made.name, made.k, len(made.steps), made.ignore.tools) == ("shop", (1, 2, 4), 2, ("think",))


def test_the_python_example_runs(
    readme: str, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (example,) = (block for block in blocks(readme, "python") if "trajdiff.load(" in block)
    monkeypatch.chdir(project)
    exec(compile(example, "README.md", "exec"), {})
    assert re.search(r"^[1-9][0-9]* +step trial_id +op\n( +\d+ +\d+ +\w+\n)+$", capsys.readouterr().out)


def test_the_workflow_calls_what_there_is(readme: str, program: click.Group) -> None:
    (example,) = blocks(readme, "yaml")
    command = program.get_command(click.Context(program), "check")
    assert command is not None
    known = {name for parameter in command.get_params(click.Context(command)) for name in parameter.opts}
    text = example[example.index("trajdiff check") : example.index("- if: always()")]
    used = {word for word in text.split() if word.startswith("--")}
    assert len(used) == 6
    assert used <= known
    assert "trajdiff:shop" in example
    assert "--name shop" in example


def test_example_of_the_own_format_is_valid(readme: str, tmp_path: Path) -> None:
    (example,) = blocks(readme, "json")
    assert len(example.splitlines()) <= 15
    record = json.loads(example)
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps(record) + "\n", encoding="utf-8")
    (checked,) = validate([str(file)])
    assert checked.trials == 1
    assert not checked.problems


def test_paths_named_in_the_readme_exist(readme: str, project: Path) -> None:
    table = readme[readme.index("## How it is built") : readme.index("## Limits")]
    paths = re.findall(r"`((?:\w+/)*\w+(?:\.\w+)+|\w+/)`", table) + re.findall(r"^   (\S+)", table, flags=re.M)
    assert len(paths) > 12
    for path in paths:
        assert any((folder / path).exists() for folder in (project, project / "trajdiff")), path


def test_shown_output_is_what_the_program_prints(readme: str, project: Path) -> None:
    assert len(PLACE.findall(readme)) == readme.count("<!-- output of:") > 0
    assert readme == filled(readme, project), "run: python -m tests.project.readme_output"


def test_readme_keeps_to_the_promised_words(readme: str) -> None:
    for phrase in ("caused by", "led to", "because of", "root cause", "the bug", "guarantee"):
        assert phrase not in readme.lower()
    assert "separates outcomes" in readme
    assert "a place to look" in readme
