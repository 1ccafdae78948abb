"""What the script needs to show one task, as plain values: trials, findings, strip, aligned table.

The figures and words are those of the other formats; nothing is decided or counted here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from trajdiff.align.table import AlignedTable, Cell, Op, Row
from trajdiff.reliability.estimators import format_k
from trajdiff.render.curve import task_ks
from trajdiff.render.intervention_text import tested_words
from trajdiff.render.json_text import finite
from trajdiff.render.lines import plain
from trajdiff.render.marks import UNICODE
from trajdiff.render.places import first_row, manifest_row, places, root_row, row_of, tells_first
from trajdiff.render.safety import clean, one_line
from trajdiff.render.steps import NO_STEP, step_name
from trajdiff.render.strip import VariantRow, step_mark, variant_rows
from trajdiff.render.task_findings import claims, groups, origin_text, recovery_text, silent_lines
from trajdiff.render.two_sides import (
    absent_side,
    as_recorded,
    in_others,
    other_trials,
    outcome,
    root_texts,
    told_sides,
)
from trajdiff.render.view import View
from trajdiff.render.wording import headline, seen_in

if TYPE_CHECKING:
    from trajdiff.divergence.finding import Divergence, ReviewNote, StepRef
    from trajdiff.render.html.chunks import Texts
    from trajdiff.report import TaskReport, TrialRow

#: One letter per way in which a cell compares with the reference.
OPS = {
    Op.REFERENCE: "r",
    Op.SAME: "s",
    Op.CHANGED: "c",
    Op.OTHER_RESULT: "o",
    Op.EXTRA: "e",
    Op.MISSING: "m",
    Op.MOVED: "v",
}
#: Names of tools, actors and arguments come again in every row.
_word = lru_cache(maxsize=8192)(one_line)
#: Sentences of other formats are wrapped; a line this wide never is.
_UNWRAPPED = View(width=1_000_000, full=True)


def task_data(task: TaskReport, texts: Texts, view: View) -> dict[str, Any]:
    """The data of a task; trials are referred to by their number in ``trials``."""
    trials = {trial.trial_id: number for number, trial in enumerate(task.trials)}
    variants = variant_rows(task)
    table = task.finding.table
    made: dict[str, Any] = {
        "id": one_line(task.task_id),
        "title": one_line(task.title or ""),
        "figures": [[k, format_k(task.reliability.pass_hat_k, k)] for k in task_ks(task.reliability, view.k)],
        "trials": [_trial(trial) for trial in task.trials],
        "missing": [one_line(trial_id) for trial_id in task.missing],
        "found": [_found(task, one, of, trials) for one, of in groups(task)],
        "places": _places(task, trials),
        "silent": _silent(task, variants),
    }
    if table is not None and variants:
        made["columns"] = [trials[trial_id] for trial_id in table.columns if trial_id in trials]
        made["reference"] = trials.get(table.reference or "")
        made["variants"] = [_variant(variant, table, trials) for variant in variants]
        made["rows"] = [_row(row, task, trials, texts) for row in table.rows]
    made["texts"] = texts.texts  # filled by the rows, so it comes last
    return made


def _trial(trial: TrialRow) -> dict[str, Any]:
    return {
        "id": one_line(trial.trial_id),
        "verdict": str(trial.verdict),
        "rule": one_line(trial.verdict_rule),
        "reward": finite(trial.reward),
        "stop": one_line(trial.termination),
        "stop_raw": one_line(trial.termination_raw or ""),
        "error": one_line(trial.error or ""),
        "steps": trial.steps,
        "calls": trial.tool_calls,
        "errors": trial.errors,
        "tokens": trial.tokens,
        "cost": finite(trial.cost),
        "duration": finite(trial.duration),
        "ref": one_line(trial.ref),
        "path": one_line(trial.path),
        "pointer": one_line(trial.pointer),
    }


def _found(
    task: TaskReport, divergence: Divergence, of: Sequence[str], trials: dict[str, int]
) -> dict[str, Any]:
    """One group of failed trials with the same divergence."""
    finding = task.finding
    return {
        "row_id": divergence.row_id,
        "trials": [trials[trial_id] for trial_id in of if trial_id in trials],
        "shown": trials.get(divergence.trial_id),
        "headline": headline(divergence, UNICODE),
        "grade": None if divergence.grade is None else str(divergence.grade),
        "sentence": clean(divergence.sentence),
        "root": root_row(finding, divergence),
        "manifest": manifest_row(finding, divergence),
        "first": first_row(finding, divergence),
        "facts": _facts(task, divergence, of, trials),
        "root_sides": _root_sides(task, divergence),
        "sides": _sides(task, divergence),
        "harmless": _harmless(task, divergence),
        "sources": [
            {
                "side": place.side,
                "trial": trials.get(place.trial_id),
                "ref": one_line(place.ref),
                "path": one_line(_path(divergence, place.side)),
                "pointer": one_line(place.json_path),
                "line": place.line,
            }
            for place in places(task, divergence)
        ],
    }


def _places(task: TaskReport, trials: dict[str, int]) -> dict[int, dict[str, int]]:
    """Rows that are marked when a trial is looked at: root, manifest and first difference, by trial."""
    made: dict[int, dict[str, int]] = {}
    for divergence in task.finding.divergences:
        told = tells_first(task.finding, divergence)
        rows = {"first": first_row(task.finding, divergence) if told else None}
        if claims(divergence):
            rows |= {
                "root": root_row(task.finding, divergence),
                "manifest": manifest_row(task.finding, divergence),
            }
        if divergence.trial_id in trials:
            made[trials[divergence.trial_id]] = {name: row for name, row in rows.items() if row is not None}
    return made


def _path(divergence: Divergence, side: str) -> str:
    step = divergence.passed_root if side == "passed" else divergence.root
    return step.path if step is not None else ""


def _facts(
    task: TaskReport, divergence: Divergence, of: Sequence[str], trials: dict[str, int]
) -> list[dict[str, Any]]:
    """What stands behind a divergence, as label and text; some with the step they speak of."""
    support = divergence.support
    contrast = support is not None and support.passed > 0
    facts = [_fact("separates outcomes" if contrast else "support", seen_in(divergence))]
    origin = divergence.provenance
    if origin is not None:
        told = _fact("value from", origin_text(origin, as_recorded(divergence)))
        if origin.message is not None:
            told.update(message=origin.message, trial=trials.get(divergence.trial_id))
            told["value"] = one_line(origin.value)
        facts.append(told)
    if support is not None:
        facts.append(_fact("recovery", recovery_text(divergence, support)))
    first = divergence.first_difference
    if first is not None and tells_first(task.finding, divergence):
        row = first_row(task.finding, divergence)
        if row is not None and row == root_row(task.finding, divergence):
            facts.append(_fact("first difference", "the same step"))
        else:
            text = f"{one_line(first.text)}, in trial {one_line(first.trial_id)}"
            told = _fact("first difference", text + (", recovered" if first.recovered else ""))
            facts.append({**told, "step": row, "mark": UNICODE.first})
    if divergence.accepted:
        facts.append(_fact("accepted", divergence.accepted))
    facts += [_fact("review", _review_text(note)) for note in divergence.reviews]
    facts += [_fact("tested", tested_words(one, UNICODE)) for one in divergence.tested]
    facts += _others(task, divergence, of)
    facts += [_fact("evidence", text) for text in divergence.evidence]
    if divergence.ignored_differences:
        facts.append(_fact("ignored", f"{divergence.ignored_differences} differences hidden by ignore rules"))
    return facts


def _review_text(note: ReviewNote) -> str:
    """``disagree (grader), better: L1-061/1@6, by mia: the policy allows it; carried from an earlier run``."""
    parts = [str(note.verdict) + (f" ({note.category})" if note.category else "")]
    parts += [f"better: {note.ref}"] if note.ref else []
    parts += [f"by {note.reviewer}"] if note.reviewer else []
    text = ", ".join(parts) + (f": {note.note}" if note.note else "")
    return f"{text}; carried from an earlier run" if note.carried else text


def _others(task: TaskReport, divergence: Divergence, of: Sequence[str]) -> list[dict[str, Any]]:
    """Other trials of the group, as ``other_trials`` names them."""
    label = in_others(divergence, of)
    found = other_trials(task, divergence, of)
    return [
        {**_fact(label, f"trial {one_line(one.trial_id)}, grade {one.grade}"), "step": step}
        for one, step in found
    ]


def _fact(label: str, text: str) -> dict[str, Any]:
    return {"label": label, "text": one_line(text)}


def _sides(task: TaskReport, divergence: Divergence) -> dict[str, Any] | None:
    """Both sides of the manifest step where it is another one, else of the root step."""
    row, sides = told_sides(task, divergence)
    if not sides:
        return None
    texts = [[outcome(task, side.trial_id), one_line(side.text).removesuffix(" →")] for side in sides]
    absent = absent_side(task, divergence, sides)
    if absent is not None:
        texts.insert(0, [absent, NO_STEP])
    step = root_row(task.finding, divergence) if row is None else row
    return {"label": "the step" if row is None else "shows at", "step": step, "texts": texts}


def _root_sides(task: TaskReport, divergence: Divergence) -> dict[str, Any] | None:
    """Both sides of the root step, where ``_sides`` tells a later one."""
    texts = [[who, one_line(text).removesuffix(" →")] for who, text in root_texts(task, divergence)]
    return {"label": "the step", "step": root_row(task.finding, divergence), "texts": texts} if texts else None


def _harmless(task: TaskReport, divergence: Divergence) -> list[dict[str, Any]]:
    """Differences that were repaired later, or that passed trials show too."""
    return [
        {
            "step": row_of(task.finding, entry.opened_at),
            "text": f"{one_line(entry.text)}; {one_line(entry.closed_by)}",
            "closed": _closed(task, entry.opened_at, entry.closed_at),
        }
        for entry in divergence.recovered
    ]


def _closed(task: TaskReport, opened: StepRef, closed: StepRef | None) -> int | None:
    row = row_of(task.finding, closed)
    return None if row == row_of(task.finding, opened) else row


def _silent(task: TaskReport, variants: Sequence[VariantRow]) -> list[dict[str, Any]]:
    """What is said about trials for which no place is named: headings and sentences."""
    lines = [line for line in silent_lines(task, variants, _UNWRAPPED) if line]
    return [
        {"heading": any(span.style == "heading" for span in line), "text": plain(line).strip()}
        for line in lines
    ]


def _variant(variant: VariantRow, table: AlignedTable, trials: dict[str, int]) -> dict[str, Any]:
    marks = [step_mark(row, variant.shown, table, UNICODE).text for row in table.skeleton]
    return {
        "trials": [trials[trial.trial_id] for trial in variant.trials],
        "shown": trials[variant.shown],
        "marks": "".join(marks),
    }


def _row(row: Row, task: TaskReport, trials: dict[str, int], texts: Texts) -> dict[str, Any]:
    model = next((cell for cell in row.cells if cell.step is not None), None)
    pointers = {trial.trial_id: trial.pointer for trial in task.trials}
    return {
        "n": row.number,
        "name": step_name(row, model),
        "cells": [
            _cell(cell, trials[cell.trial_id], pointers[cell.trial_id], texts)
            for cell in row.cells
            if cell.trial_id in trials
        ],
    }


def _cell(cell: Cell, trial: int, base: str, texts: Texts) -> dict[str, Any]:
    """A cell without what is empty; a pointer inside that of the trial is kept without its beginning."""
    made: dict[str, Any] = {"t": trial, "o": OPS[cell.op]}
    if cell.step is None:
        return made
    made |= {"k": cell.kind, "a": _word(cell.actor)}
    if cell.tool is not None:
        made["f"] = _word(cell.tool)
    if cell.effect:
        made["e"] = cell.effect
    if cell.arguments:
        made["g"] = [[_word(name), texts.number(clean(value))] for name, value in cell.arguments]
    if cell.changed:
        made["c"] = [_word(path) for path in cell.changed]
    if cell.result is not None:
        made["r"] = texts.number(clean(cell.result))
    if cell.is_error:
        made["x"] = 1
    if cell.text is not None:
        made["m"] = texts.number(clean(cell.text))
    if cell.message_index is not None:
        made["i"] = cell.message_index
    if cell.pointer:
        inside = base and cell.pointer.startswith(base)
        made["p"] = one_line(f"~{cell.pointer[len(base) :]}" if inside else cell.pointer)
    if cell.line is not None:
        made["l"] = cell.line
    return made
