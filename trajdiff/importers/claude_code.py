"""Claude Code sessions: transcripts and stream-json output, as JSONL.

One response is spread over several lines; they are put together by message id. No published session was at
hand: fixtures follow the specification. That a trial cut off by the client's quota message is invalid is an
inferred rule; it is named in the verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from trajdiff.importers.bare import NO_OUTCOME, tell_bare
from trajdiff.importers.claude_lines import Line, read_lines, without_branches
from trajdiff.importers.claude_steps import ClaudeSteps
from trajdiff.importers.document import Document, Record
from trajdiff.importers.jsontext import plain_number
from trajdiff.importers.naming import as_text, id_text
from trajdiff.importers.notices import Where
from trajdiff.importers.path_names import names_of
from trajdiff.importers.protocol import (
    Claim,
    Head,
    Imported,
    Peek,
    Plan,
    ReadOptions,
    Shape,
    Source,
    Unreadable,
)
from trajdiff.importers.steps import StepBuilder
from trajdiff.model import (
    Effect,
    Judgement,
    Provenance,
    Severity,
    SourceRef,
    Task,
    Termination,
    TerminationReason,
    Trial,
    Verdict,
)
from trajdiff.natural import natural_key

_QUOTA = re.compile(
    r"(usage|rate|session|weekly|hourly|opus|token|spending) limit|limit reached|hit your .{0,20}limit|quota|"
    r"credit balance|out of credits",
    re.IGNORECASE,
)
_SUBAGENTS = "subagents"
_ENDS = {
    "success": TerminationReason.AGENT_DONE,
    "error_max_turns": TerminationReason.MAX_STEPS,
    "error_max_budget_usd": TerminationReason.COST_LIMIT,
    "error_during_execution": TerminationReason.AGENT_ERROR,
}
_STOPS = {
    "end_turn": TerminationReason.AGENT_DONE,
    "stop_sequence": TerminationReason.AGENT_DONE,
    "max_tokens": TerminationReason.TOKEN_LIMIT,
    "refusal": TerminationReason.REFUSAL,
}
#: Tools that steer the session and do none of the task's work.
_META = {"Agent": Effect.CONTROL, "Task": Effect.CONTROL, "ToolSearch": Effect.CONTROL}


class _ClaudeCode(Struct, frozen=True):
    name: str = "claude-code"
    title: str = "Claude Code session"
    recognised_by: str = "lines with sessionId, uuid, type; or a line with type system and subtype init"
    record_schema: str | None = None

    def sniff(self, peek: Peek) -> Claim | None:
        """One of the first 60 lines is that of a transcript or of a stream; the first may be of other kinds."""
        if peek.shape in (Shape.FOLDER, Shape.ARCHIVE):
            return None
        if any(head.has("sessionId", "uuid", "type") for head in peek.heads):
            return Claim(rule="lines with sessionId, uuid, type")
        if any(_is_stream(head) for head in peek.heads):
            return Claim(rule="lines of a stream with session_id")
        return None

    def records(self, document: Document) -> Iterable[Record]:
        """The lines."""
        return document.records()

    def read(self, source: Source, options: ReadOptions) -> Imported:
        """The file is one trial; a sub-agent's file belongs to its session."""
        document = source.document
        session = _session_of_subagent(document.path)
        if session is not None:
            document.notices.add(Severity.NOTE, "sub_agent", f"a sub-agent of {session}; read with it")
            return Imported(trials=(), diagnostics=document.notices.all(), unread=1)
        trial = _trial(source)
        return Imported(
            trials=(trial,),
            plans=(Plan(task=Task(task_id=trial.task_id)),),
            diagnostics=document.notices.all(),
        )


IMPORTER = _ClaudeCode()


def _is_stream(head: Head) -> bool:
    kind, subtype = head.get("type"), head.get("subtype")
    if not head.has("session_id"):
        return False
    return (kind == "system" and subtype == "init") or (kind == "result" and isinstance(subtype, str))


