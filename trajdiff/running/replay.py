"""Feeds recorded calls to the user's environment again: what differs is state that the trace does not hold.

The environment is a command that reads one JSON object a line and answers each with one: ``reset`` (task,
trial, seed), ``call`` (name, arguments) with a ``result`` or an ``error``, and ``state``.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trajdiff.errors import InputError, UsageError
from trajdiff.frozen import replace
from trajdiff.importers.jsontext import canonical
from trajdiff.model import ArgumentState, Step, Trial

_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call to replay; ``message`` is that of the recorded call, ``recorded`` its result if there is one."""

    name: str
    arguments: Mapping[str, Any]
    message: int | None
    recorded: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedCall:
    """A call with the result of now. ``same`` is None where the trial recorded no result."""

    call: Call
    result: str
    same: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """All calls of a trial and the end state; ``state`` is None where the environment has none to tell."""

    task_id: str
    trial_id: str
    calls: tuple[ReplayedCall, ...]
    state: Any
    seed: int | None

    @property
    def first_difference(self) -> ReplayedCall | None:
        """The first call whose result is another one now: its outcome depends on state that is not recorded."""
        return next((one for one in self.calls if one.same is False), None)


class Environment:
    """A running environment. Use as a context manager. Raises ``InputError`` for whatever it does wrong."""

    def __init__(
        self, words: Sequence[str], environment: Mapping[str, str], folder: Path, limit: float
    ) -> None:
        self._words, self._limit = list(words), limit
        try:
            self._process = subprocess.Popen(
                self._words,
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as error:
            raise UsageError(f"{words[0]}: cannot be started ({error.strerror or error})") from error
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Environment:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError, ValueError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read(self) -> None:
        if self._process.stdout is not None:
            for line in self._process.stdout:
                self._lines.put(line)
        self._lines.put(None)

    def ask(self, **said: Any) -> Mapping[str, Any]:
        """Send one object and return the answer."""
        name = self._words[0]
        try:
            if self._process.stdin is None:
                raise OSError("no input")
            self._process.stdin.write(json.dumps(said) + "\n")
            self._process.stdin.flush()
            line = self._lines.get(timeout=self._limit)
        except queue.Empty:
            raise InputError(f"{name}: no answer to {said['op']} within {self._limit:g} s") from None
        except (OSError, ValueError):
            line = None
        if line is None:
            raise InputError(
                f"{name}: ended before it answered {said['op']}", "it must answer each line with one"
            )
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, Mapping):
            raise InputError(f"{name}: answered {said['op']} with no JSON object: {line.strip()[:80]}")
        return answer


def replay(trial: Trial, environment: Environment, calls: Sequence[Call] | None = None) -> Replayed:
    """Replay a trial, or other calls from its start. Raises ``InputError``."""
    seed = trial.provenance.seed
    said = environment.ask(op="reset", task_id=trial.task_id, trial_id=trial.trial_id, seed=seed)
    if said.get("error") is not None:
        raise InputError(f"the environment could not be reset: {str(said['error'])[:_SHOWN]}")
    made = []
    for call in calls_of(trial) if calls is None else calls:
        answer = environment.ask(op="call", name=call.name, arguments=dict(call.arguments))
        if "result" not in answer and answer.get("error") is None:
            raise InputError(f"the environment answered {call.name} with neither result nor error")
        value = answer["error"] if answer.get("error") is not None else answer.get("result")
        text = value if isinstance(value, str) else canonical(value)
        same = None if call.recorded is None else comparable(call.recorded) == comparable(text)
        made.append(ReplayedCall(call=call, result=text, same=same))
    state = environment.ask(op="state").get("state")
    return Replayed(task_id=trial.task_id, trial_id=trial.trial_id, calls=tuple(made), state=state, seed=seed)


def comparable(text: str) -> str:
    """A result so that equal values are equal texts, however they are spelled."""
    try:
        return canonical(json.loads(text))
    except (ValueError, RecursionError):
        return text.strip()


def calls_of(trial: Trial) -> list[Call]:
    """The calls of a trial that can be made again, in order. Raises ``InputError`` for one that cannot."""
    return [call_of(step, trial) for step in trial.steps if step.is_call]


def call_of(step: Step, trial: Trial) -> Call:
    """A recorded call. Raises ``InputError`` where its arguments are not recorded or are no object."""
    found = step.arguments
    where = f"{trial.task_id}/{trial.trial_id}@{step.source.message_index}"
    if step.name is None or found is None or found.state in (ArgumentState.ABSENT, ArgumentState.INVALID):
        raise InputError(f"{where}: the call cannot be made again: its name or arguments are not recorded")
    arguments = found.parsed if isinstance(found.parsed, Mapping) else {}
    recorded = None if step.result is None else step.result.text
    return Call(name=step.name, arguments=arguments, message=step.source.message_index, recorded=recorded)


# The patch test


def patched(calls: Sequence[Call], at: int | None, by: Call | None, *, insert: bool = False) -> list[Call]:
    """The calls with the one of message ``at`` replaced by another, left out (no ``by``), or with ``by`` put
    before it (``insert``; at the end without ``at``). Raises ``UsageError`` where there is no such call."""
    if at is None:
        return [*calls, *([by] if by is not None else [])]
    place = next((number for number, call in enumerate(calls) if call.message == at), None)
    if place is None:
        known = ", ".join(str(call.message) for call in calls)
        raise UsageError(f"no call in message {at}", f"messages with calls: {known}")
    new = [] if by is None else [replace(by, recorded=None, message=None)]
    return [*calls[:place], *new, *calls[place if insert else place + 1 :]]


def differences(one: Any, other: Any) -> tuple[str, ...]:
    """Where two states differ: JSON path, then both values, shortened."""
    return tuple(_differ(one, other, "$"))


def _differ(one: Any, other: Any, path: str) -> Iterator[str]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in sorted({*one, *other}, key=str):
            if key in one and key in other:
                yield from _differ(one[key], other[key], f"{path}.{key}")
            else:
                yield f"{path}.{key}: only {'there' if key in other else 'here'}"
    elif isinstance(one, list) and isinstance(other, list):
        for number in range(max(len(one), len(other))):
            if number < len(one) and number < len(other):
                yield from _differ(one[number], other[number], f"{path}[{number}]")
            else:
                side, value = ("there", other[number]) if number < len(other) else ("here", one[number])
                yield f"{path}[{number}]: only {side}: {canonical(value)[:_SHOWN]}"
    elif canonical(one) != canonical(other):
        yield f"{path}: {canonical(one)[:_SHOWN]} against {canonical(other)[:_SHOWN]}"
