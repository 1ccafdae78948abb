"""Views under which a report is rendered in tests, one per subject."""

from __future__ import annotations

from typing import Any

from trajdiff.frozen import replace
from trajdiff.render.view import Pair, View
from trajdiff.report import Report


def view_for(subject: str, report: Report, **more: Any) -> View:
    """A view that has what the subject needs: the first task, and its first passed and failed trial."""
    view = View(**more)
    task = report.tasks[0]
    if subject == "task":
        return view if view.task_id else replace(view, task_id=task.task_id)
    if subject == "trials" and task.finding.table is not None:
        a, b = task.finding.table.columns[0], task.finding.table.columns[-1]
        rows = {trial.trial_id: trial for trial in task.trials}
        return replace(view, pair=Pair(a=rows[a], b=rows[b], table=task.finding.table))
    return view
