"""The fingerprint of what a trial starts from, and which trials started from something else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from trajdiff.model import Diagnostic, Severity
from trajdiff.natural import natural_key


def fingerprint_files(patterns: Sequence[str], work: Path) -> tuple[str | None, str | None]:
    """(hash of names and contents of the files, None), or (None, what is wrong). Patterns are globs."""
    total = hashlib.sha256()
    for pattern in patterns:
        files = sorted(_matching(work, pattern))
        if not files:
            return None, f"no file {pattern} after the reset"
        for file in files:
            total.update(f"{file.relative_to(work) if file.is_relative_to(work) else file}\0".encode())
            try:
                with file.open("rb") as stream:
                    total.update(hashlib.file_digest(stream, "sha256").digest())
            except OSError as error:
                return None, f"{file.name}: cannot be read ({error.strerror or error})"
    return total.hexdigest()[:12], None


def _matching(work: Path, pattern: str) -> Iterable[Path]:
    if Path(pattern).is_absolute():
        anchor = Path(Path(pattern).anchor)
        found: Iterable[Path] = anchor.glob(str(Path(pattern).relative_to(anchor)))
    else:
        found = work.glob(pattern)
    for path in found:
        if path.is_file():
            yield path
        elif path.is_dir():
            yield from (inner for inner in path.rglob("*") if inner.is_file())


def fingerprint_text(output: str) -> str:
    """The hash of what a fingerprint command printed."""
    return hashlib.sha256(output.strip().encode("utf-8", "surrogatepass")).hexdigest()[:12]


def leaks(states: Iterable[tuple[str, str, str | None]]) -> tuple[Diagnostic, ...]:
    """Trials of a task that did not start from the state of its first trial: (task, trial, fingerprint)."""
    by_task: dict[str, list[tuple[str, str]]] = {}
    for task, trial, state in states:
        if state is not None:
            by_task.setdefault(task, []).append((trial, state))
    found = []
    for task in sorted(by_task, key=natural_key):
        trials = sorted(by_task[task], key=lambda one: natural_key(one[0]))
        first, expected = trials[0]
        other = [trial for trial, state in trials if state != expected]
        if other:
            shown = ", ".join(other[:8]) + (f" and {len(other) - 8} more" if len(other) > 8 else "")
            found.append(
                Diagnostic(
                    severity=Severity.WARNING,
                    slug="leaked_state",
                    message=f'leaked state: {len(other)} of {len(trials)} trials of task "{task}" started from'
                    f" another state than trial {first}",
                    details=(f"trials {shown}", "the reset does not undo everything, or trials share a place"),
                    task_id=task,
                )
            )
    return tuple(found)