def _session_of_subagent(path: str) -> str | None:
    """The session file a sub-agent's file belongs to, if it is there."""
    folder, _, _ = path.rpartition("/")
    above, _, last = folder.rpartition("/")
    return f"{above}.jsonl" if last == _SUBAGENTS and Path(f"{above}.jsonl").is_file() else None


def _subagent_files(path: str) -> list[str]:
    folder = f"{re.sub(r'[.]jsonl$', '', path)}/{_SUBAGENTS}"
    try:
        names = [one.name for one in Path(folder).iterdir() if one.name.endswith(".jsonl")]
    except OSError:
        return []
    return [f"{folder}/{name}" for name in sorted(names, key=natural_key)]


def _trial(source: Source) -> Trial:
    document = source.document
    notices = document.notices
    names = names_of(document.path)
    lines = without_branches(read_lines(document), notices)
    builder = StepBuilder(path=document.path, pointer="$")
    steps = ClaudeSteps(builder=builder, notices=notices)
    steps.add(lines)
    for path in _subagent_files(document.path):
        _add_subagent(path, steps, source)
    builder.path, builder.pointer = document.path, "$"
    builder.line = lines[-1].number if lines else None
    result = next((dict(one.value) for one in reversed(lines) if one.value.get("type") == "result"), {})
    judgement, termination = _outcome(steps, result)
    builder.hint(_META)
    made = builder.finish(termination, messages=steps.messages, at="")
    builder.report(Where(notices, document.path, "$", None, names.task_id, names.trial_id))
    tell_bare(notices, "a Claude Code session")
    session = _first(lines, "sessionId") or _first(lines, "session_id")
    milliseconds = plain_number(result.get("duration_ms"))
    return Trial(
        task_id=names.task_id,
        trial_id=names.trial_id,
        ordinal=names.ordinal,
        steps=made,
        judgement=judgement,
        source=SourceRef(path=document.path, pointer="$"),
        producer_id=session or names.session,
        termination=termination,
        error=steps.client_text if judgement.state is Verdict.INFRA else None,
        usage=steps.usage(),
        cost_usd=plain_number(result.get("total_cost_usd")),
        duration_s=None if milliseconds is None else milliseconds / 1000,
        started_at=steps.started_at,
        ended_at=steps.ended_at,
        provenance=Provenance(
            model=steps.model or _first(lines, "model"),
            agent="claude-code",
            tool_version=_first(lines, "version") or _first(lines, "claude_code_version"),
        ),
        message_count=steps.messages,
    )


def _add_subagent(path: str, steps: ClaudeSteps, source: Source) -> None:
    try:
        document = source.open(path)
    except Unreadable as error:
        steps.notices.extend([error.diagnostic(path, Severity.WARNING)])
        return
    name = re.sub(r"^agent-|[.]jsonl$", "", path.rpartition("/")[2])
    steps.builder.path = path
    steps.add(read_lines(document), actor=f"subagent:{name}")
    steps.notices.extend(document.notices.all())


def _first(lines: Sequence[Line], key: str) -> str | None:
    return next((found for one in lines if (found := id_text(one.value.get(key)))), None)


def _outcome(steps: ClaudeSteps, result: dict[str, Any]) -> tuple[Judgement, Termination]:
    """There is no verdict in a session; one that the client cut off is invalid."""
    said = steps.client_text
    if said is not None and _QUOTA.search(said):
        rule = "cut off by a quota message of the client (inferred)"
        return (
            Judgement(state=Verdict.INFRA, raw=said[:200], rule=rule),
            Termination(reason=TerminationReason.INFRA_ERROR, raw=said[:200], rule=rule),
        )
    subtype = as_text(result.get("subtype"))
    if subtype is not None:
        reason = _ENDS.get(subtype, TerminationReason.UNKNOWN)
        if subtype == "success" and result.get("is_error") is True:
            reason = TerminationReason.AGENT_ERROR
        return NO_OUTCOME, Termination(reason=reason, raw=subtype, rule="result")
    if steps.stop_reason is not None:
        reason = _STOPS.get(steps.stop_reason, TerminationReason.UNKNOWN)
        return NO_OUTCOME, Termination(reason=reason, raw=steps.stop_reason, rule="stop_reason")
    return NO_OUTCOME, Termination()
