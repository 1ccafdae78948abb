"""What a report says about the judge that its verdicts rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trajdiff.natural import plural
from trajdiff.render.safety import one_line, shortlist

if TYPE_CHECKING:
    from trajdiff.reliability.judging import Judging
    from trajdiff.reliability.labels import JudgeReport
    from trajdiff.render.marks import Marks
    from trajdiff.report import Report

REFUSED = "refused, TPR + TNR is 1.05 or less (the judge says next to nothing)"


def judging_of(report: Report) -> Judging | None:
    """What is known of the judge, None where nothing was given."""
    return report.card.judging if report.card is not None else None


def judge_lines(report: Report, marks: Marks) -> list[str]:
    """Agreement and correction, above the curve: pass^k by an unreliable judge measures the judge."""
    found = judging_of(report)
    if found is None:
        return []
    lines = []
    if found.agreement is not None:
        lines.append(f"verdicts rest on a judge: {agreement_text(found.agreement, marks)}")
        if found.agreement.band is not None and found.agreement.band.startswith("weak"):
            lines.append("weak agreement: the figures below say more about the judge than about the agent")
        if found.agreement.unknown:
            count = plural(len(found.agreement.unknown), "label")
            lines.append(f"{count} of trials that were not read: {shortlist(found.agreement.unknown)}")
    lines.append(f"judge-corrected: {corrected_text(found, marks)}")
    if found.curve:
        value, low, high = found.curve[-1]
        lines.append(
            f"pass^{len(found.curve)} corrected {value:.2f} ({low:.2f}{marks.dash}{high:.2f}),"
            " if the judge's errors are independent between trials"
        )
    return lines


def agreement_text(made: JudgeReport, marks: Marks) -> str:
    """``kappa 0.64 (0.39-0.88) with people on 47 trials: acceptable (interval reaches weak and strong)``."""
    kappa = made.kappa
    others = made.pair[1] if len(made.raters) == 2 else f"{made.pair[0]} and {made.pair[1]}, the smallest pair,"
    where = f"{'with' if len(made.raters) == 2 else 'of'} {one_line(others)} on {plural(made.items, 'trial')}"
    if kappa.kappa is None:
        return f"kappa {kappa.reason} {where}"
    if kappa.perfect:
        left = f"; up to {made.disagreement_at_most:.2f} may still differ" if made.disagreement_at_most else ""
        return f"kappa {kappa.kappa:.2f} {where}, no disagreement seen{left}"
    return f"kappa {kappa.kappa:.2f}{_ends(made, marks)} {where}: {made.band}"


def short_agreement(made: JudgeReport, marks: Marks) -> str:
    """``kappa 0.64 (0.39-0.88)``, for a mark beside pass^k."""
    if made.kappa.kappa is None:
        return f"kappa {made.kappa.reason}"
    return f"kappa {made.kappa.kappa:.2f}{'' if made.kappa.perfect else _ends(made, marks)}"


def corrected_text(found: Judging, marks: Marks, *, short: bool = False) -> str:
    """``mean 0.62 (0.50-0.75) in place of 0.58``, or why there is none."""
    made = found.corrected
    if made is None:
        return "no calibration given"
    if made.refused or made.value is None:
        return "refused, TPR + TNR is 1.05 or less" if short else REFUSED
    ends = "" if made.low is None else f" ({made.low:.2f}{marks.dash}{made.high:.2f})"
    clipped = ", clipped to 0..1" if made.clipped else ""
    if short:
        return f"mean {made.value:.2f}{ends}, raw {found.raw:.2f}"
    raw = f"the judge's own {found.raw:.2f} over {plural(found.tasks, 'task')}"
    return f"mean {made.value:.2f}{ends}{clipped} in place of {raw}; not of pass^k"


def _ends(made: JudgeReport, marks: Marks) -> str:
    """The interval over tasks where trials of a task may be alike, else that of the table."""
    low, high = made.interval_by_tasks or (made.kappa.low, made.kappa.high)
    return "" if low is None or high is None else f" ({low:.2f}{marks.dash}{high:.2f})"
