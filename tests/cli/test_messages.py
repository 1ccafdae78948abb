"""The form of messages: an error, its place, its consequence, what to do, and near names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import parcel, run, write_records
from trajdiff.cli.diagnostics import diagnostic_text, tell
from trajdiff.model import Diagnostic, Severity


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ("compare", "task", "box-11"),
            'error: no task "box-11" in traces (3 tasks)\n  did you mean box-1 or box-10?\n'
            "  its tasks: box-1, box-2, box-10\n",
        ),
        (("compare", "task", "box-"), 'error: "box-" begins 3 task ids\n  box-1, box-2, box-10\n'),
        (
            ("report", "--tresholt", "1"),
            "error: no such option --tresholt. Did you mean --threshold?\n"
            "  trajdiff report --help lists the options\n",
        ),
        (
            ("reprot",),
            'error: no such command "reprot". Did you mean trajdiff report?\n'
            "  known: report, compare, unstable, export, inspect, validate, ",
        ),
        (
            ("compare", "taks"),
            'error: no such command "taks". Did you mean trajdiff compare task?\n  known: task, trials, runs\n',
        ),
        (
            ("compare", "trials", "box-1/0", "box-1/7"),
            'error: no trial "7" of task "box-1" in traces\n  its trials: 0, 1, 2, 3\n',
        ),
        (
            ("compare", "trials", "box-1/0", "box-2/0"),
            "error: box-1/0 and box-2/0 are trials of different tasks\n"
            "  two trials are compared within one task\n",
        ),
        (
            ("report", "--to", "x.xls"),
            "error: x.xls: the suffix names no format that can be written\n"
            "  known: .csv .html .json .jsonl .md .parquet .tsv .xlsx\n",
        ),
        (("formats", "--schema", "reports"), 'error: no schema "reports"\n  did you mean report?\n  known: '),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_texts(here: Path, arguments: tuple[str, ...], text: str) -> None:
    result = run(*arguments)
    assert result.code == 2
    assert result.out == ""
    message = result.err[result.err.index("error: ") :]
    assert message.startswith(text)


def test_messages_are_calm(here: Path) -> None:
    for arguments in (
        ("report", "--k", "x"),
        ("compare", "task"),
        ("report", "--limit", "0"),
        ("export", "trials"),
    ):
        (first, *_) = [line for line in run(*arguments).err.splitlines() if line.startswith("error: ")]
        assert re.match(r"error: [a-z'\"-]", first)
        assert "!" not in first
        assert not first.endswith(".")


def test_targets_are_checked_before_anything_is_read(here: Path) -> None:
    for arguments in (
        ("report", "--to", "x.xls"),
        ("export", "trials", "--to", "no/x.csv"),
        ("unstable", "--to", "-"),
    ):
        assert "traces  " not in run(*arguments).err


def notice(number: int, slug: str = "no_outcome", severity: Severity = Severity.WARNING) -> Diagnostic:
    return Diagnostic(severity=severity, slug=slug, message=f"trial {number} has no outcome", path="a.json")


def told(*diagnostics: Diagnostic, quiet: bool = False, verbose: bool = False) -> list[str]:
    from tests.cli.conftest import Stream, _streams

    err = Stream("utf-8", terminal=False)
    with _streams(Stream("utf-8", terminal=False), err, b""):
        tell(diagnostics, quiet=quiet, verbose=verbose)
    return err.text().splitlines()


def test_five_of_a_kind_then_a_count() -> None:
    lines = told(*(notice(i) for i in range(8)), notice(9, "other"))
    assert lines[:5] == [f"warning: a.json: trial {i} has no outcome" for i in range(5)]
    assert lines[5] == "warning: 3 more of this kind (no_outcome); -v shows all"
    assert lines[6:] == ["warning: a.json: trial 9 has no outcome"]
    assert len(told(*(notice(i) for i in range(8)), verbose=True)) == 8
    assert told(*(notice(i) for i in range(5)))[-1] == "warning: a.json: trial 4 has no outcome"


def test_quiet_keeps_warnings_and_drops_notes() -> None:
    found = (notice(1), notice(2, severity=Severity.NOTE))
    assert told(*found, quiet=True) == ["warning: a.json: trial 1 has no outcome"]
    assert len(told(*found)) == 2


def test_a_diagnostic_names_place_consequence_and_remedy() -> None:
    entry = Diagnostic(
        severity=Severity.WARNING,
        slug="no_outcome",
        message='trial 3 of task "12" has no \x1b[31moutcome',
        path="runs/run7.json",
        pointer="$.simulations[31].reward_info.reward",
        details=("it is listed and not counted in pass^k", "count it as failed with\n--unscored fail"),
    )
    assert diagnostic_text(entry) == (
        'warning: runs/run7.json: trial 3 of task "12" has no outcome\n'
        "  at $.simulations[31].reward_info.reward\n"
        "  it is listed and not counted in pass^k\n"
        "  count it as failed with --unscored fail"
    )


def test_a_command_about_one_task_tells_only_what_concerns_it(here: Path) -> None:
    found = [parcel("box-1", "0", "pass", "small"), parcel("box-1", "1", "fail", "large")]
    write_records(here / "traces" / "parcels.jsonl", [*found, parcel("box-7", "0", "unscored", "small")])
    assert "box-7" in run("report").err
    assert "box-7" not in run("compare", "task", "box-1").err
    assert "box-7" in run("compare", "task", "box-7").err
    assert "box-7" in run("compare", "task", "box-1", "-v").err


def test_names_from_logs_do_not_reach_the_terminal_raw(here: Path) -> None:
    evil = "box\x1b[2J\u202e"
    write_records(here / "traces" / "parcels.jsonl", [parcel(evil, "0", "unscored", "small")])
    for arguments in (
        ("report",),
        ("compare", "task", "nope"),
        ("compare", "task", evil),
        ("inspect",),
        ("validate",),
    ):
        result = run(*arguments)
        assert "\x1b" not in result.out + result.err
        assert "\u202e" not in result.out + result.err


@pytest.fixture
def odd_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Ids that hold what separates the parts of a reference."""
    found = [
        parcel(task, trial, verdict, "small")
        for task in ("fix #12", "a/b@1")
        for trial, verdict in (("run/1", "pass"), ("x@2", "fail"), ("p,q", "pass"), ("r, s", "fail"))
    ]
    monkeypatch.chdir(tmp_path)
    return write_records(tmp_path / "traces" / "odd.jsonl", found)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("fix #12/run/1", "fix #12/x@2"),
        ("traces/odd.jsonl#fix #12/run/1", "traces/odd.jsonl#fix #12/x@2@1"),
        ("a/b@1/p,q", "a/b@1/x@2"),
    ],
)
def test_ids_may_hold_what_separates_a_reference(first: str, second: str, odd_ids: Path) -> None:
    result = run("compare", "trials", first, second)
    assert (result.code, result.err.count("error")) == (0, 0)
    shown = [one.removesuffix("@1").removeprefix("traces/odd.jsonl#") for one in (first, second)]
    shown[0] = first.removeprefix("traces/odd.jsonl#")
    assert all(f"#{one} " in line for one, line in zip(shown, result.out.splitlines(), strict=False))


def test_a_list_of_trials_may_hold_ids_with_commas(odd_ids: Path) -> None:
    result = run("compare", "task", "fix #12", "--trials", "run/1,p,q,r, s", "--json")
    assert (result.code, result.err.count("error")) == (0, 0)
    assert 'no trial "q"' in run("compare", "task", "fix #12", "--trials", "q").err


def test_an_unknown_task_with_a_separator_is_named_whole(odd_ids: Path) -> None:
    text = run("compare", "trials", "fix #13/0", "fix #12/run/1").err
    assert 'no task "fix #13"' in text
    assert "did you mean fix #12?" in text
