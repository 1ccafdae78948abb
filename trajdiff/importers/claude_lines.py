"""The lines of a Claude Code session that count: duplicates and abandoned branches left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from trajdiff.importers.anthropic_blocks import is_call, is_result
from trajdiff.importers.bare import value_of
from trajdiff.importers.document import Document
from trajdiff.importers.lenient import as_list, as_object
from trajdiff.importers.naming import id_text
from trajdiff.importers.notices import Notices
from trajdiff.model import Severity


class Line(Struct, frozen=True, kw_only=True):
    """One line: its number (None in a JSON list), where it lies, and its object."""

    number: int | None
    pointer: str
    value: Mapping[str, Any]

    @property
    def uuid(self) -> str | None:
        """The id of the line, which some kinds lack."""
        return id_text(self.value.get("uuid"))

    @property
    def blocks(self) -> list[Any]:
        """The content blocks of its message."""
        return as_list(as_object(self.value.get("message")).get("content"))

    @property
    def message_id(self) -> str | None:
        """The id of its message, which the lines of one response share."""
        return id_text(as_object(self.value.get("message")).get("id"))

    @property
    def talks(self) -> bool:
        """Whether it carries a message."""
        return self.value.get("type") in ("user", "assistant")

    @property
    def on_main(self) -> bool:
        """Whether it carries a message that is not of a sub-agent."""
        return self.talks and self.value.get("isSidechain") is not True


def read_lines(document: Document) -> list[Line]:
    """Every line that can be read, once; those that cannot are told."""
    lines: list[Line] = []
    seen: set[str] = set()
    doubled = 0
    for record in document.records():
        value = value_of(record, document.notices, "a line")
        if not isinstance(value, dict):
            if record.problem is None:
                document.notices.once(
                    Severity.WARNING, "unknown_message", "line", "a line that is not an object is left out"
                )
            continue
        line = Line(number=record.line, pointer=record.pointer, value=value)
        if line.uuid is not None and line.uuid in seen:
            doubled += 1
            continue
        seen.add(line.uuid or "")
        lines.append(line)
    if doubled:
        count = f"{doubled} line{'s' if doubled > 1 else ''}"
        document.notices.add(Severity.NOTE, "repeated_line", f"{count} recorded twice; each counts once")
    return lines


def without_branches(lines: Sequence[Line], notices: Notices) -> list[Line]:
    """The lines without those of branches that were left again: the chain of the last message counts.

    Results hang on the line of their call and not on the chain, so what belongs to a line of the chain stays:
    the other lines of its response and the results of its calls.
    """
    parents = {line.uuid: _parent(line) for line in lines if line.uuid is not None}
    main = [line for line in lines if line.on_main]
    if not main or main[-1].uuid is None:
        return list(lines)
    chain = set(_ancestors(main[-1].uuid, parents))
    responses = {line.message_id for line in main if line.uuid in chain} - {None}
    kept = {line.uuid for line in main if line.uuid in chain or line.message_id in responses}
    asked = {
        id_text(block.get("id"))
        for line in main
        if line.uuid in kept
        for block in line.blocks
        if is_call(block)
    }
    gone = 0
    result: list[Line] = []
    for line in lines:
        if line.on_main and not _belongs(line, kept, asked) and _left_again(line, chain, parents):
            gone += 1
            continue
        result.append(line)
    if gone:
        count = f"{gone} line{'s' if gone > 1 else ''}"
        notices.add(
            Severity.NOTE, "abandoned_branch", f"{count} of branches that were left again; not read as steps"
        )
    return result


def _belongs(line: Line, kept: set[str | None], asked: set[str | None]) -> bool:
    if line.uuid is None or line.uuid in kept:
        return True
    return any(is_result(block) and id_text(block.get("tool_use_id")) in asked for block in line.blocks)


def _left_again(line: Line, chain: set[str], parents: Mapping[str, str | None]) -> bool:
    """Whether a line hangs on the chain without being part of it; other roots are earlier parts."""
    return any(one in chain for one in _ancestors(_parent(line), parents))


def _parent(line: Line) -> str | None:
    # A compaction cuts the chain and keeps the older end under another key.
    return id_text(line.value.get("parentUuid")) or id_text(line.value.get("logicalParentUuid"))


def _ancestors(start: str | None, parents: Mapping[str, str | None]) -> Iterator[str]:
    seen: set[str] = set()
    current = start
    while current is not None and current not in seen:
        seen.add(current)
        yield current
        current = parents.get(current)
