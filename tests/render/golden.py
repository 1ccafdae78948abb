"""The golden outputs: what each renderer gives for the report ``shop``.

``python -m tests.render.golden`` writes them again after an intended change; look at the difference then.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.render.made import shop
from tests.render.views import view_for
from trajdiff.render.marks import ASCII
from trajdiff.render.registry import by_name

FOLDER = Path(__file__).parent / "golden"


def _case(subject: str, name: str, **view: object) -> Callable[[], str]:
    def made() -> str:
        report = shop()
        text = by_name(subject, name).render(report, view_for(subject, report, **view))
        assert isinstance(text, str)
        return text

    return made


CASES: dict[str, Callable[[], str]] = {
    "report.100.txt": _case("report", "text"),
    "report.80.txt": _case("report", "text", width=80, show_all=True),
    "report.ascii.txt": _case("report", "text", width=80, marks=ASCII, k=(1, 4, 5)),
    "report.md": _case("report", "markdown"),
    "report.json": _case("report", "json"),
    "report.tsv": _case("report", "tsv"),
    "task.100.txt": _case("task", "text"),
    "task.80.txt": _case("task", "text", width=80),
    "task.ascii.txt": _case("task", "text", marks=ASCII),
    "task.full.txt": _case("task", "text", full=True),
    "task.md": _case("task", "markdown"),
    "task.same-path.txt": _case("task", "text", task_id="L1-022"),
    "task.abstained.txt": _case("task", "text", task_id="L1-045"),
    "task.infrastructure.txt": _case("task", "text", task_id="L1-050"),
    "task.never-passes.txt": _case("task", "text", task_id="L1-008"),
    "task.not-compared.txt": _case("task", "text", task_id="L1-099"),
    "task.always-passes.txt": _case("task", "text", task_id="L1-003"),
    "trials.inline.txt": _case("trials", "text", layout="inline", width=80),
    "trials.side.txt": _case("trials", "text"),
    "trials.md": _case("trials", "markdown"),
    "unstable.txt": _case("unstable", "text"),
    "unstable.md": _case("unstable", "markdown"),
    "inspect.txt": _case("inspect", "text"),
    "inspect.md": _case("inspect", "markdown"),
    "divergences.csv": _case("export-divergences", "csv"),
    "alignment.csv": _case("export-alignment", "csv"),
    "trials.csv": _case("export-trials", "csv"),
}


def main() -> None:
    """Write all golden files."""
    FOLDER.mkdir(exist_ok=True)
    for name, made in CASES.items():
        (FOLDER / name).write_text(made(), encoding="utf-8", newline="")


if __name__ == "__main__":
    main()
