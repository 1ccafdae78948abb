"""Results that are kept, and reports put together from parts: the same bytes as work from scratch."""

from __future__ import annotations

import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.generator import Plan, write_corpus
from tests.cli.conftest import run
from trajdiff.analysis import analyse
from trajdiff.cache.store import Store
from trajdiff.importers import ReadOptions, load, loading, opening
from trajdiff.importers.kept_files import KeptFiles
from trajdiff.model import Effect
from trajdiff.settings import Settings
from trajdiff.task_analysis import analyse_task
from trajdiff.task_jobs import TaskJob

PLAN = Plan(trials=4, steps=16, step_bytes=900)
TASKS = ["0", "1", "2", "3"]


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    path = tmp_path / "runs.json"
    write_corpus(path, PLAN, tasks=4)
    return path


def worked_on(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tasks that are really worked on from now on."""
    seen: list[str] = []

    def watched(job: TaskJob, forecast: object = None) -> object:
        seen.append(job.task.task_id)
        return analyse_task(job)

    monkeypatch.setattr("trajdiff.task_runs.analyse_task", watched)
    return seen


def report(traces: Path, *options: str) -> str:
    done = run("report", str(traces), "--json", "--no-config", *options)
    assert done.code == 0, done.err
    return done.out


def test_the_second_time_no_task_is_worked_on(traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = report(traces, "--no-cache")
    seen = worked_on(monkeypatch)
    assert report(traces) == scratch
    assert set(seen) == set(TASKS)
    seen.clear()
    assert report(traces) == scratch
    assert not seen
    assert report(traces, "--jobs", "2") == scratch
    assert not seen
    assert report(traces, "--no-cache") == scratch
    assert set(seen) == set(TASKS)


def test_another_content_or_setting_is_other_work(
    traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report(traces)
    seen = worked_on(monkeypatch)
    os.utime(traces, ns=(1, 1))  # another time, the same content
    report(traces)
    assert not seen
    (tmp_path / "trajdiff.toml").write_text('[tools]\n"book_*" = "read"\n', encoding="utf-8")
    changed = run("report", str(traces), "--json", "--config", str(tmp_path / "trajdiff.toml"))
    assert set(seen) == set(TASKS)
    assert (
        changed.out
        == run("report", str(traces), "--json", "--config", str(tmp_path / "trajdiff.toml"), "--no-cache").out
    )
    seen.clear()
    status = traces.stat()
    text = traces.read_text(encoding="utf-8")
    other = text.replace('\\"status\\":\\"processed\\"', '\\"status\\":\\"cancelled\\"', 1)
    assert len(other) == len(text)
    assert other != text
    traces.write_text(other, encoding="utf-8")
    os.utime(traces, ns=(status.st_atime_ns, status.st_mtime_ns))  # other content, the same size and time
    assert report(traces) == report(traces, "--no-cache")
    assert seen


def test_another_program_does_not_take_the_results(traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report(traces)
    seen = worked_on(monkeypatch)
    monkeypatch.setattr("trajdiff.cli.session.code_stamp", lambda **_: "another program")
    report(traces)
    assert set(seen) == set(TASKS)


def test_one_task_is_shown_from_what_is_kept(traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run("compare", "task", "1", str(traces), "--no-config")
    seen = worked_on(monkeypatch)
    again = run("compare", "task", "1", str(traces), "--no-config")
    assert (again.code, again.out) == (first.code, first.out)
    assert first.code == 0
    assert not seen


def test_one_task_needs_the_others_only_where_it_shows_them(
    traces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = worked_on(monkeypatch)
    command = ("compare", "task", "1", str(traces), "--no-config")
    shown = run(*command, "--no-cache")
    assert "stopped before cancel_order" in shown.out
    assert seen == ["1"]
    seen.clear()
    written = run(*command, "--no-cache", "--to", str(traces.with_suffix(".md")))
    assert written.out == shown.out
    assert seen == ["1"]
    seen.clear()
    listed = run(*command, "--no-cache", "--json")
    assert set(seen) == set(TASKS)  # the levels in use, and what held-out passes of all tasks say to them
    report(traces)
    seen.clear()
    assert run(*command, "--json").out == listed.out
    assert run(*command).out == shown.out
    assert not seen


def test_what_is_kept_is_shown_in_the_same_order(tmp_path: Path) -> None:
    """The divergence of the task row stands first, whichever trial it is of."""
    traces = tmp_path / "runs.json"
    write_corpus(traces, Plan(trials=4, steps=16, step_bytes=300, seed=10), tasks=4)
    command = ("compare", "task", "2", str(traces), "--no-config")
    scratch = run(*command, "--no-cache")
    assert scratch.out.count("· grade ") > 1
    assert run(*command).out == scratch.out
    assert run(*command).out == scratch.out


def test_info_and_clear(traces: Path) -> None:
    assert "nothing is kept" in run("cache", "info").out
    report(traces)
    told = run("cache", "info").out
    assert "results of tasks: " in told
    cleared = run("cache", "clear")
    assert cleared.code == 0
    assert cleared.out.endswith(" bytes freed\n")
    assert not cleared.out.startswith("0 ")
    assert "nothing is kept" in run("cache", "info").out


def test_a_broken_cache_costs_nothing(traces: Path) -> None:
    scratch = report(traces)
    place = Path(run("cache", "info").out.split("   ")[0])
    place.write_bytes(b"broken" * 1000)
    assert report(traces) == scratch
    assert report(traces) == scratch


@pytest.mark.parametrize("count", [1, 3, 5])
def test_parts_make_the_report(
    traces: Path, tmp_path: Path, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = [str(tmp_path / f"part-{number}") for number in range(1, count + 1)]
    for number, part in enumerate(parts, 1):
        done = run("report", str(traces), "--no-config", "--shard", f"{number}/{count}", "--part", part)
        assert (done.code, done.out) == (0, "")
    seen = worked_on(monkeypatch)
    merged = run("merge", *reversed(parts), "--json", "--no-config")
    assert merged.code == 0, merged.err
    assert not seen
    assert merged.out == report(traces, "--no-cache")


def test_traces_that_lie_elsewhere_by_now_fit_their_parts(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts come from machines with other folders; the report calls the files as they lie where it is made."""
    there, here = tmp_path / "there" / "runs", tmp_path / "here"
    shutil.copytree(project / "sample_traces", there)
    parts = [str(tmp_path / f"part-{number}") for number in (1, 2)]
    for number, part in enumerate(parts, 1):
        run("report", str(there), "--no-config", "--shard", f"{number}/2", "--part", part)
    shutil.copytree(there, here / "it's [a] \\ folder")
    shutil.rmtree(there)
    monkeypatch.chdir(here)
    seen = worked_on(monkeypatch)
    merged = run("merge", *parts, "--traces", "it's [a] \\ folder", "--json", "--no-config")
    assert merged.code == 0, merged.err
    assert not seen
    assert merged.out == report(Path("it's [a] \\ folder"), "--no-cache")
    assert str(there) not in merged.out


def test_a_part_that_is_missing_is_named(traces: Path, tmp_path: Path) -> None:
    parts = [str(tmp_path / f"part-{number}") for number in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        run("report", str(traces), "--no-config", "--shard", f"{number}/3", "--part", part)
    done = run("merge", parts[0], parts[2], "--no-config")
    assert done.code == 3
    assert 'no part holds task "1"' in done.err
    assert "no part is there for 2/3" in done.err


def test_parts_of_other_traces_do_not_fit(traces: Path, tmp_path: Path) -> None:
    part = str(tmp_path / "part")
    run("report", str(traces), "--no-config", "--shard", "1/1", "--part", part)
    write_corpus(traces, Plan(trials=4, steps=16, step_bytes=900, seed=8), tasks=4)
    done = run("merge", part, "--no-config")
    assert done.code == 3
    assert "must be those the parts were made with" in done.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["report", "runs.json", "--shard", "1/2"], 2, "--shard and --part belong together"),
        (["report", "runs.json", "--shard", "3/2", "--part", "p"], 2, "is no part i/n"),
        (["merge", "runs.json"], 3, "is no part of a report"),
        (["merge", "nothing"], 3, "cannot be read"),
    ],
)
def test_mistakes_have_plain_messages(
    traces: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, message: str
) -> None:
    monkeypatch.chdir(traces.parent)
    done = run(*arguments)
    assert done.code == code
    assert message in done.err


