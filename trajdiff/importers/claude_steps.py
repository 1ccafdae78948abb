"""The steps of a Claude Code session, its usage and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from trajdiff.importers.anthropic_blocks import BlockReader, is_call, is_result
from trajdiff.importers.claude_lines import Line
from trajdiff.importers.lenient import as_object
from trajdiff.importers.naming import as_text, id_text, shortened, whole_number
from trajdiff.importers.notices import Notices
from trajdiff.importers.steps import StepBuilder
from trajdiff.importers.texts import content_text
from trajdiff.model import Actor, Severity, StepKind, Usage

#: The model under which the client itself speaks.
_SYNTHETIC = "<synthetic>"
# fmt: off
#: Kinds of lines that say nothing about what the agent did.
_BESIDE = frozenset((
    "agent-name", "agent-setting", "ai-title", "attachment", "custom-title", "file-history-snapshot",
    "last-prompt", "mode", "permission-mode", "pr-link", "progress", "queue-operation", "rate_limit_event",
    "result", "stream_event", "summary", "system", "tag",
))
# fmt: on


class ClaudeSteps(Struct, kw_only=True):
    """Adds lines to a trial; ``messages`` counts messages, not lines."""

    builder: StepBuilder
    notices: Notices
    messages: int = 0
    model: str | None = None
    client_text: str | None = None
    stop_reason: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    _indexes: dict[str, int] = field(default_factory=dict)
    _usages: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def add(self, lines: Sequence[Line], actor: str = Actor.AGENT) -> None:
        """Add the lines of one file; ``actor`` is who works in it."""
        reader = BlockReader(self.builder)
        counts: dict[str | None, int] = {}
        for line in lines:
            counts[line.message_id] = counts.get(line.message_id, 0) + sum(map(is_call, line.blocks))
        for place, line in enumerate(lines):
            self.builder.line, self.builder.pointer = line.number, line.pointer
            kind = as_text(line.value.get("type"))
            if line.talks:
                own = actor
                if line.value.get("isSidechain") is True and actor == Actor.AGENT:
                    own = f"subagent:{id_text(line.value.get('agentId')) or 'side'}"
                self._talk(line, reader, own, parallel=counts.get(line.message_id, 0) > 1)
            elif kind == "system" and line.value.get("subtype") == "compact_boundary":
                # The summary that follows is the compaction itself; one step for both.
                if not any(one.value.get("isCompactSummary") is True for one in lines[place + 1 : place + 4]):
                    self._compaction(line, content_text(line.value.get("content")))
            elif kind not in _BESIDE:
                word = shortened(str(kind), 30)
                self.notices.once(
                    Severity.NOTE, "unknown_line", word, f'lines of type "{word}" are not read as steps'
                )

    def _compaction(self, line: Line, text: str | None) -> None:
        self.builder.entry(
            actor=Actor.SYSTEM, kind=StepKind.COMPACTION, text=text, message=self.messages, at=""
        )
        self.messages += 1

    def _talk(self, line: Line, reader: BlockReader, actor: str, *, parallel: bool) -> None:
        when = as_text(line.value.get("timestamp"))
        self.started_at = self.started_at or when
        self.ended_at = when or self.ended_at
        message = as_object(line.value.get("message"))
        if line.value.get("isCompactSummary") is True:
            self._compaction(line, content_text(message.get("content")))
            return
        assistant = line.value.get("type") == "assistant"
        index = self._index(line) if assistant else self._next()
        if assistant:
            self._note(line, message, index)
        if assistant and message.get("model") == _SYNTHETIC:
            self._client(message, index)
            return
        if assistant and actor == Actor.AGENT:
            self.client_text = None
        who = actor if assistant else self._speaker(line, actor)
        content = message.get("content")
        model = as_text(message.get("model")) if assistant else None
        if not isinstance(content, list):
            text = content_text(content)
            if text is not None:
                self.builder.entry(actor=who, text=text, message=index, at=".message", model=model)
            return
        for place, block in enumerate(content):
            at = f".message.content[{place}]"
            reader.add(block, actor=who, index=index, at=at, parallel=parallel, model=model)

    def _speaker(self, line: Line, actor: str) -> str:
        """Who speaks in a user line: the person, the client (meta), or the caller of a sub-agent."""
        if actor != Actor.AGENT:
            return Actor.AGENT
        if line.value.get("isMeta") is True or any(map(is_result, line.blocks)):
            return Actor.SYSTEM
        return Actor.USER

    def _client(self, message: Mapping[str, Any], index: int) -> None:
        """A text of the client under the name of a model: no act of the agent."""
        text = content_text(message.get("content"))
        self.client_text = text
        self.builder.entry(
            actor=Actor.ENVIRONMENT, kind=StepKind.ERROR, text=text, message=index, at=".message"
        )

    def _next(self) -> int:
        self.messages += 1
        return self.messages - 1

    def _index(self, line: Line) -> int:
        """The number of a response: all its lines share the message id; the request id may be missing."""
        known = line.message_id
        if known is None:
            return self._next()
        if known not in self._indexes:
            self._indexes[known] = self._next()
        return self._indexes[known]

    def _note(self, line: Line, message: Mapping[str, Any], index: int) -> None:
        model = as_text(message.get("model"))
        if model != _SYNTHETIC:
            self.model = self.model or model
        stop = as_text(message.get("stop_reason"))
        if stop is not None and line.value.get("isSidechain") is not True:
            self.stop_reason = stop
        usage = message.get("usage")
        if isinstance(usage, dict):
            # Usage grows from line to line of one response: the last one counts, once.
            self._usages[line.message_id or f"#{index}"] = usage

    def usage(self) -> Usage:
        """Tokens of all responses; input includes what was read from and written to the cache."""

        def total(name: str) -> int | None:
            found = [one for row in self._usages.values() if (one := whole_number(row.get(name))) is not None]
            return sum(found) if found else None

        fresh, read = total("input_tokens"), total("cache_read_input_tokens")
        write = total("cache_creation_input_tokens")
        return Usage(
            input=None if fresh is None else fresh + (read or 0) + (write or 0),
            output=total("output_tokens"),
            cache_read=read,
            cache_write=write,
        )
