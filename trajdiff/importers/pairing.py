"""Which call a result belongs to. Ids only narrow the choice; position decides (formats.md 3.3)."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

Call = TypeVar("Call")


class _Open(Generic[Call]):
    """One call that waits for its result."""

    __slots__ = ("call", "id", "message", "name", "waiting")

    def __init__(self, call: Call, message: int, call_id: str | None, name: str | None) -> None:
        self.call = call
        self.message = message
        self.id = call_id
        self.name = name
        self.waiting = True


class OpenCalls(Generic[Call]):
    """The calls of one trial that have no result yet.

    Every lookup takes constant time on average: answered calls stay in the queues and are dropped when they
    come up, so that a trial with very many unanswered calls costs no more than its length.
    """

    def __init__(self) -> None:
        self._queues: dict[tuple[int, str | None, str | None], deque[_Open[Call]]] = {}
        self._messages: dict[str | None, list[int]] = {}
        self._with_id = 0

    def add(self, call: Call, *, message: int, call_id: str | None, name: str | None) -> None:
        """A call was recorded in this message."""
        entry = _Open(call, message, call_id, name)
        self._with_id += call_id is not None
        for known_id in {None, call_id}:
            for known_name in {None, name}:
                self._queues.setdefault((message, known_id, known_name), deque()).append(entry)
            stack = self._messages.setdefault(known_id, [])
            if not stack or stack[-1] != message:
                stack.append(message)

    def take(self, *, call_id: str | None, name: str | None) -> Call | None:
        """The call this result answers, or None if there is none."""
        known_id = call_id if call_id is not None and self._with_id else None
        stack = self._messages.get(known_id, [])
        while stack:
            entry = self._oldest(stack[-1], known_id, name) or self._oldest(stack[-1], known_id, None)
            if entry is not None:
                entry.waiting = False
                self._with_id -= entry.id is not None
                return entry.call
            stack.pop()
        return None

    def _oldest(self, message: int, call_id: str | None, name: str | None) -> _Open[Call] | None:
        queue = self._queues.get((message, call_id, name))
        while queue and not queue[0].waiting:
            queue.popleft()
        return queue[0] if queue else None
