"""Plans with small agents that misbehave in known ways; none of them needs the package."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trajdiff.model import Trial
from trajdiff.running import Plan, RunResult, load_plan, run_plan

#: The behaviour is the task's id; it writes its trace by hand, as an agent in another language would.
AGENT = """
import json, os, signal, sys, time
task, trial, seed = os.environ["TRAJDIFF_TASK"], os.environ["TRAJDIFF_TRIAL"], int(os.environ["TRAJDIFF_SEED"])
work, trace = os.environ["TRAJDIFF_WORK"], os.environ["TRAJDIFF_TRACE"]

def record(**more):
    steps = [{"name": "roll", "arguments": {"sides": 6}, "result": seed % 6}]
    said = {"schema": "trajdiff/1", "task_id": task, "trial_id": trial, "steps": steps}
    return json.dumps({**said, "termination": "agent_done", **more}) + "\\n"

def write(text, mode="a"):
    with open(trace, mode) as file:
        file.write(text)

if task == "hang":
    write(record()); time.sleep(60)
elif task == "crash":
    write(record()); print("out of ideas", file=sys.stderr); sys.exit(4)
elif task == "killed":
    write(record()); os.kill(os.getpid(), signal.SIGKILL)
elif task == "half":
    write(record()); write(record()[:30])
elif task == "stranger":
    write(record(task_id="good", trial_id="0"))
elif task == "vandal":
    write(record())
    other = os.path.join(os.environ["OUT"], "good", "0.jsonl")
    open(other, "a").write("spoiled\\n")
elif task == "leak" :
    write(record()); open(os.path.join(os.environ["OUT"], "..", "stock.txt"), "a").write("x")
elif task == "chatty":
    write(record()); sys.stdout.write("x" * 3_000_000)
elif task == "flood":
    while True:
        write(record())
elif task == "silent":
    pass
elif task == "once" and not os.path.exists(os.path.join(os.environ["OUT"], "..", "tried")):
    open(os.path.join(os.environ["OUT"], "..", "tried"), "w").write(str(os.getpid()))
    time.sleep(60)
elif task == "gate":
    while not os.path.exists(os.path.join(os.environ["OUT"], "..", "go")):
        time.sleep(0.02)
    write(record())
elif task == "slow":
    time.sleep(0.15); write(record())
elif task == "background":
    import subprocess
    child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
    open(os.path.join(work, "..", "child"), "w").write(str(child.pid))
    write(record())
else:
    write(record())
"""
RESET = """
import os, shutil, sys
if os.environ["TRAJDIFF_TASK"] == "noreset":
    print("the database is gone"); sys.exit(7)
shutil.copyfile("stock.txt", os.path.join(os.environ["TRAJDIFF_WORK"], "stock.txt"))
"""
GRADE = """
import json, os, sys
task, seed = os.environ["TRAJDIFF_TASK"], int(os.environ["TRAJDIFF_SEED"])
if task == "nograde":
    print("the judge is out"); sys.exit(9)
if task == "oddgrade":
    print(json.dumps({"verdict": "maybe"}))
else:
    print("some words first"); print(json.dumps({"reward": 1.0 if seed % 2 else 0.0}))
"""


def write_plan(folder: Path, tasks: list[str], trials: int = 2, **more: Any) -> Path:
    """A plan with these agents; commands run without site packages, which makes them quick."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("agent.py", AGENT), ("reset.py", RESET), ("grade.py", GRADE)):
        (folder / name).write_text(text, encoding="utf-8")
    if not (folder / "stock.txt").exists():
        (folder / "stock.txt").write_text("full", encoding="utf-8")
    said: dict[str, Any] = {
        "name": "small",
        "out": "out",
        "tasks": tasks,
        "trials": trials,
        "seed": 5,
        "agent": [sys.executable, "-S", "agent.py"],
        "reset": [sys.executable, "-S", "reset.py"],
        "grade": [sys.executable, "-S", "grade.py"],
        "state": ["stock.txt"],
        "time_limit": 30,
        **more,
    }
    lines = [f"{key} = {toml(value)}" for key, value in said.items() if not isinstance(value, dict)]
    lines.append(f"environment = {{OUT = {json.dumps(str(folder / 'out'))}}}")
    for key, table in said.items():
        if isinstance(table, dict):
            lines += [f"[{key}]", *(f"{name} = {toml(value)}" for name, value in table.items())]
    file = folder / "plan.toml"
    file.write_text("\n".join(line for line in lines if not line.endswith(" = null")) + "\n", encoding="utf-8")
    return file


def toml(value: Any) -> str:
    """The value as TOML; for these types JSON is."""
    return json.dumps(value)


def run(folder: Path, tasks: list[str], trials: int = 2, **more: Any) -> tuple[RunResult, Plan]:
    """Run such a plan with two jobs."""
    plan = load_plan(write_plan(folder, tasks, trials, **more))
    return run_plan(plan, os.environ, jobs=2), plan


def essence(trials: Mapping[str, Trial] | list[Trial]) -> list[dict[str, Any]]:
    """What two runs of one plan must have in common: everything but times and places."""
    listed = list(trials.values()) if isinstance(trials, Mapping) else trials
    return [
        {
            "trial": f"{trial.task_id}/{trial.trial_id}",
            "verdict": trial.verdict,
            "termination": trial.termination.reason,
            "seed": trial.provenance.seed,
            "state": trial.provenance.fixture_version,
            "steps": [
                (s.name, s.arguments.parsed if s.arguments else None, s.result.text if s.result else None)
                for s in trial.steps
            ],
        }
        for trial in listed
    ]
