"""Runs of a plan: what is told to the commands, what comes out, and what becomes of every fault."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.running.agents import essence, run, write_plan
from trajdiff.errors import UsageError
from trajdiff.importers import ReadOptions, load, validate
from trajdiff.model import Trial, Verdict
from trajdiff.running import RunResult, load_plan, run_plan, seed_of, slots_of
from trajdiff.running.folder import RunFolder

ORDINARY = ["good", "other"]


def trials_of(folder: Path) -> dict[str, Trial]:
    return {f"{t.task_id}/{t.trial_id}": t for t in load([str(folder)], ReadOptions()).trials}


def told(result: RunResult, task: str) -> str:
    """All that is said about the trials of a task, in one text."""
    return "\n".join(one.message for one in result.diagnostics if one.task_id == task)


def test_all_trials_are_run_from_the_same_start_and_judged(tmp_path: Path) -> None:
    result, plan = run(tmp_path, ORDINARY, trials=3)
    assert (result.expected, result.completed, result.counted, result.ran) == (6, 6, 6, 6)
    assert result.clean
    assert result.diagnostics == ()
    found = trials_of(tmp_path / "out")
    assert sorted(found) == sorted(f"{task}/{n}" for task in ORDINARY for n in range(3))
    for name, trial in found.items():
        task, _, number = name.partition("/")
        seed = seed_of(plan.seed, task, int(number))
        assert trial.provenance.seed == seed
        assert trial.verdict is (Verdict.PASS if seed % 2 else Verdict.FAIL)
        assert [step.result.text for step in trial.steps if step.result] == [str(seed % 6)]
    assert len({trial.provenance.fixture_version for trial in found.values()}) == 1
    assert all(not file.problems for file in validate([str(tmp_path / "out" / "good")]))
    assert {v: n for v, n in result.verdicts.items() if n} == {
        v: n for v in Verdict if (n := sum(t.verdict is v for t in found.values()))
    }


def test_seeds_depend_on_plan_task_and_number_only() -> None:
    seeds = {(s, t, n): seed_of(s, t, n) for s in (0, 1) for t in ("a", "b") for n in range(50)}
    assert len(set(seeds.values())) == len(seeds)
    assert all(0 <= seed < 2**31 for seed in seeds.values())


FAULTS: list[tuple[str, Verdict | None, str, str]] = [
    ("hang", None, "time_limit", "hung: no end after 1 s"),
    ("crash", None, "agent_error", "crashed: exit code 4: out of ideas"),
    ("killed", Verdict.INFRA, "infra_error", "ended by SIGKILL"),
    ("half", None, "agent_done", "a record cannot be read: the last line is cut"),
    ("stranger", Verdict.INFRA, "infra_error", "an agent wrote to the wrong trial"),
    ("chatty", None, "agent_done", "bytes more than are kept"),
    ("flood", None, "max_steps", "the trace grew beyond 100000 bytes"),
    ("silent", None, "unknown", "wrote no trace"),
    ("noreset", Verdict.INFRA, "infra_error", "the reset failed: exit code 7: the database is gone"),
    ("nograde", Verdict.UNSCORED, "agent_done", "the grader failed: exit code 9: the judge is out"),
    ("oddgrade", Verdict.UNSCORED, "agent_done", 'unknown verdict "maybe"'),
]


def test_every_fault_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    """None as a verdict means: as the grader said, who looks at the end and not at how it came about."""
    names = [name for name, *_ in FAULTS]
    result, plan = run(
        tmp_path, ["good", *names], trials=1, time_limit=1, trace_limit=100_000, output_limit=1000
    )
    assert (result.expected, result.completed) == (12, 12)
    assert not result.clean
    found = trials_of(tmp_path / "out")
    assert len(found) == 12
    assert told(result, "good") == ""
    for name, verdict, reason, text in FAULTS:
        trial = found[f"{name}/0"]
        graded = Verdict.PASS if seed_of(plan.seed, name, 0) % 2 else Verdict.FAIL
        assert trial.verdict is (verdict or graded), name
        assert trial.termination.reason == reason, name
        assert text in told(result, name), name
    kept = [
        len([s for s in found[f"{name}/0"].steps if s.is_call]) for name in ("hang", "crash", "killed", "half")
    ]
    assert kept == [1, 1, 1, 1], "what happened before the end is kept"
    assert result.counted == 10
    assert result.verdicts[Verdict.INFRA] == 3


def test_a_reset_that_fails_is_never_a_pass(tmp_path: Path) -> None:
    result, _ = run(tmp_path, ["noreset"], trials=4)
    assert result.verdicts[Verdict.INFRA] == 4
    assert all(not trial.comparable for trial in trials_of(tmp_path / "out").values())


def test_a_changed_start_state_is_told_as_leaked(tmp_path: Path) -> None:
    plan = load_plan(write_plan(tmp_path, ["leak", "good"], trials=3))
    result = run_plan(plan, os.environ, jobs=1)
    (leak,) = [one for one in result.diagnostics if one.slug == "leaked_state" and one.task_id == "leak"]
    assert "2 of 3 trials" in leak.message
    assert "trials 1, 2" in leak.details[0]
    assert not result.clean
    states = [trial.provenance.fixture_version for trial in trials_of(tmp_path / "out").values()]
    assert len(set(states)) > 1


def test_a_fingerprint_command_serves_as_well(tmp_path: Path) -> None:
    show = [sys.executable, "-S", "-c", "print(open('stock.txt').read())"]
    (tmp_path / "good").mkdir()
    result, _ = run(tmp_path / "good", ["good"], state=None, fingerprint=show)
    assert result.checked
    assert result.clean
    fails = [sys.executable, "-S", "-c", "raise SystemExit(3)"]
    result, _ = run(tmp_path / "bad", ["good"], state=None, fingerprint=fails)
    assert result.verdicts[Verdict.INFRA] == 2
    result, _ = run(tmp_path / "none", ["good"], state=["nothing.db"])
    assert "no file nothing.db after the reset" in told(result, "good")


def test_an_agent_that_writes_to_a_finished_trial_changes_nothing(tmp_path: Path) -> None:
    plan = load_plan(write_plan(tmp_path, ["good", "vandal"], trials=2))
    result = run_plan(plan, os.environ, jobs=1)
    assert [one.message for one in result.diagnostics if "was put back" in one.message]
    found = trials_of(tmp_path / "out")
    assert len(found) == 4
    corpus = load([str(tmp_path / "out")])
    assert [one.slug for one in corpus.diagnostics if one.severity == "warning"] == []


def test_what_an_agent_leaves_running_is_ended(tmp_path: Path) -> None:
    result, _ = run(tmp_path, ["background"], trials=1)
    assert result.completed == 1
    pid = int((tmp_path / "out" / ".run" / "background" / "0" / "1" / "child").read_text(encoding="utf-8"))
    until = time.monotonic() + 5
    while time.monotonic() < until and _runs(pid):
        time.sleep(0.02)
    assert not _runs(pid)


def _runs(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return False
    return stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"


def test_looks_are_fixed_beforehand_and_tasks_stay_equal(tmp_path: Path) -> None:
    plan = load_plan(write_plan(tmp_path, ORDINARY, trials=4, looks=[2, 4]))
    first = run_plan(plan, os.environ, until=2)
    assert (first.expected, first.ran) == (4, 4)
    with pytest.raises(UsageError, match="3 trials are no look of the plan"):
        run_plan(plan, os.environ, until=3)
    second = run_plan(plan, os.environ)
    assert (second.expected, second.ran, second.completed) == (8, 4, 8)
    task = load([str(tmp_path / "out")]).tasks[0]
    assert task.expected_n == 4


def test_a_report_knows_the_planned_trials_that_are_missing(tmp_path: Path) -> None:
    plan = load_plan(write_plan(tmp_path, ORDINARY, trials=4, looks=[1, 4]))
    run_plan(plan, os.environ, until=1)
    for task in load([str(tmp_path / "out")]).tasks:
        assert (task.expected_n, len(task.trials)) == (4, 1)


@pytest.mark.parametrize("signal_how", ["stop"])
def test_an_interrupt_ends_the_running_trials_and_keeps_the_finished_ones(
    tmp_path: Path, signal_how: str
) -> None:
    plan = load_plan(write_plan(tmp_path, ["slow"], trials=6))

    def progress(done: int, total: int) -> None:
        if done >= 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, os.environ, jobs=1, progress=progress)
    done = len(list((tmp_path / "out" / "slow").glob("*.jsonl")))
    assert 2 <= done < 6
    again = run_plan(plan, os.environ, jobs=2)
    assert (again.ran, again.completed) == (6 - done, 6)


def test_the_same_plan_gives_the_same_trials_whatever_the_jobs(tmp_path: Path) -> None:
    one = run_plan(load_plan(write_plan(tmp_path / "one", ORDINARY, trials=3)), os.environ, jobs=1)
    two = run_plan(load_plan(write_plan(tmp_path / "two", ORDINARY, trials=3)), os.environ, jobs=4)
    assert one.clean
    assert two.clean
    assert essence(trials_of(tmp_path / "one" / "out")) == essence(trials_of(tmp_path / "two" / "out"))


def test_one_folder_takes_one_run_and_one_plan(tmp_path: Path) -> None:
    plan = load_plan(write_plan(tmp_path, ["good"], trials=1))
    with RunFolder(tmp_path / "out"), pytest.raises(UsageError, match="another run is at work"):
        run_plan(plan, os.environ)
    run_plan(plan, os.environ)
    for change, word in (({"seed": 6}, "seed"), ({"trials": 2}, "trials"), ({"time_limit": 2}, "time_limit")):
        write_plan(tmp_path, ["good"], **{"trials": 1, **change})
        with pytest.raises(UsageError, match=f"another plan; different: {word}"):
            run_plan(load_plan(tmp_path / "plan.toml"), os.environ)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("do not touch", encoding="utf-8")
    write_plan(tmp_path, ["good"], 1, out="mine")
    with pytest.raises(UsageError, match="holds files that no run made"):
        run_plan(load_plan(tmp_path / "plan.toml"), os.environ)


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("key", {"colour": 1}, "colour"),
    ("trials", {"trials": 0}, '"trials" is too small'),
    ("none", {"tasks": []}, "no tasks"),
    ("twice", {"tasks": ["a", "a"]}, "named twice"),
    ("looks", {"trials": 4, "looks": [4, 2]}, "looks must rise"),
    ("last look", {"trials": 4, "looks": [2, 3]}, "end in the number of trials"),
    ("program", {"agent": "no-such-program --x"}, 'no program "no-such-program"'),
    ("quotes", {"agent": "echo 'open"}, "No closing quotation"),
    ("both", {"fingerprint": "echo 1"}, "exclude each other"),
    ("hard", {"design": {"kind": "hard", "hard": ["nope"]}}, 'no task "nope"'),
    ("turn", {"design": {"kind": "rotation", "turns": 2, "turn": 3}}, "turn 3 of 2"),
    ("kind", {"design": {"kind": "best"}}, "not one of the known values"),
]


@pytest.mark.parametrize(("change", "text"), [(c, t) for _, c, t in BAD], ids=[name for name, *_ in BAD])
def test_a_bad_plan_is_refused_with_its_place(tmp_path: Path, change: dict[str, Any], text: str) -> None:
    said = {"tasks": ["a"], "trials": 1, **change}
    file = write_plan(tmp_path, said.pop("tasks"), **said)
    with pytest.raises(UsageError, match=r"plan\.toml") as found:
        load_plan(file)
    assert text in str(found.value)


def test_files_that_are_no_plans(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_plan(tmp_path / "none.toml")
    (tmp_path / "odd.toml").write_text("trials = ", encoding="utf-8")
    with pytest.raises(UsageError, match="no TOML"):
        load_plan(tmp_path / "odd.toml")


def tasks_with(tmp_path: Path, count: int, **design: Any) -> list[str]:
    file = write_plan(tmp_path, [f"t-{n}" for n in range(count)], design=design)
    return [task.id for task in load_plan(file).tasks]


def test_a_rotation_runs_every_task_once_in_all_turns(tmp_path: Path) -> None:
    turns = [tasks_with(tmp_path, 11, kind="rotation", turns=3, turn=turn) for turn in (1, 2, 3)]
    assert sorted(len(turn) for turn in turns) == [3, 4, 4]
    assert sorted(name for turn in turns for name in turn) == sorted(f"t-{n}" for n in range(11))


def test_hard_tasks_all_run_and_the_rest_is_drawn_by_weight(tmp_path: Path) -> None:
    assert tasks_with(tmp_path, 6, kind="hard", hard=["t-4"], rest=0) == ["t-4"]
    assert len(tasks_with(tmp_path, 6, kind="hard", hard=["t-4"], rest=2)) == 3
    lines = [f'[[task]]\nid = "w-{n}"\nweight = {9 if n == 3 else 0.1 if n else 0}\n' for n in range(5)]
    drawn = dict.fromkeys(range(5), 0)
    for seed in range(60):
        file = write_plan(tmp_path, [], seed=seed, design={"kind": "hard", "rest": 1})
        file.write_text(file.read_text(encoding="utf-8") + "\n".join(lines), encoding="utf-8")
        (task,) = load_plan(file).tasks
        drawn[int(task.id.removeprefix("w-"))] += 1
    assert drawn[0] == 0, "a weight of 0 is never drawn"
    assert drawn[3] > 50, "9 of 9.3 parts of the weight"
    assert sum(drawn.values()) == 60


def test_hard_tasks_may_come_from_an_earlier_run(tmp_path: Path) -> None:
    rows = [("t-1", "pass"), ("t-1", "fail"), ("t-2", "pass"), ("t-3", "infra")]
    lines = [
        json.dumps({"schema": "trajdiff/1", "task_id": t, "trial_id": str(n), "verdict": v, "steps": []})
        for n, (t, v) in enumerate(rows)
    ]
    tmp_path.joinpath("old.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert tasks_with(tmp_path, 5, kind="hard", hard_from="old.jsonl") == ["t-1", "t-3"]


def test_slots_go_number_by_number_over_all_tasks(tmp_path: Path) -> None:
    plan = load_plan(write_plan(tmp_path, ["a/b", "c"], trials=2))
    slots = slots_of(plan)
    assert [(slot.task.id, slot.number) for slot in slots] == [("a/b", 0), ("c", 0), ("a/b", 1), ("c", 1)]
    assert slots[0].key == "a%2Fb/0"


def test_odd_task_ids_get_folders_of_their_own(tmp_path: Path) -> None:
    ids = ["a/b", "a%2Fb", "..", ".hidden", "x" * 300, "x" * 299 + "y", "日本", "a b"]
    result, _ = run(tmp_path, ids, trials=1)
    assert result.clean
    assert {trial.task_id for trial in load([str(tmp_path / "out")]).trials} == set(ids)
