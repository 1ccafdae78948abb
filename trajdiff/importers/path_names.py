"""Names for the trials of traces that record none: task and trial number from the parts of the path.

A number counts only beside a word that says what it numbers (``trial-3``, ``attempt_2``, ``task7_run_01``); a
bare number or a random suffix is never read as a trial.
"""

from __future__ import annotations

import re

from msgspec import Struct

_WORD = r"(?:trial|attempt|run|epoch|rep|repeat|repetition|rollout|try)"
_ALONE = re.compile(rf"^{_WORD}[-_. ]?(?P<number>[0-9]{{1,6}})$", re.IGNORECASE)
_BEHIND = re.compile(rf"^(?P<task>.+?)[-_. ]+{_WORD}[-_. ]?(?P<number>[0-9]{{1,6}})$", re.IGNORECASE)
_UUID = re.compile(r"^(?:[a-z]+-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$", re.IGNORECASE)
_SUFFIX = re.compile(r"(?:\.(?:json|jsonl|ndjson|traj|gz|zst|txt))+$", re.IGNORECASE)
#: Names that say what a file is and nothing about its trial.
# fmt: off
_PLAIN = frozenset((
    "agent", "artifacts", "chat", "conversation", "events", "history", "log", "logs", "messages", "output",
    "result", "results", "run", "runs", "samples", "session", "spans", "steps", "trace", "traces", "traj",
    "trajectory", "transcript", "trial",
))
# fmt: on
#: How many folders above the file may hold the number of the trial.
_ABOVE = 3


class PathNames(Struct, frozen=True, kw_only=True):
    """What the path says: the task, the trial (empty and -1 where it has no number), and a session id."""

    task_id: str
    trial_id: str = ""
    ordinal: int = -1
    session: str | None = None


def names_of(path: str) -> PathNames:
    """The names of the trial in this file; the same for every way of writing the same path."""
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..", "-")]
    whole = [_SUFFIX.sub("", part) or part for part in parts[-1:]]
    names = parts[:-1] + whole
    session = None
    if names and _UUID.match(names[-1]):
        session = names.pop()
    told = [name for name in names[-_ABOVE - 1 :] if name.lower() not in _PLAIN]
    number: int | None = None
    while told and (found := _ALONE.match(told[-1])) is not None:
        number = int(found["number"]) if number is None else number
        told.pop()
    task = told[-1] if told else None
    behind = _BEHIND.match(task) if task is not None and number is None else None
    if behind is not None:
        task, number = behind["task"], int(behind["number"])
    if number is None:
        above = [found for name in reversed(told[:-1]) if (found := _ALONE.match(name))]
        number = int(above[0]["number"]) if above else None
    return PathNames(
        task_id=task or session or next(iter(whole), "trace"),
        trial_id="" if number is None else str(number),
        ordinal=-1 if number is None else number,
        session=session,
    )
