"""The placebo: a step that is the same in all trials, held fixed at what it is anyway."""

from __future__ import annotations

from trajdiff.align.table import Op, Row
from trajdiff.intervention.asking import pin_step
from trajdiff.intervention.pinning import Book, Pinned
from trajdiff.model import Effect, StepKind
from trajdiff.record import Pin


def placebo_for(book: Book, pinned: Pinned) -> Pinned | None:
    """A pin of an unrelated step, so that what pinning as such does can be seen; None where no step is fit.

    The first look that every trial took in the same way with the same result; without one, a message of the
    user that is the same in all trials.
    """
    table, reference = book.finding.table, book.reference
    if table is None or reference is None:
        return None
    taken = {name for pin in pinned.pins for name in (pin.tool, pin.name) if name is not None}
    columns = len(table.columns)
    for row in table.rows:
        cell = next((cell for cell in row.cells if cell.trial_id == reference.trial_id), None)
        if cell is None or cell.step is None or not _same_everywhere(row, columns) or cell.tool in taken:
            continue
        step = reference.steps[cell.step]
        looks = step.is_call and cell.effect == Effect.READ and step.result is not None
        if looks and not step.failed and cell.message_index is not None:
            return pin_step(book, reference.trial_id, cell.message_index, kind="result")
    first = next((s for s in reference.steps if s.kind is StepKind.MESSAGE and s.actor == "user"), None)
    if first is None or any(pin.at == "user" for pin in pinned.pins):
        return None
    pin = Pin(kind="user_message", at="user", occurrence=0, value=first.text or "")
    ref = book.ref(reference.trial_id, first)
    return Pinned(
        pins=(pin,), label="user message", text="the first message of the user is what it is", ref=ref
    )


def _same_everywhere(row: Row, columns: int) -> bool:
    return len(row.cells) == columns and all(cell.op in (Op.SAME, Op.REFERENCE) for cell in row.cells)
