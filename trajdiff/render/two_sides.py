"""What passed and failed trials do at the step of a divergence, one beside or below the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trajdiff.divergence.finding import Divergence, Kind, Side
from trajdiff.model import Verdict
from trajdiff.render.fact_lines import fact_lines, lines_of_fact, width_of_fact
from trajdiff.render.places import manifest_row, root_row, row_of, trial_row
from trajdiff.render.safety import cells, one_line
from trajdiff.render.steps import NO_STEP, alike, cell_of

if TYPE_CHECKING:
    from trajdiff.align.table import Cell, Row
    from trajdiff.render.lines import Line
    from trajdiff.render.view import View
    from trajdiff.report import TaskReport

#: Characters of two long texts that are kept before the place where they part.
_BEFORE_PARTING = 12
#: Least lines that a side of the root step may take where the step at which it shows is told as well.
_ROOT_LINES = 2
#: Label of other trials of a group that the counts leave out.
ALIKE = "alike in"


def told_sides(task: TaskReport, divergence: Divergence) -> tuple[int | None, tuple[Side, ...]]:
    """The step that is told from both sides, root (None) or manifest step (its row), and the sides.

    The manifest step is told where it is another one, unless both sides of it are the same text.
    """
    root, manifest = root_row(task.finding, divergence), manifest_row(task.finding, divergence)
    sides = divergence.manifest_sides
    same = len(sides) == 2 and sides[0].text == sides[1].text and bool(divergence.root_sides)
    if manifest is None or manifest == root or same:
        return None, divergence.root_sides
    return manifest, sides


def absent_side(task: TaskReport, divergence: Divergence, sides: Sequence[Side]) -> str | None:
    """Who has no such step, where the failed trial does something for which the reference has none."""
    if len(sides) != 1 or sides[0].trial_id != divergence.trial_id:
        return None
    contrast = divergence.support is not None and divergence.support.passed > 0
    if divergence.kind is Kind.EXTRA_WRITE:
        return "passed" if contrast else "expected"
    row, _ = told_sides(task, divergence)
    at, reference = _row(task, row), _reference(task, divergence)
    if not contrast or at is None or reference is None or cell_of(at, reference) is not None:
        return None
    return "passed"


def root_texts(task: TaskReport, divergence: Divergence) -> list[tuple[str, str]]:
    """Whose side, and what it does at the root step, where the step told from both sides is a later one.

    These are the cells of the row, as the aligned table shows them; a call that the reference makes elsewhere
    is told all the same. Without a passed trial only the failed side is told.
    """
    manifest, _ = told_sides(task, divergence)
    at = _row(task, root_row(task.finding, divergence))
    if manifest is None or at is None:
        return []
    own, reference = cell_of(at, divergence.trial_id), _reference(task, divergence)
    beside = None if reference is None else cell_of(at, reference) or _elsewhere(task, divergence, own)
    texts = [NO_STEP if cell is None else _cell_text(cell) for cell in (beside, own)]
    shown = [side.text for side in divergence.manifest_sides]
    if texts[0] == texts[1] or all(text == NO_STEP or text in shown for text in texts):
        return []
    failed = ("failed", texts[1])
    return [failed] if reference is None else [("passed", texts[0]), failed]


def _row(task: TaskReport, number: int | None) -> Row | None:
    rows = task.finding.table.rows if task.finding.table is not None else ()
    return next((row for row in rows if row.number == number), None)


def _reference(task: TaskReport, divergence: Divergence) -> str | None:
    """The passed trial that a divergence is told against, None where no trial passed."""
    table = task.finding.table
    named = [side.trial_id for side in (*divergence.root_sides, *divergence.manifest_sides)]
    named += [table.reference] if table is not None and table.reference is not None else []
    return next((trial for trial in named if outcome(task, trial) == "passed"), None)


def _elsewhere(task: TaskReport, divergence: Divergence, own: Cell | None) -> Cell | None:
    """The step of the reference that the root is compared with, if both call the same tool."""
    step = divergence.passed_root
    at = _row(task, row_of(task.finding, step))
    cell = cell_of(at, step.trial_id) if at is not None and step is not None else None
    return cell if cell is not None and own is not None and own.tool and cell.tool == own.tool else None


def _cell_text(cell: Cell) -> str:
    """A step on one line, as the sides of a divergence are written."""
    if cell.tool is None:
        return cell.text or cell.kind
    call = f"{cell.tool}({', '.join(f'{name}={value}' if name else value for name, value in cell.arguments)})"
    return call if cell.result is None else f"{call} → {cell.result}"


def outcome(task: TaskReport, trial_id: str) -> str:
    """Whose side it is; one that is no trial of the task is a borrowed reference."""
    trial = trial_row(task, trial_id)
    if trial is None:
        return "expected"
    return "passed" if trial.verdict is Verdict.PASS else "failed"


def in_others(divergence: Divergence, trials: Sequence[str]) -> str:
    """Whether other trials of the group do the same. The counts are of this very deviation: others of the group
    may deviate with other values."""
    counted = divergence.support is None or divergence.support.failed_with >= len(trials)
    return "same in" if counted else ALIKE


def other_trials(
    task: TaskReport, divergence: Divergence, trials: Sequence[str]
) -> list[tuple[Divergence, int | None]]:
    """Divergences of other trials of the group with their root rows: those at another step or grade than the
    one shown, and all of them where the counts leave them out."""
    finding, alike_only = task.finding, in_others(divergence, trials) == ALIKE
    own = (root_row(finding, divergence), divergence.grade)
    group = [one for one in finding.divergences if one.trial_id in trials and one is not divergence]
    placed = [(one, root_row(finding, one)) for one in group if one.trial_id != divergence.trial_id]
    return [(one, row) for one, row in placed if alike_only or (row, one.grade) != own]


def as_recorded(divergence: Divergence) -> str:
    """The deciding value as it is written at the divergence; values are compared without regard to case."""
    value = divergence.provenance.value if divergence.provenance is not None else ""
    for side in (*divergence.manifest_sides, *divergence.root_sides):
        at = side.text.lower().find(value.lower())
        if at >= 0 and side.trial_id == divergence.trial_id and len(side.text.lower()) == len(side.text):
            return side.text[at : at + len(value)]
    return value


def side_lines(task: TaskReport, divergence: Divergence, view: View) -> list[Line]:
    """Both sides of the root step, and of the step where it shows if that is another one."""
    return [*_root_lines(task, divergence, view), *_told_lines(task, divergence, view)]


def _root_lines(task: TaskReport, divergence: Divergence, view: View) -> list[Line]:
    """The root step in brief, where a later step is told from both sides."""
    told, most = root_texts(task, divergence), max(_ROOT_LINES, lines_of_fact(view) - 1)
    texts = [one_line(text).replace(" → ", f" {view.marks.arrow} ").removesuffix(" →") for _, text in told]
    room = most * width_of_fact(view) - len("passed: ")
    if not view.full:
        texts = parted(texts, None, room, view.marks.ellipsis)
        texts = [_from_value(text, as_recorded(divergence), room, view.marks.ellipsis) for text in texts]
    lines: list[Line] = []
    for position, ((who, _), text) in enumerate(zip(told, texts, strict=True)):
        lines += fact_lines("the step" if position == 0 else "", f"{who}: {text}", view, most)
    return lines


def _from_value(text: str, value: str, room: int, ellipsis: str) -> str:
    """A text above ``room`` cells from shortly before the deciding value on, if that would be cut off."""
    at = text.find(value) if value else -1
    if at < 0 or cells(text[: at + len(value)]) <= room - len(ellipsis) - 1:
        return text
    begin = text.rfind(" ", 0, max(at - room // 3, 0)) + 1
    return f"{ellipsis} {text[begin:]}" if begin else text


def _told_lines(task: TaskReport, divergence: Divergence, view: View) -> list[Line]:
    """Both sides of a step, on one line where they fit; long ones from where they part on."""
    row, sides = told_sides(task, divergence)
    label = "the step" if row is None else f"shows at step {row}"
    texts = [one_line(side.text).replace(" → ", f" {view.marks.arrow} ").removesuffix(" →") for side in sides]
    if not texts:
        return [] if row is None else fact_lines(label, "", view)
    who = [outcome(task, side.trial_id) for side in sides]
    absent = absent_side(task, divergence, sides)
    joined = ", ".join(f"{text} in {name}" for text, name in zip(texts, who, strict=True))
    if cells(joined) <= width_of_fact(view) and absent is None:
        return fact_lines(label, joined, view)
    if not view.full:
        room = lines_of_fact(view) * width_of_fact(view) - len("expected: ")
        texts = parted(texts, divergence.argument, room, view.marks.ellipsis)
    told = [f"{name}: {text}" for name, text in zip(who, texts, strict=True)]
    lines: list[Line] = []
    for position, text in enumerate([*([f"{absent}: {NO_STEP}"] if absent else []), *told]):
        lines += fact_lines(label if position == 0 else "", text, view)
    return lines


def parted(texts: list[str], argument: str | None, room: int, ellipsis: str) -> list[str]:
    """Two long texts (cells above ``room``) that begin alike, cut so that the place where they part is seen.

    ``argument`` is the path of the argument that the divergence is about; its value is what counts then.
    """
    if len(texts) != 2 or max(cells(text) for text in texts) <= room:
        return texts
    name = f"{argument.split('[')[0].split('.')[0]}=" if argument else ""
    starts = [max(text.find(name), 0) for text in texts] if name else [0, 0]
    tails = [text[start:] for text, start in zip(texts, starts, strict=True)]
    same = alike(*tails)
    if max(starts) + same < room // 2 or tails[0] == tails[1]:
        return texts
    before = tails[0].rfind(" ", 0, max(same - _BEFORE_PARTING, 0)) + 1
    call = texts[0][: texts[0].find("(") + 1]
    shared = call if texts[1].startswith(call) else ""
    begin = f"{shared}{ellipsis} " if max(starts) or before else ""
    if before and min(starts):
        begin += f"{name}{ellipsis} "
    return [begin + tail[before:] for tail in tails]
