"""What is said about a task before its table: the divergence of each group of failed trials, or the opening
that fits its finding (same path, abstained, infrastructure, never passes, always passes)."""

from __future__ import annotations

from collections.abc import Sequence

from trajdiff.divergence.finding import (
    COARSER,
    Divergence,
    FindingKind,
    Kind,
    Reason,
    Side,
    Support,
    ValueOrigin,
)
from trajdiff.model import Verdict
from trajdiff.render.intervention_text import tested_words
from trajdiff.render.lines import Line, Span, line, wrap
from trajdiff.render.places import first_row, manifest_row, places, root_row, row_of, trial_row
from trajdiff.render.review_words import note_text
from trajdiff.render.safety import cells, clean, one_line
from trajdiff.render.steps import rows_with
from trajdiff.render.strip import VariantRow
from trajdiff.render.view import View
from trajdiff.render.wording import REASON_SENTENCES, abstention_words, headline, plural, seen_in, shortlist
from trajdiff.report import TaskReport

_LABEL = 21
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
    root, manifest = root_row(finding, divergence), manifest_row(finding, divergence)
    grade = f"{marks.dot}grade {divergence.grade}" if divergence.grade is not None else ""
    of = f"{marks.dot}trial{'s' if len(trials) > 1 else ''} {', '.join(one_line(trial) for trial in trials)}"
    at = f" step {root}" if root is not None else ""
    lines = [
        line(
            Span(f"{marks.root}{at}", "divergence"),
            Span(f"  {headline(divergence, marks)}{grade}{of}", "heading"),
        )
    ]
    lines += _sentence(divergence.sentence, view)
    support = divergence.support
    contrast = support is not None and support.passed > 0
    lines += _fact("separates outcomes" if contrast else "support", seen_in(divergence), view)
    if manifest is not None and manifest != root:
        lines += _sides(task, f"shows at step {manifest}", divergence.manifest_sides, view)
    elif divergence.root_sides:
        lines += _sides(task, "the step", divergence.root_sides, view)
    if divergence.provenance is not None:
        lines += _fact("value from", origin_text(divergence.provenance), view)
    if support is not None:
        lines += _fact("recovery", recovery_text(divergence, support), view)
    lines += _first(task, divergence, view)
    lines += _others(task, divergence, trials, view)
    shown = [text for text in divergence.evidence if not short or text.startswith("grade ")]
    shown = [text for text in shown if view.full or not text.startswith(COARSER)]
    for at_line, text in enumerate(shown):
        lines += _fact("evidence" if at_line == 0 else "", marks.words(one_line(text)), view)
    if not short:
        lines += _repaired(task, divergence, view)
    return [*lines, *judged_lines(divergence, view)]


def judged_lines(divergence: Divergence, view: View) -> list[Line]:
    """What people said and ruled about a divergence."""
    lines = _fact("accepted", one_line(divergence.accepted), view) if divergence.accepted is not None else []
    for position, note in enumerate(divergence.reviews):
        lines += _fact("reviewed" if position == 0 else "", note_text(note), view)
    for position, one in enumerate(divergence.tested):
        lines += _fact("tested" if position == 0 else "", tested_words(one, view.marks), view)
    return lines


def _others(task: TaskReport, divergence: Divergence, trials: Sequence[str], view: View) -> list[Line]:
    """Where the other trials of the group stand, when that is another step or grade than the one shown."""
    own = (root_row(task.finding, divergence), divergence.grade)
    found = []
    for other in task.finding.divergences:
        place = (root_row(task.finding, other), other.grade)
        if other.trial_id in trials and other.trial_id != divergence.trial_id and place != own:
            found.append(f"trial {one_line(other.trial_id)}: step {place[0]}, grade {place[1]}")
    return _fact("same in", "; ".join(found), view) if found else []


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
    lines = [line(Span(f"{abstention_words(silent[0])}{view.marks.dot}{who}", "heading"))]
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
    return _fact("same in all", plural(steps, "step"), view)


def origin_text(origin: ValueOrigin) -> str:
    """Where the deciding value was first seen in the failed trial."""
    value = one_line(origin.value)
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
    if first is None:
        return []
    row = first_row(task.finding, divergence)
    if row is not None and row == root_row(task.finding, divergence):
        return _fact("first difference", "the same step", view)
    step = "" if row is None else f"step {row} in "
    said = view.marks.words(one_line(first.text))
    text = f"{view.marks.first} {step}trial {one_line(first.trial_id)}: {said}"
    return _fact("first difference", text + (", recovered" if first.recovered else ""), view)


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
        lines += _fact("harmless" if position == 0 else "", f"{step}{text}{end}", view)
    left = len(divergence.recovered) - len(shown)
    if left:
        lines += _fact("", f"and {left} more (--full)", view)
    return lines


def _sides(task: TaskReport, label: str, sides: Sequence[Side], view: View) -> list[Line]:
    """Both sides of a step, on one line where they fit."""
    texts = []
    for side in sides:
        text = one_line(side.text).replace(" → ", f" {view.marks.arrow} ").removesuffix(" →")
        texts.append((text, _outcome(task, side.trial_id)))
    if not texts:
        return _fact(label, "", view)
    joined = ", ".join(f"{text} in {side}" for text, side in texts)
    if cells(joined) + _LABEL + 2 <= view.width:
        return _fact(label, joined, view)
    lines: list[Line] = []
    for position, (text, outcome) in enumerate(texts):
        lines += _fact(label if position == 0 else "", f"{outcome}: {text}", view)
    return lines


def _outcome(task: TaskReport, trial_id: str) -> str:
    """Whose side it is; one that is no trial of the task is a borrowed reference."""
    trial = trial_row(task, trial_id)
    if trial is None:
        return "expected"
    return "passed" if trial.verdict is Verdict.PASS else "failed"


def _fact(label: str, text: str, view: View, most: int = 3) -> list[Line]:
    """``label   text``, the text wrapped beside the label; all of it only with ``--full``."""
    width = view.width - _LABEL - 2
    parts = wrap(text, width)
    if not view.full and len(parts) > most:
        parts = [*parts[: most - 1], f"{parts[most - 1]} {view.marks.ellipsis}"]
        if cells(parts[-1]) > width:
            parts[-1] = parts[-1][: width - cells(view.marks.ellipsis) - 1].rstrip() + " " + view.marks.ellipsis
    return [
        line("  ", Span(f"{label if at == 0 else '':<{_LABEL}}", "muted"), part)
        for at, part in enumerate(parts)
    ]


def _sentence(text: str, view: View) -> list[Line]:
    """A sentence under the headline."""
    words = view.marks.words(clean(text).replace("\n", " "))
    return [line(part) for part in wrap(words, view.width, first="  ", rest="  ")] if words else []


def sources_lines(task: TaskReport, divergence: Divergence, view: View) -> list[Line]:
    """``path#task/trial@message`` and JSON path of both sides, so that the raw log can be opened."""
    found = places(task, divergence)
    lines = []
    longest = max([cells(one_line(place.ref)) for place in found] or [0])
    for position, place in enumerate(found):
        label = f"{'source' if position == 0 else '':<8}{place.side:<8}"
        pointer = one_line(place.json_path) + (f" (line {place.line})" if place.line is not None else "")
        ref = one_line(place.ref)
        if len(label) + longest + 3 + cells(pointer) <= view.width:
            lines.append(line(label, f"{ref}{' ' * (longest - cells(ref))}   ", Span(pointer, "muted")))
        else:
            lines.append(line(label, ref))
            lines.append(line(" " * len(label), Span(pointer, "muted")))
    return lines
