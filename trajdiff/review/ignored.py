"""Where the ignore rules fired: what each one hid, so that nothing is ignored in silence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from trajdiff.align.values import changed_paths, ignored, parse_embedded
from trajdiff.frozen import replace

if TYPE_CHECKING:
    from trajdiff.align.table import Cell
    from trajdiff.model import Trial
    from trajdiff.report import Report
    from trajdiff.settings import IgnoreRules


def with_ignored(report: Report, rules: IgnoreRules, trials: Sequence[Trial]) -> Report:
    """The report with a line in ``rules`` for each ignore rule.

    A rule about arguments or results counts the differences from the reference that it hid in the aligned
    tables of the report; a rule about tools the calls that were left out of the comparison.
    """
    lines = [*report.rules, *_of_tools(rules.tools, trials)]
    if rules.arguments or rules.results:
        pairs = list(_pairs(report))
        lines += _of_values("arguments", rules.arguments, pairs)
        lines += _of_values("results", rules.results, pairs)
    return report if len(lines) == len(report.rules) else replace(report, rules=tuple(lines))


def _of_tools(patterns: Iterable[str], trials: Sequence[Trial]) -> list[str]:
    lines = []
    for pattern in patterns:
        calls: Counter[str] = Counter()
        for trial in trials:
            calls.update(step.name for step in trial.steps if step.name and ignored(step.name, (pattern,)))
        lines.append(_line("tools", pattern, calls, "call", "left out"))
    return lines


def _of_values(what: str, patterns: Iterable[str], pairs: Sequence[tuple[Cell, Cell]]) -> list[str]:
    lines = []
    for pattern in patterns:
        hidden: Counter[str] = Counter()
        for reference, cell in pairs:
            tool = cell.tool or ""
            hidden[tool] += sum(ignored(path, (pattern,)) for path in _differing(what, reference, cell, tool))
        lines.append(_line(what, pattern, +hidden, "difference", "hidden"))
    return lines


def _differing(what: str, reference: Cell, cell: Cell, tool: str) -> list[str]:
    """Paths (``tool.path``) at which two calls differ when nothing is ignored."""
    if what == "results":
        left, right = parse_embedded(reference.result), parse_embedded(cell.result)
        return [f"{tool}.{path}" for path in changed_paths(left, right)]
    before, after = dict(reference.arguments), dict(cell.arguments)
    found = []
    for name in sorted({*before, *after}):
        left, right = parse_embedded(before.get(name)), parse_embedded(after.get(name))
        if left != right:
            inner = changed_paths(left, right)
            found += [f"{tool}.{name}.{path}" if path else f"{tool}.{name}" for path in inner or ("",)]
    return found


def _pairs(report: Report) -> Iterable[tuple[Cell, Cell]]:
    """Calls of the same tool in the reference and in another trial, row by row."""
    for task in report.tasks:
        table = task.finding.table
        if table is None or table.reference is None:
            continue
        for row in table.rows:
            reference = next((one for one in row.cells if one.trial_id == table.reference), None)
            if reference is None or reference.tool is None:
                continue
            for cell in row.cells:
                if cell is not reference and cell.tool == reference.tool:
                    yield reference, cell


def _line(what: str, pattern: str, counts: Counter[str], word: str, done: str) -> str:
    total = sum(counts.values())
    if not total:
        return f"ignore {what} {pattern}: nothing {done}"
    inside = ", ".join(f"{tool} {count}" for tool, count in sorted(counts.items()))
    return f"ignore {what} {pattern}: {total} {word}{'s' * (total != 1)} {done} ({inside})"
