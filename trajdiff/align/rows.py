"""Turns the graph of passes and the alignments of the other trials into the rows of one table.

Rows follow the columns of the graph; steps that only other trials have get rows of their own behind the column
they follow, shared where several trials have the same extra step.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from msgspec import Struct, field

from trajdiff.align.graph import Match, SuccessGraph
from trajdiff.align.pairwise import align
from trajdiff.align.prepared import PreparedStep, PreparedTrial, argument_value
from trajdiff.align.similarity import GAP_OPEN, GROUND, Costs, weight
from trajdiff.align.table import AlignedTable, Cell, Op, Row
from trajdiff.align.values import changed_paths
from trajdiff.model import Step, StepKind


class _Slot(Struct):
    """A row in the making: trial id to step."""

    column: int | None = None
    steps: dict[str, PreparedStep] = field(default_factory=dict)
    moved: set[str] = field(default_factory=set)
    split: set[str] = field(default_factory=set)


def aligned_table(
    graph: SuccessGraph,
    others: Sequence[tuple[PreparedTrial, tuple[Match, ...]]],
    order: Sequence[str],
    reference_known: bool = True,
    *,
    bare: bool = False,
) -> AlignedTable:
    """The aligned table of a task.

    Arguments: the graph; the other trials with their matches; all trial ids in column order (the reference is
    put first); whether the graph's first trial is a reference (a pass) or just the first of the failures;
    ``bare`` where the texts of the cells are read from their steps later.
    """
    slots = [_Slot(column=number) for number in range(len(graph.columns))]
    behind: dict[int, list[_Slot]] = {}
    for number, column in enumerate(graph.columns):
        for member, position in column.members:
            owner = graph.trials[member]
            slots[number].steps[owner.trial_id] = owner.steps[position]
    for trial, matches in others:
        _place(slots, behind, trial, matches, graph.costs)
    ordered = list(behind.get(-1, []))
    for number, slot in enumerate(slots):
        ordered += [slot, *behind.get(number, [])]
    reference = graph.trials[0].trial_id
    columns = (reference, *(trial for trial in order if trial != reference))
    make = _Rows(columns, graph.costs, bare)
    rows = tuple(make.row(number, slot) for number, slot in enumerate(ordered, 1))
    return AlignedTable(columns=columns, reference=reference if reference_known else None, rows=rows)


def _place(
    slots: list[_Slot],
    behind: dict[int, list[_Slot]],
    trial: PreparedTrial,
    matches: tuple[Match, ...],
    costs: Costs,
) -> None:
    extras: dict[int, list[PreparedStep]] = {}
    last = -1
    for match in matches:
        if match.column is not None:
            last = match.column
        if match.position is None:
            continue
        step = trial.steps[match.position]
        if match.column is None:
            extras.setdefault(last, []).append(step)
            continue
        slots[match.column].steps[trial.trial_id] = step
        if match.moved:
            slots[match.column].moved.add(trial.trial_id)
        if match.split is not None:
            second = _Slot(steps={trial.trial_id: trial.steps[match.split]}, split={trial.trial_id})
            behind.setdefault(match.column, []).insert(0, second)
    for column, steps in extras.items():
        behind[column] = _merge_extras(behind.get(column, []), trial.trial_id, steps, costs)


def _merge_extras(rows: list[_Slot], trial_id: str, steps: list[PreparedStep], costs: Costs) -> list[_Slot]:
    firsts = [next(iter(row.steps.values())) for row in rows]
    found = align(
        lambda i, j: costs.substitute(firsts[i], steps[j]),
        [weight(step) for step in firsts],
        [weight(step) for step in steps],
        GAP_OPEN,
    )
    out = []
    for i, j in found.pairs:
        row = rows[i] if i is not None else _Slot()
        if j is not None:
            row.steps[trial_id] = steps[j]
        out.append(row)
    return out


class _Rows:
    """Turns slots into rows."""

    def __init__(self, columns: tuple[str, ...], costs: Costs, bare: bool) -> None:
        self._columns, self._costs, self._bare = columns, costs, bare

    def row(self, number: int, slot: _Slot) -> Row:
        columns, steps = self._columns, slot.steps
        reference = steps.get(columns[0])
        model = reference or next(steps[trial] for trial in columns if trial in steps)
        cells = []
        for trial in columns:
            step = steps.get(trial)
            if step is None:
                if reference is not None:
                    cells.append(Cell(trial_id=trial, op=Op.MISSING))
                continue
            op = Op.REFERENCE if trial == columns[0] else self._op(reference, step)
            if trial in slot.split:
                op = Op.SAME
            elif trial in slot.moved and op is Op.SAME:
                op = Op.MOVED
            cells.append(self._cell(trial, op, step, reference))
        return Row(number=number, label=_label(model), cells=tuple(cells))

    def _op(self, reference: PreparedStep | None, step: PreparedStep) -> Op:
        if reference is None:
            return Op.EXTRA
        if step.is_message:
            # Equal values in other words are the same step; where the words have nothing in common the reader
            # must see both.
            same = step.commitments == reference.commitments
            return Op.SAME if same and self._costs.likeness(step, reference) >= GROUND else Op.CHANGED
        if step.call_key != reference.call_key:
            return Op.CHANGED
        return Op.SAME if step.result_text == reference.result_text else Op.OTHER_RESULT

    def _cell(self, trial: str, op: Op, step: PreparedStep, reference: PreparedStep | None) -> Cell:
        recorded = step.step
        source, result = recorded.source, recorded.result
        changed: tuple[str, ...] = ()
        if op is Op.CHANGED and reference is not None and step.is_call:
            changed = changed_paths(reference.arguments, step.arguments)
        told = not self._bare
        return Cell(
            trial_id=trial,
            op=op,
            step=step.index,
            actor=recorded.actor,
            kind=recorded.kind.value,
            tool=recorded.name,
            effect=step.effect.value if step.is_call else "",
            arguments=texts_of(recorded) if told else (),
            changed=changed,
            result=result.text if told and result is not None else None,
            is_error=result.is_error if result is not None else None,
            text=recorded.text if told else None,
            message_index=source.message_index,
            pointer=source.pointer,
            line=source.line,
        )


def _label(step: PreparedStep) -> str:
    if step.is_call:
        own = step.step.name or "call"
        return own if step.label.replace(" ", "") == own.replace("_", "").casefold() else step.label
    if step.step.kind is StepKind.TERMINATION:
        return "end"
    return f"{step.step.actor} {step.step.kind}".replace("_", " ")


def argument_texts(step: PreparedStep) -> tuple[tuple[str, str], ...]:
    """Arguments as (name, text) in recorded order; raw text under the empty name where they are no object."""
    return texts_of(step.step)


def texts_of(step: Step) -> tuple[tuple[str, str], ...]:
    """The arguments of a recorded step, as ``argument_texts`` gives them."""
    arguments = argument_value(step)
    if isinstance(arguments, dict):
        return tuple((str(name), _text(value)) for name, value in arguments.items())
    return (("", _text(arguments)),) if arguments is not None else ()


#: Made once: to make it costs more than to write most arguments.
_write = json.JSONEncoder(ensure_ascii=False, default=str).encode


def _text(value: object) -> str:
    return str(value) if type(value) is int else _write(value)
