"""What passed and failed trials do at the step of a divergence, one beside or below the other."""

from __future__ import annotations

from collections.abc import Sequence

from trajdiff.divergence.finding import Divergence, Kind, Side
from trajdiff.model import Verdict
from trajdiff.render.fact_lines import fact_lines, lines_of_fact, width_of_fact
from trajdiff.render.lines import Line
from trajdiff.render.places import trial_row
from trajdiff.render.safety import cells, one_line
from trajdiff.render.steps import NO_STEP, alike
from trajdiff.render.view import View
from trajdiff.report import TaskReport

#: Characters of two long texts that are kept before the place where they part.
_BEFORE_PARTING = 12


def side_lines(
    task: TaskReport, divergence: Divergence, label: str, sides: Sequence[Side], view: View
) -> list[Line]:
    """Both sides of a step, on one line where they fit; long ones from where they part on."""
    texts = [one_line(side.text).replace(" → ", f" {view.marks.arrow} ").removesuffix(" →") for side in sides]
    if not texts:
        return fact_lines(label, "", view)
    joined = ", ".join(
        f"{text} in {_outcome(task, side.trial_id)}" for text, side in zip(texts, sides, strict=True)
    )
    lacks = [f"{_absent(divergence)}: {NO_STEP}"] if _is_extra(divergence, sides) else []
    if cells(joined) <= width_of_fact(view) and not lacks:
        return fact_lines(label, joined, view)
    if not view.full:
        room = lines_of_fact(view) * width_of_fact(view) - len("expected: ")
        texts = parted(texts, divergence.argument, room, view.marks.ellipsis)
    told = [f"{_outcome(task, side.trial_id)}: {text}" for text, side in zip(texts, sides, strict=True)]
    lines: list[Line] = []
    for position, text in enumerate([*lacks, *told]):
        lines += fact_lines(label if position == 0 else "", text, view)
    return lines


def same_sides(sides: Sequence[Side]) -> bool:
    """Whether both sides are one and the same text, so that nothing is told by showing them."""
    return len(sides) == 2 and sides[0].text == sides[1].text


def _is_extra(divergence: Divergence, sides: Sequence[Side]) -> bool:
    """Whether the failed trial does something for which the reference has no step."""
    alone = len(sides) == 1 and sides[0].trial_id == divergence.trial_id
    return alone and divergence.kind is Kind.EXTRA_WRITE


def _absent(divergence: Divergence) -> str:
    """Who does not have the extra step."""
    return "passed" if divergence.support is not None and divergence.support.passed else "expected"


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


def _outcome(task: TaskReport, trial_id: str) -> str:
    """Whose side it is; one that is no trial of the task is a borrowed reference."""
    trial = trial_row(task, trial_id)
    if trial is None:
        return "expected"
    return "passed" if trial.verdict is Verdict.PASS else "failed"
