"""What is taken out of a document before it leaves: redaction, and ``--no-content``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from trajdiff.errors import UsageError
from trajdiff.frozen import replace
from trajdiff.report import Report

if TYPE_CHECKING:
    from trajdiff.settings import Settings

V = TypeVar("V")
W = TypeVar("W")


class Sharing:
    """Prepares what one call of a command writes. Files are redacted unless told otherwise, and so is Markdown
    on standard output; text and JSON there only with ``--redact``."""

    def __init__(self, options: Mapping[str, Any], settings: Settings) -> None:
        self._rules = settings.redact
        self._asked, self._refused = bool(options.get("redact")), bool(options.get("no_redact"))
        self._content = not options.get("no_content")
        if self._asked and self._refused:
            raise UsageError("--redact and --no-redact exclude each other")
        self._counts: Mapping[str, int] = {}

    def redacts(self, *, file: bool, format_name: str) -> bool:
        """Whether a document of this format is cleaned."""
        return not self._refused and (self._asked or file or format_name == "markdown")

    def prepare(self, value: V, view: W, *, file: bool, format_name: str) -> tuple[V, W]:
        """The value and the view as they may leave. Raises ``InputError`` where redaction fails."""
        if not self._content:
            from trajdiff.shape import without_content

            value, view = without_content((value, view))
        if not self.redacts(file=file, format_name=format_name):
            return value, view
        from trajdiff.redaction import Redactor

        redactor = Redactor(self._rules)
        value, view = redactor.apply((value, view))
        self._counts = dict(redactor.counts)
        return _marked(value, tuple(sorted(redactor.counts.items()))), view

    def told(self, content: str | bytes) -> str:
        """What the note about a written file says."""
        if self._refused:
            return "not redacted"
        from trajdiff.redaction import counted_in, counts_text

        return counts_text(counted_in(content) if isinstance(content, str) else self._counts)


def _marked(value: V, counts: tuple[tuple[str, int], ...]) -> V:
    """A report that knows what was hidden in it."""
    if isinstance(value, Report):
        return replace(value, redacted=counts)
    from trajdiff.gate import CheckResult

    if isinstance(value, CheckResult):
        return replace(value, report=replace(value.report, redacted=counts))
    return value
