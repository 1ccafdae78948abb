"""The sentences of a report, shared by every format that people read.

A divergence separates outcomes and is a place to look; nothing here claims more. Texts that come from a log
(tool names, ids, headlines made of them) are cleaned on the way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from trajdiff.divergence.finding import Divergence, FindingKind, Kind, Reason
from trajdiff.model import Verdict
from trajdiff.natural import natural_key
from trajdiff.natural import plural as plural
from trajdiff.reliability.association import perfect_split_p
from trajdiff.render.choosing import is_mixed
from trajdiff.render.judge_words import judge_lines
from trajdiff.render.places import manifest_row, root_row, rows_text
from trajdiff.render.review_words import short_marks
from trajdiff.render.safety import one_line
from trajdiff.render.safety import shortlist as shortlist

if TYPE_CHECKING:
    from trajdiff.render.marks import Marks
    from trajdiff.report import Report, TaskReport

#: The rule that a verdict without a threshold follows, as importers name it, and how close to 1 is 1.
REWARD_IS_ONE, REWARD_TOLERANCE = "reward = 1", 1e-6

#: Short form of each reason for abstaining, as it stands in a table row.
REASONS = {
    Reason.NO_SEPARATING_STEP: "no step separates them",
    Reason.TOO_FEW_TRIALS: "too few trials",
    Reason.NO_COMMON_GROUND: "the trials share too little to align",
    Reason.WORDING_ONLY: "the trials differ in free text alone",
    Reason.NOT_COMPARABLE: "nothing of the agent is recorded",
    Reason.NO_PASSING_TRIAL: "no passed trial to compare with",
    Reason.SAME_PATH: "same path, different outcome",
    Reason.INFRASTRUCTURE: "ended by infrastructure",
}

#: Long form: what it means and what would help.
REASON_SENTENCES = {
    Reason.NO_SEPARATING_STEP: "No step separates outcomes. More trials may help: trajdiff does not guess.",
    Reason.TOO_FEW_TRIALS: "Too few trials to tell a difference that matters from ordinary variation.",
    Reason.NO_COMMON_GROUND: "The trials share too little to be aligned, so no place can be named.",
    Reason.WORDING_ONLY: "The trials differ in free text alone; no call, result or stated fact separates them.",
    Reason.NOT_COMPARABLE: "Nothing that the agent did is recorded in the trial, so nothing is compared.",
    Reason.NO_PASSING_TRIAL: "No passed trial to compare with.",
    Reason.SAME_PATH: "Place to look: the grader, or state that is not recorded.",
    Reason.INFRASTRUCTURE: "The run broke and the agent was not judged; not used to look for a divergence.",
}

#: Names of the groups a task can be in, for counts.
GROUPS = {
    FindingKind.DIVERGENCE: "with a divergence",
    FindingKind.SAME_PATH: "same path",
    FindingKind.ABSTAINED: "abstained",
    FindingKind.INFRASTRUCTURE: "infrastructure",
    FindingKind.NEVER_PASS: "never pass",
    FindingKind.ALWAYS_PASS: "always pass",
    FindingKind.NOT_COMPARED: "not compared",
}


class FindingWords(Struct, frozen=True, kw_only=True):
    """What a task row says: the mark of a divergence (or empty), its rows (``5→6``), the text."""

    mark: str
    rows: str
    text: str

    @property
    def joined(self) -> str:
        """All parts, one blank apart."""
        return " ".join(part for part in (self.mark, self.rows, self.text) if part)


def counts_line(report: Report, marks: Marks) -> str:
    """``12 tasks · 48 of 48 trials · 34 passed · 14 failed (1 by infrastructure)``."""
    suite = report.suite
    completed = f"{suite.completed}" if suite.expected is None else f"{suite.completed} of {suite.expected}"
    counted_as_failed = []
    if suite.infra and suite.infra_policy == "fail":
        counted_as_failed.append(f"{len(suite.infra)} by infrastructure")
    if suite.unscored and suite.unscored_policy == "fail":
        counted_as_failed.append(f"{len(suite.unscored)} unscored")
    inside = f" ({', '.join(counted_as_failed)})" if counted_as_failed else ""
    parts = [
        plural(suite.tasks, "task"),
        f"{completed} trial{'' if (suite.expected or suite.completed) == 1 else 's'}",
        f"{suite.passed} passed",
        f"{suite.failed} failed{inside}",
    ]
    if suite.infra and suite.infra_policy != "fail":
        parts.append(f"{len(suite.infra)} by infrastructure, not counted")
    if suite.unscored and suite.unscored_policy != "fail":
        parts.append(f"{len(suite.unscored)} unscored, not counted")
    return marks.dot.join(parts)


def completeness_lines(report: Report, marks: Marks) -> list[str]:
    """Expected, completed and counted trials where they differ, what is missing by name, and the judge."""
    suite = report.suite
    lines = []
    if suite.counted != suite.completed or suite.expected != suite.completed:
        expected = "unknown (no plan)" if suite.expected is None else str(suite.expected)
        figures = (f"expected {expected}", f"completed {suite.completed}", f"counted {suite.counted}")
        lines.append("trials: " + marks.dot.join(figures))
    for word, names in (
        ("missing", suite.missing),
        ("unscored", suite.unscored),
        ("stopped by their own limit without a verdict, counted as failed", suite.limit_unscored),
        ("beyond the plan, not counted", suite.unplanned),
        ("without a counted trial", suite.no_trials),
    ):
        if names:
            lines.append(f"{word}: {shortlist(names)}")
    return [*lines, *_above_one(report), *judge_lines(report, marks)]


def _above_one(report: Report) -> list[str]:
    """Rewards on a scale of their own: under the rule that a pass is a reward of 1 they fail, which is said."""
    found = [
        f"{trial.task_id}/{trial.trial_id} {trial.reward:g}"
        for task in report.tasks
        for trial in task.trials
        if trial.verdict is Verdict.FAIL
        and trial.verdict_rule == REWARD_IS_ONE
        and trial.reward is not None
        and trial.reward > 1 + REWARD_TOLERANCE
    ]
    if not found:
        return []
    count = plural(len(found), "reward")
    return [f"{count} above 1, counted as failed ({shortlist(found, 3)}): another scale? --threshold X"]


def trial_strip(task: TaskReport, marks: Marks, most: int = 10) -> str:
    """``✓✗✓✗``, missing trials included; ``7/20`` where there are more trials than fit."""
    slots = trial_marks(task, marks)
    return "".join(slots) if len(slots) <= most else f"{task.reliability.c}/{task.reliability.n}"


def trial_marks(task: TaskReport, marks: Marks) -> list[str]:
    """A mark per trial, expected ones that are not there included, in natural order of the trial ids."""
    slots = [(trial.trial_id, trial.verdict) for trial in task.trials]
    known = {trial_id for trial_id, _ in slots}
    absent = [(trial_id, None) for trial_id in task.missing if trial_id not in known]
    if absent:
        slots = sorted([*slots, *absent], key=lambda slot: natural_key(slot[0]))
    return [marks.trial(verdict) for _, verdict in slots]


def finding_words(task: TaskReport, marks: Marks) -> FindingWords:
    """What the row of a task says about where outcomes separate."""
    finding = task.finding
    lead = finding.lead
    others = ""
    if finding.other_groups:
        others = f" +{plural(finding.other_groups, 'other')}"
    if finding.kind is FindingKind.DIVERGENCE and lead is not None:
        rows = rows_text(root_row(finding, lead), manifest_row(finding, lead), marks.arrow)
        return FindingWords(mark=marks.root, rows=rows, text=short_marks(lead) + headline(lead, marks) + others)
    return FindingWords(mark="", rows="", text=short_marks(lead) + _plain_finding(task, marks) + others)


def _plain_finding(task: TaskReport, marks: Marks) -> str:
    """The text of a finding that is not a divergence."""
    finding = task.finding
    said = marks.words(one_line(finding.text))
    if finding.kind is FindingKind.NEVER_PASS:
        lead = finding.lead
        if lead is not None and not lead.abstained and lead.headline:
            return f"never passes; {headline(lead, marks)}"
        return said if said.startswith("never passes") else "never passes"
    words = {
        FindingKind.SAME_PATH: "same path, different outcome",
        FindingKind.ALWAYS_PASS: "always passes",
    }
    if finding.kind in words:
        return words[finding.kind]
    prefix = {
        FindingKind.ABSTAINED: "abstained",
        FindingKind.INFRASTRUCTURE: "infrastructure",
        FindingKind.NOT_COMPARED: "not compared",
    }.get(finding.kind, "")
    if not prefix or said.startswith(prefix):
        return said
    return f"{prefix}: {said}" if said else prefix


def headline(divergence: Divergence, marks: Marks) -> str:
    """``agent: check_permission missing``: whose step, and what is different about it."""
    text = marks.words(one_line(divergence.headline))
    if divergence.actor is None or text.startswith(f"{divergence.actor}:"):
        return text
    return f"{divergence.actor}: {text}"


def abstention_words(divergence: Divergence) -> str:
    """``abstained: no step separates them`` for one failed trial without a claim."""
    if divergence.reason is None:
        return "abstained"
    if divergence.reason in (Reason.SAME_PATH, Reason.INFRASTRUCTURE):
        return REASONS[divergence.reason]
    return f"abstained: {REASONS[divergence.reason]}"


def support_text(divergence: Divergence | None) -> str:
    """``2/2 0/2``: failed trials with it of all failed, passed trials with it of all passed."""
    support = None if divergence is None or divergence.abstained else divergence.support
    if support is None:
        return "-"
    passed = f"{support.passed_with}/{support.passed}" if support.passed else "-"
    return f"{support.failed_with}/{support.failed} {passed}"


def seen_in(divergence: Divergence) -> str:
    """``missing in 2 of 2 failed, 0 of 2 passed (smallest p 0.33)``."""
    support = divergence.support
    if support is None:
        return "a finding inside the trial: there is no passed one to compare with"
    verb = "missing in" if divergence.kind is Kind.MISSING_STEP else "seen in"
    text = f"{verb} {support.failed_with} of {support.failed} failed"
    text += f", {support.passed_with} of {support.passed} passed" if support.passed else ", no passed trial"
    return text if support.smallest_p is None else f"{text} (smallest p {probability(support.smallest_p)})"


def probability(value: float) -> str:
    """A p-value with two significant digits, ``< 0.001`` below that."""
    if value < 0.001:
        return "< 0.001"
    return f"{value:.2f}" if value >= 0.095 else f"{value:.2g}"


def summary_lines(report: Report, marks: Marks) -> list[str]:
    """How many tasks are in which group (the counts add up to all tasks), and the kinds of divergences."""
    mixed = [task for task in report.tasks if is_mixed(task)]
    rest = [task for task in report.tasks if not is_mixed(task)]
    lines = []
    if mixed:
        verb = "is" if len(mixed) == 1 else "are"
        groups = ", ".join(_groups(mixed))
        lines.append(f"{len(mixed)} of {plural(len(report.tasks), 'task')} {verb} mixed: {groups}")
    else:
        lines.append(
            f"0 of {plural(len(report.tasks), 'task')} {'is' if len(report.tasks) == 1 else 'are'} mixed"
        )
    parts = [*_groups(rest), *_near_misses(report.tasks)]
    kinds = _kinds(report.tasks)
    if kinds:
        parts.append("kinds: " + ", ".join(f"{kind} {count}" for kind, count in kinds))
    if parts:
        lines.append(marks.dot.join(parts))
    return lines


def _near_misses(tasks: Sequence[TaskReport]) -> list[str]:
    """How many near misses there are in tasks that always pass."""
    found = [task.finding.near_misses for task in tasks if task.finding.near_misses]
    if not found:
        return []
    return [
        f"{plural(sum(map(len, found)), 'near miss', 'near misses')} in {plural(len(found), 'task')} of them"
    ]


def _groups(tasks: Sequence[TaskReport]) -> list[str]:
    counts = Counter(task.finding.kind for task in tasks)
    words = []
    for kind, name in GROUPS.items():
        if not counts[kind]:
            continue
        text = f"{counts[kind]} {name}"
        if kind is FindingKind.DIVERGENCE:
            text += f" ({_grades(tasks)})"
        elif counts[kind] == 1 and kind in (FindingKind.NEVER_PASS, FindingKind.ALWAYS_PASS):
            text = f"1 {name}es"
        words.append(text)
    return words


def _grades(tasks: Iterable[TaskReport]) -> str:
    grades = Counter(
        task.finding.lead.grade
        for task in tasks
        if task.finding.kind is FindingKind.DIVERGENCE and task.finding.lead and task.finding.lead.grade
    )
    return ", ".join(f"{count} {grade}" for grade, count in sorted(grades.items()))


def _kinds(tasks: Iterable[TaskReport]) -> list[tuple[str, int]]:
    """Kinds of the divergences that lead a mixed task, the most frequent first."""
    kinds = Counter(
        str(task.finding.lead.kind)
        for task in tasks
        if task.finding.kind is FindingKind.DIVERGENCE and task.finding.lead and task.finding.lead.kind
    )
    return sorted(kinds.items(), key=lambda item: (-item[1], item[0]))


def self_check_line(report: Report) -> str:
    """``self-check: 0 false alarms in 33 passing trials``, with the trials that raised one."""
    check = report.self_check
    if not check.passing_trials:
        return "self-check: not possible (no task with two passed trials)"
    alarms, trials = plural(check.false_alarms, "false alarm"), plural(check.passing_trials, "passing trial")
    text = f"self-check: {alarms} in {trials}"
    return f"{text}: {shortlist(check.alarms)}" if check.alarms else text


def caution(report: Report) -> str:
    """What the findings are, and the smallest p that the splits of these trials can reach."""
    text = "Divergences are places to look."
    splits = sorted(_splits(report.tasks))
    if not splits:
        return text
    shown = splits[:1] if len(splits) == 1 else [splits[0], splits[-1]]
    limits = " or ".join(
        f"{probability(p)} ({max(failed, passed)} against {min(failed, passed)})" for p, failed, passed in shown
    )
    sizes = sorted({failed + passed for _, failed, passed in splits})
    trials = f"With {sizes[0]} trials no split" if len(sizes) == 1 else "No split of these trials"
    return f"{text} {trials} reaches a p below {limits}."


def _splits(tasks: Iterable[TaskReport]) -> set[tuple[float, int, int]]:
    """Smallest two-sided p (Fisher) of each split into failed and passed trials among the mixed tasks."""
    splits = set()
    for task in tasks:
        verdicts = Counter(trial.verdict for trial in task.trials)
        failed, passed = verdicts[Verdict.FAIL], verdicts[Verdict.PASS]
        if failed and passed:
            small, large = sorted((failed, passed))
            splits.add((float(perfect_split_p(passed, failed)), small, large))
    return splits


def recurring_lines(report: Report, marks: Marks, most: int = 5) -> list[str]:
    """The same divergence in several trials: ``agent: NAME missing · 9 trials in 6 tasks (…)``."""
    lines = []
    for entry in report.recurring[:most]:
        text = marks.words(one_line(entry.headline))
        if not text.startswith(f"{entry.actor}:"):
            text = f"{entry.actor}: {text}"
        where = f"{plural(len(entry.trials), 'trial')} in {plural(len(entry.tasks), 'task')}"
        lines.append(f"{text}{marks.dot}{where}: {shortlist(entry.tasks)}")
    if len(report.recurring) > most:
        lines.append(f"and {len(report.recurring) - most} more")
    return lines
