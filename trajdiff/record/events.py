"""The lines of one trial: its start, its steps as they happen, what is known later, and its end."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from trajdiff.record.lines import LineFile, encoded

SCHEMA = "trajdiff/1"
#: Keys of a result that says more about itself; a result of the agent's own that looks like one is wrapped.
_RESULT_KEYS = frozenset({"text", "is_error", "error_rule", "error_type", "truncated"})


def now() -> str:
    """The time as the format writes it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class Events:
    """Numbers and writes the lines of one trial; threads may share it. Without a path nothing is written.

    Every line names task, trial and recording: a line that ends up in the file of another trial is recognised,
    and two recordings in one file stay apart.
    """

    def __init__(self, path: str | None, task: str, trial: str) -> None:
        self._file = None if path is None else LineFile(path)
        self._head = {
            "schema": SCHEMA,
            "task_id": task,
            "trial_id": trial,
            "recording": uuid.uuid4().hex[:12],
        }
        self._lock = threading.Lock()
        self.steps = 0
        self.closed = False

    def write(self, event: str, **content: Any) -> None:
        """One line."""
        if self._file is not None and not self.closed:
            said = {key: value for key, value in content.items() if value is not None}
            self._file.append({**self._head, "event": event, **said})

    def step(self, step: Mapping[str, Any]) -> int:
        """A step as it begins; returns its number."""
        with self._lock:  # so that numbers and lines have one order
            number = self.steps
            self.steps += 1
            self.write("step", n=number, step=dict(step))
        return number

    def result(self, number: int, result: Any) -> None:
        """What came back from the call with this number."""
        self.write("result", n=number, result=result, ended_at=now())

    def close(self) -> None:
        """No more lines. Raises ``RecordError`` where some could not be written."""
        if not self.closed:
            self.closed = True
            if self._file is not None:
                self._file.close()


def recorded_result(value: Any) -> Any:
    """A result so that reading gives it back: None is the text ``null``, look-alikes are wrapped."""
    if value is None:
        return "null"
    if isinstance(value, Mapping) and "text" in value and _RESULT_KEYS.issuperset(value):
        return {"text": encoded(value).decode("utf-8"), "truncated": False}
    return value


def recorded_error(error: BaseException) -> dict[str, Any]:
    """An exception of a tool as its result."""
    name = type(error).__name__
    return {"text": f"{name}: {error}", "is_error": True, "error_rule": f"the tool raised {name}"}
