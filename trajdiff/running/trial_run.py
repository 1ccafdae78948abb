"""One trial from reset to verdict."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from trajdiff.frozen import replace
from trajdiff.importers.verdicts import infra
from trajdiff.model import LIMITS, Judgement, Termination, TerminationReason, Trial, Verdict
from trajdiff.record import Setup, write_pins
from trajdiff.running.commands import Ended, run_command
from trajdiff.running.grading import Graded, graded_by_command, graded_by_file
from trajdiff.running.plan import Plan
from trajdiff.running.reading import empty_trial, read_trace, settled
from trajdiff.running.slots import Slot
from trajdiff.running.start_state import fingerprint_files, fingerprint_text

#: Signals that come from outside the program; the others are how a program crashes.
_FROM_OUTSIDE = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT")


class InterruptedTrialError(Exception):
    """The run was interrupted while this trial ran; the trial will be run again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialRun:
    """A finished trial, the fingerprint of its start state and everything the user must be told about it."""

    slot: Slot
    trial: Trial
    state: str | None
    problems: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class _Bench:
    """What the commands of one trial share: its plan, slot, folder, and the word to stop."""

    plan: Plan
    slot: Slot
    folder: Path
    environment: Mapping[str, str]
    stop: threading.Event

    @property
    def trace(self) -> Path:
        return self.folder / "trace.jsonl"

    @property
    def work(self) -> Path:
        return self.folder / "work"

    def run(self, words: Sequence[str], name: str, limit: float, *, agent: bool = False) -> Ended:
        ended = run_command(
            words,
            folder=self.plan.folder,
            environment=self.environment,
            output=self.folder / f"{name}.out",
            limit=limit,
            output_limit=self.plan.output_limit,
            stop=self.stop,
            watch=self._watch if agent else None,
            pid_file=self.folder / "pid",
        )
        if ended.stopped == "interrupted":
            raise InterruptedTrialError
        return ended

    def _watch(self) -> str | None:
        try:
            size = self.trace.stat().st_size
        except OSError:
            return None
        return "trace" if size > self.plan.trace_limit else None


def run_trial(
    plan: Plan, slot: Slot, folder: Path, environment: Mapping[str, str], stop: threading.Event
) -> TrialRun:
    """Run one trial in a folder of its own. Raises ``InterruptedTrialError``; all else becomes its outcome."""
    began = datetime.now(UTC)
    bench = _bench(plan, slot, folder.resolve(), environment, stop)
    state: str | None = None
    problem = _reset(bench)
    if problem is None:
        state, problem = _start_state(bench)
    if problem is not None:
        problems: tuple[str, ...] = (problem,)
        trial = empty_trial(slot, problem, TerminationReason.INFRA_ERROR, Verdict.INFRA)
        trial = replace(trial, judgement=infra(None, "the reset failed"))
    else:
        trial, problems = _attempt(bench)
    ended = datetime.now(UTC)
    trial = replace(
        settled(trial, slot, suite=plan.suite, state=state),
        started_at=trial.started_at or began.isoformat(timespec="microseconds"),
        ended_at=trial.ended_at or ended.isoformat(timespec="microseconds"),
        duration_s=trial.duration_s if trial.duration_s is not None else (ended - began).total_seconds(),
    )
    if not plan.keep_work:
        shutil.rmtree(bench.work, ignore_errors=True)
    return TrialRun(slot=slot, trial=trial, state=state, problems=problems)


def _bench(
    plan: Plan, slot: Slot, folder: Path, environment: Mapping[str, str], stop: threading.Event
) -> _Bench:
    work = folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    pins = None
    if slot.arm is not None:
        pins = folder / "pins.json"
        write_pins(pins, slot.arm.pins, arm=slot.arm.name)
    setup = Setup(
        task=slot.task.id,
        trial=slot.trial_id,
        seed=slot.seed,
        trace=str(folder / "trace.jsonl"),
        pins=None if pins is None else str(pins),
        step_limit=plan.step_limit,
        work=str(work),
    )
    told = {**environment, **plan.environment, **slot.task.environment, **setup.variables()}
    return _Bench(plan=plan, slot=slot, folder=folder, environment=told, stop=stop)


