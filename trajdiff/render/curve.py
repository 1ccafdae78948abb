"""The pass^k curve as a small table of texts, shared by terminal and Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from trajdiff.reliability.estimators import SuiteReliability, TaskReliability, format_k, why_absent
from trajdiff.render.judge_words import short_agreement
from trajdiff.render.wording import plural, shortlist

if TYPE_CHECKING:
    from trajdiff.reliability.bootstrap import BootstrapInterval
    from trajdiff.reliability.card import Card
    from trajdiff.reliability.intervals import SuiteInterval
    from trajdiff.render.marks import Marks

#: The curve shows 1 to 5 and the largest k, unless the user names the k that matter.
_SHOWN = 5


class CurveRow(Struct, frozen=True, kw_only=True):
    """One row: its name, one text per k, and a note behind it."""

    name: str
    values: tuple[str, ...]
    note: str = ""


class Curve(Struct, frozen=True, kw_only=True):
    """``ks`` are the columns; ``notes`` are lines below the table; the first ``head`` rows are the headline."""

    ks: tuple[int, ...]
    rows: tuple[CurveRow, ...]
    notes: tuple[str, ...] = ()
    head: int = 2


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


def suite_curve_table(
    suite: SuiteReliability,
    wanted: Sequence[int],
    marks: Marks,
    *,
    card: Card | None = None,
    stats: bool = False,
) -> Curve:
    """pass^k and pass@k over k, and the rows without and with the best case of infrastructure ends.

    With a ``card`` the interval stands below pass^k; ``stats`` adds bootstrap and standard error.
    """
    ks = curve_ks(suite, wanted)
    rows = [CurveRow(name="pass^k", values=_values(suite.pass_hat_k, ks), note=_judge_note(card, marks))]
    if card is not None:
        rows += _uncertainty(card.figures.hat, card.figures.hat_bootstrap, ks, marks, stats)
    rows.append(CurveRow(name="pass@k", values=_values(suite.pass_at_k, ks), note=_ceiling_note(suite, card)))
    if card is not None and stats:
        rows += _uncertainty(card.figures.at, card.figures.at_bootstrap, ks, marks, stats)
    head = len(rows)
    notes = [
        f"k={k}: n/a ({why_absent(k, suite.n_min)})"
        for k in ks
        if k > len(suite.pass_hat_k) and suite.pass_hat_k
    ]
    if suite.infra or suite.unscored or suite.missing:
        rows += _sensitivity(suite, ks)
    return Curve(ks=ks, rows=tuple(rows), notes=tuple(marks.words(note) for note in notes), head=head)


def interval_text(low: float, high: float, marks: Marks) -> str:
    """``0.32–0.53``."""
    return f"{low:.2f}{marks.dash}{high:.2f}"


def _judge_note(card: Card | None, marks: Marks) -> str:
    """pass^k that a judge's verdicts give is no better than the judge."""
    agreement = card.judging.agreement if card is not None and card.judging is not None else None
    return f"by a judge: {short_agreement(agreement, marks)}" if agreement is not None else ""


def _ceiling_note(suite: SuiteReliability, card: Card | None) -> str:
    """pass@k is what a perfect selector could deliver, and no log so far records one."""
    return "ceiling: no selector recorded" if card is not None and len(suite.pass_at_k) > 1 else ""


def _uncertainty(
    intervals: Sequence[SuiteInterval | None],
    drawn: Sequence[BootstrapInterval | None],
    ks: tuple[int, ...],
    marks: Marks,
    stats: bool,
) -> list[CurveRow]:
    """The rows that stand below a row of estimates."""
    made = [intervals[k - 1] if k <= len(intervals) else None for k in ks]
    known = [one for one in made if one is not None]
    if not known:
        why = "1 task: no interval" if intervals else ""
        return [CurveRow(name="  95 %", values=tuple("n/a" for _ in ks), note=why)]
    note = f"few tasks ({known[0].units})" if known[0].few_tasks else ""
    texts = tuple("n/a" if one is None else interval_text(one.low, one.high, marks) for one in made)
    rows = [CurveRow(name="  95 %", values=texts, note=note)]
    if not stats:
        return rows
    pairs = [drawn[k - 1] if k <= len(drawn) else None for k in ks]
    if any(pairs):
        first = next(one for one in pairs if one is not None)
        degenerate = "degenerate; " if any(one is not None and one.degenerate for one in pairs) else ""
        rows.append(
            CurveRow(
                name="  boot.",
                values=tuple(
                    "n/a" if one is None else interval_text(one.low, one.high, marks) for one in pairs
                ),
                note=f"{degenerate}{first.resamples:,} resamples, seed {first.seed}",
            )
        )
    errors = tuple("n/a" if one is None else f"{one.stderr:.3f}" for one in made)
    return [*rows, CurveRow(name="  s.e.", values=errors)]


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
