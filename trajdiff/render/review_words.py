"""What reviewers said, in words: beside a divergence, over a whole report, and after an import."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from trajdiff.render.safety import one_line
from trajdiff.review.joining import agreement
from trajdiff.review.verdicts import NOT_A_FAILURE, VERDICTS

if TYPE_CHECKING:
    from trajdiff.divergence.finding import Divergence, ReviewNote
    from trajdiff.render.marks import Marks
    from trajdiff.report import Report
    from trajdiff.review.importing import Imported


def short_marks(divergence: Divergence | None) -> str:
    """``[accepted] [agree] ``: what people said, before a finding so that it is never cut; else empty."""
    if divergence is None:
        return ""
    parts = ["[accepted]"] if divergence.accepted is not None else []
    if divergence.reviews:
        counts = Counter(note.verdict for note in divergence.reviews)
        carried = ", carried" if all(note.carried for note in divergence.reviews) else ""
        said = ", ".join(
            verdict if counts[verdict] == 1 else f"{counts[verdict]} {verdict}"
            for verdict in VERDICTS
            if counts[verdict]
        )
        parts.append(f"[{said}{carried}]")
    return "".join(f"{part} " for part in parts)


def note_text(note: ReviewNote) -> str:
    """``agree by ana, agent: "seen it twice" (carried from an earlier run)``."""
    text = note.verdict
    if note.reviewer:
        text += f" by {one_line(note.reviewer)}"
    if note.category:
        text += f", {note.category}"
    if note.ref:
        text += f", better place {one_line(note.ref)}"
    if note.note:
        text += f': "{one_line(note.note)}"'
    return f"{text} (carried from an earlier run)" if note.carried else text


def review_lines(report: Report, marks: Marks) -> list[str]:
    """Counts of verdicts and, by grade, how many agree; nothing where nobody reviewed."""
    entries = [entry for task in report.tasks for entry in task.finding.divergences if entry.reviews]
    if not entries:
        return []
    notes = [note for entry in entries for note in entry.reviews]
    carried = sum(note.carried for note in notes)
    inside = f" ({carried} carried from an earlier run)" if carried else ""
    lines = [f"reviews: {_verdicts(notes, marks)}{inside}"]
    grades = _by_grade(report, marks)
    return [*lines, f"agree by grade: {grades}"] if grades else lines


def _verdicts(notes: list[ReviewNote], marks: Marks) -> str:
    counts = Counter(note.verdict for note in notes)
    return marks.dot.join(f"{verdict} {counts[verdict]}" for verdict in VERDICTS)


def _by_grade(report: Report, marks: Marks) -> str:
    """``A 2 of 2 · B 3 of 4``: agreed of agreed and disagreed; unsure is in neither."""
    entries = (entry for task in report.tasks for entry in task.finding.divergences)
    return marks.dot.join(
        f"{grade} {agree} of {agree + disagree}"
        for grade, (agree, disagree, _) in agreement(entries).items()
        if agree + disagree
    )


def proposals(report: Report) -> list[str]:
    """Accept entries for what reviewers judged not to be a failure. Nothing is accepted until somebody writes
    it into the settings."""
    lines: list[str] = []
    for task in report.tasks:
        for entry in task.finding.divergences:
            note = next((one for one in entry.reviews if one.category == NOT_A_FAILURE), None)
            if note is None or entry.accepted is not None or entry.kind is None:
                continue
            made = ["[[accept]]", f"task = {_toml(task.task_id)}", f"kind = {_toml(str(entry.kind))}"]
            if entry.tool:
                made.append(f"tool = {_toml(entry.tool)}")
            made.append(f"why  = {_toml(note.note or 'reviewed: not a failure')}")
            if made[1:-1] not in [lines[at + 1 : at + len(made) - 1] for at in range(len(lines))]:
                lines += ["", *made]
    head = "judged not a failure; to accept them, write into the settings:"
    return ["", head, *lines] if lines else []


def _toml(text: str) -> str:
    """A text as TOML writes it, which is how JSON does."""
    return json.dumps(one_line(text), ensure_ascii=False)


def import_lines(found: Imported, joined: Report, marks: Marks) -> list[str]:
    """What an import found: verdicts, and agreement by grade."""
    counts = Counter(review.verdict for review in found.reviews)
    lines = ["verdicts   " + marks.dot.join(f"{verdict} {counts[verdict]}" for verdict in VERDICTS)]
    grades = _by_grade(joined, marks)
    return [*lines, f"agree by grade   {grades}"] if grades else lines


def import_object(found: Imported, joined: Report, file: str) -> dict[str, Any]:
    """The same as an object, schema ``trajdiff.review-import/1``."""
    entries = (entry for task in joined.tasks for entry in task.finding.divergences)
    counts = Counter(review.verdict for review in found.reviews)
    return {
        "schema": "trajdiff.review-import/1",
        "file": file,
        "rows": found.rows,
        "verdicts": {verdict: counts[verdict] for verdict in VERDICTS},
        "matched": len(found.matched),
        "stale": [f"{one.task_id}/{one.trial_id}" for one in found.stale],
        "edited": list(found.edited),
        "without_verdict": list(found.silent),
        "by_grade": {
            grade: {"agree": agree, "disagree": disagree, "unsure": unsure}
            for grade, (agree, disagree, unsure) in agreement(entries).items()
        },
    }
