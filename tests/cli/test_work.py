"""Where the work is done changes no byte; an interrupt leaves neither workers nor half a file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.benchmarks.generator import Plan, write_corpus

PLAN = Plan(trials=4, steps=20, step_bytes=900)


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("work") / "runs.jsonl"
    write_corpus(path, PLAN, tasks=6)
    return path


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "trajdiff", *arguments]


def run(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        env={**os.environ, "PYTHONPATH": str(project)},
    )


def test_processes_give_the_same_bytes(project: Path, traces: Path) -> None:
    alone = run(project, "report", str(traces), "--json", "--jobs", "1")
    shared = run(project, "report", str(traces), "--json", "--jobs", "2")
    assert alone.returncode == shared.returncode == 0, shared.stderr
    assert len(json.loads(alone.stdout)["tasks"]) == 6
    assert shared.stdout == alone.stdout


@pytest.mark.slow
def test_a_cluster_gives_the_same_bytes(
    project: Path, traces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    monkeypatch.setenv("PYTHONPATH", str(project))
    alone = run(project, "report", str(traces), "--json")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path)
    ) as cluster:
        shared = run(project, "report", str(traces), "--json", "--scheduler", cluster.scheduler_address)
    assert shared.returncode == 0, shared.stderr
    assert shared.stdout == alone.stdout


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_half_way_gives_the_same_bytes(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    monkeypatch.setenv("PYTHONPATH", str(project))
    traces = tmp_path / "runs.jsonl"
    write_corpus(traces, Plan(trials=8, steps=60, step_bytes=900), tasks=12)
    alone = run(project, "report", str(traces), "--json", "--no-cache")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path)
    ) as cluster:
        started = subprocess.Popen(
            command("report", str(traces), "--json", "--no-cache", "--scheduler", cluster.scheduler_address),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(project)},
        )
        victim = cluster.workers[0].pid
        while not any(cluster.scheduler.tasks) and started.poll() is None:
            time.sleep(0.05)
        time.sleep(1)
        assert started.poll() is None, "it was too quick"
        os.kill(victim, signal.SIGKILL)
        out, told = started.communicate(timeout=100)
    assert started.returncode == 0, told
    assert out == alone.stdout


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_a_killed_worker_costs_its_task_and_no_other(project: Path, tmp_path: Path) -> None:
    traces = tmp_path / "runs.jsonl"
    write_corpus(traces, Plan(trials=8, steps=60, step_bytes=900), tasks=10)
    alone = json.loads(run(project, "report", str(traces), "--json", "--no-cache").stdout)
    started = subprocess.Popen(
        command("report", str(traces), "--json", "--jobs", "2", "--no-cache"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(project)},
    )
    deadline = time.monotonic() + 60
    while len(_group(started.pid)) < 5 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)  # the last ones are the workers; each has its task by now
    os.kill(max(_group(started.pid)), signal.SIGKILL)
    out, told = started.communicate(timeout=100)
    assert started.returncode == 0, told
    findings = [{t["task_id"]: t["finding"] for t in one["tasks"]} for one in (alone, json.loads(out))]
    lost = [task for task, finding in findings[0].items() if findings[1][task] != finding]
    assert len(findings[1]) == 10
    assert len(lost) == 1
    assert f'task "{lost[0]}" was not analysed: its worker ended (SIGKILL' in told


def test_a_task_that_takes_too_long_is_named_and_the_rest_is_shown(project: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    write_corpus(path, Plan(trials=2, steps=8, step_bytes=900), tasks=3)
    log = json.loads(path.read_text(encoding="utf-8"))
    long = tmp_path / "long.json"
    write_corpus(long, Plan(trials=24, steps=90, step_bytes=900), tasks=1)
    log["simulations"] += [{**one, "task_id": "long"} for one in json.loads(long.read_text())["simulations"]]
    path.write_text(json.dumps(log), encoding="utf-8")
    done = run(project, "report", str(path), "--json", "--timeout-per-task", "0.6")
    assert done.returncode == 0, done.stderr
    assert 'task "long" was not analysed: it took longer than 0.6 s' in done.stderr
    report = json.loads(done.stdout)
    assert {one["task_id"] for one in report["tasks"]} == {"0", "1", "2", "long"}
    lost = [one["task_id"] for one in report["tasks"] if one["finding"]["text"].startswith("not analysed")]
    assert lost == ["long"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--jobs", "2", "--scheduler", "tcp://x:1"], "--jobs and --scheduler exclude each other"),
        (["--jobs", "0"], "'0' is neither auto nor a number from 1 to 999"),
        (["--timeout-per-task", "0"], "0"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    project: Path, traces: Path, options: list[str], message: str
) -> None:
    done = run(project, "report", str(traces), *options)
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_an_interrupt_leaves_no_worker_and_no_half_file(project: Path, tmp_path: Path) -> None:
    traces, target = tmp_path / "runs.jsonl", tmp_path / "report.json"
    write_corpus(traces, Plan(trials=8, steps=60, step_bytes=900), tasks=40)
    target.write_text("before", encoding="utf-8")
    started = subprocess.Popen(
        command("report", str(traces), "--jobs", "2", "--to", str(target)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A job of a shell in the background would ignore interrupts, and hand that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        env={**os.environ, "PYTHONPATH": str(project)},
    )
    deadline = time.monotonic() + 60
    while len(_group(started.pid)) < 4 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(_group(started.pid)) >= 4, "program, fork server, two workers"
    os.killpg(started.pid, signal.SIGINT)
    _, told = started.communicate(timeout=60)
    assert started.returncode == 130
    assert "interrupted: align" in told
    assert "Traceback" not in told
    assert target.read_text(encoding="utf-8") == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.json", "runs.jsonl"]
    deadline = time.monotonic() + 10
    while _group(started.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _group(started.pid)


def _group(leader: int) -> list[int]:
    """Living processes of a process group."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[2] == str(leader) and fields[0] != "Z":
            found.append(int(status.parent.name))
    return found