def test_levels_left_out_step_by_step_come_to_the_same_as_at_once(shared: Path) -> None:
    """Tasks are done again only where they relied on a level; here each is done with the levels in use."""
    corpus = load([str(shared / "data" / "inspect_ai")])
    made = analyse(corpus, Settings())
    effect_of = {tool.tool: Effect(tool.effect) for tool in made.tools}
    jobs = [
        TaskJob(task=task, effect_of=effect_of, settings=Settings(), levels=made.levels)
        for task in corpus.tasks
        if not task.group
    ]
    assert len(jobs) > 5
    for job in jobs:
        assert analyse_task(job).finding == made.findings[job.task.task_id]


def test_a_file_that_did_not_change_is_not_read_again(traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trajdiff.importers.kept_files.SETTLED", 0)
    scratch = report(traces)
    reads: list[str] = []
    opened = opening.open_document

    def watched(path: str, *rest: Any) -> Any:
        reads.append(path)
        return opened(path, *rest)

    monkeypatch.setattr(loading, "open_document", watched)
    assert report(traces) == scratch
    assert not reads
    report(traces, "--suite", "another")
    assert reads
    reads.clear()
    text = traces.read_text(encoding="utf-8")
    status = traces.stat()
    traces.write_text(text.replace("user_stop", "max_steps", 1), encoding="utf-8")
    os.utime(traces, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert traces.stat().st_size == status.st_size
    assert report(traces) == report(traces, "--no-cache") != scratch
    assert len(reads) == 2


def test_a_file_that_has_just_changed_is_not_trusted(traces: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report(traces)
    assert "files that were read" not in run("cache", "info").out
    monkeypatch.setattr("trajdiff.importers.kept_files.SETTLED", 0)
    report(traces)
    assert "files that were read: 1," in run("cache", "info").out


@pytest.mark.parametrize("large", [1, 1 << 40], ids=["steps in the file", "steps kept"])
def test_kept_files_are_what_was_read(traces: Path, large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trajdiff.importers.kept_files.SETTLED", 0)
    for name in ("long_lines", "opening"):
        monkeypatch.setattr(f"trajdiff.importers.{name}.LARGE", large)
    store = Store(traces.parent / "kept")
    options = ReadOptions(kept=KeptFiles(store, "code"))
    first, again, fresh = load([str(traces)], options), load([str(traces)], options), load([str(traces)])
    assert not isinstance(again.trials[0].steps, tuple)
    assert first == again == fresh
    assert [trial.tally for trial in again.trials] == [trial.tally for trial in fresh.trials]
    assert [len(trial.steps) for trial in again.trials] == [len(trial.steps) for trial in fresh.trials]
    assert pickle.loads(pickle.dumps(again)) == fresh
