"""Pins: steps that are held fixed while the agent runs, and whether their place has come.

A pin names its place by what happens there: the n-th call of a tool (with these arguments, where they are
given), the n-th message of the user or the agent, or the end of the trial. Numbers of steps would not do, since
another run of the agent takes other steps before it gets there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from trajdiff.record.lines import RecordError, encoded, plain

#: What can be pinned. ``call`` makes a call before the place, ``replace`` makes another call instead of it.
KINDS = ("result", "argument", "call", "block", "replace", "agent_message", "user_message", "note")
#: The place of a pin: a call of ``tool``, a message of one side, or the end.
USER, AGENT, END = "user", "agent", "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One step held fixed.

    ``kind`` is one of ``KINDS``. ``at`` is ``call`` (of ``tool``), ``user``, ``agent`` or ``end``;
    ``occurrence`` counts from 0, None is every time; ``given`` restricts the place to calls with exactly these
    arguments. ``value`` is the result, the argument's value, the answer of a blocked call, or the text. With
    ``decode`` it is a recorded text that stands for JSON, unless the tool says that it returns a ``str``.
    ``path`` says which argument (``item.id``, ``lines[0].price``; empty for all of them, then ``value`` is an
    object). ``name`` and ``arguments`` are the call to make; with ``already`` it is made only where fewer such
    calls were made before.
    """

    kind: str
    at: str = "call"
    tool: str | None = None
    occurrence: int | None = 0
    given: Mapping[str, Any] | None = None
    value: Any = None
    decode: bool = False
    path: str = ""
    name: str | None = None
    arguments: Mapping[str, Any] | None = None
    already: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise RecordError(f'unknown kind of pin "{self.kind}"; known: {", ".join(KINDS)}')
        if self.at not in ("call", USER, AGENT, END):
            raise RecordError(f'unknown place of a pin "{self.at}"')
        if self.at == "call" and not self.tool:
            raise RecordError("a pin at a call must name its tool")
        if self.kind in ("call", "replace") and not self.name:
            raise RecordError(f"a pin of kind {self.kind} must name the call to make")


class Places:
    """Counts calls and messages of one trial and says which pins stand at each. Not thread-safe by itself."""

    def __init__(self, pins: Iterable[Pin]) -> None:
        self._pins = tuple(pins)
        self._seen = [0] * len(self._pins)
        self._made: dict[bytes, int] = {}

    def made(self, name: str, arguments: Mapping[str, Any]) -> None:
        """A call was made, by the agent or by a pin."""
        key = encoded([name, plain(arguments)])
        self._made[key] = self._made.get(key, 0) + 1

    def needless(self, pin: Pin) -> bool:
        """Whether the call of a pin has been made often enough without it."""
        key = encoded([pin.name, plain(pin.arguments or {})])
        return pin.already is not None and self._made.get(key, 0) >= pin.already

    def at_call(self, tool: str, arguments: Mapping[str, Any]) -> list[Pin]:
        """The pins whose place is this call; counts it."""
        shown = plain(arguments)
        return self._come(
            lambda pin: (
                pin.at == "call" and pin.tool == tool and (pin.given is None or plain(pin.given) == shown)
            )
        )

    def at(self, place: str) -> list[Pin]:
        """The pins whose place is this message (``user`` or ``agent``) or the ``end``; counts it."""
        return self._come(lambda pin: pin.at == place)

    def _come(self, fits: Any) -> list[Pin]:
        found = []
        for number, pin in enumerate(self._pins):
            if fits(pin):
                if pin.occurrence is None or pin.occurrence == self._seen[number]:
                    found.append(pin)
                self._seen[number] += 1
        return found


def value_of(pin: Pin, returns: Any = None) -> Any:
    """The pinned value as the agent gets it; ``returns`` is the annotation of the tool's result."""
    if not pin.decode or not isinstance(pin.value, str) or returns in (str, "str"):
        return deepcopy(pin.value)
    try:
        return json.loads(pin.value)
    except (ValueError, RecursionError):
        return pin.value


def with_argument(arguments: Mapping[str, Any], pin: Pin) -> dict[str, Any]:
    """The arguments with the pinned one; containers on the way are copied. Raises ``RecordError``."""
    if not pin.path:
        return dict(pin.value)
    changed = deepcopy(dict(arguments))
    parts = _parts(pin.path)
    place: Any = changed
    for part in parts[:-1]:
        try:
            place = place[part]
        except (KeyError, IndexError, TypeError):
            raise RecordError(f'the call has no argument "{pin.path}"') from None
    try:
        place[parts[-1]] = pin.value
    except (IndexError, TypeError):
        raise RecordError(f'the call has no argument "{pin.path}"') from None
    return changed


def with_note(result: Any, note: str) -> Any:
    """A result that carries a note the agent will read."""
    if isinstance(result, str):
        return f"{result}\n{note}"
    if isinstance(result, Mapping):
        return {**result, "note": note}
    return {"result": result, "note": note}


def _parts(path: str) -> list[str | int]:
    parts: list[str | int] = []
    for name in path.split("."):
        head, *indices = name.split("[")
        if head:
            parts.append(head)
        for index in indices:
            digits = index.rstrip("]")
            if not digits.isdecimal():
                raise RecordError(f'no path of an argument: "{path}"')
            parts.append(int(digits))
    if not parts:
        raise RecordError(f'no path of an argument: "{path}"')
    return parts


_FIELDS = frozenset(one.name for one in fields(Pin))


def write_pins(path: str | Path, pins: Iterable[Pin], **about: Any) -> None:
    """Write the file that ``read_pins`` reads; ``about`` stands beside the pins, for instance ``arm``."""
    document = {**about, "pins": [plain(asdict(pin)) for pin in pins]}
    Path(path).write_text(json.dumps(document, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def read_pins(path: str | Path) -> tuple[tuple[Pin, ...], dict[str, Any]]:
    """The pins of a file and what stands beside them. Raises ``RecordError``: an agent that runs without the
    pins it was given would be counted as a run with them."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        said = [dict(one) for one in document["pins"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecordError(f"{path}: no file of pins ({error})") from error
    unknown = sorted({str(key) for one in said for key in one} - _FIELDS)
    if unknown:
        raise RecordError(f"{path}: a pin has unknown keys: {', '.join(unknown)}")
    try:
        pins = tuple(Pin(**one) for one in said)
    except TypeError as error:
        raise RecordError(f"{path}: a pin is incomplete ({error})") from error
    return pins, {key: value for key, value in document.items() if key != "pins"}
