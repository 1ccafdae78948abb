"""Messages in Anthropic blocks: text, thinking, tool_use, tool_result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajdiff.importers.arguments import NOT_RECORDED, read_arguments
from trajdiff.importers.jsontext import compact
from trajdiff.importers.naming import as_text, id_text
from trajdiff.importers.steps import StepBuilder
from trajdiff.importers.texts import content_text
from trajdiff.model import Actor, Result, StepKind

_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_THOUGHTS = {"thinking": "thinking", "redacted_thinking": "data"}


def is_call(block: Any) -> bool:
    """Whether a block asks for a tool."""
    return _kind(block) in _CALLS


def is_result(block: Any) -> bool:
    """Whether a block carries the result of a tool, of the client or of the server."""
    kind = _kind(block) or ""
    return kind == "tool_result" or kind.endswith("_tool_result")


def _kind(block: Any) -> str | None:
    return as_text(block.get("type")) if isinstance(block, dict) else None


def has_blocks(message: Any) -> bool:
    """Whether a message is written in blocks that only this dialect has."""
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list):
        return False
    return any(is_call(one) or is_result(one) or _kind(one) in _THOUGHTS for one in content)


class BlockReader:
    """Adds blocks to the steps of a trial; counts the calls of every message for their places."""

    def __init__(self, builder: StepBuilder) -> None:
        self.builder = builder
        self._calls: dict[int, int] = {}

    def add(
        self, block: Any, *, actor: str, index: int, at: str, parallel: bool, model: str | None = None
    ) -> None:
        """Add one block of the message ``index``; ``parallel`` says that the message has several calls."""
        if is_call(block):
            place = self._calls.get(index, 0)
            self._calls[index] = place + 1
            self.builder.call(
                actor=actor,
                name=as_text(block.get("name")),
                arguments=read_arguments(block.get("input", NOT_RECORDED)),
                message=index,
                place=place,
                at=at,
                call_id=id_text(block.get("id")),
                group=index if parallel else None,
            )
        elif is_result(block):
            self.builder.result(
                block_result(block), message=index, at=at, call_id=id_text(block.get("tool_use_id"))
            )
        else:
            self._say(block, actor, index, at, model)

    def _say(self, block: Any, actor: str, index: int, at: str, model: str | None) -> None:
        kind = _kind(block)
        if kind in _THOUGHTS:
            text = content_text(block.get(_THOUGHTS[kind])) if kind == "thinking" else None
            if text and text.strip():
                self.builder.entry(actor=actor, kind=StepKind.REASONING, text=text, message=index, at=at)
            return
        text = content_text(block.get("text")) if kind == "text" else content_text([block])
        if text and text.strip():
            self.builder.entry(actor=actor, text=text, message=index, at=at, model=model)


def block_result(block: Mapping[str, Any]) -> Result:
    """The result in a block; the flag is usually written only where it is true."""
    content = block.get("content")
    text = content_text(content) if content is None or isinstance(content, str | list) else compact(content)
    flag = block.get("is_error")
    return Result(
        text=text or "",
        is_error=flag if isinstance(flag, bool) else None,
        error_rule="is_error" if isinstance(flag, bool) else None,
    )


def add_block_message(builder: StepBuilder, message: Mapping[str, Any], index: int, at: str) -> None:
    """Add a whole message written in blocks, or in text beside such messages."""
    role = as_text(message.get("role"))
    actor = {"assistant": Actor.AGENT, "user": Actor.USER}.get(role or "", Actor.SYSTEM)
    reader = BlockReader(builder)
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    parallel = sum(map(is_call, blocks)) > 1
    for place, block in enumerate(blocks):
        reader.add(block, actor=actor, index=index, at=f"{at}.content[{place}]", parallel=parallel)
