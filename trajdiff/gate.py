"""``check``: every gate over a candidate, alone or against a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trajdiff.errors import UsageError
from trajdiff.gate_thresholds import Minimum, cost_gate, minimum_gate, p95_gate
from trajdiff.natural import plural
from trajdiff.reliability.declared import STOP_AT_FAILURE
from trajdiff.reliability.gates import Code, GateResult, Outcome, code_of

if TYPE_CHECKING:
    from trajdiff.comparison import Comparison, TaskChange
    from trajdiff.reliability.card import Card
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
    results += [minimum_gate(report, card, one, options.point) for one in options.minimums]
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
    if options.max_cost is not None:
        made.append(cost_gate(card, options.max_cost))
    if options.max_p95 is not None:
        made.append(p95_gate(card, options.max_p95))
    return made


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
