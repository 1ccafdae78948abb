"""Where a divergence stands: row numbers of the aligned table and references into the recorded log.

Row numbers are for people and shift when trials are added; the reference is the identity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from trajdiff.divergence.finding import Divergence, Kind, StepRef, TaskFinding

if TYPE_CHECKING:
    from trajdiff.report import TaskReport, TrialRow


class Place(Struct, frozen=True, kw_only=True):
    """One side of a divergence in the recorded log. ``ref`` is ``path#task/trial@message``."""

    side: str
    trial_id: str
    ref: str
    message: int | None
    json_path: str
    line: int | None


def root_row(finding: TaskFinding, divergence: Divergence) -> int | None:
    """Row of the root step. For a missing step that is the row where the step is missing, unless the trial
    goes on before that row: then its own step is the earlier place."""
    own = row_of(finding, divergence.root)
    if divergence.kind is not Kind.MISSING_STEP:
        return own
    passed, manifest = row_of(finding, divergence.passed_root), row_of(finding, divergence.manifest)
    if passed is None or (manifest is not None and passed > manifest):
        return own
    return passed


def manifest_row(finding: TaskFinding, divergence: Divergence) -> int | None:
    """Row of the step where the divergence takes effect."""
    own = row_of(finding, divergence.manifest)
    return row_of(finding, divergence.passed_manifest) if own is None else own


def first_row(finding: TaskFinding, divergence: Divergence) -> int | None:
    """Row of the first difference of this trial, whether it matters or not."""
    first = divergence.first_difference
    return None if first is None else row_of(finding, first.step)


def tells_first(finding: TaskFinding, divergence: Divergence) -> bool:
    """Whether the first difference is told. It is the first among calls: where the root is a message, calls may
    differ only after it."""
    if divergence.first_difference is None:
        return False
    first, root = first_row(finding, divergence), root_row(finding, divergence)
    return divergence.abstained or first is None or root is None or first <= root


def row_of(finding: TaskFinding, step: StepRef | None) -> int | None:
    """Row number of a step in the aligned table of the task."""
    if step is None or finding.table is None:
        return None
    return finding.table.row_of(step.trial_id, step.step)


def rows_text(root: int | None, manifest: int | None, arrow: str) -> str:
    """``5→6``, or one number where both are the same step, or nothing."""
    if root is None:
        return ""
    if manifest is None or manifest == root:
        return str(root)
    return f"{root}{arrow}{manifest}"


def trial_row(task: TaskReport, trial_id: str) -> TrialRow | None:
    """The row of a trial in the report of its task."""
    return next((trial for trial in task.trials if trial.trial_id == trial_id), None)


def reference_text(task: TaskReport, step: StepRef) -> str:
    """``path#task/trial@message`` of a step."""
    at = "" if step.message is None else f"@{step.message}"
    return f"{step.path}#{task.task_id}/{step.trial_id}{at}"


def places(task: TaskReport, divergence: Divergence) -> tuple[Place, ...]:
    """The source of a divergence on each side, passed first. No entry for an absent side."""
    return _places(task, (("passed", divergence.passed_root), ("failed", divergence.root)))


def later_places(task: TaskReport, divergence: Divergence) -> tuple[Place, ...]:
    """The source of the step at which a divergence shows, sides that ``places`` already names left out."""
    if manifest_row(task.finding, divergence) == root_row(task.finding, divergence):
        return ()
    sides = (("passed", divergence.passed_manifest), ("failed", divergence.manifest))
    named = {place.ref for place in places(task, divergence)}
    return tuple(place for place in _places(task, sides) if place.ref not in named)


def _places(task: TaskReport, sides: tuple[tuple[str, StepRef | None], ...]) -> tuple[Place, ...]:
    return tuple(
        Place(
            side=side,
            trial_id=step.trial_id,
            ref=reference_text(task, step),
            message=step.message,
            json_path=step.pointer,
            line=step.line,
        )
        for side, step in sides
        if step is not None
    )
