"""The findings of some tasks alone, the same as beside all others, from as little work on these as they need.

A finding depends on other tasks in two ways: which levels below writes may be used (only where it relied on
one), and what passes of all tasks teach about an argument (only where one is blamed).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import closing

from trajdiff.divergence.argument_roles import RoleCount, blamed
from trajdiff.divergence.case import ALL_LEVELS
from trajdiff.execution.runner import Lost, Runner
from trajdiff.frozen import replace
from trajdiff.model import TaskTrials
from trajdiff.task_analysis import held_out_in
from trajdiff.task_jobs import Forecast, TaskJob, TaskOutcome, Tried
from trajdiff.task_runs import again, outcomes_of


class ChosenTasks:
    """The wanted ones among ``jobs``, which are those of all tasks, asked with all levels."""

    def __init__(self, jobs: Sequence[TaskJob], runner: Runner) -> None:
        self._jobs, self._runner = jobs, runner
        self._forecast = Forecast()
        #: Tasks that could not be worked on, by number: another answer may depend on each of them.
        self.lost: dict[int, Lost] = {}
        #: What came of the tasks that were worked on with all levels, by number; what their held-out passes
        #: said, and how many the other tasks hold out.
        self._done: dict[int, TaskOutcome | Lost] = {}
        self._tried = Tried()
        self._left = sum(held_out_in(job.task) for job in jobs)

    def outcomes(self, progress: Callable[[int, int], None] | None = None) -> dict[int, TaskOutcome | Lost]:
        """The outcomes of the wanted jobs, by number, with the levels that all tasks together allow."""
        asked = {at: job for at, job in enumerate(self._jobs) if job.wanted}
        found: dict[int, TaskOutcome | Lost] = {}
        for at, outcome in self._worked_on(asked):
            found[at] = outcome
            self._note(at, outcome)
            if progress is not None:
                progress(len(found), len(asked))
        while True:
            done = [one for one in found.values() if isinstance(one, TaskOutcome)]
            forbidden = self._forbidden({level for one in done for level in one.relied})
            redo = again(asked, found, ALL_LEVELS - forbidden)
            if not redo:
                return found
            asked |= redo
            found |= self._worked_on(redo)

    def roles(self, outcomes: Mapping[int, TaskOutcome | Lost]) -> list[RoleCount]:
        """What passes of all tasks teach about the arguments that are blamed in these outcomes."""
        findings = (one.finding for one in outcomes.values() if isinstance(one, TaskOutcome))
        names = {name for finding in findings if finding is not None for name in blamed(finding)}
        tools = {tool for tool, _ in names}
        jobs = {
            at: replace(job, only_roles=True)
            for at, job in enumerate(self._jobs)
            if at not in self._done and _repeats(job.task, tools)
        }
        known = [*self._done.values(), *(outcome for _, outcome in self._worked_on(jobs))]
        counts = (count for one in known if isinstance(one, TaskOutcome) for count in one.roles)
        return [count for count in counts if (count[0], count[1]) in names]

    def _forbidden(self, levels: Collection[str]) -> frozenset[str]:
        """Those of the levels that held-out passes of all tasks do not allow. Further ones are tried until that
        is certain, whatever the rest would say: the answer does not depend on which were tried."""
        rest = {at: job for at, job in enumerate(self._jobs) if at not in self._done}
        # Nobody asks for their outcomes with fewer levels.
        with closing(self._worked_on(rest, Forecast(hints=False))) as further:
            while True:
                allowed, forbidden = self._tried.settled(self._left)
                if (allowed | forbidden).issuperset(levels):
                    return forbidden.intersection(levels)
                self._note(*next(further))

    def _note(self, at: int, outcome: TaskOutcome | Lost) -> None:
        """Takes note of what came of a task with all levels."""
        self._done[at] = outcome
        self._left -= held_out_in(self._jobs[at].task)
        if isinstance(outcome, TaskOutcome):
            self._tried = self._tried.and_of(outcome)

    def _worked_on(
        self, jobs: Mapping[int, TaskJob], forecast: Forecast | None = None
    ) -> Generator[tuple[int, TaskOutcome | Lost]]:
        numbers = list(jobs)
        # What is worth loading for all tasks is not for one.
        steps = sum(len(trial.steps) for job in jobs.values() for trial in job.task.trials)
        sized = [replace(job, steps=steps) for job in jobs.values()]
        with closing(outcomes_of(sized, self._runner, forecast or self._forecast)) as found:
            for number, outcome in found:
                if isinstance(outcome, Lost):
                    self.lost[numbers[number]] = outcome
                yield numbers[number], outcome


def _repeats(task: TaskTrials, tools: Collection[str]) -> bool:
    """Whether a task may have two passes beside each other of which one calls one of these tools."""
    passes = [trial for trial in task.passes if trial.comparable]
    return len(passes) > 1 and any(name in tools for trial in passes for name, *_ in trial.tally.tools)
