"""Puts verdicts of reviewers and the accept list beside the divergences of a report.

Nothing here changes a finding or a figure: what a person said stands beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from trajdiff.divergence.finding import Divergence, ReviewNote
from trajdiff.frozen import replace
from trajdiff.model import Diagnostic, Severity, Trial
from trajdiff.natural import natural_key
from trajdiff.settings import IgnoreRules, Settings

if TYPE_CHECKING:
    from trajdiff.report import Report, TaskReport
    from trajdiff.review.verdicts import Review
    from trajdiff.settings_rules import AcceptRule


def judged(
    report: Report,
    settings: Settings,
    trials: Sequence[Trial],
    reviews: Sequence[Review],
    *,
    today: date,
    whole: bool,
) -> Report:
    """The report with everything people said and ruled: accept list, verdicts of reviewers, ignore rules.

    ``whole`` is False where the report holds a part of the tasks only: then nothing is called stale.
    """
    made = with_accepted(report, settings.accept, today, whole=whole)
    made = with_reviews(made, reviews, whole=whole)
    if settings.ignore == IgnoreRules():
        return made
    from trajdiff.review.ignored import with_ignored  # knows what values say, which takes a while to load

    return with_ignored(made, settings.ignore, trials)


def with_reviews(report: Report, reviews: Sequence[Review], *, whole: bool = True) -> Report:
    """The report with each verdict beside its divergence.

    A verdict belongs to the row it was given for. Where that row is not in the report any more (another run of
    the same tasks), it is carried to the divergences with the same identity and marked as carried; verdicts
    that belong nowhere are counted in ``rules``, if this is the ``whole`` report and not a part of its tasks.
    """
    if not reviews:
        return report
    rows = {entry.row_id: entry for task in report.tasks for entry in task.finding.divergences}
    own: dict[str, list[Review]] = {}
    carried: dict[str, list[Review]] = {}
    for review in reviews:
        if review.row_id in rows:
            own.setdefault(review.row_id, []).append(review)
        elif review.identity:
            carried.setdefault(review.identity, []).append(review)

    def reviewed(entry: Divergence) -> Divergence:
        notes = [_note(one, carried=False) for one in own.get(entry.row_id, ())]
        said = {note.reviewer for note in notes}
        for one in carried.get(entry.identity, ()) if entry.identity and not entry.abstained else ():
            note = _note(one, carried=True)
            if note.reviewer not in said and note not in notes:
                notes.append(note)
        return replace(entry, reviews=tuple(notes)) if notes else entry

    identities = {entry.identity for entry in rows.values() if not entry.abstained}
    lost = [one for one in reviews if one.row_id not in rows and one.identity not in identities]
    lines = list(report.rules)
    if lost and whole:
        names = sorted({f"{one.task_id}/{one.trial_id}" for one in lost}, key=natural_key)
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        word = "verdict belongs" if len(lost) == 1 else "verdicts belong"
        lines.append(f"reviews: {len(lost)} {word} to no divergence of this report (stale): {shown}")
    return replace(_changed(report, reviewed), rules=tuple(lines))


def _note(review: Review, *, carried: bool) -> ReviewNote:
    return ReviewNote(
        verdict=review.verdict,
        category=review.category,
        ref=review.ref,
        note=review.note,
        reviewer=review.reviewer,
        carried=carried,
    )


def with_accepted(report: Report, rules: Sequence[AcceptRule], today: date, *, whole: bool = True) -> Report:
    """The report with accepted divergences marked. Entries that expired, and those that match nothing, become
    warnings; what each entry matched stands in ``rules``. Where the report is not ``whole``, an entry that
    matches nothing may be about a task that is not in it."""
    if not rules:
        return report
    hits: Counter[int] = Counter()
    live = [(at, rule) for at, rule in enumerate(rules, 1) if not _expired(rule, today)]

    def accepted(entry: Divergence) -> Divergence:
        found = [(at, rule) for at, rule in live if _covers(rule, entry)]
        for at, _ in found:
            hits[at] += 1
        return replace(entry, accepted=found[0][1].why) if found else entry

    made = _changed(report, accepted)
    lines, warnings = list(report.rules), list(report.diagnostics)
    for at, rule in enumerate(rules, 1):
        name = f"accept entry {at} ({accept_words(rule)})"
        if _expired(rule, today):
            text = f"{name} expired on {rule.until} and no longer applies"
            warnings.append(Diagnostic(severity=Severity.WARNING, slug="accept_expired", message=text))
        elif not hits[at]:
            if not whole:
                continue
            text = f"{name} matches nothing: stale"
            warnings.append(Diagnostic(severity=Severity.WARNING, slug="accept_stale", message=text))
        else:
            text = f"{name} accepted {hits[at]} divergence{'s' * (hits[at] != 1)}: {rule.why}"
        lines.append(text)
    return replace(made, rules=tuple(lines), diagnostics=tuple(warnings))


def accept_words(rule: AcceptRule) -> str:
    """``L1-017, duplicate_write``: what an entry is about."""
    return ", ".join(part for part in (rule.task, rule.kind, rule.tool, rule.argument) if part)


def _expired(rule: AcceptRule, today: date) -> bool:
    return rule.until is not None and date.fromisoformat(rule.until) < today


def _covers(rule: AcceptRule, entry: Divergence) -> bool:
    """Whether an accept entry is about this divergence. Abstentions have nothing to accept, except that the
    same path had another outcome."""
    kind = None if entry.kind is None else str(entry.kind)
    if entry.abstained and kind is None:
        return False
    return (
        (rule.task is None or fnmatchcase(entry.task_id, rule.task))
        and rule.kind in (None, kind)
        and (rule.tool is None or fnmatchcase(entry.tool or "", rule.tool))
        and rule.argument in (None, entry.argument)
    )


def _changed(report: Report, change: Callable[[Divergence], Divergence]) -> Report:
    """The report with every divergence changed; the one that leads a task stays the same object."""
    return replace(report, tasks=tuple(_task(task, change) for task in report.tasks))


def _task(task: TaskReport, change: Callable[[Divergence], Divergence]) -> TaskReport:
    finding = task.finding
    made = tuple(change(entry) for entry in finding.divergences)
    if all(one is other for one, other in zip(made, finding.divergences, strict=True)):
        return task
    lead = finding.lead
    if lead is not None:
        found = (new for new, old in zip(made, finding.divergences, strict=True) if old is lead)
        lead = next(found, None) or next((new for new in made if new.trial_id == lead.trial_id), lead)
    return replace(task, finding=replace(finding, divergences=made, lead=lead))


def agreement(entries: Iterable[Divergence]) -> dict[str, tuple[int, int, int]]:
    """(agree, disagree, unsure) by grade, ``none`` for rows without a claim; carried verdicts are left out.

    Precision of a grade is agree / (agree + disagree).
    """
    found: dict[str, list[int]] = {}
    for entry in entries:
        for note in entry.reviews:
            if not note.carried:
                row = found.setdefault("none" if entry.grade is None else entry.grade.value, [0, 0, 0])
                row[("agree", "disagree", "unsure").index(note.verdict)] += 1
    return {grade: (row[0], row[1], row[2]) for grade, row in sorted(found.items())}
