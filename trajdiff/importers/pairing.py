"""Which call a result belongs to. Ids only narrow the choice; position decides."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

Call = TypeVar("Call")


class _Open(Generic[Call]):
    """One call that waits for its result."""

    __slots__ = ("call", "id", "name", "waiting")

    def __init__(self, call: Call, call_id: str | None, name: str | None) -> None:
        self.call = call
        self.id = call_id
        self.name = name
        self.waiting = True


class _Message(Generic[Call]):
    """The calls of one message. Queues by id and name are made only when a choice is needed."""

    __slots__ = ("_entries", "_queues")

    def __init__(self) -> None:
        self._entries: list[_Open[Call]] = []
        self._queues: dict[tuple[str | None, str | None], deque[_Open[Call]]] | None = None

    def add(self, entry: _Open[Call]) -> None:
        self._entries.append(entry)
        if self._queues is not None:
            self._file(entry, self._queues)

    def oldest(self, call_id: str | None, name: str | None) -> _Open[Call] | None:
        """The oldest waiting call with this id and name; None stands for any."""
        if self._queues is None:
            if len(self._entries) == 1:
                entry = self._entries[0]
                fits = entry.waiting and call_id in (None, entry.id) and name in (None, entry.name)
                return entry if fits else None
            self._queues = {}
            for entry in self._entries:
                self._file(entry, self._queues)
        queue = self._queues.get((call_id, name))
        while queue and not queue[0].waiting:
            queue.popleft()
        return queue[0] if queue else None

    @staticmethod
    def _file(entry: _Open[Call], queues: dict[tuple[str | None, str | None], deque[_Open[Call]]]) -> None:
        for call_id in (None, entry.id) if entry.id is not None else (None,):
            for name in (None, entry.name) if entry.name is not None else (None,):
                queues.setdefault((call_id, name), deque()).append(entry)


class OpenCalls(Generic[Call]):
    """The calls of one trial that have no result yet.

    Every lookup takes constant time on average: answered calls stay in the queues and are dropped when they
    come up, so that a trial with very many unanswered calls costs no more than its length.
    """

    def __init__(self) -> None:
        self._messages: dict[int, _Message[Call]] = {}
        #: For every id, and for any (None), the messages with such a call, the most recent last.
        self._recent: dict[str | None, list[int]] = {}
        self._with_id = 0

    def add(self, call: Call, *, message: int, call_id: str | None, name: str | None) -> None:
        """A call was recorded in this message."""
        known = self._messages.get(message)
        if known is None:
            known = self._messages[message] = _Message()
        known.add(_Open(call, call_id, name))
        self._note(None, message)
        if call_id is not None:
            self._with_id += 1
            self._note(call_id, message)

    def _note(self, call_id: str | None, message: int) -> None:
        stack = self._recent.setdefault(call_id, [])
        if not stack or stack[-1] != message:
            stack.append(message)

    def take(self, *, call_id: str | None, name: str | None) -> Call | None:
        """The call this result answers, or None if there is none."""
        known_id = call_id if call_id is not None and self._with_id else None
        stack = self._recent.get(known_id, [])
        while stack:
            message = self._messages[stack[-1]]
            entry = message.oldest(known_id, name)
            if entry is None and name is not None:
                entry = message.oldest(known_id, None)
            if entry is not None:
                entry.waiting = False
                self._with_id -= entry.id is not None
                return entry.call
            stack.pop()
        return None
