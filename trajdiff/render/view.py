"""How a report is shown: width, marks, colours, and which part of it. Carries no facts of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from trajdiff.errors import UsageError
from trajdiff.render.choosing import Choice
from trajdiff.render.marks import UNICODE, Marks

if TYPE_CHECKING:
    from trajdiff.align.table import AlignedTable
    from trajdiff.report import Report, TaskReport, TrialRow


class Pair(Struct, frozen=True, kw_only=True):
    """Two trials of one task, cut out of the aligned table of the task; ``a`` is the left side.

    ``keep`` names rows that are never folded.
    """

    a: TrialRow
    b: TrialRow
    table: AlignedTable
    keep: tuple[int, ...] = ()


class View(Struct, frozen=True, kw_only=True):
    """Everything a renderer may be told besides the report.

    ``width`` in terminal cells; ``k`` the columns asked for (empty: the default choice); ``context`` the
    equal steps kept around a difference; ``layout`` is ``side``, ``inline`` or ``auto``; ``task_id``,
    ``trials`` and ``pair`` say what ``compare`` is about. ``columns`` of an export (empty: all) and ``excel``,
    the byte order mark of a CSV, are for exports; ``name`` is the title where the value shown has none.
    """

    width: int = 100
    color: bool = False
    marks: Marks = UNICODE
    k: tuple[int, ...] = ()
    show_all: bool = False
    full: bool = False
    context: int = 1
    layout: str = "auto"
    choice: Choice = field(default_factory=Choice)
    task_id: str | None = None
    trials: tuple[str, ...] = ()
    pair: Pair | None = None
    stats: bool = False
    brief: bool = False
    columns: tuple[str, ...] = ()
    excel: bool = False
    name: str | None = None


def task_of(report: Report, view: View) -> TaskReport:
    """The task the view is about; raises ``UsageError`` if the report has no such task."""
    task = report.task(view.task_id or "")
    if task is None:
        raise UsageError(f'no task "{view.task_id}" in the report')
    return task


def pair_of(view: View) -> Pair:
    """The two trials the view is about; raises ``UsageError`` without them."""
    if view.pair is None:
        raise UsageError("no two trials to compare")
    return view.pair
