"""Markdown that can be posted as a comment: the report and one task."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trajdiff.divergence.finding import Divergence, FindingKind
from trajdiff.frozen import replace
from trajdiff.redaction import counts_text
from trajdiff.reliability.estimators import format_k
from trajdiff.render.aligned import equal
from trajdiff.render.card_words import (
    adaptive_text,
    brief_lines,
    gate_line,
    headline_lines,
    nodes_line,
    not_measured_line,
    plan_lines,
)
from trajdiff.render.choosing import chosen_tasks
from trajdiff.render.curve import infra_note, interval_text, suite_curve_table, task_ks
from trajdiff.render.json_compare import differs
from trajdiff.render.lines import plain
from trajdiff.render.markdown_text import cell, code, fence, table
from trajdiff.render.places import first_row, later_places, manifest_row, places, root_row, rows_text
from trajdiff.render.registry import Renderer
from trajdiff.render.review_words import review_lines
from trajdiff.render.safety import one_line
from trajdiff.render.steps import Look, cell_of, rows_with, step_lines
from trajdiff.render.strip import variant_rows
from trajdiff.render.task_findings import claims, groups
from trajdiff.render.terminal_statistics import required_lines, spread_lines, version_lines
from trajdiff.render.view import pair_of, task_of
from trajdiff.render.wording import (
    abstention_words,
    caution,
    completeness_lines,
    finding_words,
    headline,
    plural,
    recurring_lines,
    seen_in,
    self_check_line,
    summary_lines,
    trial_strip,
)

if TYPE_CHECKING:
    from trajdiff.render.view import View
    from trajdiff.report import Report, TaskReport

#: Rows of the task table before "and N more", and characters of a comment (GitHub takes 65,536).
MOST_ROWS = 10
BUDGET = 60_000
_DETAILS = 5


def render(report: Report, view: View) -> str:
    """The comment. Cut in this order when too long: step details, then rows; a line says what was cut."""
    if view.brief:
        return "".join(f"- {cell(text)}\n" for text in brief_lines(report, view.marks))
    for details, rows in ((_DETAILS, MOST_ROWS), (0, MOST_ROWS), (0, 3)):
        text = _comment(report, view, details=details, rows=rows)
        if len(text) <= BUDGET:
            break
    return within(text)


def within(text: str) -> str:
    """A comment of at most ``BUDGET`` characters: whole lines from its beginning, and a line that says so. What
    is cut in the middle of a folded part or a code block is closed."""
    if len(text) <= BUDGET:
        return text
    last = f"\n\nthe rest of {len(text)} characters left out: a comment holds {BUDGET}\n"
    kept = text[: BUDGET - len(last) - 40]
    kept = kept[: kept.rfind("\n") + 1] or kept
    fences = re.findall(r"^(`{3,})", kept, flags=re.M)
    close = f"{fences[-1]}\n" if len(fences) % 2 else ""
    if kept.count("<details>") > kept.count("</details>"):
        close += "</details>\n"
    return kept + close + last


def _comment(report: Report, view: View, *, details: int, rows: int) -> str:
    tasks = [task for task in chosen_tasks(report, view.choice) if _has_something_to_say(task, view)]
    shown = tasks if view.show_all else tasks[:rows]
    parts = [_head(report, view), _broken(report), _curve(report, view), _tasks(report, shown, view)]
    if len(shown) < len(tasks):
        parts.append(f"and {len(tasks) - len(shown)} more\n")
    led = [task for task in shown if task.finding.lead is not None and not task.finding.lead.abstained]
    parts += [_steps(task, view) for task in led[:details]]
    if led[details:] and details < _DETAILS:
        parts.append(
            f"step details of {plural(len(led) - details, 'task')} left out: the comment would be too long\n"
        )
    parts += [_slices(report, view), _reliability(report, view), _foot(report, view)]
    return "\n".join(part for part in parts if part)


def _has_something_to_say(task: TaskReport, view: View) -> bool:
    return view.show_all or view.choice.only is not None or task.finding.kind is not FindingKind.ALWAYS_PASS


def _head(report: Report, view: View) -> str:
    """The marker a workflow finds its comment by, then the title."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", one_line(report.name or "report")).strip("-") or "report"
    suite = report.suite
    trials = str(suite.n_min) if suite.n_min == suite.n_max else f"{suite.n_min} to {suite.n_max}"
    title = f"{cell(report.name)}, " if report.name else ""
    found = sum(task.finding.kind is FindingKind.DIVERGENCE for task in report.tasks)
    result = f"{plural(found, 'task')} with a divergence" if found else "no divergence"
    scope = f"{title}{plural(suite.tasks, 'task')} {view.marks.times} {trials} trials"
    return f"<!-- trajdiff:{name} -->\n### trajdiff: {scope}: {result}\n"


