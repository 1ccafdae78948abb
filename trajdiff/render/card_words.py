"""The sentences of the report card, shared by terminal and Markdown."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from trajdiff.reliability.adaptive import WORDS
from trajdiff.reliability.designs import RepeatPlan, runs_without_failure
from trajdiff.reliability.intervals import highest_lower_end
from trajdiff.reliability.paired import POWER_80
from trajdiff.reliability.pass_k import format_rate
from trajdiff.render.curve import interval_text
from trajdiff.render.effort_words import effort_lines
from trajdiff.render.judge_words import corrected_text, short_agreement
from trajdiff.render.marks import UNICODE, Marks
from trajdiff.render.safety import one_line
from trajdiff.render.wording import plural, shortlist

if TYPE_CHECKING:
    from trajdiff.reliability.card import Card
    from trajdiff.reliability.declared import DesignRow
    from trajdiff.reliability.hard_gates import HardGate
    from trajdiff.report import Report


def headline_lines(report: Report, marks: Marks) -> list[str]:
    """Spread, standard error, hard gates, weights, coverage, cost: what stands below the curve."""
    card, suite = report.card, report.suite
    if card is None or not suite.pass_hat_k:
        return []
    instead = adaptive_text(report)
    lines = [interval_line(card)] if any(card.figures.hat) and not instead else []
    largest = len(suite.pass_hat_k)
    # One trial of a task cannot disagree with another.
    flips = f" (flip rate {suite.flip_rate:.2f})" if suite.flip_rate is not None and suite.n_min > 1 else ""
    facts = [
        f"gap to pass^{largest} {suite.gap:.2f}"
        if suite.gap is not None and largest > 1 and not instead
        else "",
        f"tasks always {suite.always}, sometimes {suite.sometimes}{flips}, never {suite.never}",
    ]
    lines.append(marks.dot.join(fact for fact in facts if fact))
    lines += _spread(card) if not instead else []
    if suite.micro is not None and suite.n_min != suite.n_max:
        lines.append(f"accepted trials / counted trials {suite.micro:.2f} (the curve is the mean over tasks)")
    lines += _weighted(card, marks)
    lines += [gate_line(gate) for gate in card.gates]
    lines += _coverage(card)
    lines += effort_lines(card)
    return lines


def interval_line(card: Card) -> str:
    """What the interval below the curve is, once per report."""
    first = next(one for one in card.figures.hat if one is not None)
    if card.families is None:
        return "95 %: new tasks like these, as many trials each; Wilson, tasks as units"
    alone = card.families.alone([one.task_id for one in card.figures.tasks])
    own = f", {len(alone)} of them single tasks" if alone else ""
    return (
        f"95 %: new families like these, as many tasks and trials each; Wilson,"
        f" {first.units} families as units ({one_line(card.families.source)}{own})"
    )


def design_text(row: DesignRow, marks: Marks) -> str:
    """What a declared design gives in place of the curve over tasks."""
    shown = []
    for k, value, found in row.points:
        ends = f" ({interval_text(found.low, found.high, marks)})" if found is not None else " (no interval)"
        shown.append(f"pass^{k} {value:.2f}{ends}")
    return f"design {row.design}: {row.text}. {', '.join(shown)}"


def adaptive_text(report: Report, marks: Marks = UNICODE) -> str:
    """What stands in place of a curve where the number of trials depends on the outcomes."""
    if report.card is not None and report.card.design is not None:
        return design_text(report.card.design, marks)
    design = report.card.figures.adaptive if report.card is not None else None
    if design is None or not design.certain:
        return ""
    return f"{design.text}: no mean over tasks. {WORDS[design.pattern]}"


def gate_line(gate: HardGate) -> str:
    """``hard gate no refund without a check: 1 trial in 1 task (t-017/3: calls refund without check)``."""
    name = one_line(gate.name)
    left = f"; {plural(gate.unjudged, 'trial')} without this score" if gate.unjudged else ""
    if gate.broken:
        first = gate.breaches[0]
        more = f", {len(gate.breaches) - 1} more" if len(gate.breaches) > 1 else ""
        where = f"{one_line(first.ref)}: {one_line(first.text)}{more}"
        counted = f"{plural(len(gate.breaches), 'trial')} in {plural(len(gate.tasks), 'task')}"
        return f"hard gate {name}: BROKEN by {counted} ({where}){left}"
    if gate.upper is None:
        return f"hard gate {name}: not judged in any trial{left}"
    kept = f"0 of {plural(gate.trials_checked, 'trial')} (at most {gate.upper:.3f} of tasks)"
    return f"hard gate {name}: {kept}{left}"


def nodes_line(report: Report) -> str:
    """The one plain sentence about association across tasks."""
    sentence = report.card.nodes.sentence if report.card is not None else ""
    return f"across tasks: {sentence}; figures: --stats" if sentence else ""


def not_measured_line(report: Report) -> str:
    """What the data cannot show."""
    told = report.card.not_measured if report.card is not None else ()
    return f"not measured: {'; '.join(told)}" if told else ""


def plan_lines(report: Report) -> list[str]:
    """Which tasks to repeat next, and what repeating only the failed ones would report."""
    plan = report.card.plan if report.card is not None else None
    if plan is None:
        return []
    lines = [
        f"next: repeat {plural(len(plan.failed), 'task')} that failed: {shortlist(plan.failed, 12)}",
    ]
    if plan.sampled:
        weight = f", each for {plan.weight:.2f} tasks" if plan.weight is not None else ""
        turn = f"round {plan.rotation[0]} of {plan.rotation[1]}, " if plan.rotation is not None else ""
        lines.append(
            f"and {len(plan.sampled)} of {len(plan.sampled) + len(plan.left)} that always passed"
            f" ({turn}seed {plan.seed}{weight}): {shortlist(plan.sampled, 12)}"
        )
    return [*lines, _bias(plan), *_reach(report)]


def _reach(report: Report) -> list[str]:
    """What runs of this size can show at best: a gate, a difference between two runs, one task."""
    card, tasks = report.card, report.suite.tasks - len(report.suite.no_trials)
    if card is None or tasks < 2:
        return []
    lines = [
        f"a gate on {plural(tasks, 'task')} can reach a lower end of {highest_lower_end(tasks):.2f} at most"
    ]
    spread = card.figures.spread
    if spread is not None and spread.within:
        # Both runs on the same tasks: what tasks differ in cancels, the variance of the trials is left twice.
        error = math.sqrt(2 * float(spread.within * spread.mean_inverse_n) / spread.tasks)
        lines[0] += (
            f"; two such runs show a difference of the mean from {POWER_80 * error:.2f} on"
            " (80 % power, tasks keeping their chances)"
        )
    needed = ", ".join(f"{p:.2f} {runs_without_failure(p)}" for p in (0.90, 0.95, 0.99))
    return [*lines, f"runs of one task without a failure that show a chance of: {needed} (one-sided 95 %)"]


def brief_lines(report: Report, marks: Marks) -> list[str]:
    """The five lines for a chat message: suite, mean, pass^k, judge, hard gates."""
    suite, card = report.suite, report.card
    ends = plural(suite.n_max, "trial")
    trials = ends if suite.n_min == suite.n_max else f"{suite.n_min} to {ends}"
    title = one_line(report.name) if report.name else "suite"
    used = suite.tasks - len(suite.no_trials)
    of = f"{used} of " if suite.no_trials else ""
    first = f"{title}: {of}{plural(suite.tasks, 'task')}, {trials} each"
    if not suite.complete:
        first += " (incomplete)"
    if not suite.pass_hat_k or card is None:
        return [first, "no counted trial"]
    mean = card.figures.hat[0]
    stderr = f" (SE {mean.stderr:.3f})" if mean is not None else " (1 task: no interval)"
    last = len(suite.pass_hat_k)
    found = card.figures.interval(last)
    ends = f" ({interval_text(found.low, found.high, marks)})" if found is not None else ""
    middle = [
        f"mean {format_rate(suite.pass_hat_k[0], mean.stderr if mean else None)}{stderr}",
        f"pass^{last} {suite.pass_hat_k[-1]:.2f}{ends}",
    ]
    if card.design is not None:
        middle = _brief_design(card.design, marks)
    elif adaptive := adaptive_text(report):
        middle = [adaptive, "pass^k: n/a"]
    judge, told = card.judging, "judge-corrected: no calibration given"
    if judge is not None:
        told = f"judge-corrected: {corrected_text(judge, marks, short=True)}"
        if judge.agreement is not None:
            middle[1] += f" by a judge, {short_agreement(judge.agreement, marks)}"
    return [first, *middle, told, _gates(card)]


def _brief_design(row: DesignRow, marks: Marks) -> list[str]:
    """Mean and pass^k at the largest k, under a declared design."""
    texts = []
    for k, value, found in (row.points[0], row.points[-1]):
        ends = f" ({interval_text(found.low, found.high, marks)})" if found is not None else ""
        texts.append(f"pass^{k} {value:.2f}{ends}, design {row.design}")
    return [f"mean {texts[0].removeprefix('pass^1 ')}" if row.points[0][0] == 1 else "mean: n/a", texts[1]]


def _gates(card: Card) -> str:
    if not card.gates:
        return "hard gates: none set"
    broken = [gate for gate in card.gates if gate.broken]
    if not broken:
        return f"hard gates: {len(card.gates)} kept"
    return "hard gates: " + "; ".join(
        f"{one_line(gate.name)} BROKEN by {plural(len(gate.breaches), 'trial')}" for gate in broken
    )


def _spread(card: Card) -> list[str]:
    spread, first = card.figures.spread, next(iter(card.figures.hat), None)
    if card.families is not None:
        return [] if first is None else [f"standard error of pass^1 {first.stderr:.3f} over families"]
    if spread is None:
        return []
    if spread.less_than_chance:
        return [
            f"standard error of pass^1 {spread.stderr:.3f}; tasks differ less than their trials alone make them"
        ]
    trials, tasks = spread.stderr_with(trials=2), spread.stderr_with(tasks=2)
    own = f"standard error of pass^1 {spread.stderr:.3f}"
    return [f"{own}, twice the trials {trials:.3f}, twice the tasks {tasks:.3f}"]


def _weighted(card: Card, marks: Marks) -> list[str]:
    row = card.figures.weighted
    if row is None:
        return []
    shown = []
    for k in sorted({1, len(row.pass_hat_k)}):
        found = row.intervals[k - 1]
        ends = f" ({interval_text(found.low, found.high, marks)})" if found is not None else ""
        shown.append(f"pass^{k} {row.pass_hat_k[k - 1]:.2f}{ends}")
    left = f"; {plural(len(row.unweighted), 'task')} without a weight left out" if row.unweighted else ""
    return [
        f"weighted by {one_line(row.source)}: {', '.join(shown)};"
        f" effective number of tasks {row.kish:.1f} of {row.tasks}{left}"
    ]


def _coverage(card: Card) -> list[str]:
    cover, lines = card.effort.coverage, []
    if cover.support_coverage is not None:
        lines.append(
            f"support coverage {cover.support_coverage:.2f}: {cover.out_of_scope} of"
            f" {plural(cover.tasks_received, 'task')} out of scope and in no rate"
        )
    if cover.human_remedy_rate is not None and cover.unassisted_rate is not None:
        lines.append(
            f"human remedy rate {cover.human_remedy_rate:.2f};"
            f" accepted without help {cover.unassisted_rate:.2f}"
        )
    return lines


def _bias(plan: RepeatPlan) -> str:
    text = "repeating only the failed tasks and taking the rest as stable reads too high"
    if plan.naive is None or plan.measured is None:
        return text
    return f"{text}: in these data pass^{plan.k} {plan.naive:.2f} in place of {plan.measured:.2f}"
