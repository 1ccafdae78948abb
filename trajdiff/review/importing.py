"""From the rows of a filled-in review to verdicts: matched by ``row_id``, checked, nothing dropped silently."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trajdiff.errors import InputError
from trajdiff.review.verdicts import CATEGORIES, DISAGREE, VERDICTS, Review
from trajdiff.settings_check import near

if TYPE_CHECKING:
    from trajdiff.divergence.finding import Divergence
    from trajdiff.report import Report, TaskReport
    from trajdiff.review.sheets import SheetRow

#: Cells named one by one in a message before a count.
_NAMED = 5

_REFERENCE = re.compile(
    r"^(?:(?P<path>.*)#)?(?P<task>.+)/(?P<trial>[^/@]+)(?:@(?P<message>[0-9]{1,9}))?$", re.S
)
_STEP = re.compile(r"^(?:step\s*)?(?P<step>[0-9]{1,6})$", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What a review said. ``stale`` are verdicts on rows that are not in the report, ``edited`` names facts
    that were changed in the file and are not used, ``silent`` rows with a note but no verdict."""

    reviews: tuple[Review, ...]
    rows: int
    stale: tuple[Review, ...] = ()
    edited: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()

    @property
    def matched(self) -> tuple[Review, ...]:
        """Verdicts on rows of the report."""
        lost = {one.key for one in self.stale}
        return tuple(one for one in self.reviews if one.key not in lost)


def import_rows(rows: Sequence[SheetRow], report: Report, facts: Mapping[str, Mapping[str, str]]) -> Imported:
    """The verdicts of the rows.

    ``facts`` holds, by row id, what the columns that are not for a reviewer say now. Raises ``InputError`` that
    names each cell with a value outside the lists, a place that does not exist, or two verdicts of one reviewer
    on one row.
    """
    known = {entry.row_id: (task, entry) for task in report.tasks for entry in task.finding.divergences}
    found: dict[tuple[str, str], tuple[Review, SheetRow]] = {}
    problems: list[str] = []
    edited: list[str] = []
    silent: list[str] = []
    stale: list[Review] = []
    for row in rows:
        if not any(row.cells.get(name) for name in _TYPED):
            continue
        if not row.cells.get("row_id"):
            problems.append(f"{row.cell('row_id')}: a verdict without a row_id")
            continue
        if not row.cells.get("review_verdict"):
            silent.append(row.place)
            continue
        pair = known.get(row.cells["row_id"])
        review = _review(row, pair, problems)
        if review is None:
            continue
        if review.key in found and found[review.key][0] != review:
            other = found[review.key][1]
            problems.append(
                f"{row.cell('review_verdict')}: another verdict than at {other.place} on the same row"
            )
            continue
        found[review.key] = (review, row)
        if pair is None:
            stale.append(review)
        else:
            edited += _edited(row, facts.get(review.row_id, {}))
    if problems:
        more = [f"and {len(problems) - _NAMED} more"] if len(problems) > _NAMED else []
        raise InputError(
            "the review has values that cannot be read", *problems[:_NAMED], *more, "nothing was kept"
        )
    return Imported(
        reviews=tuple(review for review, _ in found.values()),
        rows=sum("row_id" in row.cells for row in rows),
        stale=tuple(stale),
        edited=tuple(edited),
        silent=tuple(silent),
    )


_TYPED = ("review_verdict", "review_category", "review_ref", "review_note")


def _review(row: SheetRow, pair: tuple[TaskReport, Divergence] | None, problems: list[str]) -> Review | None:
    """The verdict of a row; None, with a problem added, where a cell cannot be read."""
    verdict = _listed(row, "review_verdict", VERDICTS, problems)
    category = _listed(row, "review_category", CATEGORIES, problems) if "review_category" in row.cells else None
    ref = row.cells.get("review_ref")
    if pair is not None and ref is not None:
        ref = _place(row, ref, pair[0], problems)
    if (
        verdict is None
        or (category is None and "review_category" in row.cells)
        or (ref is None and "review_ref" in row.cells)
    ):
        return None
    entry = None if pair is None else pair[1]
    return Review(
        row_id=row.cells["row_id"],
        task_id=row.cells.get("task_id", "") if entry is None else entry.task_id,
        trial_id=row.cells.get("trial_id", "") if entry is None else entry.trial_id,
        verdict=verdict,
        category=category,
        ref=ref,
        note=row.cells.get("review_note"),
        reviewer=row.cells.get("reviewer"),
        identity="" if entry is None or entry.abstained else entry.identity,
        grade=None if entry is None or entry.grade is None else entry.grade.value,
        sentence=row.cells.get("sentence", ""),
    )


def _listed(row: SheetRow, column: str, values: Sequence[str], problems: list[str]) -> str | None:
    text = " ".join(row.cells[column].lower().split())
    if text in values:
        return text
    hint = near(text, values) or f"one of: {', '.join(values)}"
    problems.append(f'{row.cell(column)}: "{row.cells[column][:60]}" is not in the list; {hint}')
    return None


def _place(row: SheetRow, text: str, task: TaskReport, problems: list[str]) -> str | None:
    """A better place as a reference: ``L1-061/1@6``, or the number of a row of the aligned table."""
    trial_id = row.cells.get("trial_id", "")
    step = _STEP.match(text)
    if step is not None:
        return _place_of_step(row, int(step["step"]), task, problems)
    match = _REFERENCE.match(text)
    trials = {trial.trial_id for trial in task.trials}
    if match is None or match["task"] != task.task_id or match["trial"] not in trials:
        example = f"{task.task_id}/{trial_id or '0'}@6"
        problems.append(
            f'{row.cell("review_ref")}: "{text[:60]}" is no place in task {task.task_id}, such as {example}'
        )
        return None
    at = "" if match["message"] is None else f"@{match['message']}"
    return f"{match['task']}/{match['trial']}{at}"


def _place_of_step(row: SheetRow, number: int, task: TaskReport, problems: list[str]) -> str | None:
    table = task.finding.table
    rows = () if table is None else tuple(one for one in table.skeleton if one.number == number)
    own = row.cells.get("trial_id", "")
    for line in rows:
        cells = sorted(line.cells, key=lambda cell: cell.trial_id != own)
        for cell in cells:
            if cell.step is not None:
                at = "" if cell.message_index is None else f"@{cell.message_index}"
                return f"{task.task_id}/{cell.trial_id}{at}"
    problems.append(f"{row.cell('review_ref')}: task {task.task_id} has no step {number}")
    return None


def _edited(row: SheetRow, facts: Mapping[str, str]) -> Iterable[str]:
    """Facts that read differently now. What was hidden in the file, or cut, is not compared."""
    for column, now in facts.items():
        then = row.cells.get(column)
        if then is not None and then != now and "redacted:" not in then and " … (cut, " not in then:
            yield f"{row.cell(column)}: {then[:40]} in the file, {now[:40] or 'empty'} in the report"


def disagreements(reviews: Iterable[Review]) -> int:
    """How many verdicts say that the place is wrong."""
    return sum(one.verdict == DISAGREE for one in reviews)
