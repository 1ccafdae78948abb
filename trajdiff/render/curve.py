"""The pass^k curve as a small table of texts, shared by terminal and Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trajdiff.reliability.estimators import SuiteReliability, TaskReliability, format_k, why_absent
from trajdiff.render.marks import Marks
from trajdiff.render.wording import plural, shortlist

#: The curve shows 1 to 5 and the largest k, unless the user names the k that matter.
_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveRow:
    """One row: its name, one text per k, and a note behind it."""

    name: str
    values: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """``ks`` are the columns; ``notes`` are lines below the table."""

    ks: tuple[int, ...]
    rows: tuple[CurveRow, ...]
    notes: tuple[str, ...] = ()


def curve_ks(suite: SuiteReliability, wanted: Sequence[int]) -> tuple[int, ...]:
    """The k to show: those asked for, else 1 to 5 and the largest."""
    if wanted:
        return tuple(sorted(set(wanted)))
    largest = len(suite.pass_hat_k)
    shown = list(range(1, min(largest, _SHOWN) + 1))
    return tuple(shown if largest <= _SHOWN else [*shown, largest])


def task_ks(row: SuiteReliability | TaskReliability, wanted: Sequence[int]) -> tuple[int, ...]:
    """The k of a task table or of one task: those asked for, else 1, 2 and the largest."""
    if wanted:
        return tuple(sorted(set(wanted)))
    largest = len(row.pass_hat_k)
    return tuple(sorted({k for k in (1, 2, largest) if 1 <= k <= largest}))


def suite_curve_table(suite: SuiteReliability, wanted: Sequence[int], marks: Marks) -> Curve:
    """pass^k and pass@k over k, and the rows without and with the best case of infrastructure ends."""
    ks = curve_ks(suite, wanted)
    rows = [
        CurveRow(name="pass^k", values=_values(suite.pass_hat_k, ks)),
        CurveRow(name="pass@k", values=_values(suite.pass_at_k, ks)),
    ]
    notes = [
        f"k={k}: n/a ({why_absent(k, suite.n_min)})"
        for k in ks
        if k > len(suite.pass_hat_k) and suite.pass_hat_k
    ]
    if suite.infra or suite.unscored or suite.missing:
        rows += _sensitivity(suite, ks)
    return Curve(ks=ks, rows=tuple(rows), notes=tuple(marks.words(note) for note in notes))


def infra_note(suite: SuiteReliability) -> str:
    """How trials that infrastructure ended are counted in the headline, or nothing where there are none."""
    if not suite.infra:
        return ""
    count = plural(len(suite.infra), "trial")
    if suite.infra_policy == "fail":
        worst = " (the worst case)" if suite.pass_hat_k_worst == suite.pass_hat_k else ""
        return f"{count}, counted above as failure{worst}"
    return f"{count}, not counted above"


def _sensitivity(suite: SuiteReliability, ks: tuple[int, ...]) -> list[CurveRow]:
    """What the curve would be without infrastructure ends, and if everything unjudged had passed or failed."""
    rows = []
    if suite.infra and suite.infra_policy == "fail" and (suite.pass_hat_k_excluded or suite.excluded_no_trials):
        rows.append(
            CurveRow(name="  excl.", values=_values(suite.pass_hat_k_excluded, ks), note=_why_short(suite, ks))
        )
    if suite.pass_hat_k_best not in ((), suite.pass_hat_k):
        rows.append(CurveRow(name="  best", values=_values(suite.pass_hat_k_best, ks)))
    if suite.pass_hat_k_worst not in ((), suite.pass_hat_k):
        rows.append(CurveRow(name="  worst", values=_values(suite.pass_hat_k_worst, ks)))
    return rows


def _why_short(suite: SuiteReliability, ks: tuple[int, ...]) -> str:
    """Why the row without infrastructure ends reaches less far: which tasks have fewer other trials."""
    if suite.excluded_no_trials:
        return f"{suite.tasks - len(suite.excluded_no_trials)} of {plural(suite.tasks, 'task')}"
    if not suite.excluded_shortest or not any(k > len(suite.pass_hat_k_excluded) for k in ks):
        return ""
    verb = "has" if len(suite.excluded_shortest) == 1 else "have"
    return f"{shortlist(suite.excluded_shortest, 2)} {verb} {plural(suite.excluded_n_min, 'other trial')}"


def _values(values: Sequence[float], ks: Sequence[int]) -> tuple[str, ...]:
    return tuple(format_k(values, k) for k in ks)
