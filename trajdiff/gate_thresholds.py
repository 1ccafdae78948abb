"""Gates on one figure of a run: a least lower end, a highest cost, a longest time."""

from __future__ import annotations

import re
from dataclasses import dataclass

from trajdiff.errors import UsageError
from trajdiff.natural import plural
from trajdiff.reliability.card import Card
from trajdiff.reliability.cost import NO_DELIVERY
from trajdiff.reliability.declared import DesignRow
from trajdiff.reliability.figures import best_case_interval
from trajdiff.reliability.gates import GateResult, Outcome, absent_k, threshold_gate
from trajdiff.report import Report

KAPPA = "kappa"
_MINIMUM = re.compile(
    r"^(?:(?P<metric>pass\^|pass@)(?P<k>[1-9][0-9]{0,5})|(?P<name>mean|kappa))=(?P<value>[0-9.]+)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimum:
    """A threshold for one figure: ``pass^4=0.5``, ``pass@2=0.9``, ``mean=0.7``, ``kappa=0.6``."""

    text: str
    metric: str
    k: int
    value: float


def minimum(text: str) -> Minimum:
    """A threshold from its text. Raises ``UsageError``."""
    found = _MINIMUM.match(text.replace(" ", ""))
    try:
        value = float(found["value"]) if found else -1.0
    except ValueError:
        value = -1.0
    if found is None or not 0 <= value <= 1:
        raise UsageError(
            f"--min {text!r} is no threshold", "such as pass^4=0.50, pass@2=0.9, mean=0.7 or kappa=0.6"
        )
    metric = {"pass^": "pass_hat", "pass@": "pass_at", None: "pass_hat"}[found["metric"]]
    metric = KAPPA if found["name"] == KAPPA else metric
    return Minimum(text=text.replace(" ", ""), metric=metric, k=int(found["k"] or 1), value=value)


def _kappa(card: Card, wanted: Minimum, name: str, point: bool) -> GateResult:
    """Agreement of the judge: the lower end of kappa, over tasks where trials of a task may be alike."""
    made = card.judging.agreement if card.judging is not None else None
    if made is None:
        raise UsageError("--min kappa needs --labels FILE", "labels of the same trials by another judge")
    kappa = made.kappa
    ends = made.interval_by_tasks or (kappa.low, kappa.high)
    if kappa.kappa is None or ends[0] is None or (kappa.perfect and not point):
        why = kappa.reason or "no disagreement was seen, so kappa has no interval"
        return GateResult(
            name=name, outcome=Outcome.NOT_EVALUABLE, text=why, threshold=wanted.value, reason=why
        )
    value = kappa.kappa if point else ends[0]
    return GateResult(
        name=name,
        outcome=Outcome.PASS if value >= wanted.value else Outcome.FAIL,
        text=f"{kappa.kappa:.2f} on {plural(made.items, 'trial')}, lower end {ends[0]:.2f}",
        value=value,
        threshold=wanted.value,
    )


def _by_design(design: DesignRow, wanted: Minimum, name: str, point: bool) -> GateResult:
    """A threshold on what a declared design gives: pass^k at some k, and nothing else."""
    found = design.at(wanted.k) if wanted.metric == "pass_hat" else None
    if found is None:
        given = ", ".join(f"pass^{k}" for k, _, _ in design.points)
        why = f"n/a (design {design.design} gives {given})"
        return GateResult(
            name=name, outcome=Outcome.NOT_EVALUABLE, text=why, threshold=wanted.value, reason=why
        )
    return threshold_gate(name, wanted.value, interval=found[1], point=point, why_not="1 task: no interval")


def minimum_gate(report: Report, card: Card, wanted: Minimum, point: bool) -> GateResult:
    """Whether a figure's lower end (its ``point``) reaches a threshold. Raises ``UsageError``."""
    suite, name = report.suite, f"min {wanted.text}"
    if wanted.metric == KAPPA:
        return _kappa(card, wanted, name, point)
    if card.design is not None:
        return _by_design(card.design, wanted, name, point)
    adaptive = card.figures.adaptive
    if adaptive is not None and adaptive.certain:
        return GateResult(
            name=name,
            outcome=Outcome.NOT_EVALUABLE,
            threshold=wanted.value,
            text=adaptive.text,
            reason=adaptive.text,
        )
    intervals = card.figures.hat if wanted.metric == "pass_hat" else card.figures.at
    if wanted.k > len(intervals):
        return absent_k(name, wanted.value, wanted.k, suite.n_min)
    rows = [task.reliability for task in report.tasks if task.task_id not in card.out_of_scope]
    best = best_case_interval(rows, wanted.metric, wanted.k, card.families)
    return threshold_gate(name, wanted.value, interval=intervals[wanted.k - 1], best_case=best, point=point)


def cost_gate(card: Card, limit: float) -> GateResult:
    """Whether an accepted delivery costs at most ``limit``; no delivery fails."""
    cost = card.effort.cost
    each, total, without = cost.per_accepted, cost.total, cost.without_cost
    name = f"max-cost {limit:g}"
    if total is None:
        return GateResult(
            name=name, outcome=Outcome.NOT_EVALUABLE, text="cost is not recorded", reason="cost is not recorded"
        )
    if each is None:
        return GateResult(
            name=name, outcome=Outcome.FAIL, text=f"{NO_DELIVERY} (spent {total:.2f})", threshold=limit
        )
    if each > limit:
        return GateResult(
            name=name,
            outcome=Outcome.FAIL,
            text=f"{each:.2g} per accepted delivery",
            value=each,
            threshold=limit,
        )
    if without:
        why = f"{each:.2g} or more per accepted: {without} trials without cost"
        return GateResult(name=name, outcome=Outcome.NOT_EVALUABLE, text=why, reason=why, threshold=limit)
    return GateResult(
        name=name, outcome=Outcome.PASS, text=f"{each:.2g} per accepted delivery", value=each, threshold=limit
    )


def p95_gate(card: Card, limit: float) -> GateResult:
    """Whether P95 of the durations is at most ``limit`` seconds."""
    name, found = f"max-p95 {limit:g}", card.effort.latency
    if found is None or found.without:
        why = "durations are not recorded" if found is None else f"{found.without} trials without a duration"
        return GateResult(name=name, outcome=Outcome.NOT_EVALUABLE, text=why, reason=why, threshold=limit)
    text = f"P95 {'>= ' if found.at_limit else ''}{found.p95:.3g} s"
    outcome = Outcome.PASS if found.p95 <= limit else Outcome.FAIL
    return GateResult(name=name, outcome=outcome, text=text, value=found.p95, threshold=limit)
