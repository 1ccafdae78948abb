"""The gates for a terminal, as JSON and as JUnit XML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trajdiff import __version__
from trajdiff.divergence.finding import FindingKind
from trajdiff.natural import natural_key
from trajdiff.reliability.gates import Outcome
from trajdiff.render.json_card import gate_object
from trajdiff.render.json_text import to_json, to_jsonl
from trajdiff.render.lines import Line, Span, fit, line, paint, wrap
from trajdiff.render.places import places
from trajdiff.render.runs_json import comparison_object
from trajdiff.render.safety import one_line
from trajdiff.render.wording import plural

if TYPE_CHECKING:
    from xml.etree import ElementTree

    from trajdiff.gate import CheckResult
    from trajdiff.render.view import View
    from trajdiff.report import TaskReport

_WORDS = {Outcome.PASS: "pass", Outcome.FAIL: "FAIL", Outcome.NOT_EVALUABLE: "n/a"}


def render(result: CheckResult, view: View) -> str:
    """One line per gate, then what was counted and the result."""
    size = min(max(len(one_line(one.name)) for one in result.results), 40)
    lines: list[Line] = []
    if result.incomplete:
        accepted = "accepted as incomplete" if result.allowed else "incomplete"
        for text in result.incomplete:
            lines += [line(part) for part in wrap(f"{accepted}: {one_line(text)}", view.width, rest="  ")]
    for one in result.results:
        style = "failed" if one.outcome is Outcome.FAIL else ""
        head = f"{_WORDS[one.outcome]:<6}"
        texts = wrap(one_line(one.text), max(view.width - size - 8, 20))
        lines.append(line(Span(head, style), f"{one_line(one.name):<{size}}  ", texts[0]))
        lines += [line(" " * (size + 8), text) for text in texts[1:]]
    counted = "; ".join(
        f"{word} {count} counted" + (f" of {expected} trials" if expected is not None else "")
        for word, count, expected in result.counted
    )
    lines.append(line(counted))
    lines.append(line(Span(summary(result), "heading")))
    return paint([fit(content, view.width, view.marks.ellipsis) for content in lines], color=view.color)


def summary(result: CheckResult) -> str:
    """``2 of 3 gates failed (exit code 1)``."""
    failed, of = len(result.failed), len(result.results)
    open_gates = sum(one.outcome is Outcome.NOT_EVALUABLE for one in result.results)
    text = (
        f"{failed} of {plural(of, 'gate')} failed"
        if failed
        else f"{of - open_gates} of {plural(of, 'gate')} passed"
    )
    if open_gates:
        text += f", {open_gates} cannot be evaluated"
    if result.incomplete and not result.allowed:
        text += ", data incomplete"
    return f"{text} (exit code {int(result.code)})"


def render_json(result: CheckResult, view: View) -> str:
    """Schema ``trajdiff.check/1``."""
    return to_json(check_object(result))


def render_lines(result: CheckResult, view: View) -> str:
    """One gate a line."""
    return to_jsonl(check_object(result)["gates"])


def check_object(result: CheckResult) -> dict[str, Any]:
    """All gates, whatever the code."""
    card = result.report.card
    return {
        "schema": "trajdiff.check/1",
        "tool_version": __version__,
        "name": result.report.name,
        "exit_code": int(result.code),
        "complete": not result.incomplete,
        "incomplete": list(result.incomplete),
        "incomplete_allowed": result.allowed,
        "counted": [
            {"side": word, "counted": count, "expected": expected} for word, count, expected in result.counted
        ],
        "gates": [
            {
                "name": one.name,
                "result": str(one.outcome),
                "threshold": one.threshold,
                "value": one.value,
                "text": one.text,
                "reason": one.reason,
                "final": one.final,
            }
            for one in result.results
        ],
        "hard_gates": [gate_object(gate) for gate in card.gates] if card is not None else [],
        "comparison": None if result.comparison is None else comparison_object(result.comparison),
    }


def render_junit(result: CheckResult) -> bytes:
    """One test case per task, and one per gate that is about the whole."""
    from xml.etree import ElementTree

    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", name=_xml(result.report.name or "trajdiff"))
    for task in sorted(result.report.tasks, key=lambda task: natural_key(task.task_id)):
        case = ElementTree.SubElement(suite, "testcase", name=_xml(task.task_id), classname="tasks")
        _fill(case, task, result)
    for one in result.results:
        case = ElementTree.SubElement(suite, "testcase", name=_xml(one.name), classname="gates")
        if one.outcome is Outcome.FAIL:
            ElementTree.SubElement(case, "failure", message=_xml(one.text))
        elif one.outcome is Outcome.NOT_EVALUABLE:
            ElementTree.SubElement(case, "error", message=_xml(one.text))
    for name in ("failure", "error", "skipped"):
        key = {"failure": "failures", "error": "errors", "skipped": "skipped"}[name]
        suite.set(key, str(len(suite.findall(f"./testcase/{name}"))))
    suite.set("tests", str(len(suite)))
    made: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return made + b"\n"


def _fill(case: ElementTree.Element, task: TaskReport, result: CheckResult) -> None:
    from xml.etree import ElementTree

    failures = _failures(task.task_id, result)
    row, kind = task.reliability, task.finding.kind
    if failures:
        ElementTree.SubElement(case, "failure", message=_xml("; ".join(failures)))
    elif row.missing or row.unscored or not row.n:
        names = ", ".join((*row.missing, *row.unscored)) or "all"
        ElementTree.SubElement(case, "error", message=_xml(f"trials missing or unscored: {names}"))
    elif kind in (FindingKind.ABSTAINED, FindingKind.INFRASTRUCTURE):
        ElementTree.SubElement(case, "skipped", message=_xml(task.finding.text))
    elif result.comparison is not None and task.task_id in result.comparison.only_candidate:
        ElementTree.SubElement(case, "skipped", message="not in the baseline")


def _failures(task_id: str, result: CheckResult) -> list[str]:
    """What failed gates say about one task: new failures and divergences, broken hard gates."""
    told: list[str] = []
    names = {one.name for one in result.failed}
    card = result.report.card
    for gate in card.gates if card is not None else ():
        told += [f"{gate.name}: {one.ref} {one.text}" for one in gate.breaches if one.task_id == task_id]
    for change in result.comparison.changes if result.comparison is not None else ():
        if change.task_id != task_id:
            continue
        before, after = change.baseline, change.candidate
        if "new-failure" in names and before.c == before.n and after.c < after.n:
            told.append(f"passed {before.c} of {before.n}, now {after.c} of {after.n}")
        if "new-divergence" in names:
            told += [
                f"new divergence: {one.text} ({one.grade}, {one.support})"
                + _source(result, task_id, one.identity)
                for one in change.new
                if one.grade and one.grade <= result.min_grade and not one.accepted
            ]
        if "same-path" in names and change.new_same_path:
            told.append("same path, different outcome")
    return told


def _source(result: CheckResult, task_id: str, identity: str) -> str:
    """Sentence and place in the log of a divergence, behind its headline."""
    task = result.report.task(task_id)
    for entry in task.finding.divergences if task is not None else ():
        if task is not None and entry.identity == identity:
            where = ", ".join(f"{place.side} {place.ref}" for place in places(task, entry))
            return f". {entry.sentence} Source: {where}"
    return ""


def _xml(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return one_line(text)
