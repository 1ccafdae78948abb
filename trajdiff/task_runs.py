"""Has jobs worked on by a runner, and those again that relied on levels that are not allowed."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence

from trajdiff.execution.remembering import keep
from trajdiff.execution.runner import Lost, Runner
from trajdiff.importers.stored_steps import release_steps
from trajdiff.model import Diagnostic, Severity, TaskTrials
from trajdiff.reliability.stored_trials import take_over
from trajdiff.task_analysis import analyse_task, lean
from trajdiff.task_jobs import Forecast, Hinted, TaskJob, TaskOutcome, fitted, without


def outcomes_of(
    jobs: Sequence[TaskJob], runner: Runner, forecast: Forecast
) -> Generator[tuple[int, TaskOutcome | Lost]]:
    """The number of each job with its outcome, as they are done; those that are known come first."""
    ready = {at: known for at, job in enumerate(jobs) if (known := forecast.take(job)) is not None}
    for at, known in ready.items():
        keep(runner, jobs[at], known)
        yield at, known
    rest = [at for at in range(len(jobs)) if at not in ready]
    for number, result in runner.run(analyse_task, Hinted([jobs[at] for at in rest], forecast)):
        at = rest[number]
        if isinstance(result, TaskOutcome):
            result = lean(forecast.note(jobs[at], fitted(result, jobs[at])), jobs[at].task)
            for trial in jobs[at].task.trials:
                release_steps(trial.steps)
            take_over(jobs[at].task, result.facts, jobs[at].write_tools, jobs[at].settings.gate)
        yield at, result


def again(
    asked: Mapping[int, TaskJob], found: Mapping[int, TaskOutcome | Lost], levels: Collection[str]
) -> dict[int, TaskJob]:
    """The jobs whose outcomes relied on levels that are not allowed, without those."""
    done = {at: one for at, one in found.items() if isinstance(one, TaskOutcome)}
    jobs = {at: without(asked[at], outcome, levels) for at, outcome in done.items()}
    return {at: job for at, job in jobs.items() if job is not None}


def problem(task: TaskTrials, lost: Lost) -> Diagnostic:
    """What is told about a task that could not be worked on."""
    return Diagnostic(
        severity=Severity.ERROR,
        slug="task_lost",
        message=f'task "{task.task_id}" was not analysed: {lost.reason}',
        path=task.trials[0].source.path if task.trials else None,
        details=("its trials are counted in pass^k; no divergence is looked for", lost.advice),
        task_id=task.task_id,
    )
