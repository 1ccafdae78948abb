"""The few exceptions trajdiff raises on purpose, each with the exit code of the command line."""

from __future__ import annotations


class TrajdiffError(Exception):
    """A problem the user can act on.

    Arguments: the message (one line, lower case) and optional detail lines (place, consequence,
    what to do). ``str(error)`` joins them the way every message of trajdiff is laid out.
    """

    exit_code = 3

    def __init__(self, message: str, *details: str) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def __str__(self) -> str:
        return "\n  ".join((self.message, *self.details))


class UsageError(TrajdiffError):
    """An unknown option, task, trial or format; an ambiguous reference; bad settings; a missing extra."""

    exit_code = 2


class InputError(TrajdiffError):
    """Input that cannot be read or is incomplete where completeness was asked for."""

    exit_code = 3
