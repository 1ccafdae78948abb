"""Leaves the shape of a finished value and takes out what was said: ``--no-content``.

What stays: ids, tools, marks, verdicts, kinds, grades, counts and places in the log. What goes: arguments,
results, messages, titles, reasons in free text, and every sentence that quotes one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from trajdiff.align.table import Cell, Row
from trajdiff.divergence.finding import Divergence, FindingKind, NearMiss, TaskFinding, Way
from trajdiff.frozen import field_names, is_frozen_value, replace
from trajdiff.model import Diagnostic, StepKind
from trajdiff.redaction import rebuilt
from trajdiff.report import Report, TaskReport, TrialRow
from trajdiff.sides import SideDivergence, SideTask

T = TypeVar("T")

_FIXED = {
    FindingKind.SAME_PATH: "same path, different outcome",
    FindingKind.ALWAYS_PASS: "always passes",
    FindingKind.NEVER_PASS: "never passes",
    FindingKind.ABSTAINED: "abstained",
    FindingKind.INFRASTRUCTURE: "infrastructure",
    FindingKind.NOT_COMPARED: "not compared",
}


def without_content(value: T) -> T:
    """The value (a report, a comparison, a result of ``check``, a view) without anything that was said."""
    said: dict[str, str] = {}
    _collect(value, said)

    def text(one: str) -> str:
        return said.get(one, one)

    made: T = rebuilt(_emptied(value), text)
    return made


def words_for(divergence: Divergence) -> str:
    """What is left of a headline: the kind and the tool."""
    if divergence.abstained or divergence.kind is None:
        return f"abstained: {divergence.reason or 'no reason recorded'}".replace("_", " ")
    tool = f" at {divergence.tool}" if divergence.tool else ""
    return f"{divergence.kind.value.replace('_', ' ')}{tool}"


def _collect(value: Any, said: dict[str, str]) -> None:
    """Headlines stand in other places too (recurring, nodes): they are replaced wherever they stand alone."""

    def note(divergence: Divergence) -> None:
        shaped = words_for(divergence)
        for actor in ("", f"{divergence.actor}: "):
            said[f"{actor}{divergence.headline}"] = f"{actor}{shaped}"
        if divergence.sentence:
            said[divergence.sentence] = f"{shaped[:1].upper()}{shaped[1:]}."

    _visit(value, note)
    said.pop("", None)


def _visit(value: Any, note: Callable[[Divergence], None]) -> None:
    if isinstance(value, Divergence):
        note(value)
    elif isinstance(value, tuple | list):
        for entry in value:
            _visit(entry, note)
    elif isinstance(value, dict):
        for entry in value.values():
            _visit(entry, note)
    elif is_frozen_value(value) and not isinstance(value, Cell | Row):
        for name in field_names(value):
            _visit(getattr(value, name), note)


def _emptied(value: Any, made: dict[int, tuple[Any, Any]] | None = None) -> Any:
    """Every part that can hold something said, in its short form; the rest as it is. What was one object at two
    places is one afterwards, rows and cells of tables left out: those of large logs are made where they are
    asked for, and ``made`` would hold all at once."""
    made = {} if made is None else made
    if isinstance(value, tuple | list):
        return type(value)(_emptied(entry, made) for entry in value)
    if isinstance(value, dict):
        return {key: _emptied(entry, made) for key, entry in value.items()}
    if not is_frozen_value(value):
        return value
    if isinstance(value, Row | Cell):
        return _emptied_fields(value, made)
    known = made.get(id(value))
    if known is None:
        # With the value itself, so that its id stays its.
        known = made[id(value)] = value, _emptied_fields(value, made)
    return known[1]


def _emptied_fields(value: Any, made: dict[int, tuple[Any, Any]]) -> Any:
    # By every class it is: a table that reads its texts from the log holds as much as any other.
    shorten = next((_SHORTEN[kind] for kind in type(value).__mro__ if kind in _SHORTEN), None)
    short = shorten(value) if shorten is not None else value
    changed = {}
    for name in field_names(short):
        old = getattr(short, name)
        new = _emptied(old, made)
        if new is not old:
            changed[name] = new
    return replace(short, **changed) if changed else short


def _cell(cell: Cell) -> Cell:
    ending = cell.kind == StepKind.TERMINATION
    return replace(cell, arguments=(), changed=(), result=None, text=cell.text if ending else None)


def _row(row: Row) -> Row:
    tools = [cell.tool for cell in row.cells if cell.tool is not None]
    kinds = [cell.kind for cell in row.cells if cell.kind]
    return replace(row, label=(tools or kinds or [""])[0])


def _divergence(one: Divergence) -> Divergence:
    shaped = words_for(one)
    first, origin = one.first_difference, one.provenance
    return replace(
        one,
        argument=None,
        headline=shaped,
        sentence=f"{shaped[:1].upper()}{shaped[1:]}.",
        root_sides=(),
        manifest_sides=(),
        evidence=(),
        identity="",
        provenance=None if origin is None else replace(origin, value="", path=None),
        first_difference=None if first is None else replace(first, text=first.kind.replace("_", " ")),
        recovered=tuple(replace(entry, text="", closed_by="") for entry in one.recovered),
    )


def _finding(one: TaskFinding) -> TaskFinding:
    lead = "" if one.lead is None else words_for(one.lead)
    text = lead if one.kind is FindingKind.DIVERGENCE else _FIXED[one.kind]
    return replace(one, text=text, notes=())


def _way(one: Way) -> Way:
    return replace(one, text=" ".join(one.writes) or "no write")


def _near_miss(one: NearMiss) -> NearMiss:
    return replace(one, text=one.kind.replace("_", " "))


def _side_task(one: SideTask) -> SideTask:
    return replace(one, text=_FIXED.get(one.kind, "divergence"))


def _side_divergence(one: SideDivergence) -> SideDivergence:
    actor = one.text.partition(":")[0]
    return replace(one, text=f"{actor}: a divergence")


def _trial(one: TrialRow) -> TrialRow:
    return replace(one, error=None, verdict_raw=None, termination_raw=None)


def _report(one: Report) -> Report:
    return replace(one, content=False)


def _task(one: TaskReport) -> TaskReport:
    return replace(one, title=None)


def _diagnostic(one: Diagnostic) -> Diagnostic:
    return replace(one, message=one.slug.replace("-", " "), details=())


_SHORTEN: dict[type, Any] = {
    Report: _report,
    Cell: _cell,
    Row: _row,
    Divergence: _divergence,
    TaskFinding: _finding,
    Way: _way,
    NearMiss: _near_miss,
    SideTask: _side_task,
    SideDivergence: _side_divergence,
    TrialRow: _trial,
    TaskReport: _task,
    Diagnostic: _diagnostic,
}
