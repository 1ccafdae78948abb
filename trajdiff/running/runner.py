"""Runs the slots of a plan, several at a time, and says how far it came."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trajdiff.errors import TrajdiffError, UsageError
from trajdiff.importers.jsontext import compact
from trajdiff.importers.own_record import announcement_of, record_of
from trajdiff.model import LIMITS, Diagnostic, Severity, Task, TaskTrials, Trial, Verdict
from trajdiff.running.folder import Done, RunFolder, replace_file, writing
from trajdiff.running.plan import Plan, PlannedTask
from trajdiff.running.slots import Slot, slots_of
from trajdiff.running.start_state import leaks
from trajdiff.running.trial_run import InterruptedTrialError, TrialRun, run_trial


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What a run did. ``expected`` slots of this look, ``completed`` of them, ``ran`` in this call.

    ``counted`` trials enter the figures, ``verdicts`` counts all of them. ``checked`` says whether start states
    were compared. ``diagnostics`` are problems and leaked state, in natural order of the trials.
    """

    folder: Path
    expected: int
    completed: int
    ran: int
    counted: int
    verdicts: Mapping[Verdict, int]
    checked: bool
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether every trial was judged and none started from a state that another one left behind."""
        judged = self.counted == self.expected and not self.verdicts[Verdict.INFRA]
        return judged and all(one.slug != "leaked_state" for one in self.diagnostics)

    @property
    def complete(self) -> bool:
        """Whether every planned trial has an end."""
        return self.completed == self.expected


@dataclass(slots=True, kw_only=True)
class _Work:
    """What the threads of one run share."""

    plan: Plan
    folder: RunFolder
    environment: Mapping[str, str]
    stop: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)


def run_plan(
    plan: Plan,
    environment: Mapping[str, str],
    *,
    slots: Sequence[Slot] | None = None,
    jobs: int | None = None,
    until: int | None = None,
    out: Path | None = None,
    about: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> RunResult:
    """Run what of the plan is not done yet, ``jobs`` trials at a time.

    ``until`` is one of the plan's looks. ``environment`` is what the commands get beside what is theirs.
    ``about`` is further identity of the folder (the pins of an intervention). Raises ``UsageError`` for a
    folder that another run or plan uses, ``InputError`` where records cannot be written; an interrupt ends the
    running trials and passes on.
    """
    if until is not None and until not in (*plan.looks, plan.trials):
        known = ", ".join(str(one) for one in plan.looks) or str(plan.trials)
        raise UsageError(
            f"{until} trials are no look of the plan: {known}",
            "looks are fixed beforehand, since stopping when the figures please would bias them",
        )
    wanted = slots_of(plan, until=until) if slots is None else tuple(slots)
    with RunFolder(out or plan.out) as folder:
        folder.adopt(plan, about or {})
        folder.restore()
        _announce(folder, plan, wanted)
        left = [slot for slot in wanted if slot.key not in folder.done]
        for slot in left:
            folder.end_leftovers(slot)
        work = _Work(plan=plan, folder=folder, environment=environment)
        _run(work, left, max(jobs or plan.jobs, 1), len(wanted), progress)
        folder.restore()  # an agent may have written to a trial that was finished before it
        return _result(folder, plan, wanted, len(left))


def _run(
    work: _Work, slots: Sequence[Slot], jobs: int, total: int, progress: Callable[[int, int], None] | None
) -> None:
    finished = total - len(slots)
    waiting = list(reversed(slots))
    running: set[Future[None]] = set()
    if progress is not None:
        progress(finished, total)
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    running.add(pool.submit(_one, work, waiting.pop()))
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    future.result()
                    finished += 1
                if progress is not None:
                    progress(finished, total)
        except BaseException:
            work.stop.set()
            raise


def _one(work: _Work, slot: Slot) -> None:
    attempt, place = work.folder.attempt(slot)
    try:
        made = run_trial(work.plan, slot, place, work.environment, work.stop)
    except InterruptedTrialError:
        return
    except OSError as error:
        raise TrajdiffError(
            f"{place}: cannot be written ({error.strerror or error})",
            "finished trials are kept; make room and run the same command again",
        ) from error
    record = _record(work.plan, made)
    verdict, reason = made.trial.verdict, made.trial.termination.reason
    done = Done(
        key=slot.key,
        attempt=attempt,
        sha256=hashlib.sha256(record).hexdigest(),
        verdict=verdict.value,
        counted=verdict is not Verdict.UNSCORED or reason in LIMITS,
        state=made.state,
        problems=made.problems,
    )
    with work.lock:
        work.folder.finish(done, record)


def _record(plan: Plan, made: TrialRun) -> bytes:
    """The trial as a record that any reader of the format takes, with what the plan says about its task."""
    trial: Trial = made.trial
    expected = plan.trials if made.slot.arm is None else None
    said = record_of(trial, _task(plan, made.slot.task), expected)
    return compact(said).encode("utf-8", "backslashreplace") + b"\n"


def _task(plan: Plan, task: PlannedTask) -> Task:
    metadata = {} if task.stratum is None else {"stratum": task.stratum}
    return Task(task_id=task.id, suite=plan.suite, title=task.title, metadata=metadata)


def _announce(folder: RunFolder, plan: Plan, slots: Sequence[Slot]) -> None:
    """The planned tasks with their number of trials, so that a report knows what is missing."""
    if any(slot.arm is not None for slot in slots):
        return
    tasks = [TaskTrials(task=_task(plan, task), trials=(), expected_n=plan.trials) for task in plan.tasks]
    lines = [compact(announcement_of(one.task, one.expected_n, ())) for one in tasks]
    file = folder.path / "plan.jsonl"
    with writing(file):
        replace_file(file, "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"))


def _result(folder: RunFolder, plan: Plan, slots: Sequence[Slot], ran: int) -> RunResult:
    done = [(slot, folder.done[slot.key]) for slot in slots if slot.key in folder.done]
    ordered = sorted(done, key=lambda one: (plan.tasks.index(one[0].task), one[0].number, one[0].trial_id))
    problems = [
        Diagnostic(
            severity=Severity.WARNING,
            slug="trial_problem",
            message=f'trial {slot.trial_id} of task "{slot.task.id}": {problem}',
            path=str(folder.path / f"{slot.key}.jsonl"),
            details=(f"its files: {folder.hidden / slot.key / str(kept.attempt)}",),
            task_id=slot.task.id,
            trial_id=slot.trial_id,
        )
        for slot, kept in ordered
        for problem in kept.problems
    ]
    notes = [Diagnostic(severity=Severity.WARNING, slug="run_folder", message=note) for note in folder.notes]
    leaked = leaks((slot.task.id, slot.trial_id, kept.state) for slot, kept in done)
    return RunResult(
        folder=folder.path,
        expected=len(slots),
        completed=len(done),
        ran=ran,
        counted=sum(kept.counted for _, kept in done),
        verdicts={v: sum(kept.verdict == v.value for _, kept in done) for v in Verdict},
        checked=bool(plan.state or plan.fingerprint),
        diagnostics=(*notes, *problems, *leaked),
    )
