"""Near names for what was nearly right."""

from __future__ import annotations

from collections.abc import Iterable

#: Likeness (0 to 100) from which a name is suggested, and how far behind the best one another may be.
_ENOUGH, _BEHIND = 60, 8


def nearest(wanted: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """At most ``limit`` known names that resemble the wanted one, the best first; ties by name."""
    from rapidfuzz import fuzz

    lower = wanted.casefold()
    scored = [(fuzz.ratio(lower, name.casefold()), name) for name in sorted(set(known))]
    good = sorted((entry for entry in scored if entry[0] >= _ENOUGH), key=lambda entry: (-entry[0], entry[1]))
    return [name for score, name in good[:limit] if score >= good[0][0] - _BEHIND]
