"""What ``validate`` found, as text and as JSON. Problems are the result here, not messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from trajdiff.model import Diagnostic, Severity
from trajdiff.render.json_report import diagnostic_object
from trajdiff.render.json_text import to_json
from trajdiff.render.lines import Line, Span, line, paint, wrap
from trajdiff.render.safety import cells, one_line
from trajdiff.render.wording import plural

if TYPE_CHECKING:
    from trajdiff.render.view import View


class Checked(Protocol):
    """One file that was checked."""

    @property
    def path(self) -> str:
        """The path as given."""

    @property
    def format(self) -> str | None:
        """Its format, None where it was not recognised."""

    @property
    def trials(self) -> int:
        """Trials in it."""

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """What is wrong with it."""

    @property
    def valid(self) -> bool:
        """Whether no problem is an error."""


def validation_text(files: Sequence[Checked], view: View) -> str:
    """One line per file, its problems below, and how many files are invalid."""
    paths = max([cells(one_line(file.path)) for file in files] or [0])
    names = max([cells(one_line(file.format or "not recognised")) for file in files] or [0])
    lines: list[Line] = []
    for file in files:
        word = Span(f"{'valid' if file.valid else 'invalid':<9}", "passed" if file.valid else "failed")
        path, name = one_line(file.path), one_line(file.format or "not recognised")
        problems = f", {plural(len(file.problems), 'problem')}" if file.problems else ""
        blanks = " " * (paths - cells(path) + 3), " " * (names - cells(name) + 3)
        lines.append(line(word, f"{path}{blanks[0]}{name}{blanks[1]}{plural(file.trials, 'trial')}{problems}"))
    for file in files:
        for problem in file.problems:
            lines += _problem(problem, view)
    invalid = sum(not file.valid for file in files)
    if invalid:
        text = f"{invalid} of {plural(len(files), 'file')} {'is' if invalid == 1 else 'are'} invalid"
    else:
        text = "the file is valid" if len(files) == 1 else f"all {len(files)} files are valid"
    lines.append(line(text))
    return paint(lines, color=view.color)


def _problem(problem: Diagnostic, view: View) -> list[Line]:
    """``error: WHERE: WHAT`` and what belongs to it, each detail indented."""
    where = f"{one_line(problem.path)}: " if problem.path else ""
    style = "failed" if problem.severity is Severity.ERROR else ""
    head = f"{where}{one_line(problem.message)}"
    details = [f"at {one_line(problem.pointer)}"] if problem.pointer else []
    details += [one_line(detail) for detail in problem.details]
    lines = [line(Span(f"{problem.severity}:", style), f" {head}")]
    for detail in details:
        lines += [line(part) for part in wrap(detail, view.width, first="  ", rest="    ")]
    return lines


def validation_json(files: Sequence[Checked]) -> str:
    """The same as JSON, schema ``trajdiff.validate/1``."""
    entries = [
        {
            "path": file.path,
            "format": file.format,
            "trials": file.trials,
            "valid": file.valid,
            "problems": [diagnostic_object(problem) for problem in file.problems],
        }
        for file in files
    ]
    return to_json(
        {"schema": "trajdiff.validate/1", "files": entries, "invalid": sum(not file.valid for file in files)}
    )
