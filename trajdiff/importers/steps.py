"""Builds the steps of one trial from messages, calls and results, in recorded order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trajdiff.importers.arguments import ReadArguments
from trajdiff.importers.naming import place_of, shortened
from trajdiff.importers.notices import Where
from trajdiff.importers.pairing import OpenCalls
from trajdiff.model import (
    Actor,
    ArgumentState,
    Effect,
    Result,
    Severity,
    SourceRef,
    Step,
    StepKind,
    Termination,
)


class StepBuilder:
    """Collects the steps of one trial.

    ``path``, ``pointer`` and ``line`` say where the trial lies; every method takes ``at``, the JSON path of the
    record relative to ``pointer`` (``.traj[8]``), and ``message``, its index in the recorded message list.
    Results find their calls by the rule of ``pairing``.
    """

    def __init__(self, *, path: str, pointer: str, line: int | None = None) -> None:
        self.path = path
        self.pointer = pointer
        self.line = line
        self.orphans = 0
        self.doubled: list[str] = []
        self.invalid = 0
        self._drafts: list[dict[str, Any]] = []
        self._open: OpenCalls[dict[str, Any]] = OpenCalls()

    def source(self, at: str, message: int | None) -> SourceRef:
        """The place of a record of this trial."""
        return SourceRef(path=self.path, pointer=self.pointer + at, message_index=message, line=self.line)

    def place(self, at: str = "") -> str:
        """A place in this trial, for messages."""
        return place_of(self.pointer + at, self.line)

    def entry(
        self,
        *,
        actor: str,
        text: str | None,
        message: int,
        at: str,
        kind: StepKind = StepKind.MESSAGE,
        **more: Any,
    ) -> None:
        """Add a message, a piece of reasoning, an error or a compaction."""
        self._drafts.append(
            {
                "actor": actor,
                "kind": kind,
                "text": text,
                "turn": message,
                "source": self.source(at, message),
                **more,
            }
        )

    def call(
        self,
        *,
        actor: str,
        name: str | None,
        arguments: ReadArguments,
        message: int,
        place: int,
        at: str,
        call_id: str | None = None,
        group: int | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """Add a tool call. ``place`` counts the calls of its message; ``group`` joins parallel calls."""
        source = self.source(at, message)
        for key in arguments.doubled:
            self.doubled.append(f'"{shortened(key)}" at {self.place(at)}')
        self.invalid += arguments.arguments.state is ArgumentState.INVALID
        draft: dict[str, Any] = {
            "actor": actor,
            "kind": StepKind.TOOL_CALL,
            "name": name,
            "arguments": arguments.arguments,
            "call_uid": f"{message}.{place}",
            "call_id": call_id,
            "turn": message,
            "parallel_group": group,
            "source": source,
            **more,
        }
        self._drafts.append(draft)
        self._open.add(draft, message=message, call_id=call_id, name=name)
        return draft

    def result(
        self,
        result: Result,
        *,
        message: int,
        at: str,
        call_id: str | None = None,
        name: str | None = None,
        **more: Any,
    ) -> bool:
        """Give a result to its call; without one it becomes a step of its own. True if it was paired."""
        source = self.source(at, message)
        draft = self._open.take(call_id=call_id, name=name)
        if draft is not None:
            draft["result"] = result
            draft["result_source"] = source
            draft.update(more)
            return True
        self.orphan(result, source=source, message=message, call_id=call_id, name=name)
        return False

    def orphan(
        self,
        result: Result,
        *,
        source: SourceRef,
        message: int,
        call_id: str | None = None,
        name: str | None = None,
    ) -> None:
        """Keep a result that no call asked for as a step of its own."""
        self.orphans += 1
        self._drafts.append(
            {
                "actor": Actor.ENVIRONMENT,
                "kind": StepKind.ORPHAN_RESULT,
                "name": name,
                "result": result,
                "call_id": call_id,
                "turn": message,
                "source": source,
            }
        )

    def calls(self) -> list[dict[str, Any]]:
        """The calls so far, as they can still be completed: name, call id, actor, arguments, result."""
        return [draft for draft in self._drafts if draft["kind"] is StepKind.TOOL_CALL]

    def hint(self, effects: Mapping[str, Effect]) -> None:
        """Note what the log says about the effect of tools, by name."""
        for draft in self._drafts:
            if draft["kind"] is StepKind.TOOL_CALL and draft["name"] in effects:
                draft["effect_hint"] = effects[draft["name"]]

    def finish(self, termination: Termination, *, messages: int, at: str) -> tuple[Step, ...]:
        """All steps, the termination last; its message index is that of the last recorded message."""
        last = messages - 1 if messages else None
        self._drafts.append(
            {
                "actor": Actor.ENVIRONMENT,
                "kind": StepKind.TERMINATION,
                "text": termination.reason.value,
                "turn": messages,
                "source": self.source(at, last),
            }
        )
        return tuple(Step(index=index, **draft) for index, draft in enumerate(self._drafts))

    def report(self, where: Where) -> None:
        """Tell what was odd about the steps of this trial."""
        if self.orphans:
            message = f"{self.orphans} {_plural(self.orphans, 'result')} that no call asked for"
            where.warn("orphan_result", message, "kept as steps of their own")
        if self.doubled:
            message = "a key occurs twice in the arguments of a call; the last one counts"
            where.warn("duplicate_key", message, *self.doubled[:5])
        if self.invalid:
            calls = _plural(self.invalid, "call")
            message = f"{where.who}: {self.invalid} {calls} with arguments that are not a JSON object"
            where.add(Severity.NOTE, "invalid_arguments", message, "compared as text")


def _plural(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"


def spoken(text: str | None, calls: Sequence[Any]) -> bool:
    """Whether a message with these calls also says something; an empty text beside calls says nothing."""
    return not calls if text is None else bool(text.strip()) or not calls
