"""A run that is killed, meets a full disk or a second run goes on to the same result, without a loss."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.running.agents import essence, run, write_plan
from tests.running.test_runs import _runs, trials_of

TASKS = ["slow", "good"]


def start(plan: Path, project: Path, *, limit: int | None = None) -> subprocess.Popen[str]:
    """``trajdiff run`` as a process of its own, with a limit on the size of files where one is given."""
    program = "import sys; from trajdiff.cli import main; sys.exit(main(sys.argv[1:]))"
    if limit is not None:
        program = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n" + program
    command = [sys.executable, "-c", program, "run", str(plan), "--jobs", "2", "--no-config"]
    environment = {**os.environ, "PYTHONPATH": str(project)}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )


def wait_for(condition: object, what: str) -> None:
    until = time.monotonic() + 30
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < until, what
        time.sleep(0.01)


def finished(folder: Path) -> int:
    return len(list(folder.glob("out/*/*.jsonl")))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    """The trials of a run that nothing disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    result, _ = run(folder, TASKS, trials=6)
    assert (result.expected, result.completed, result.clean) == (12, 12, True)
    return essence(trials_of(folder / "out"))


def test_kill_9_and_resume_give_what_an_undisturbed_run_gives(
    tmp_path: Path, project: Path, whole: list[dict[str, object]]
) -> None:
    folder = tmp_path / "killed"
    plan = write_plan(folder, TASKS, trials=6)
    kills = 0
    for goal in (2, 6):
        process = start(plan, project)
        wait_for(lambda goal=goal: finished(folder) >= goal, "no trial was finished")
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
        kills += process.returncode == -signal.SIGKILL
    assert kills == 2
    before = finished(folder)
    assert before < 12
    process = start(plan, project)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert out.startswith("2 tasks · trials: expected 12, completed 12,")
    assert essence(trials_of(folder / "out")) == whole
    attempts = [len(list(one.iterdir())) for one in folder.glob("out/.run/*/*") if one.is_dir()]
    assert sum(attempts) <= 12 + 2 * kills, "only what was under way when it was killed is run again"


def test_what_a_killed_run_left_running_is_ended_and_its_trial_is_run_again(
    tmp_path: Path, project: Path
) -> None:
    plan = write_plan(tmp_path, ["once"], trials=1)
    process = start(plan, project)
    tried = tmp_path / "tried"
    wait_for(lambda: tried.exists() and tried.read_text(encoding="utf-8"), "the agent did not start")
    process.kill()
    process.communicate(timeout=30)
    agent = int(tried.read_text(encoding="utf-8"))
    assert _runs(agent), "the agent outlives the run that was killed"
    process = start(plan, project)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "was interrupted and is run again" in err
    assert "what still ran of it was ended" in err
    wait_for(lambda: not _runs(agent), "the old agent still runs")
    assert len(trials_of(tmp_path / "out")) == 1


def test_a_full_disk_stops_with_a_message_and_loses_nothing(
    tmp_path: Path, project: Path, whole: list[dict[str, object]]
) -> None:
    pytest.importorskip("resource")
    folder = tmp_path / "full"
    plan = write_plan(folder, TASKS, trials=6)
    process = start(plan, project, limit=1500)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (3, "")
    assert "cannot be written" in err
    assert "finished trials are kept" in err
    assert "Traceback" not in err
    kept = finished(folder)
    assert 0 < kept < 12
    process = start(plan, project)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "completed 12" in out
    assert essence(trials_of(folder / "out")) == whole


def test_a_second_run_on_one_folder_is_refused_and_the_first_goes_on(tmp_path: Path, project: Path) -> None:
    plan = write_plan(tmp_path, ["gate"], trials=2)
    first = start(plan, project)
    wait_for(lambda: list(tmp_path.glob("out/.run/gate/*/1/pid")), "no trial was started")
    second = start(plan, project)
    _, err = second.communicate(timeout=60)
    assert second.returncode == 2
    assert "another run is at work in this folder" in err
    (tmp_path / "go").write_text("", encoding="utf-8")
    out, err = first.communicate(timeout=60)
    assert first.returncode == 0, err
    assert "completed 2" in out
    assert len(trials_of(tmp_path / "out")) == 2


def test_an_interrupt_from_the_keyboard_says_how_far_it_came(tmp_path: Path, project: Path) -> None:
    plan = write_plan(tmp_path, ["slow"], trials=8)
    process = start(plan, project)
    wait_for(lambda: finished(tmp_path) >= 1, "no trial was finished")
    # A background job may have been started deaf to interrupts; then there is nothing to test.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        process.kill()
        pytest.skip("interrupts are ignored here")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted: run" in err
    process = start(plan, project)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "completed 8" in out
