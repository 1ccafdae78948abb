"""The recorder: what it writes is read back as the trial that happened, and a crash keeps what there was."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from trajdiff import record
from trajdiff.importers import load, validate
from trajdiff.model import StepKind, Trial, Verdict
from trajdiff.record.setup import Setup


@record.tool
def add(a: int, b: int = 1, *rest: int, scale: int = 1) -> int:
    return (a + b + sum(rest)) * scale


@record.tool(name="look_up", effect="read")
async def look(key: str) -> dict[str, Any]:
    await asyncio.sleep(0.01)
    return {"key": key, "found": True}


@record.tool(effect="write")
def refuse(reason: str) -> None:
    raise PermissionError(reason)


@record.tool
def odd() -> Any:
    return {"text": "looks like a result", "is_error": True}


class Till:
    def __init__(self, start: int) -> None:
        self.sum = start

    @record.tool
    def pay(self, amount: int, **more: Any) -> int:
        self.sum += amount
        return self.sum


def only(path: Path) -> Trial:
    (trial,) = load([str(path)]).trials
    return trial


def calls(trial: Trial) -> list[tuple[str | None, Any, str | None]]:
    return [
        (
            step.name,
            step.arguments.parsed if step.arguments else None,
            step.result.text if step.result else None,
        )
        for step in trial.steps
        if step.is_call
    ]


def test_a_trial_is_read_back_as_it_happened(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    till = Till(5)
    with record.trial("buy a/b", 3, path=file, seed=9, model="m-1", prompt="be kind", title="Buy") as trial:
        assert trial.user("Hello") == "Hello"
        assert add(1, 2, 3, scale=2) == 12
        assert till.pay(10, note="x") == 15
        with pytest.raises(PermissionError):
            refuse("no")
        assert odd()["is_error"] is True
        trial.agent("Done")
        trial.usage(input=10, output=2, cost_usd=0.5)
        trial.usage(input=1)
        trial.verdict(reward=1.0, style=0.5)
    read = only(file)
    assert (read.task_id, read.trial_id, read.verdict) == ("buy a/b", "3", Verdict.PASS)
    assert read.termination.reason == "agent_done"
    assert calls(read) == [
        ("add", {"a": 1, "b": 2, "rest": [3], "scale": 2}, "12"),
        ("pay", {"amount": 10, "note": "x"}, "15"),
        ("refuse", {"reason": "no"}, "PermissionError: no"),
        ("odd", {}, '{"text": "looks like a result", "is_error": true}'),
    ]
    errors = [step.failed for step in read.steps if step.is_call]
    assert errors == [False, False, True, False]
    assert [step.text for step in read.steps if step.kind is StepKind.MESSAGE] == ["Hello", "Done"]
    assert (read.usage.input, read.usage.output, read.cost_usd) == (11, 2, 0.5)
    assert read.sub_scores == {"style": 0.5}
    made = read.provenance
    assert (made.model, made.seed) == ("m-1", 9)
    assert made.prompt_version
    assert made.tool_version
    assert (made.environment_version or "").startswith("python-")
    effects = {step.name: step.effect_hint for step in read.steps if step.is_call}
    assert effects["refuse"] == "write"


def test_every_line_is_valid_and_each_step_points_to_its_own(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    with record.trial("t", 0, path=file) as trial:
        trial.user("one")
        add(1)
        trial.verdict("fail")
    (checked,) = validate([str(file)])
    assert (checked.trials, checked.problems) == (1, ())
    lines = file.read_text(encoding="utf-8").splitlines()
    for step in only(file).steps:
        if step.kind is StepKind.TERMINATION:
            continue
        assert step.source.line is not None
        said = json.loads(lines[step.source.line - 1])
        assert said["event"] == "step"
        assert said["step"].get("text") == step.text
        assert said["step"].get("name") == step.name
        if step.result_source is not None and step.result_source.line is not None:
            assert json.loads(lines[step.result_source.line - 1])["event"] == "result"


def test_values_that_json_lacks_are_kept_as_text(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    ring: list[Any] = []
    ring.append(ring)
    with record.trial("t", 0, path=file) as trial:
        trial.call("a", {"x": float("nan"), "y": b"\xff", "z": {3, 1}}, lambda _: ring)
        trial.user("half a pair \ud83d")
        trial.call("b", {}, lambda _: None)
        trial.call("c", {"z": {"b", "a"}}, lambda _: object())
    read = only(file)
    assert calls(read)[2][1] == {"z": ["a", "b"]}
    assert calls(read)[0][1] == {"x": "NaN", "y": "b'\\xff'", "z": [1, 3]}
    assert calls(read)[1][2] == "null"
    assert read.steps[1].text == "half a pair \ud83d"


def test_without_a_path_nothing_is_written_and_tools_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert add(2) == 3
    with record.trial("t", 0) as trial:
        assert add(2) == 3
        assert trial.agent("said") == "said"
    assert list(tmp_path.iterdir()) == []


def test_async_calls_at_the_same_time_are_one_group(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"

    async def agent() -> None:
        async with record.trial("t", 0, path=file):
            await asyncio.gather(look("a"), look(key="b"))
            await look("c")

    asyncio.run(agent())
    read = only(file)
    steps = [step for step in read.steps if step.is_call]
    assert [step.name for step in steps] == ["look_up"] * 3
    assert steps[0].parallel_group == steps[1].parallel_group is not None
    assert steps[2].parallel_group is None
    assert all(step.result is not None and step.effect_hint == "read" for step in steps)


def test_threads_share_a_trial_and_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    with record.trial("t", 0, path=file):
        workers = [threading.Thread(target=lambda n=n: [add(n, i) for i in range(50)]) for n in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert all(json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
    found = [(a["a"], a["b"], result) for _, a, result in calls(only(file))]
    assert sorted(found) == sorted((n, i, str(n + i)) for n in range(8) for i in range(50))


def test_two_trials_at_once_stay_apart(tmp_path: Path) -> None:
    file = tmp_path / "both.jsonl"

    async def one(number: int) -> None:
        async with record.trial("t", number, path=file):
            for _ in range(5):
                await look(str(number))

    async def both() -> None:
        await asyncio.gather(one(0), one(1))

    asyncio.run(both())
    for trial in load([str(file)]).trials:
        assert [arguments["key"] for _, arguments, _ in calls(trial)] == [trial.trial_id] * 5


AGENT = """
import os, sys, time
from trajdiff import record

