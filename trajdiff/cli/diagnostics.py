"""Diagnostics of the input as messages on standard error: at most five of one kind, then a count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from trajdiff.cli.streams import say
from trajdiff.model import Diagnostic, Severity
from trajdiff.render.safety import one_line

MOST_OF_A_KIND = 5


def tell(diagnostics: Iterable[Diagnostic], *, quiet: bool, verbose: bool) -> None:
    """Print errors and warnings; notes unless quiet. With ``verbose`` none is left to a count."""
    kept = [entry for entry in diagnostics if not (quiet and entry.severity is Severity.NOTE)]
    totals = Counter((entry.severity, entry.slug) for entry in kept)
    shown: Counter[tuple[Severity, str]] = Counter()
    for entry in kept:
        key = (entry.severity, entry.slug)
        shown[key] += 1
        if verbose or shown[key] <= MOST_OF_A_KIND:
            say(diagnostic_text(entry))
        left = totals[key] - MOST_OF_A_KIND
        if not verbose and left > 0 and shown[key] == MOST_OF_A_KIND:
            say(f"{entry.severity}: {left} more of this kind ({entry.slug}); -v shows all")


def diagnostic_text(entry: Diagnostic) -> str:
    """``warning: WHERE: WHAT``, then place, consequence and what to do, one per line."""
    where = f"{one_line(entry.path)}: " if entry.path else ""
    at = [f"at {one_line(entry.pointer)}"] if entry.pointer else []
    details = [one_line(detail) for detail in entry.details]
    return f"{entry.severity}: " + "\n  ".join([f"{where}{one_line(entry.message)}", *at, *details])