def _curve(report: Report, view: View) -> str:
    adaptive = adaptive_text(report, view.marks)
    if adaptive:
        return "\n".join(f"{cell(note)}\n" for note in (adaptive, *completeness_lines(report, view.marks)))
    curve = suite_curve_table(report.suite, view.k, view.marks, card=report.card, stats=view.stats)
    headers = ("", *(f"k={k}" for k in curve.ks), "")
    rows = [(row.name.strip(), *row.values, cell(row.note)) for row in curve.rows]
    text = table(headers, rows, right=range(1, len(curve.ks) + 1))
    notes = [note for note in (infra_note(report.suite), *curve.notes) if note]
    notes += completeness_lines(report, view.marks)
    return text + "".join(f"\n{cell(note)}\n" for note in notes)


def _broken(report: Report) -> str:
    """Broken hard gates stand above every figure: no average makes up for them."""
    gates = [gate for gate in report.card.gates if gate.broken] if report.card is not None else []
    return "".join(f"**{cell(gate_line(gate))}**\n" for gate in gates)


def _reliability(report: Report, view: View) -> str:
    """What stands behind the curve, folded away; a plan stands open."""
    card = report.card
    if card is None:
        return ""
    lines = [*headline_lines(report, view.marks), nodes_line(report), not_measured_line(report)]
    if view.stats:
        lines += [*spread_lines(card), *required_lines(card)]
    lines += [f"version: {text}" for text in version_lines(card) if not text.endswith("not recorded")]
    plan = "".join(f"- {cell(text)}\n" for text in plan_lines(report))
    inside = "".join(f"- {cell(text)}\n" for text in lines if text)
    return f"{plan}\n<details><summary>Reliability</summary>\n\n{inside}</details>\n"


def _slices(report: Report, view: View) -> str:
    """Slices as tables, one per key."""
    if report.card is None:
        return ""
    made = []
    for key in dict.fromkeys(one.key for one in report.card.slices):
        rows = [
            (
                code(one.value),
                "" if one.tasks is None else str(one.tasks),
                str(one.trials),
                str(one.passed),
                f"{one.pass_hat_k[0]:.2f}" if one.pass_hat_k else "",
                interval_text(one.interval.low, one.interval.high, view.marks) if one.interval else "",
                "few tasks" if one.few_tasks else "",
            )
            for one in report.card.slices
            if one.key == key
        ]
        headers = (cell(key), "tasks", "trials", "passed", "pass^1", "95 %", "")
        made.append(table(headers, rows, right=range(1, 5)))
    return "\n".join(made)


def _tasks(report: Report, tasks: list[TaskReport], view: View) -> str:
    if not tasks:
        return ""
    ks = task_ks(report.suite, view.k)
    shown = ks if len(ks) < 3 else (ks[0], ks[-1])
    headers = ("task", "trials", *(f"pass^{k}" for k in shown), "where outcomes separate", "failed", "passed")
    rows = [
        (
            code(task.task_id),
            trial_strip(task, view.marks),
            *(format_k(task.reliability.pass_hat_k, k) for k in shown),
            _finding(task, view),
            *_support(task.finding.lead),
        )
        for task in tasks
    ]
    figures = range(2, 2 + len(shown))
    return table(headers, rows, right=(*figures, len(headers) - 2, len(headers) - 1))


def _finding(task: TaskReport, view: View) -> str:
    words, lead = finding_words(task, view.marks), task.finding.lead
    grade = f"{lead.grade} " if lead is not None and lead.grade is not None else ""
    return f"{grade}{cell(words.joined)}"


def _support(lead: Divergence | None) -> tuple[str, str]:
    support = None if lead is None or lead.abstained else lead.support
    if support is None:
        return "", ""
    return (
        f"{support.failed_with}/{support.failed}",
        f"{support.passed_with}/{support.passed}" if support.passed else "",
    )


def _steps(task: TaskReport, view: View) -> str:
    lead = task.finding.lead
    return "" if lead is None else steps_block(task, lead, view)


def steps_block(task: TaskReport, lead: Divergence, view: View) -> str:
    """The steps from root to manifest of a divergence as a diff block, folded away."""
    rows = rows_text(root_row(task.finding, lead), manifest_row(task.finding, lead), " to ")
    lines = diff_lines(task, lead, view)
    if not lines:
        return ""
    word = "steps" if "to" in rows else "step"
    where = f", {word} {rows}" if rows else ""
    source = view.marks.dot.join(f"{place.side} {code(place.ref)}" for place in places(task, lead))
    return (
        f"<details><summary>{cell(task.task_id)}{where}</summary>\n\n"
        f"{cell(lead.sentence)}\n\n{fence(lines, 'diff')}\n"
        f"`-` passed, `+` failed. {source}\n</details>\n"
    )


def diff_lines(task: TaskReport, divergence: Divergence, view: View) -> list[str]:
    """``-`` the step of the passed trials, ``+`` that of the failed one, for root and manifest step."""
    finding, result = task.finding, []
    if finding.table is None or finding.reference is None:
        return []
    wanted = {root_row(finding, divergence), manifest_row(finding, divergence)}
    look = Look(width=100, marks=view.marks, full=False)
    for row in finding.table.rows:
        if row.number not in wanted:
            continue
        pair = (cell_of(row, finding.reference), cell_of(row, divergence.trial_id))
        for sign, step, other in zip("-+", pair, reversed(pair), strict=True):
            if step is not None:
                texts = [plain(text) for text in step_lines(step, replace(look, against=other))]
                result += [f"{sign} {row.number} {texts[0]}", *(f"{sign}   {text}" for text in texts[1:])]
            else:
                result.append(f"{sign} {row.number} (no such step)")
    return result


