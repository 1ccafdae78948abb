"""The trial behind an empty file of one trial: no steps, and the verdict that a report near it gives."""

from __future__ import annotations

from trajdiff.importers.notices import Notices, Where
from trajdiff.importers.path_names import names_of
from trajdiff.importers.protocol import Imported, Plan
from trajdiff.importers.steps import StepBuilder
from trajdiff.importers.swe_reports import joined
from trajdiff.model import SourceRef, Task, Termination, TerminationReason, Trial


def empty_trial(path: str, what: str) -> Imported:
    """The trial of the instance that the path names; ``what`` names the format in messages."""
    notices = Notices(path)
    names = names_of(path)
    where = Where(notices, path, "$", None, names.task_id, names.trial_id)
    where.warn("empty_trace", "the file is empty (0 bytes)", "it keeps its verdict and is not compared")
    termination = Termination(reason=TerminationReason.INCOMPLETE, rule="an empty file")
    trial = Trial(
        task_id=names.task_id,
        trial_id=names.trial_id,
        ordinal=names.ordinal,
        steps=StepBuilder(path=path, pointer="$").finish(termination, messages=0, at=""),
        judgement=joined(path, names.task_id, notices, what),
        source=SourceRef(path=path, pointer="$"),
        termination=termination,
    )
    return Imported(trials=(trial,), plans=(Plan(task=Task(task_id=trial.task_id)),), diagnostics=notices.all())