def _reset(bench: _Bench) -> str | None:
    """Run the reset; what is wrong with it, or None."""
    if not bench.plan.reset:
        return None
    ended = bench.run(bench.plan.reset, "reset", bench.plan.reset_limit)
    return None if ended.ok else f"the reset failed: {ended.words(bench.plan.reset_limit)}"


def _start_state(bench: _Bench) -> tuple[str | None, str | None]:
    """(fingerprint of the start state, what is wrong)."""
    plan = bench.plan
    if plan.state:
        return fingerprint_files(plan.state, bench.work)
    if plan.fingerprint:
        ended = bench.run(plan.fingerprint, "fingerprint", plan.reset_limit)
        if not ended.ok:
            return None, f"the fingerprint command failed: {ended.words(plan.reset_limit)}"
        return fingerprint_text(ended.output), None
    return None, None


def _attempt(bench: _Bench) -> tuple[Trial, tuple[str, ...]]:
    """Agent and grader; the start is known to be right."""
    plan, slot = bench.plan, bench.slot
    ended = bench.run(plan.agent, "agent", plan.time_limit, agent=True)
    found, problems = read_trace(bench.trace, slot)
    if ended.cut:
        problems += (f"the agent printed {ended.cut} bytes more than are kept",)
    if ended.problem is not None or ended.killed in _FROM_OUTSIDE:
        what = f"the agent was not judged: {ended.words(plan.time_limit)}"
        trial = found or empty_trial(slot, what, TerminationReason.INFRA_ERROR, Verdict.INFRA)
        reason = Termination(reason=TerminationReason.INFRA_ERROR, raw=what)
        trial = replace(trial, judgement=infra(None, what), termination=reason, error=what)
        return trial, (*problems, what)
    if found is None and any("wrong trial" in problem for problem in problems):
        trial = empty_trial(slot, problems[0], TerminationReason.INFRA_ERROR, Verdict.INFRA)
        return replace(trial, judgement=infra(None, "the trace is of another trial")), problems
    trial = found or empty_trial(slot, None, TerminationReason.UNKNOWN, Verdict.UNSCORED)
    trial, said = _ending(trial, ended, plan)
    graded = _grade(bench)
    if graded is not None:
        judgement = graded.judgement
        trial = replace(trial, judgement=judgement, reward=graded.reward, sub_scores=graded.sub_scores)
        said += (graded.problem,) if graded.problem is not None else ()
    elif trial.judgement.rule == "recorded error" and trial.termination.reason in LIMITS:
        # The recorded end came before the runner's: a limit is no error of the infrastructure.
        trial = replace(trial, judgement=Judgement(state=Verdict.UNSCORED, rule="no reward"))
    return trial, (*problems, *said)


def _ending(trial: Trial, ended: Ended, plan: Plan) -> tuple[Trial, tuple[str, ...]]:
    """The trial with the end that the runner saw, where that says more than the trace."""
    words = ended.words(plan.time_limit)
    if ended.stopped == "time":
        reason, what = TerminationReason.TIME_LIMIT, f"the agent hung: {words}"
    elif ended.stopped == "trace":
        reason = TerminationReason.MAX_STEPS
        what = f"the trace grew beyond {plan.trace_limit} bytes, and the agent was stopped"
    elif not ended.ok:
        reason, what = TerminationReason.AGENT_ERROR, f"the agent crashed: {words}"
    else:
        return trial, ()
    trial = replace(trial, termination=Termination(reason=reason, raw=what, rule="what the runner saw"))
    return (trial if reason in LIMITS else replace(trial, error=trial.error or what)), (what,)


def _grade(bench: _Bench) -> Graded | None:
    """The verdict of the grader or of the verdict file; None where the plan names neither."""
    plan = bench.plan
    if plan.grade:
        ended = bench.run(plan.grade, "grade", plan.grade_limit)
        if plan.verdict_file is None or not ended.ok:
            return graded_by_command(ended, plan.grade_limit)
    if plan.verdict_file is not None:
        return graded_by_file(bench.work / plan.verdict_file)
    return None