def _foot(report: Report, view: View) -> str:
    parts = [*summary_lines(report, view.marks), *recurring_lines(report, view.marks, most=3)]
    parts += [*review_lines(report, view.marks), *report.rules]
    if report.redacted is None:
        parts.append("not redacted")
    elif report.redacted:
        parts.append(counts_text(dict(report.redacted)))
    parts += [self_check_line(report), caution(report), *report.method[:1], f"trajdiff {report.tool_version}"]
    said = (cell(view.marks.words(part)) for part in parts)
    return f"<sub>{view.marks.dot.join(said)}</sub>\n"


def render_task(report: Report, view: View) -> str:
    """One task: what separates outcomes, the steps, the sources."""
    task = task_of(report, view)
    title = f" {cell(task.title)}" if task.title else ""
    ks = task_ks(task.reliability, view.k)
    dot = view.marks.dot
    figures = dot.join(f"pass^{k} {format_k(task.reliability.pass_hat_k, k)}" for k in ks)
    parts = [f"### {code(task.task_id)}{title}\n", f"{trial_strip(task, view.marks)}{dot}{figures}\n"]
    for divergence, trials in groups(task):
        parts.append(_divergence(task, divergence, trials, view))
    silent = [entry for entry in task.finding.divergences if not claims(entry)]
    parts += [
        f"- trial {code(entry.trial_id)}: {cell(abstention_words(entry))}. {cell(entry.sentence)}\n"
        for entry in silent
    ]
    if not task.finding.divergences:
        parts.append(f"{cell(finding_words(task, view.marks).joined)}\n")
    if task.finding.notes:
        parts.append("".join(f"- {cell(view.marks.words(note))}\n" for note in task.finding.notes))
    rows = variant_rows(task, view.trials)
    if rows:
        parts.append("".join(f"- variant {row.number}: {cell(row.names)}\n" for row in rows))
    return "\n".join(parts)


def _divergence(task: TaskReport, divergence: Divergence, trials: tuple[str, ...], view: View) -> str:
    rows = rows_text(
        root_row(task.finding, divergence), manifest_row(task.finding, divergence), view.marks.arrow
    )
    facts = [f"separates outcomes: {seen_in(divergence)}", f"failed trials: {', '.join(trials)}"]
    first = divergence.first_difference
    if first is not None:
        row = first_row(task.finding, divergence)
        facts.append(f"first difference: {'' if row is None else f'step {row}: '}{first.text}")
    facts += list(divergence.evidence)
    title = cell(headline(divergence, view.marks))
    lines = [
        f"**{view.marks.root} {rows} {title}**, grade {divergence.grade or 'none'}\n",
        f"{cell(divergence.sentence)}\n",
        "".join(f"- {cell(fact)}\n" for fact in facts),
    ]
    steps = diff_lines(task, divergence, view)
    if steps:
        lines.append(f"{fence(steps, 'diff')}\n")
    lines += [
        f"- {place.side}: {code(place.ref)} {code(place.json_path)}" for place in places(task, divergence)
    ]
    lines += [
        f"- shows in {place.side}: {code(place.ref)} {code(place.json_path)}"
        for place in later_places(task, divergence)
    ]
    return "\n".join(lines) + "\n"


def render_trials(report: Report, view: View) -> str:
    """Two trials: the steps that differ."""
    pair = pair_of(view)
    look = Look(width=100, marks=view.marks, full=view.full)
    ids = (pair.a.trial_id, pair.b.trial_id)
    rows = rows_with(pair.table, ids)
    lines: list[str] = []
    for row in rows:
        if equal(row, *ids):
            continue
        for sign, trial_id in zip("-+", ids, strict=True):
            step = cell_of(row, trial_id)
            texts = [plain(text) for text in step_lines(step, look)]
            lines += [f"{sign} {row.number} {texts[0]}", *(f"{sign}   {text}" for text in texts[1:])]
    count = sum(differs(row, pair) for row in pair.table.rows)
    head = "".join(
        f"- `{sign}` {view.marks.trial(trial.verdict)} {code(trial.ref)} {plural(trial.steps, 'step')},"
        f" {cell(one_line(trial.termination))}\n"
        for sign, trial in zip("-+", (pair.a, pair.b), strict=True)
    )
    foot = f"{count} of {plural(len(rows), 'step')} differ. Two trials show what differs, not what matters.\n"
    return "\n".join((head, f"{fence(lines, 'diff')}\n" if lines else "", foot))


RENDERERS = (
    Renderer(name="markdown", subject="report", render=render, suffixes=(".md",)),
    Renderer(name="markdown", subject="task", render=render_task, suffixes=(".md",), whole=False),
    Renderer(name="markdown", subject="trials", render=render_trials, suffixes=(".md",)),
)
