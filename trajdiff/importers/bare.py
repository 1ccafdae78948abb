"""What all formats without task, trial and verdict have in common: names from the path, no outcome."""

from __future__ import annotations

from typing import Any

from trajdiff.importers.document import Record
from trajdiff.importers.jsontext import BadJsonError
from trajdiff.importers.notices import Notices
from trajdiff.model import Judgement, Severity, Verdict

#: The verdict of a trace that records none.
NO_OUTCOME = Judgement(state=Verdict.UNSCORED, rule="no outcome recorded")


def tell_bare(notices: Notices, what: str) -> None:
    """Tell once a file that names come from its path and that there is no verdict."""
    notices.once(
        Severity.NOTE,
        "bare_trace",
        "",
        f"{what} records no verdict; task and trial are named after the path",
        "a manifest supplies task, trial and verdict",
    )


def value_of(record: Record, notices: Notices, what: str = "a record") -> Any:
    """The value of a record; None if it cannot be read, which is told."""
    try:
        return record.decode()
    except BadJsonError as error:
        tell_unread(notices, f"{what} cannot be read: {error.problem}", record.place)
        return None


def tell_unread(notices: Notices, problem: str, place: str | None, path: str | None = None) -> None:
    """Tell that a record gave no trial, or a part of it is lost."""
    notices.add(
        Severity.WARNING,
        "unreadable_record",
        problem,
        "it is left out; the others are read",
        pointer=place,
        path=path,
    )
