"""A worker that dies, hangs or runs out of memory costs its job; every other job has its result."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.execution import work
from trajdiff.execution.processes import Processes
from trajdiff.execution.runner import SERIAL, Lost, Runner

SQUARES = {number: number * number for number in range(6)}


def results(runner: Runner, function: Callable[[int], int]) -> dict[int, int | Lost]:
    return dict(runner.run(function, range(6)))


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("runner", [SERIAL, Processes(2)], ids=["here", "processes"])
def test_every_job_has_its_result(runner: Runner) -> None:
    assert results(runner, work.square) == SQUARES


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (work.die_at_three, "its worker ended (SIGKILL, perhaps for want of memory)"),
        (work.leave_at_three, "its worker ended (exit code 7)"),
        (work.sleep_at_three, "it took longer than 1 s"),
        (work.run_out_at_three, "the memory ran out"),
    ],
    ids=["killed", "exited", "too long", "memory"],
)
def test_a_lost_job_is_told_and_the_rest_goes_on(function: Callable[[int], int], reason: str) -> None:
    seconds = 1 if function is work.sleep_at_three else None
    found = results(Processes(2, seconds=seconds), function)
    lost = found.pop(3)
    assert isinstance(lost, Lost)
    assert lost.reason == reason
    assert found == {number: result for number, result in SQUARES.items() if number != 3}


def test_a_worker_that_ran_out_of_memory_is_replaced(tmp_path: Path) -> None:
    jobs = [str(tmp_path / name) for name in ("short", *"abcdef")]
    found = dict(Processes(1).run(work.own_process_once_short, jobs))
    lost = found.pop(0)
    assert isinstance(lost, Lost)
    starved = int((tmp_path / "short").read_text(encoding="utf-8"))
    assert len(found) == 6
    assert starved not in found.values()


def test_memory_may_run_out_here_too() -> None:
    found = results(SERIAL, work.run_out_at_three)
    assert [number for number, result in found.items() if isinstance(result, Lost)] == [3]


@pytest.mark.parametrize("runner", [SERIAL, Processes(2)], ids=["here", "processes"])
def test_what_a_job_raises_is_raised(runner: Runner) -> None:
    with pytest.raises(LookupError, match="three"):
        results(runner, work.fail_at_three)


def test_a_result_that_cannot_be_sent_is_an_error_and_no_wait() -> None:
    with pytest.raises(RuntimeError, match=r"pickle|local object"):
        results(Processes(2), work.unsendable_at_three)


def test_a_worker_that_is_killed_whenever_costs_at_most_its_job(tmp_path: Path) -> None:
    """Also while it starts, takes a job or sends a result: no lock is held that others wait for."""
    running = Processes(3).run(work.own_process, [str(tmp_path)] * 60)
    found: dict[int, int | Lost] = {}
    for number, result in running:
        found[number] = result
        if number % 5 == 0 and isinstance(result, int):
            os.kill(result, signal.SIGKILL)
    assert sorted(found) == list(range(60))
    lost = [one for one in found.values() if isinstance(one, Lost)]
    assert len(lost) <= 12
    assert all(one.reason.startswith("its worker ended (SIGKILL") for one in lost)


def test_jobs_larger_than_a_pipe_reach_their_workers() -> None:
    jobs = ["x" * 3_000_000] * 5
    assert dict(Processes(2).run(work.length, jobs)) == dict.fromkeys(range(5), 3_000_000)


def test_no_worker_is_left_when_the_caller_stops(tmp_path: Path) -> None:
    running = Processes(2).run(work.own_process, [str(tmp_path)] * 20)
    next(running)
    running.close()  # type: ignore[attr-defined]
    workers = [int(path.name) for path in tmp_path.iterdir()]
    assert len(workers) == 2
    for _ in range(50):
        if not any(map(alive, workers)):
            break
        time.sleep(0.1)
    assert not any(map(alive, workers))


def test_no_job_needs_no_worker() -> None:
    assert not list(Processes(2).run(work.square, []))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="signals are looked up in /proc")
def test_a_server_that_still_loads_is_not_interrupted() -> None:
    """Ctrl-C reaches the whole group: a server that loads modules would show where it was."""
    from multiprocessing import forkserver

    assert results(Processes(2), work.square) == SQUARES
    status = Path(f"/proc/{forkserver._forkserver._forkserver_pid}/status").read_text()  # type: ignore[attr-defined]
    blocked = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigBlk"))
    assert blocked >> (signal.SIGINT - 1) & 1
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.parametrize(("error", "shown"), [("FileNotFoundError", False), ("ValueError", True)])
def test_a_worker_that_starts_too_late_is_silent(error: str, shown: bool) -> None:
    code = f"import trajdiff.execution.worker_start; raise {error}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert (done.returncode, error.encode() in done.stderr) == (1, shown)
