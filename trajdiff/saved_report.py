"""What a comparison reads of a report saved as JSON: somebody may have edited it, every type is checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from trajdiff.divergence.finding import FindingKind
from trajdiff.errors import InputError
from trajdiff.model import Verdict
from trajdiff.report import FORMAT_VERSION

_TASK = re.compile(r"\$\.tasks\[(\d+)\]")


class SavedSupport(msgspec.Struct):
    """What of a saved report a comparison needs, see ``Saved``."""

    failed_with: int
    failed: int
    passed_with: int
    passed: int


class SavedDivergence(msgspec.Struct):
    """See ``Saved``."""

    identity: str
    trial_id: str
    grade: str | None
    actor: str | None
    headline: str
    support: SavedSupport | None
    abstained: bool
    accepted: str | None = None


class SavedTrial(msgspec.Struct):
    """See ``Saved``."""

    trial_id: str
    verdict: Verdict | None


class SavedFinding(msgspec.Struct):
    """See ``Saved``."""

    kind: FindingKind
    text: str


class SavedTask(msgspec.Struct):
    """See ``Saved``."""

    task_id: str
    n_counted: int
    passed: int
    trials: list[SavedTrial]
    missing: list[Any]
    unscored: list[Any]
    finding: SavedFinding
    divergences: list[SavedDivergence]


class SavedCost(msgspec.Struct):
    """See ``Saved``."""

    total: float | None = None
    tokens: int | None = None


class SavedVersion(msgspec.Struct):
    """See ``Saved``."""

    values: list[str]


class SavedStatistics(msgspec.Struct):
    """See ``Saved``."""

    cost: SavedCost | None = None
    versions: dict[str, SavedVersion] = {}


class SavedShown(msgspec.Struct):
    """See ``Saved``."""

    tasks: int
    of: int


class SavedCounts(msgspec.Struct):
    """See ``Saved``."""

    counted: int
    missing: list[Any]
    unscored: list[Any]


class SavedSuite(msgspec.Struct):
    """See ``Saved``."""

    no_trials: list[Any]


class Saved(msgspec.Struct):
    """The part of a saved report that a comparison needs; other keys may be there."""

    tasks: list[SavedTask]
    shown: SavedShown
    trials: SavedCounts
    suite: SavedSuite
    statistics: SavedStatistics | None = None


def read_saved(document: Mapping[str, Any], name: str) -> Saved:
    """A saved report. Raises ``InputError`` with the place for anything else; ``name`` is that of the file."""
    if document.get("schema") != FORMAT_VERSION:
        raise InputError(f"{name}: no saved report ({FORMAT_VERSION})")
    try:
        return msgspec.convert(document, Saved)
    except (msgspec.ValidationError, RecursionError) as error:
        problem, _, place = str(error).replace("`", "").partition(" - at ")
        raise InputError(
            f"{name}: not a complete saved report: {_task(document, place)}{problem[:1].lower()}{problem[1:]}",
            f"at {place}" if place else "",
            "save it again: trajdiff report TRACES --to FILE.json",
        ) from error


def _task(document: Mapping[str, Any], place: str) -> str:
    """The task that a place is in, where it has a name."""
    found = _TASK.match(place)
    entry = document["tasks"][int(found[1])] if found else None
    named = entry.get("task_id") if isinstance(entry, dict) else None
    return f'task "{named}": ' if isinstance(named, str) else ""
