"""Which tasks, trials and divergences of a report are shown. Figures are never changed by a choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from trajdiff.divergence.finding import Divergence, FindingKind, Grade
from trajdiff.natural import natural_key

if TYPE_CHECKING:
    from trajdiff.report import Report, TaskReport

#: Task with at least one passed and one failed counted trial.
MIXED = "mixed"


class Choice(Struct, frozen=True, kw_only=True):
    """What the user asked to see. Empty means everything; several conditions must all hold.

    ``only`` is ``mixed`` or a finding; ``min_grade`` keeps divergences of that grade or a better one; ``stop``
    keeps trials (and tasks with such a trial) that ended for that reason; ``limit`` the number of rows.
    """

    tasks: tuple[str, ...] = ()
    only: str | None = None
    min_grade: str | None = None
    actor: str | None = None
    kind: str | None = None
    tool: str | None = None
    stop: str | None = None
    limit: int | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The conditions as they were given on the command line, in a fixed order."""
        flags = {
            "--only": self.only,
            "--min-grade": self.min_grade,
            "--actor": self.actor,
            "--kind": self.kind,
            "--tool": self.tool,
            "--stop": self.stop,
            "--limit": None if self.limit is None else str(self.limit),
        }
        tasks = tuple(f"--task {task}" for task in self.tasks)
        return tasks + tuple(f"{flag} {value}" for flag, value in flags.items() if value is not None)

    @property
    def about_divergences(self) -> bool:
        """Whether a condition speaks of divergences and not of tasks."""
        return any((self.min_grade, self.actor, self.kind, self.tool))


def is_mixed(task: TaskReport) -> bool:
    """Whether some counted trials of the task passed and some did not."""
    return 0 < task.reliability.c < task.reliability.n


def chosen_tasks(report: Report, choice: Choice) -> tuple[TaskReport, ...]:
    """Tasks to show, in the order of the report."""
    tasks = tuple(task for task in report.tasks if _wants_task(task, choice))
    return tasks if choice.limit is None else tasks[: choice.limit]


def chosen_divergences(report: Report, choice: Choice) -> tuple[tuple[TaskReport, Divergence], ...]:
    """Failing and infrastructure trials with their divergence or abstention, in natural order of their ids."""
    found = [
        (task, divergence)
        for task in report.tasks
        if _wants_task(task, choice)
        for divergence in task.finding.divergences
        if _wants(divergence, choice) and _stopped(task, divergence.trial_id, choice)
    ]
    found.sort(key=lambda pair: (natural_key(pair[0].task_id), natural_key(pair[1].trial_id)))
    return tuple(found if choice.limit is None else found[: choice.limit])


def at_least(grade: Grade | None, wanted: str | None) -> bool:
    """Whether a grade is the wanted one or better; without a wanted grade any will do."""
    if wanted is None:
        return True
    return grade is not None and grade.value <= wanted


def _wants_task(task: TaskReport, choice: Choice) -> bool:
    if choice.tasks and task.task_id not in choice.tasks:
        return False
    if choice.only == MIXED:
        if not is_mixed(task):
            return False
    elif choice.only is not None and task.finding.kind is not FindingKind(choice.only):
        return False
    if choice.stop is not None and not any(trial.termination == choice.stop for trial in task.trials):
        return False
    return not choice.about_divergences or any(
        _wants(divergence, choice) for divergence in task.finding.divergences
    )


def _wants(divergence: Divergence, choice: Choice) -> bool:
    """Whether a divergence meets the conditions that speak of divergences."""
    return (
        at_least(divergence.grade, choice.min_grade)
        and choice.actor in (None, divergence.actor)
        and choice.kind in (None, divergence.kind)
        and choice.tool in (None, divergence.tool)
    )


def _stopped(task: TaskReport, trial_id: str, choice: Choice) -> bool:
    """Whether a trial ended the way ``--stop`` asks for."""
    if choice.stop is None:
        return True
    return any(trial.trial_id == trial_id and trial.termination == choice.stop for trial in task.trials)


def has_divergence(made: Report, min_grade: str | None) -> bool:
    """Whether the report claims a divergence of this grade or a better one."""
    return any(
        not divergence.abstained and divergence.grade is not None and at_least(divergence.grade, min_grade)
        for task in made.tasks
        for divergence in task.finding.divergences
    )
