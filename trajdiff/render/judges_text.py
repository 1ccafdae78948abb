"""Agreement of judges for people and machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trajdiff import __version__
from trajdiff.render.columns import Column, layout
from trajdiff.render.json_text import to_json, to_jsonl
from trajdiff.render.lines import Line, fit, line, paint, wrap
from trajdiff.render.markdown_text import cell, table
from trajdiff.render.safety import one_line
from trajdiff.render.wording import plural, shortlist

if TYPE_CHECKING:
    from trajdiff.reliability.agreement import Corrected
    from trajdiff.reliability.labels import JudgeReport
    from trajdiff.render.marks import Marks
    from trajdiff.render.view import View


def render(made: JudgeReport, view: View) -> str:
    """The table of the pair, kappa, and the trials they disagree on."""
    lines: list[Line] = [line(part) for part in wrap(head_line(made), view.width)]
    rows = [[line(text) for text in row] for row in _table(made)]
    columns = [Column(header=text, right=at > 0) for at, text in enumerate(_headers(made))]
    lines += layout(columns, rows, width=view.width, ellipsis=view.marks.ellipsis)
    for text in sentences(made, view.marks, all_trials=view.show_all):
        lines += [line(part) for part in wrap(text, view.width, rest="  ")]
    return paint([fit(content, view.width, view.marks.ellipsis) for content in lines], color=view.color)


def render_markdown(made: JudgeReport, view: View) -> str:
    """The same as a comment."""
    rows = [tuple(cell(text) for text in row) for row in _table(made)]
    headers = tuple(cell(text) for text in _headers(made))
    told = sentences(made, view.marks, all_trials=view.show_all)
    parts = [f"{cell(head_line(made))}\n", table(headers, rows, right=(1, 2))]
    return "\n".join([*parts, "".join(f"- {cell(text)}\n" for text in told)])


def head_line(made: JudgeReport) -> str:
    """How many trials, and how many were left out."""
    left = f" ({made.left_out} not labelled by all, left out)" if made.left_out else ""
    return f"{plural(made.items, 'trial')} with {len(made.raters)} labels{left}"


def sentences(made: JudgeReport, marks: Marks, *, all_trials: bool = False) -> list[str]:
    """Agreement, band, panel, correction, disagreements."""
    kappa, lines = made.kappa, []
    between = f" ({one_line(made.pair[0])} and {one_line(made.pair[1])}, the smallest pair)" * (
        len(made.raters) > 2
    )
    if kappa.kappa is None:
        lines.append(f"observed agreement {kappa.p_o:.2f}; kappa {kappa.reason}{between}")
    else:
        ends = f"95 % {kappa.low:.2f} to {kappa.high:.2f}, SE {kappa.stderr:.2f}"
        if kappa.perfect:
            ends = "no disagreement seen, so no interval"
        agreed = (
            f"observed agreement {kappa.p_o:.2f}",
            f"expected {kappa.p_e:.2f}",
            f"kappa {kappa.kappa:.2f}",
        )
        lines.append(f"{marks.dot.join(agreed)} ({ends}){between}")
        if made.interval_by_tasks is not None and not kappa.perfect:
            low, high = made.interval_by_tasks
            lines.append(f"with tasks resampled, since trials of a task are alike: {low:.2f} to {high:.2f}")
        if made.disagreement_at_most is not None:
            lines.append(f"up to {made.disagreement_at_most:.2f} of trials may still differ (one-sided 95 %)")
        lines.append(f"agreement: {made.band}")
        if made.band is not None and "reaches" in made.band:
            lines.append("The interval spans several bands; more labels are needed before relying on either.")
    if made.fleiss is not None:
        value = made.fleiss.reason if made.fleiss.kappa is None else f"{made.fleiss.kappa:.2f}"
        lines.append(f"Fleiss' kappa of {made.fleiss.raters} judges: {value}")
    if made.votes is not None:
        parts = ", ".join(f"{count} {verdict}" for verdict, count in made.votes.items())
        lines.append(f"majority of the panel: {parts}")
        if kappa.kappa is not None and kappa.kappa < 0.6:
            lines.append("weak agreement: a vote of judges that disagree is no measurement")
    lines += _rates(made)
    if made.differ:
        shown = made.differ if all_trials else made.differ[:5]
        more = f", {marks.ellipsis} (--all)" if len(shown) < len(made.differ) else ""
        verb = "differs" if len(made.differ) == 1 else "differ"
        lines.append(f"{plural(len(made.differ), 'trial')} {verb}: {', '.join(map(one_line, shown))}{more}")
    if made.unknown:
        lines.append(
            f"{plural(len(made.unknown), 'label')} of trials that were not read: {shortlist(made.unknown)}"
        )
    return lines


def _rates(made: JudgeReport) -> list[str]:
    if made.raw is None:
        return []
    rate = f"pass rate by {one_line(made.raters[0])} {made.raw:.2f}"
    found = made.corrected
    if found is None:
        return [rate]
    if found.refused:
        return [rate, "corrected: refused, TPR + TNR is 1.05 or less (the judge says next to nothing)"]
    ends = "" if found.low is None else f" (95 % {found.low:.2f} to {found.high:.2f})"
    clipped = ", clipped to 0..1" if found.clipped else ""
    return [
        rate,
        f"corrected for the judge's errors {found.value:.2f}{ends}{clipped}; of the mean, not of pass^k",
    ]


def _headers(made: JudgeReport) -> tuple[str, str, str]:
    second = one_line(made.pair[1])
    return "", f"{second}: pass", f"{second}: fail"


def _table(made: JudgeReport) -> list[tuple[str, str, str]]:
    first = one_line(made.pair[0])
    (a, b), (c, d) = made.kappa.table
    return [(f"{first}: pass", str(a), str(b)), (f"{first}: fail", str(c), str(d))]


def render_json(made: JudgeReport, view: View) -> str:
    """Schema ``trajdiff.judges/1``."""
    return to_json(judges_object(made))


def render_lines(made: JudgeReport, view: View) -> str:
    """The trials they disagree on, one a line."""
    return to_jsonl({"trial": trial} for trial in made.differ)


def judges_object(made: JudgeReport) -> dict[str, Any]:
    """Everything the text says, in full precision."""
    return {
        "schema": "trajdiff.judges/1",
        "tool_version": __version__,
        **agreement_object(made),
        "raw": made.raw,
        "corrected": corrected_object(made.corrected),
    }


def agreement_object(made: JudgeReport) -> dict[str, Any]:
    """How far the judges agree, in full precision."""
    kappa, by_tasks = made.kappa, made.interval_by_tasks
    return {
        "raters": list(made.raters),
        "items": made.items,
        "left_out": made.left_out,
        "unknown": list(made.unknown),
        "pair": list(made.pair),
        "table": [list(row) for row in kappa.table],
        "p_o": kappa.p_o,
        "p_e": kappa.p_e,
        "kappa": kappa.kappa,
        "stderr": kappa.stderr,
        "low": kappa.low,
        "high": kappa.high,
        "reason": kappa.reason,
        "band": made.band,
        "disagreement_at_most": made.disagreement_at_most,
        "interval_by_tasks": None if by_tasks is None else {"low": by_tasks[0], "high": by_tasks[1]},
        "fleiss": None
        if made.fleiss is None
        else {
            "raters": made.fleiss.raters,
            "p_bar": made.fleiss.p_bar,
            "p_e": made.fleiss.p_e,
            "kappa": made.fleiss.kappa,
            "reason": made.fleiss.reason,
        },
        "votes": None if made.votes is None else dict(made.votes),
        "differ": list(made.differ),
    }


def corrected_object(found: Corrected | None) -> dict[str, Any] | None:
    """A corrected rate with its interval, None where nothing was corrected."""
    if found is None:
        return None
    return {
        "value": found.value,
        "clipped": found.clipped,
        "refused": found.refused,
        "low": found.low,
        "high": found.high,
    }
