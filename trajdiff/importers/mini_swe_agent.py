"""mini-swe-agent ``.traj.json`` files, also the oldest bare lists, joined with SWE-bench reports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from trajdiff.importers.arguments import read_arguments
from trajdiff.importers.bare import tell_unread, value_of
from trajdiff.importers.chat_messages import add_chat_message
from trajdiff.importers.document import Document, Record
from trajdiff.importers.empty_traces import empty_trial
from trajdiff.importers.jsontext import plain_number
from trajdiff.importers.lenient import as_list, as_object
from trajdiff.importers.naming import as_text, id_text
from trajdiff.importers.notices import Notices, Where
from trajdiff.importers.path_names import names_of
from trajdiff.importers.protocol import Claim, Imported, Peek, Plan, ReadOptions, Shape, Source
from trajdiff.importers.steps import StepBuilder
from trajdiff.importers.swe_reports import joined
from trajdiff.importers.texts import content_text
from trajdiff.model import (
    Actor,
    Provenance,
    Result,
    SourceRef,
    Task,
    Termination,
    TerminationReason,
    Trial,
)

_FAMILY = "mini-swe-agent"
_FENCED = re.compile(r"```(?:mswea_bash_command|bash|sh)[ \t]*\n(.*?)\n?```", re.DOTALL)
_CODE = re.compile(r"<returncode>\s*(-?[0-9]+)\s*</returncode>")
_REASONS = {
    "Submitted": TerminationReason.AGENT_DONE,
    "LimitsExceeded": TerminationReason.MAX_STEPS,
    "TimeExceeded": TerminationReason.TIME_LIMIT,
    "RepeatedFormatError": TerminationReason.TOO_MANY_ERRORS,
}


class _MiniSweAgent(Struct, frozen=True):
    name: str = "mini-swe-agent"
    title: str = "mini-swe-agent trajectory"
    recognised_by: str = "trajectory_format that begins with mini-swe-agent; .traj.json with messages"
    record_schema: str | None = None

    def sniff(self, peek: Peek) -> Claim | None:
        """The format is named, or the file has the suffix and holds messages."""
        if peek.shape is Shape.FOLDER or not peek.heads:
            return None
        head = peek.heads[0]
        named = head.get("trajectory_format")
        if isinstance(named, str) and named.startswith(_FAMILY):
            return Claim(rule="trajectory_format")
        if peek.shape is Shape.OBJECT and head.has("info", "messages"):
            info = as_object(head.get("info"))
            if "mini_version" in info or {"exit_status", "model_stats"} <= info.keys():
                return Claim(rule="info of mini-swe-agent and messages")
        if peek.shape is Shape.ARRAY and peek.path.endswith(".traj.json") and head.has("role", "content"):
            return Claim(rule=".traj.json with messages")
        return None

    def records(self, document: Document) -> Iterable[Record]:
        """The file is one trial."""
        return document.records()

    def read(self, source: Source, options: ReadOptions) -> Imported:
        """The file is one trial."""
        document = source.document
        if document.shape is Shape.ARRAY:
            messages = [value_of(one, document.notices, "a message") for one in document.records()]
            found = [(Record(pointer="$"), {"messages": messages})]
        else:
            # Several trajectories glued together are several trials.
            found = [(one, value_of(one, document.notices, "the trajectory")) for one in document.records()]
        trials: list[Trial] = []
        unread = 0
        for record, value in found:
            if isinstance(value, dict) and isinstance(value.get("messages"), list):
                trials.append(_trial(value, document, record))
                continue
            unread += 1
            if record.problem is None:
                tell_unread(document.notices, "the file holds no messages", record.place)
        return Imported(
            trials=tuple(trials),
            plans=tuple(Plan(task=Task(task_id=one.task_id)) for one in trials),
            diagnostics=document.notices.all(),
            unread=unread,
        )

    def empty_trial(self, path: str) -> Imported | None:
        """An empty ``.traj.json`` is the trial of its instance, killed before a step was written."""
        return empty_trial(path, "a mini-swe-agent trajectory") if path.endswith(".traj.json") else None


IMPORTER = _MiniSweAgent()


def _trial(value: dict[str, Any], document: Document, record: Record) -> Trial:
    info = as_object(value.get("info"))
    names = names_of(document.path)
    task_id = id_text(value.get("instance_id")) or names.task_id
    messages: list[Any] = value["messages"]
    builder = StepBuilder(path=document.path, pointer=record.pointer, line=record.line)
    base = "" if document.shape is Shape.ARRAY else ".messages"
    walk = _Walk(builder=builder, notices=document.notices)
    for index, message in enumerate(messages):
        walk.add(message, index, f"{base}[{index}]")
    termination = _termination(info, messages)
    steps = builder.finish(termination, messages=len(messages), at="")
    builder.report(Where(document.notices, document.path, record.pointer, record.line, task_id, names.trial_id))
    config = as_object(info.get("config"))
    model = as_object(config.get("model"))
    return Trial(
        task_id=task_id,
        trial_id=names.trial_id,
        ordinal=names.ordinal,
        steps=steps,
        judgement=joined(document.path, task_id, document.notices, "a mini-swe-agent trajectory"),
        source=SourceRef(path=document.path, pointer=record.pointer, line=record.line),
        termination=termination,
        cost_usd=plain_number(as_object(info.get("model_stats")).get("instance_cost")),
        provenance=Provenance(
            model=as_text(model.get("model_name")),
            agent=_FAMILY,
            sampling=as_object(model.get("model_kwargs")),
            tool_version=id_text(info.get("mini_version")),
        ),
        message_count=len(messages),
    )


class _Walk(Struct, kw_only=True):
    """Adds messages; ``open`` counts commands whose output has not come yet."""

    builder: StepBuilder
    notices: Notices
    open: list[str | None] = field(default_factory=list)

    def add(self, message: Any, index: int, at: str) -> None:
        """Add one message."""
        said = as_object(message)
        role = as_text(said.get("role"))
        commands = _commands(said) if role == "assistant" and not said.get("tool_calls") else []
        if role == "assistant":
            self._assistant(said, commands, index, at)
        elif role in ("user", "exit", "tool") and self.open:
            named = id_text(said.get("tool_call_id"))
            call_id = named if named in self.open else self.open[0]
            self.open.remove(call_id)
            self.builder.result(_output(said), message=index, at=at, call_id=call_id)
        elif role == "exit":
            self.builder.entry(
                actor=Actor.ENVIRONMENT, text=content_text(said.get("content")), message=index, at=at
            )
        else:
            add_chat_message(self.builder, message, index, at, self.notices)

    def _assistant(
        self, said: Mapping[str, Any], commands: list[tuple[str, str | None]], index: int, at: str
    ) -> None:
        if not commands:
            calls = [one for one in as_list(said.get("tool_calls")) if isinstance(one, dict)]
            self.open = [id_text(one.get("id")) for one in calls]
            add_chat_message(self.builder, said, index, at, self.notices)
            return
        text = _FENCED.sub("", content_text(said.get("content")) or "").strip()
        if text:
            self.builder.entry(actor=Actor.AGENT, text=text, message=index, at=at)
        for place, (command, call_id) in enumerate(commands):
            self.builder.call(
                actor=Actor.AGENT,
                name="bash",
                arguments=read_arguments({"command": command}),
                message=index,
                place=place,
                at=at,
                call_id=call_id,
                group=index if len(commands) > 1 else None,
            )
        self.open = [call_id for _, call_id in commands]


def _commands(said: Mapping[str, Any]) -> list[tuple[str, str | None]]:
    """The commands of a message: as recorded beside it, else the one fenced block of its text."""
    recorded = [as_object(one) for one in as_list(as_object(said.get("extra")).get("actions"))]
    found = [
        (command, id_text(one.get("tool_call_id")))
        for one in recorded
        if (command := as_text(one.get("command")))
    ]
    if found:
        return found
    blocks = _FENCED.findall(content_text(said.get("content")) or "")
    return [(blocks[0], None)] if len(blocks) == 1 else []


def _output(said: Mapping[str, Any]) -> Result:
    text = content_text(said.get("content")) or ""
    code = as_object(said.get("extra")).get("returncode")
    if not isinstance(code, int) or isinstance(code, bool):
        written = _CODE.match(text.lstrip())
        code = int(written.group(1)) if written else None
    if code is None:
        return Result(text=text)
    return Result(text=text, is_error=code != 0, error_rule="returncode")


def _termination(info: Mapping[str, Any], messages: list[Any]) -> Termination:
    raw = as_text(info.get("exit_status"))
    if raw is None and messages:
        raw = as_text(as_object(as_object(messages[-1]).get("extra")).get("exit_status"))
    if raw is None:
        return Termination()
    return Termination(
        reason=_REASONS.get(raw, TerminationReason.AGENT_ERROR), raw=raw, rule="info.exit_status"
    )
