"""What a reader has to say about a file and its trials, collected as diagnostics."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from trajdiff.importers.naming import place_of
from trajdiff.model import Diagnostic, Severity


class Notices:
    """Collects the diagnostics of one file; the same slug and key is told once only."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._found: list[Diagnostic] = []
        self._told: set[tuple[str, str]] = set()

    def add(
        self,
        severity: Severity,
        slug: str,
        message: str,
        *details: str,
        pointer: str | None = None,
        task_id: str | None = None,
        trial_id: str | None = None,
        path: str | None = None,
    ) -> None:
        """Add one diagnostic."""
        self._found.append(
            Diagnostic(
                severity=severity,
                slug=slug,
                message=message,
                path=path or self.path,
                pointer=pointer,
                details=details,
                task_id=task_id,
                trial_id=trial_id,
            )
        )

    def once(self, severity: Severity, slug: str, key: str, message: str, *details: str) -> None:
        """Add one diagnostic, unless the same slug was told about ``key`` before."""
        if (slug, key) not in self._told:
            self._told.add((slug, key))
            self.add(severity, slug, message, *details)

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Take over diagnostics made elsewhere."""
        self._found.extend(diagnostics)

    def all(self) -> tuple[Diagnostic, ...]:
        """Everything so far, in the order it was found."""
        return tuple(self._found)


class Where(Struct, frozen=True):
    """One trial of a file, for what is to be said about it; pointer and line are those of its record."""

    notices: Notices
    path: str
    pointer: str
    line: int | None
    task_id: str
    trial_id: str

    @property
    def who(self) -> str:
        """The trial in words."""
        trial = f"trial {self.trial_id}" if self.trial_id else "a trial"
        return f'{trial} of task "{self.task_id}"'

    def add(self, severity: Severity, slug: str, message: str, *details: str, at: str = "") -> None:
        """Add a diagnostic; ``message`` is the whole text, ``at`` a JSON path inside the record."""
        self.notices.add(
            severity,
            slug,
            message,
            *details,
            pointer=place_of(self.pointer + at, self.line),
            path=self.path,
            task_id=self.task_id,
            trial_id=self.trial_id or None,
        )

    def warn(self, slug: str, message: str, *details: str, at: str = "") -> None:
        """Add a warning that begins with the trial."""
        self.add(Severity.WARNING, slug, f"{self.who}: {message}", *details, at=at)
