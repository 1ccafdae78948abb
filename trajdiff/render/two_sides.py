"""What passed and failed trials do at the step of a divergence, one beside or below the other."""

from __future__ import annotations

from collections.abc import Sequence

from trajdiff.divergence.finding import Divergence, Kind, Side
from trajdiff.model import Verdict
from trajdiff.render.fact_lines import fact_lines, lines_of_fact, width_of_fact
from trajdiff.render.lines import Line
from trajdiff.render.places import manifest_row, root_row, trial_row
from trajdiff.render.safety import cells, one_line
from trajdiff.render.steps import NO_STEP, alike
from trajdiff.render.view import View
from trajdiff.report import TaskReport

#: Characters of two long texts that are kept before the place where they part.
_BEFORE_PARTING = 12


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


def absent_side(divergence: Divergence, sides: Sequence[Side]) -> str | None:
    """Who has no such step, where the failed trial does something for which the reference has none."""
    alone = len(sides) == 1 and sides[0].trial_id == divergence.trial_id
    if not alone or divergence.kind is not Kind.EXTRA_WRITE:
        return None
    return "passed" if divergence.support is not None and divergence.support.passed else "expected"


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
    return "same in" if counted else "alike in"


def as_recorded(divergence: Divergence) -> str:
    """The deciding value as it is written at the divergence; values are compared without regard to case."""
    value = divergence.provenance.value if divergence.provenance is not None else ""
    for side in (*divergence.manifest_sides, *divergence.root_sides):
        at = side.text.lower().find(value.lower())
        if at >= 0 and side.trial_id == divergence.trial_id and len(side.text.lower()) == len(side.text):
            return side.text[at : at + len(value)]
    return value


def side_lines(task: TaskReport, divergence: Divergence, view: View) -> list[Line]:
    """Both sides of a step, on one line where they fit; long ones from where they part on."""
    row, sides = told_sides(task, divergence)
    label = "the step" if row is None else f"shows at step {row}"
    texts = [one_line(side.text).replace(" → ", f" {view.marks.arrow} ").removesuffix(" →") for side in sides]
    if not texts:
        return [] if row is None else fact_lines(label, "", view)
    who = [outcome(task, side.trial_id) for side in sides]
    absent = absent_side(divergence, sides)
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
