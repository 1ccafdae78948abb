"""What is said about a task before its table: the divergence of each group of failed trials, or the opening
that fits its finding (same path, abstained, infrastructure, never passes, always passes)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trajdiff.divergence.finding import (
    COARSER,
    Divergence,
    FindingKind,
    Kind,
    Reason,
    Support,
    ValueOrigin,
)
from trajdiff.render.fact_lines import fact_lines
from trajdiff.render.lines import Line, Span, line, wrap
from trajdiff.render.places import first_row, later_places, places, root_row, row_of, tells_first
from trajdiff.render.review_words import note_text
from trajdiff.render.safety import cells, clean, one_line
from trajdiff.render.steps import rows_with
from trajdiff.render.two_sides import as_recorded, in_others, other_trials, side_lines
from trajdiff.render.wording import REASON_SENTENCES, abstention_words, headline, plural, seen_in, shortlist

if TYPE_CHECKING:
    from trajdiff.render.strip import VariantRow
    from trajdiff.render.view import View
    from trajdiff.report import TaskReport

#: Recovered differences listed before a count, unless everything is asked for.
_MOST_RECOVERED = 3


def claims(divergence: Divergence) -> bool:
    """Whether a place is named for this trial; an abstention and an infrastructure end name none."""
    return not divergence.abstained and divergence.kind is not Kind.INFRASTRUCTURE


def groups(task: TaskReport) -> list[tuple[Divergence, tuple[str, ...]]]:
    """The divergences of a task, one per group of failed trials, that of the task row first."""
    finding = task.finding
    ordered = sorted(finding.divergences, key=lambda entry: entry is not finding.lead)
    found: list[tuple[Divergence, tuple[str, ...]]] = []
    told: set[str] = set()
    for divergence in ordered:
        if not claims(divergence) or divergence.trial_id in told:
            continue
        trials = divergence.group or (divergence.trial_id,)
        told.update(trials)
        found.append((divergence, trials))
    return found


def opening_lines(task: TaskReport, variants: Sequence[VariantRow], view: View) -> list[Line]:
    """Everything between the header of a task and its strip."""
    lines: list[Line] = []
    for position, (divergence, trials) in enumerate(groups(task)):
        lines += [] if position == 0 else [()]
        lines += divergence_lines(task, divergence, trials, view, short=position > 0 and not view.full)
    silent = silent_lines(task, variants, view)
    if lines and silent:
        lines.append(())
    return lines + silent


def divergence_lines(
    task: TaskReport, divergence: Divergence, trials: Sequence[str], view: View, *, short: bool
) -> list[Line]:
    """Headline, sentence, and one line for each thing that stands behind a divergence."""
    finding, marks = task.finding, view.marks
    root = root_row(finding, divergence)
    grade = f"{marks.dot}grade {divergence.grade}" if divergence.grade is not None else ""
    of = f"{marks.dot}trial{'s' if len(trials) > 1 else ''} {', '.join(one_line(trial) for trial in trials)}"
    at = f" step {root}" if root is not None else ""
    lines = _heading(f"{marks.root}{at}", f"{headline(divergence, marks)}{grade}{of}", view)
    lines += _sentence(divergence.sentence, view)
    support = divergence.support
    contrast = support is not None and support.passed > 0
    lines += fact_lines("separates outcomes" if contrast else "support", seen_in(divergence), view)
    lines += side_lines(task, divergence, view)
    if divergence.provenance is not None:
        lines += fact_lines("value from", origin_text(divergence.provenance, as_recorded(divergence)), view)
    if support is not None:
        lines += fact_lines("recovery", recovery_text(divergence, support), view)
    lines += _first(task, divergence, view)
    lines += _others(task, divergence, trials, view)
    shown = [text for text in divergence.evidence if not short or text.startswith("grade ")]
    shown = [text for text in shown if view.full or not text.startswith(COARSER)]
    for at_line, text in enumerate(shown):
        lines += fact_lines("evidence" if at_line == 0 else "", marks.words(one_line(text)), view)
    if not short:
        lines += _repaired(task, divergence, view)
    return [*lines, *judged_lines(divergence, view)]


def _heading(place: str, text: str, view: View) -> list[Line]:
    """``◆ step 6  what · grade · trials``, broken at blanks: whose divergence it is must not be cut off."""
    begin = cells(place)
    first, *rest = wrap(text, view.width, first=" " * (begin + 2) if place else "", rest="  ")
    lines = [line(Span(place, "divergence"), Span(first[begin:], "heading"))]
    return [*lines, *(line(Span(part, "heading")) for part in rest)]


def judged_lines(divergence: Divergence, view: View) -> list[Line]:
    """What people said and ruled about a divergence."""
    lines = (
        fact_lines("accepted", one_line(divergence.accepted), view) if divergence.accepted is not None else []
    )
    for position, note in enumerate(divergence.reviews):
        lines += fact_lines("reviewed" if position == 0 else "", note_text(note), view)
    if divergence.tested:
        from trajdiff.render.intervention_text import tested_words
    for position, one in enumerate(divergence.tested):
        lines += fact_lines("tested" if position == 0 else "", tested_words(one, view.marks), view)
    return lines


def _others(task: TaskReport, divergence: Divergence, trials: Sequence[str], view: View) -> list[Line]:
    """Where other trials of the group stand."""
    found = [
        f"trial {one_line(one.trial_id)}: step {step}, grade {one.grade}"
        for one, step in other_trials(task, divergence, trials)
    ]
    return fact_lines(in_others(divergence, trials), "; ".join(found), view) if found else []


def silent_lines(task: TaskReport, variants: Sequence[VariantRow], view: View) -> list[Line]:
    """Failed trials without a claim, each reason with its own sentence, and tasks with nothing to separate."""
    lines: list[Line] = []
    kind = task.finding.kind
    if kind is FindingKind.ALWAYS_PASS:
        text = f"Nothing to separate: all {plural(task.reliability.c, 'counted trial')} passed"
        lines += _sentence(f"{text}, in {plural(len(variants), 'variant')}." if variants else f"{text}.", view)
    if kind is FindingKind.NEVER_PASS:
        lines += _sentence(
            "No passed trial to compare with; the failed ones are aligned among themselves.", view
        )
    if kind is FindingKind.NOT_COMPARED:
        lines += _sentence(task.finding.text or "Not compared.", view)
    by_reason: dict[tuple[Reason | None, str], list[Divergence]] = {}
    for divergence in task.finding.divergences:
        if not claims(divergence):
            by_reason.setdefault((divergence.reason, divergence.sentence), []).append(divergence)
    for (reason, sentence), silent in by_reason.items():
        if kind is FindingKind.NEVER_PASS and reason is Reason.NO_PASSING_TRIAL:
            continue
        lines += _silence(task, reason, sentence, silent, view)
    for note in task.finding.notes:
        lines += _sentence(note, view)
    return lines


def _silence(
    task: TaskReport, reason: Reason | None, sentence: str, silent: Sequence[Divergence], view: View
) -> list[Line]:
    """Trials about which nothing is claimed for one and the same reason."""
    trials = [divergence.trial_id for divergence in silent]
    who = f"trial{'s' if len(trials) > 1 else ''} {shortlist(trials)}"
    lines = _heading("", f"{abstention_words(silent[0])}{view.marks.dot}{who}", view)
    lines += _sentence(sentence, view)
    if reason is not None and not sentence:
        lines += _sentence(REASON_SENTENCES[reason], view)
    elif reason is Reason.NO_SEPARATING_STEP:
        lines += _sentence("More trials may help: trajdiff does not guess.", view)
    if reason is Reason.SAME_PATH:
        lines += _same_path_count(task, trials[0], view)
    for divergence in silent if view.full else silent[:1]:
        lines += _first(task, divergence, view)
        lines += _repaired(task, divergence, view)
    return lines


def _same_path_count(task: TaskReport, trial_id: str, view: View) -> list[Line]:
    """How many steps the trials share."""
    table = task.finding.table
    if table is None:
        return []
    steps = len(rows_with(table, (trial_id,)))
    return fact_lines("same in all", plural(steps, "step"), view)


def origin_text(origin: ValueOrigin, written: str | None = None) -> str:
    """Where the deciding value (``written`` as recorded) was first seen in the failed trial."""
    value = one_line(origin.value if written is None else written)
    at = "" if origin.message is None else f" (message {origin.message})"
    if origin.path and origin.message is not None:
        at = f' (message {origin.message}, "{one_line(origin.path)}")'
    match origin.origin:
        case "user_message":
            return f"{value} first said by the user{at}"
        case "tool_result":
            tool = f" of {one_line(origin.tool)}" if origin.tool else ""
            return f"{value} first seen in the result{tool}{at}"
        case "system_message":
            return f"{value} first seen in the system message{at}"
        case _:
            return f"{value} is in no earlier message or result of the failed trial"


def recovery_text(divergence: Divergence, support: Support) -> str:
    """In how many trials the deviation is still there at the end, and who made it and put it right again."""
    text = f"not recovered in {support.failed_with} of {support.failed} failed"
    if support.passed_with:
        text += f"; {plural(support.passed_with, 'passed trial shows', 'passed trials show')} it too"
    undone = divergence.failed_put_back + divergence.passed_put_back
    if undone:
        text += f"; made and undone again in {plural(undone, 'other trial')}"
    return text


def _first(task: TaskReport, divergence: Divergence, view: View) -> list[Line]:
    """The first difference, which is usually harmless and never the headline."""
    first = divergence.first_difference
    if first is None or not tells_first(task.finding, divergence):
        return []
    row = first_row(task.finding, divergence)
    if row is not None and row == root_row(task.finding, divergence):
        return fact_lines("first difference", "the same step", view)
    step = "" if row is None else f"step {row} in "
    said = view.marks.words(one_line(first.text))
    text = f"{view.marks.first} {step}trial {one_line(first.trial_id)}: {said}"
    return fact_lines("first difference", text + (", recovered" if first.recovered else ""), view)


def _repaired(task: TaskReport, divergence: Divergence, view: View) -> list[Line]:
    """Differences that were repaired later, or that passed trials show too."""
    lines: list[Line] = []
    shown = divergence.recovered if view.full else divergence.recovered[:_MOST_RECOVERED]
    for position, entry in enumerate(shown):
        row = row_of(task.finding, entry.opened_at)
        step = "" if row is None else f"step {row}: "
        closed = row_of(task.finding, entry.closed_at)
        end = f" (step {closed})" if closed is not None and closed != row else ""
        text = view.marks.words(f"{one_line(entry.text)}; {one_line(entry.closed_by)}")
        lines += fact_lines("harmless" if position == 0 else "", f"{step}{text}{end}", view)
    left = len(divergence.recovered) - len(shown)
    if left:
        lines += fact_lines("", f"and {left} more (--full)", view)
    return lines


def _sentence(text: str, view: View) -> list[Line]:
    """A sentence under the headline."""
    words = view.marks.words(clean(text).replace("\n", " "))
    return [line(part) for part in wrap(words, view.width, first="  ", rest="  ")] if words else []


def sources_lines(task: TaskReport, divergence: Divergence, view: View) -> list[Line]:
    """``path#task/trial@message`` and JSON path of both sides, so that the raw log can be opened:
    the root step, then the step at which it shows where that is another one."""
    found = (*places(task, divergence), *later_places(task, divergence))
    lines: list[Line] = []
    longest = max([cells(one_line(place.ref)) for place in found] or [0])
    for position, place in enumerate(found):
        start = "source" if position == 0 else "shows" if position == len(places(task, divergence)) else ""
        label = f"{start:<8}{place.side:<8}"
        pointer = one_line(place.json_path) + (f" (line {place.line})" if place.line is not None else "")
        ref = one_line(place.ref)
        if len(label) + longest + 3 + cells(pointer) <= view.width:
            lines.append(line(label, f"{ref}{' ' * (longest - cells(ref))}   ", Span(pointer, "muted")))
        else:  # a reference is there to be copied: it is broken rather than cut
            indent = " " * len(label)
            lines += [line(part) for part in wrap(ref, view.width, first=label, rest=indent)]
            lines += [
                line(Span(part, "muted")) for part in wrap(pointer, view.width, first=indent, rest=indent)
            ]
    return lines
