"""``check``: every gate over a candidate, alone or against a baseline (statistics.md 15, interface.md 4.6)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trajdiff.comparison import Comparison, TaskChange
from trajdiff.errors import UsageError
from trajdiff.natural import plural
from trajdiff.reliability.card import Card
from trajdiff.reliability.cost import NO_DELIVERY
from trajdiff.reliability.declared import STOP_AT_FAILURE, DesignRow
from trajdiff.reliability.figures import best_case_interval
from trajdiff.reliability.gates import (
    Code,
    GateResult,
    Outcome,
    absent_k,
    code_of,
    threshold_gate,
)
from trajdiff.report import Report

#: What ``--fail-on`` may name.
NEW_FAILURE, NEW_DIVERGENCE, DROP, HARD, SAME_PATH = (
    "new-failure",
    "new-divergence",
    "pass-k-drop",
    "gate",
    "same-path",
)
FAIL_ON = (NEW_FAILURE, NEW_DIVERGENCE, DROP, HARD, SAME_PATH)
#: Those that make no sense without a baseline.
NEED_BASELINE = (NEW_FAILURE, NEW_DIVERGENCE, DROP, SAME_PATH)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOptions:
    """What ``check`` is asked.

    ``min_grade`` is the least grade of a new divergence that counts. With ``margin`` a drop of pass^k fails
    unless the interval shows that it is no larger than that; without, only where it shows that there is one.
    """

    fail_on: tuple[str, ...] = ()
    minimums: tuple[Minimum, ...] = ()
    min_grade: str = "B"
    point: bool = False
    allow_incomplete: bool = False
    max_unstable: int | None = None
    max_cost: float | None = None
    max_p95: float | None = None
    margin: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """All gates with the code of the whole. ``incomplete`` says in words what is missing."""

    results: tuple[GateResult, ...]
    code: Code
    incomplete: tuple[str, ...]
    allowed: bool
    counted: tuple[tuple[str, int, int | None], ...]
    report: Report
    comparison: Comparison | None = None
    min_grade: str = "B"

    @property
    def failed(self) -> tuple[GateResult, ...]:
        """Gates that failed."""
        return tuple(one for one in self.results if one.outcome is Outcome.FAIL)


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


def check(report: Report, options: GateOptions, comparison: Comparison | None = None) -> CheckResult:
    """Evaluates all gates of a report with a card. Raises ``UsageError`` where there is nothing to check.

    Hard gates of the settings always count: no average makes up for a broken one.
    """
    card = report.card
    if card is None:
        raise UsageError("a gate needs the report card")
    needed = [name for name in options.fail_on if name in NEED_BASELINE]
    if needed and comparison is None:
        raise UsageError(f"--fail-on {needed[0]} needs --baseline")
    if options.margin is not None and DROP not in options.fail_on:
        raise UsageError(f"--margin is a part of --fail-on {DROP}")
    results = [*_hard(card, HARD in options.fail_on)]
    for name in options.fail_on:
        if comparison is not None and name != HARD:
            results.append(_against(name, comparison, options))
    results += [_minimum(report, card, one, options.point) for one in options.minimums]
    results += _limits(report, card, options)
    if not results:
        raise UsageError(
            "nothing to check",
            "give --min, --max-unstable, --fail-on with --baseline, or [[gate]] in the settings",
        )
    incomplete = _incomplete(report, comparison)
    counted: list[tuple[str, int, int | None]] = [("candidate", report.suite.counted, report.suite.expected)]
    if comparison is not None:
        counted.append(("baseline", comparison.baseline.counted, None))
    return CheckResult(
        results=tuple(results),
        code=code_of(results, complete=not incomplete, incomplete_allowed=options.allow_incomplete),
        incomplete=incomplete,
        allowed=options.allow_incomplete,
        counted=tuple(counted),
        report=report,
        comparison=comparison,
        min_grade=options.min_grade,
    )


def _hard(card: Card, asked: bool) -> list[GateResult]:
    if asked and not card.gates:
        raise UsageError("--fail-on gate, but the settings hold no [[gate]]")
    made = []
    for gate in card.gates:
        if gate.broken:
            refs = ", ".join(breach.ref for breach in gate.breaches[:3])
            more = f" and {len(gate.breaches) - 3} more" if len(gate.breaches) > 3 else ""
            text = f"broken by {refs}{more} ({gate.breaches[0].text})"
            outcome = Outcome.FAIL
        elif gate.upper is None:
            text, outcome = "no trial could be judged", Outcome.NOT_EVALUABLE
        else:
            text, outcome = (
                f"0 of {gate.trials_checked} trials, at most {gate.upper:.3f} of tasks",
                Outcome.PASS,
            )
        made.append(
            GateResult(
                name=f"gate {gate.name}",
                outcome=outcome,
                text=text,
                value=float(len(gate.breaches)),
                threshold=0.0,
                reason=text if outcome is not Outcome.PASS else None,
                final=gate.broken,
            )
        )
    return made


def _against(name: str, comparison: Comparison, options: GateOptions) -> GateResult:
    if name == DROP:
        return _drop(comparison) if options.margin is None else _strict_drop(comparison, options.margin)
    found: list[tuple[TaskChange, str]] = []
    for change in comparison.changes:
        before, after = change.baseline, change.candidate
        if name == NEW_FAILURE and before.c == before.n and after.c < after.n:
            found.append((change, f"{before.c}/{before.n} to {after.c}/{after.n}"))
        if name == NEW_DIVERGENCE:
            graded = [
                one for one in change.new if one.grade and one.grade <= options.min_grade and not one.accepted
            ]
            found += [(change, f"{one.text} ({one.grade}, {one.support})") for one in graded]
        if name == SAME_PATH and change.new_same_path:
            found.append((change, "same path, different outcome"))
    shown = [f"{change.task_id} {text}" for change, text in found[:3]]
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    # What a missing trial of the task could still undo is not final: then the data are incomplete, not failed.
    final = any(change.baseline.complete and change.candidate.complete for change, _ in found)
    return GateResult(
        name=name,
        outcome=Outcome.FAIL if found else Outcome.PASS,
        text=", ".join(shown) + more if found else "none",
        value=float(len(found)),
        threshold=0.0,
        final=final,
    )


def _drop(comparison: Comparison) -> GateResult:
    made = comparison.decision
    name = f"{DROP} pass^{made.k}"
    text = f"{made.mean_a:.2f} to {made.mean_b:.2f}, change {made.difference:+.2f}"
    if made.tasks < 2:
        return GateResult(name=name, outcome=Outcome.NOT_EVALUABLE, text="1 task: no interval", reason="1 task")
    if made.low is None or made.high is None:
        # All tasks differ by the same amount: the difference is known for these tasks and no interval exists.
        outcome = Outcome.FAIL if made.difference < 0 else Outcome.PASS
        return GateResult(name=name, outcome=outcome, text=f"{text} ({made.reason})", value=made.difference)
    outcome = Outcome.FAIL if made.high < 0 else Outcome.PASS
    return GateResult(
        name=name,
        outcome=outcome,
        text=f"{text} ({made.low:+.2f} to {made.high:+.2f})",
        value=made.high,
        threshold=0.0,
    )


def _strict_drop(comparison: Comparison, margin: float) -> GateResult:
    """The strict form: the lower end of the change must not be below minus the margin."""
    made = comparison.decision
    name = f"{DROP} pass^{made.k}, margin {margin:g}"
    text = f"{made.mean_a:.2f} to {made.mean_b:.2f}, change {made.difference:+.2f}"
    low = made.low
    if low is None and made.differing_at_most is not None and made.tasks > 1:
        # No task differs: then no more than this share of tasks does, and none can lose more than 1.
        low = -made.differing_at_most
        text += f" (no task differs; at most {made.differing_at_most:.2f} of tasks may)"
    elif low is None:
        why = made.reason or "no interval"
        return GateResult(
            name=name, outcome=Outcome.NOT_EVALUABLE, text=f"{text} ({why})", threshold=-margin, reason=why
        )
    else:
        text += f", lower end {low:+.2f}"
    outcome = Outcome.FAIL if low < -margin else Outcome.PASS
    return GateResult(name=name, outcome=outcome, text=text, value=low, threshold=-margin)


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


def _minimum(report: Report, card: Card, wanted: Minimum, point: bool) -> GateResult:
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


def _limits(report: Report, card: Card, options: GateOptions) -> list[GateResult]:
    made = []
    if options.max_unstable is not None:
        mixed = [task.task_id for task in report.tasks if 0 < task.reliability.c < task.reliability.n]
        bad = len(mixed) > options.max_unstable
        made.append(
            GateResult(
                name=f"max-unstable {options.max_unstable}",
                outcome=Outcome.FAIL if bad else Outcome.PASS,
                text=f"{len(mixed)} of {report.suite.tasks} tasks are mixed",
                value=float(len(mixed)),
                threshold=float(options.max_unstable),
                final=bad,  # a task with passed and failed trials stays mixed, whatever is still missing
            )
        )
    cost = card.effort.cost
    if options.max_cost is not None:
        made.append(_cost(cost.per_accepted, cost.total, cost.without_cost, options.max_cost))
    if options.max_p95 is not None:
        made.append(_p95(card, options.max_p95))
    return made


def _cost(each: float | None, total: float | None, without: int, limit: float) -> GateResult:
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


def _p95(card: Card, limit: float) -> GateResult:
    name, found = f"max-p95 {limit:g}", card.effort.latency
    if found is None or found.without:
        why = "durations are not recorded" if found is None else f"{found.without} trials without a duration"
        return GateResult(name=name, outcome=Outcome.NOT_EVALUABLE, text=why, reason=why, threshold=limit)
    text = f"P95 {'>= ' if found.at_limit else ''}{found.p95:.3g} s"
    outcome = Outcome.PASS if found.p95 <= limit else Outcome.FAIL
    return GateResult(name=name, outcome=outcome, text=text, value=found.p95, threshold=limit)


def _incomplete(report: Report, comparison: Comparison | None) -> tuple[str, ...]:
    suite, told = report.suite, []
    design = report.card.design if report.card is not None else None
    # Where tasks were stopped at their failure, what was planned behind it is not missing.
    missing = () if design is not None and design.design == STOP_AT_FAILURE else suite.missing
    for names, word in ((missing, "missing"), (suite.unscored, "unscored")):
        if names:
            told.append(_named(names, word))
    if suite.no_trials:
        told.append(_named(suite.no_trials, "without a counted trial", "task"))
    if comparison is not None:
        if not comparison.baseline.complete:
            told.append("the baseline has missing or unscored trials")
        if comparison.only_baseline:
            told.append(_named(comparison.only_baseline, "in the baseline only", "task"))
    return tuple(told)


def _named(names: Sequence[str], word: str, what: str = "trial") -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"{plural(len(names), what)} {word}: {', '.join(names[:3])}{more}"
