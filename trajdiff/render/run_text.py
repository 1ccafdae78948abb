"""What ``run`` did, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from trajdiff import __version__
from trajdiff.model import Diagnostic, Verdict
from trajdiff.render.json_report import diagnostic_object
from trajdiff.render.json_text import to_json
from trajdiff.render.wording import plural

SCHEMA = "trajdiff.run/1"


class Ran(Protocol):
    """The result of a run."""

    @property
    def expected(self) -> int:
        """Planned trials."""

    @property
    def completed(self) -> int:
        """Trials with an end."""

    @property
    def ran(self) -> int:
        """Trials run in this call."""

    @property
    def counted(self) -> int:
        """Trials that enter the figures."""

    @property
    def verdicts(self) -> Mapping[Verdict, int]:
        """Trials by verdict."""

    @property
    def checked(self) -> bool:
        """Whether start states were compared."""

    @property
    def clean(self) -> bool:
        """Whether every trial was judged, from the same start."""

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was to be told."""


def run_text(result: Ran, tasks: int) -> str:
    """Trials expected, completed and counted, their verdicts, and whether they began alike."""
    verdicts = ", ".join(
        f"{result.verdicts[verdict]} {word}"
        for verdict, word in (
            (Verdict.PASS, "passed"),
            (Verdict.FAIL, "failed"),
            (Verdict.INFRA, "infrastructure"),
            (Verdict.UNSCORED, "unscored"),
        )
        if result.verdicts[verdict] or verdict in (Verdict.PASS, Verdict.FAIL)
    )
    before = result.completed - result.ran
    kept = f", {before} of them before" if before > 0 else ""
    lines = [
        f"{plural(tasks, 'task')} · trials: expected {result.expected}, completed {result.completed}{kept},"
        f" counted {result.counted}",
        verdicts,
        _start(result),
    ]
    return "\n".join(lines) + "\n"


def _start(result: Ran) -> str:
    if not result.checked:
        return "start states: not compared (the plan names neither state nor fingerprint)"
    leaked = [one for one in result.diagnostics if one.slug == "leaked_state"]
    if not leaked:
        return "start states: the same for all trials of a task"
    return f"start states: leaked state in {plural(len(leaked), 'task')}"


def run_json(result: Ran, tasks: Sequence[str], folder: str) -> str:
    """The same, for programs."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "tool_version": __version__,
        "folder": folder,
        "tasks": list(tasks),
        "trials": {"expected": result.expected, "completed": result.completed, "counted": result.counted},
        "ran": result.ran,
        "verdicts": {verdict.value: result.verdicts[verdict] for verdict in Verdict},
        "start_states_compared": result.checked,
        "clean": result.clean,
        "diagnostics": [diagnostic_object(one) for one in result.diagnostics],
    }
    return to_json(document)
