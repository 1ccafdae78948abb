"""The strip of a task: one row per variant, one mark per step, the places of the divergence below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from trajdiff.align.table import AlignedTable, Op, Row
from trajdiff.model import Effect, StepKind, Verdict
from trajdiff.render.lines import Line, Span, line, pad, width_of
from trajdiff.render.places import trial_row
from trajdiff.render.safety import cells, one_line
from trajdiff.render.steps import cell_of, op_of
from trajdiff.render.wording import trial_strip

if TYPE_CHECKING:
    from trajdiff.render.marks import Marks
    from trajdiff.report import TaskReport, TrialRow


def strip_line(task: TaskReport, marks: Marks, most: int = 10) -> Line:
    """The trials of a task as marks, passed and failed in their colours; counts where there are too many."""
    styles = {marks.passed: "passed", marks.failed: "failed"}
    return line(*(Span(mark, styles.get(mark, "")) for mark in trial_strip(task, marks, most)))


class VariantRow(Struct, frozen=True, kw_only=True):
    """Trials with the same path. ``shown`` stands for all of them; ``number`` counts from 1."""

    number: int
    shown: str
    trials: tuple[TrialRow, ...]

    @property
    def failed(self) -> bool:
        """Whether one of the trials failed."""
        return any(trial.verdict is Verdict.FAIL for trial in self.trials)

    @property
    def passed(self) -> bool:
        """Whether one of the trials passed."""
        return any(trial.verdict is Verdict.PASS for trial in self.trials)

    @property
    def names(self) -> str:
        """``trials 0, 2``."""
        ids = ", ".join(one_line(trial.trial_id) for trial in self.trials)
        return f"trial {ids}" if len(self.trials) == 1 else f"trials {ids}"


def variant_rows(task: TaskReport, wanted: tuple[str, ...] = ()) -> tuple[VariantRow, ...]:
    """Variants of a task in the order of its table: that of the reference, then passed, then failed ones."""
    finding = task.finding
    if finding.table is None:
        return ()
    columns = [trial for trial in finding.table.columns if not wanted or trial in wanted]
    groups = [variant.trials for variant in finding.variants] or [(trial,) for trial in columns]
    rows: list[tuple[str, tuple[TrialRow, ...]]] = []
    for trial_id in columns:
        if any(trial_id == row.trial_id for _, trials in rows for row in trials):
            continue
        group = next((group for group in groups if trial_id in group), (trial_id,))
        found = [trial_row(task, other) for other in group if other in columns]
        rows.append((trial_id, tuple(trial for trial in found if trial is not None)))
    return tuple(
        VariantRow(number=number, shown=shown, trials=trials) for number, (shown, trials) in enumerate(rows, 1)
    )


def strip_lines(
    task: TaskReport, variants: tuple[VariantRow, ...], places: dict[int, str], *, width: int, marks: Marks
) -> list[Line]:
    """The strip, broken into blocks of steps where it is wider than the screen."""
    table = task.finding.table
    if table is None or not table.skeleton or not variants:
        return []
    labels = tuple(_label(variant, table, marks) for variant in variants)
    strip = _Strip(
        table=table,
        variants=variants,
        labels=labels,
        places=places,
        marks=marks,
        margin=max(width_of(label) for label in labels) + 2,
        size=max(len(str(table.skeleton[-1].number)) + 1, 3),
    )
    room = max((width - strip.margin) // strip.size, 4)
    lines: list[Line] = []
    rows = table.skeleton
    for begin in range(0, len(rows), room):
        last = begin + room >= len(rows)
        lines += strip.block(rows[begin : begin + room], width if last else 0)
    return lines


class _Strip(Struct, frozen=True, kw_only=True):
    """A strip ready to be drawn: ``margin`` is the width of the labels, ``size`` that of a step."""

    table: AlignedTable
    variants: tuple[VariantRow, ...]
    labels: tuple[Line, ...]
    places: dict[int, str]
    marks: Marks
    margin: int
    size: int

    def block(self, rows: tuple[Row, ...], width: int) -> list[Line]:
        """Some steps of all variants; with ``width`` 0 the names of the variants stand in a later block."""
        numbers = (f"{row.number:<{self.size}}" for row in rows)
        lines = [line(Span(f"{'step':<{self.margin}}", "heading"), *numbers)]
        for variant, label in zip(self.variants, self.labels, strict=True):
            found = (step_mark(row, variant.shown, self.table, self.marks) for row in rows)
            content = line(pad(label, self.margin), *(pad(line(mark), self.size) for mark in found))
            name = f"variant {variant.number}: {variant.names}"
            if width and width_of(content) + cells(name) + 1 <= width:
                content = line(content, " ", Span(name, "muted"))
            lines.append(content)
        if any(row.number in self.places for row in rows):
            lines.append(line(" " * self.margin, *(self._place(row) for row in rows)))
        return lines

    def _place(self, row: Row) -> Line:
        mark = self.places.get(row.number, "")
        return pad(line(Span(mark, "" if mark == self.marks.first else "divergence")), self.size)


def _label(variant: VariantRow, table: AlignedTable, marks: Marks) -> Line:
    """``✓ 0  reference``."""
    styles = {marks.passed: "passed", marks.failed: "failed"}
    verdicts = dict.fromkeys(marks.trial(trial.verdict) for trial in variant.trials)
    shown = [Span(mark, styles.get(mark, "")) for mark in verdicts]
    more = f" ({marks.times}{len(variant.trials)})" if len(variant.trials) > 1 else ""
    reference = "  reference" if variant.shown == table.reference else ""
    return line(*shown, f" {one_line(variant.shown)}{more}{reference}")


def step_mark(row: Row, trial_id: str, table: AlignedTable, marks: Marks) -> Span:
    """The mark of one step in the strip, with the name of its style."""
    cell = cell_of(row, trial_id)
    op = op_of(row, trial_id)
    if cell is None:
        anyone = table.reference is None or cell_of(row, table.reference) is None
        return Span(" " if anyone or op is not Op.MISSING else marks.missing)
    if cell.kind == StepKind.TERMINATION:
        return Span(marks.end, "equal" if op in (Op.SAME, Op.REFERENCE) else "")
    if op is Op.REFERENCE:
        return Span(_kind(cell.effect, cell.tool))
    if cell.is_error and op is not Op.SAME:
        return Span(marks.error)
    return Span(marks.step(op), "equal" if op is Op.SAME else "")


def _kind(effect: str, tool: str | None) -> str:
    """``r`` reading call, ``W`` state-changing call (also one whose effect is not known), ``m`` message."""
    if tool is None:
        return "m"
    return "W" if effect in (Effect.WRITE, Effect.UNKNOWN) else "r"
