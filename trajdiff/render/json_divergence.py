"""One divergence or abstention as a plain object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from trajdiff.render.places import Place, first_row, manifest_row, places, reference_text, root_row, row_of

if TYPE_CHECKING:
    from trajdiff.divergence.finding import Divergence, ReviewNote, Side, StepRef
    from trajdiff.report import TaskReport


def divergence_object(task: TaskReport, divergence: Divergence) -> dict[str, Any]:
    """Every field a divergence carries; unknown values are null. Message indices count recorded messages."""
    finding = task.finding
    return {
        "row_id": divergence.row_id,
        "task_id": task.task_id,
        "trial_id": divergence.trial_id,
        "identity": divergence.identity,
        "group": list(divergence.group),
        "abstained": divergence.abstained,
        "reason": _text(divergence.reason),
        "grade": _text(divergence.grade),
        "actor": _text(divergence.actor),
        "kind": _text(divergence.kind),
        "tool": divergence.tool,
        "argument": divergence.argument,
        "headline": divergence.headline,
        "sentence": divergence.sentence,
        "root_step": root_row(finding, divergence),
        "manifest_step": manifest_row(finding, divergence),
        "root_message_index": divergence.root.message if divergence.root else None,
        "manifest_message_index": divergence.manifest.message if divergence.manifest else None,
        "support": _support(divergence),
        "provenance": _provenance(divergence),
        "recovery": _recovery(divergence),
        "first_difference": _first(task, divergence),
        "root_sides": [_side(side) for side in divergence.root_sides],
        "manifest_sides": [_side(side) for side in divergence.manifest_sides],
        "evidence": list(divergence.evidence),
        "recovered": _recovered(task, divergence),
        "source": [_place(place) for place in places(task, divergence)],
        "manifest_source": step_object(task, divergence.manifest),
        "variants": [list(variant.trials) for variant in finding.variants],
        "accepted": divergence.accepted,
        "reviews": [review_object(note) for note in divergence.reviews],
        "ignored_differences": divergence.ignored_differences,
        **({"tested": [asdict(one) for one in divergence.tested]} if divergence.tested else {}),
    }


def review_object(note: ReviewNote) -> dict[str, Any]:
    """What one reviewer said."""
    return {
        "verdict": note.verdict,
        "category": note.category,
        "ref": note.ref,
        "note": note.note,
        "reviewer": note.reviewer,
        "carried": note.carried,
    }


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _support(divergence: Divergence) -> dict[str, Any] | None:
    support = divergence.support
    if support is None:
        return None
    return {
        "failed_with": support.failed_with,
        "failed": support.failed,
        "passed_with": support.passed_with,
        "passed": support.passed,
        "smallest_p": support.smallest_p,
    }


def _provenance(divergence: Divergence) -> dict[str, Any] | None:
    origin = divergence.provenance
    if origin is None:
        return None
    return {
        "value": origin.value,
        "from": origin.origin,
        "tool": origin.tool,
        "message": origin.message,
        "path": origin.path,
    }


def _recovery(divergence: Divergence) -> dict[str, Any] | None:
    """Trials that made the same write and had undone it by their end, on each side. A divergence is open at the
    end of its own trial, so there is no step that closed it."""
    if divergence.abstained or divergence.support is None:
        return None
    return {
        "failed_recovered": divergence.failed_put_back,
        "passed_recovered": divergence.passed_put_back,
        "at_step": None,
    }


def _first(task: TaskReport, divergence: Divergence) -> dict[str, Any] | None:
    first = divergence.first_difference
    if first is None:
        return None
    return {
        "step": first_row(task.finding, divergence),
        "trial": first.trial_id,
        "message": first.step.message,
        "kind": first.kind,
        "text": first.text,
        "recovered": first.recovered,
    }


def _recovered(task: TaskReport, divergence: Divergence) -> list[dict[str, Any]]:
    return [
        {
            "text": entry.text,
            "step": row_of(task.finding, entry.opened_at),
            "opened_at": step_object(task, entry.opened_at),
            "closed_at": step_object(task, entry.closed_at),
            "closed_by": entry.closed_by,
        }
        for entry in divergence.recovered
    ]


def _side(side: Side) -> dict[str, Any]:
    return {"trial_id": side.trial_id, "text": side.text, "message": side.message}


def _place(place: Place) -> dict[str, Any]:
    return {
        "side": place.side,
        "ref": place.ref,
        "message": place.message,
        "json_path": place.json_path,
        "line": place.line,
    }


def step_object(task: TaskReport, step: StepRef | None) -> dict[str, Any] | None:
    """The place of a step in its log."""
    if step is None:
        return None
    return {
        "ref": reference_text(task, step),
        "message": step.message,
        "json_path": step.pointer,
        "line": step.line,
    }