@record.tool
def step(n):
    if n == 2 and sys.argv[1] == "hang":
        print("ready", flush=True); time.sleep(60)
    return n

with record.trial("t", 0, path=sys.argv[2]) as trial:
    for n in range(3):
        step(n)
    trial.verdict("pass")
    if sys.argv[1] == "exit":
        os._exit(3)
    if sys.argv[1] == "raise":
        raise RuntimeError("broken")
"""


def agent(tmp_path: Path, project: Path, how: str) -> tuple[subprocess.Popen[str], Path]:
    (tmp_path / "agent.py").write_text(AGENT, encoding="utf-8")
    file = tmp_path / "t.jsonl"
    command = [sys.executable, str(tmp_path / "agent.py"), how, str(file)]
    environment = {**os.environ, "PYTHONPATH": str(project)}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ), file


def test_a_killed_agent_leaves_a_cut_trial_with_all_its_steps(tmp_path: Path, project: Path) -> None:
    process, file = agent(tmp_path, project, "hang")
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.kill()
    process.communicate()
    corpus = load([str(file)])
    (read,) = corpus.trials
    assert [result for _, _, result in calls(read)] == ["0", "1", None]
    assert (read.verdict, read.termination.reason) == (Verdict.UNSCORED, "incomplete")
    assert "cut_trial" in [one.slug for one in corpus.diagnostics]


@pytest.mark.parametrize(
    ("how", "reason", "verdict"),
    [("exit", "incomplete", Verdict.PASS), ("raise", "agent_error", Verdict.PASS)],
)
def test_a_crash_is_an_end_and_the_verdict_stays(
    tmp_path: Path, project: Path, how: str, reason: str, verdict: Verdict
) -> None:
    process, file = agent(tmp_path, project, how)
    process.communicate()
    read = only(file)
    assert (read.termination.reason, read.verdict, len(calls(read))) == (reason, verdict, 3)


def test_half_a_line_at_the_end_costs_that_line_only(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    with record.trial("t", 0, path=file):
        add(1)
        add(2)
    whole = file.read_bytes()
    lines = whole.split(b"\n")
    file.write_bytes(b"\n".join(lines[:4]) + b"\n" + lines[4][:20])
    corpus = load([str(file)])
    (read,) = corpus.trials
    assert [result for _, _, result in calls(read)] == ["2", None]
    slugs = {one.slug for one in corpus.diagnostics}
    assert {"unreadable_record", "cut_trial"} <= slugs


def test_lines_that_belong_to_no_step_are_counted_and_not_read(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    with record.trial("t", 0, path=file):
        add(1)
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    head = {key: lines[0][key] for key in ("schema", "task_id", "trial_id", "recording")}
    odd = [
        {**head, "event": "result", "n": 7, "result": "of no call"},
        {**head, "event": "step", "n": 0, "step": {"text": "a number twice"}},
        {**head, "event": "dance"},
    ]
    late = {**head, "event": "step", "n": 9, "step": {"text": "after the end"}}
    told = [*lines[:-1], *odd, lines[-1], late]
    file.write_text("".join(json.dumps(line) + "\n" for line in told), encoding="utf-8")
    corpus = load([str(file)])
    (read,) = corpus.trials
    assert calls(read) == [("add", {"a": 1}, "2")]
    (stray,) = [one.message for one in corpus.diagnostics if one.slug == "stray_event"]
    assert "4 lines do not belong to its recording" in stray


def test_the_step_limit_ends_the_trial_and_no_handler_swallows_it(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    made = 0
    with record.trial("t", 0, path=file, setup=Setup(step_limit=3)):
        for _ in range(10):
            try:
                add(1)
                made += 1
            except Exception:
                made += 100
    read = only(file)
    assert (made, len(calls(read)), read.termination.reason) == (3, 3, "max_steps")


def test_a_full_disk_is_told_at_the_end_and_does_not_stop_the_agent(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no device that is always full")
    (tmp_path / "t.jsonl").symlink_to(full)
    done = []
    with (
        pytest.raises(record.RecordError, match="could not be written"),
        record.trial("t", 0, path=tmp_path / "t.jsonl"),
    ):
        done.append(add(1))
    assert done == [2]


def test_the_runner_tells_task_trial_seed_and_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = Setup(task="t-1", trial="4", seed=77, trace=str(tmp_path / "x.jsonl"), step_limit=9, work="w")
    for name, value in told.variables().items():
        monkeypatch.setenv(name, value)
    assert record.setup_from() == told
    with record.trial() as trial:
        assert (trial.task_id, trial.trial_id, trial.seed, trial.work) == ("t-1", "4", 77, "w")
    assert only(tmp_path / "x.jsonl").provenance.seed == 77
    monkeypatch.setenv("TRAJDIFF_SEED", "many")
    with pytest.raises(record.RecordError, match="TRAJDIFF_SEED"):
        record.trial()


def test_what_cannot_be_recorded_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(record.RecordError, match="colour"),
        record.trial("t", 0, path=tmp_path / "a", colour="red"),
    ):
        pass
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    with pytest.raises(record.RecordError, match="cannot be written"), record.trial("t", 0, path=blocked / "x"):
        pass
    trial = record.trial("t", 0, path=tmp_path / "b")
    with pytest.raises(record.RecordError, match="not open"):
        trial.user("too early")
    with trial:
        pass
    with pytest.raises(record.RecordError, match="not open"):
        trial.user("too late")


def test_the_recorder_imports_the_standard_library_only(project: Path) -> None:
    program = """
import sys
before = set(sys.modules)
import trajdiff.record
new = {name.split(".")[0] for name in set(sys.modules) - before}
print(sorted(new - set(sys.stdlib_module_names) - {"trajdiff"}))
own = [name for name in sys.modules if name.startswith("trajdiff.")]
print([name for name in own if not name.startswith("trajdiff.record")])
"""
    environment = {**os.environ, "PYTHONPATH": str(project)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "[]"]


def test_a_step_costs_little(tmp_path: Path) -> None:
    with record.trial("t", 0, path=tmp_path / "t.jsonl"):
        began = time.perf_counter()
        for n in range(1000):
            add(n)
        taken = time.perf_counter() - began
    assert taken < 2.0, "a recorded call should cost well under a millisecond"
