"""One trace (or conversation) as a trial: model spans give messages and calls, tool spans results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from trajdiff.importers.arguments import NOT_RECORDED, read_arguments
from trajdiff.importers.chat_messages import add_chat_message, recorded_calls
from trajdiff.importers.jsontext import canonical, compact, plain_number
from trajdiff.importers.naming import as_text, id_text, whole_number
from trajdiff.importers.notices import Notices
from trajdiff.importers.span_messages import decoded, given_messages, seen_messages
from trajdiff.importers.span_values import Span
from trajdiff.importers.steps import StepBuilder
from trajdiff.importers.texts import content_text
from trajdiff.model import Actor, ArgumentState, Result, Usage

_MODEL = frozenset({"chat", "text_completion", "generate_content", "llm", "completion"})
_TOOL = frozenset({"execute_tool", "tool"})
_AGENT = frozenset({"invoke_agent", "agent", "create_agent"})
_ARGUMENTS = (
    "gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args", "traceloop.entity.input",
    "ai.toolCall.args", "input.value", "input", "tool.parameters",
)  # fmt: skip
_RESULTS = (
    "gen_ai.tool.call.result", "gcp.vertex.agent.tool_response", "traceloop.entity.output",
    "ai.toolCall.result", "output.value", "output",
)  # fmt: skip


def kind_of(span: Span) -> str:
    """``model``, ``tool``, ``agent`` or an empty text, in every dialect."""
    word = (span.text("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind") or "").lower()
    if word in _TOOL or span.name == "ai.toolCall":
        return "tool"
    if word in _AGENT:
        return "agent"
    if word in _MODEL or (word == "" and (seen_messages(span) or given_messages(span))):
        return "model"
    return ""


class TraceReader(Struct, kw_only=True):
    """Adds the spans of one trace to a trial."""

    builder: StepBuilder
    notices: Notices
    messages: int = 0
    model: str | None = None
    sampling: dict[str, Any] = field(default_factory=dict)
    _told: Counter[str] = field(default_factory=Counter)
    _open: dict[str, dict[str, Any]] = field(default_factory=dict)
    _unnamed: list[str | None] = field(default_factory=list)
    _answered: set[str] = field(default_factory=set)
    _tokens: dict[str, int] = field(default_factory=dict)

    def add(self, spans: Sequence[Span]) -> None:
        """Add all spans in the order of their times, whatever the order they came in."""
        kinds = {span.span_id: kind_of(span) for span in spans}
        parents = {span.span_id: span.parent_id for span in spans}
        wrappers = {one.parent_id for one in spans if kinds[one.span_id] == "model"}
        names = {span.span_id: span.text("gen_ai.agent.name", "agent.name") or span.name for span in spans}
        acting = [
            span
            for span in spans
            if kinds[span.span_id] == "tool"
            or (kinds[span.span_id] == "model" and span.span_id not in wrappers)
        ]
        # A span without children that says what went in and out is all there is of its trial.
        for span in sorted(acting or spans, key=lambda one: one.order):
            self.builder.pointer, self.builder.line = span.at, span.line
            actor = _actor(span, kinds, parents, names)
            if kinds[span.span_id] == "tool":
                self._tool(span, actor)
            else:
                self._model(span, actor)

    def _model(self, span: Span, actor: str) -> None:
        self._note(span)
        counts: Counter[str] = Counter()
        for message in seen_messages(span):
            # Every model span repeats the whole history: only what goes beyond it is new.
            key = _key(message)
            counts[key] += 1
            if counts[key] > self._told[key]:
                self._message(message, actor, key)
        for message in given_messages(span):
            if not self._known_calls(message):
                self._message(message, actor, _key(message))

    def _known_calls(self, message: Mapping[str, Any]) -> bool:
        ids = [id_text(call.get("id")) for _, call in recorded_calls(message)]
        return bool(ids) and all(one is not None and one in self._told for one in ids)

    def _message(self, message: dict[str, Any], actor: str, key: str) -> None:
        self._told[key] += 1
        call_id = id_text(message.get("tool_call_id"))
        if message.get("role") in ("tool", "function") and call_id in self._answered:
            return
        index = self.messages
        self.messages += 1
        for _, call in recorded_calls(message):
            named = id_text(call.get("id"))
            if named is not None:
                self._told[named] += 1
        before = len(self.builder.calls())
        add_chat_message(self.builder, message, index, "", self.notices)
        if call_id is not None:
            self._answered.add(call_id)
        for draft in self.builder.calls()[before:]:
            draft["actor"] = actor
            # The message was put together from attributes: the span is the place that exists.
            draft["source"] = self.builder.source("", index)
            if draft["call_id"] is not None:
                self._open[draft["call_id"]] = draft

    def _tool(self, span: Span, actor: str) -> None:
        """The result of a call, or a call of its own where no model span tells it."""
        call_id = span.text("gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id")
        name = (
            span.text("gen_ai.tool.name", "tool.name", "traceloop.entity.name", "ai.toolCall.name") or span.name
        )
        arguments = read_arguments(_arguments(span))
        draft = self._open.get(call_id or "") or self._waiting(name)
        if draft is None:
            draft = self.builder.call(
                actor=actor,
                name=name,
                arguments=arguments,
                message=self.messages,
                place=0,
                at="",
                call_id=call_id,
            )
            self.messages += 1
            if call_id is not None:
                self._told[call_id] += 1
        elif draft["arguments"].state is ArgumentState.ABSENT:
            draft["arguments"] = arguments.arguments
        known = draft["call_id"]
        index = max(self.messages - 1, 0)
        if known is not None:
            self._answered.add(known)
        if "result" not in draft:
            result = _result(span)
            if result is not None:
                times = {"started_at": span.moment(span.start), "ended_at": span.moment(span.end)}
                self.builder.result(result, message=index, at="", call_id=known, name=name, **times)

    def _waiting(self, name: str) -> dict[str, Any] | None:
        """The oldest call of this name without a result."""
        for draft in self.builder.calls():
            if draft["name"] == name and "result" not in draft:
                return draft
        return None

    def _note(self, span: Span) -> None:
        """Model, sampling and tokens of a model span."""
        self.model = self.model or span.text(
            "gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.model.id"
        )
        parameters = decoded(span.attributes.get("llm.invocation_parameters"))
        for name in ("temperature", "top_p", "seed", "max_tokens"):
            value = span.attributes.get(f"gen_ai.request.{name}")
            if value is None and isinstance(parameters, dict):
                value = parameters.get(name)
            if plain_number(value) is not None:
                self.sampling.setdefault(name, value)
        for name, keys in _TOKENS.items():
            found = (whole_number(span.attributes.get(one)) for one in keys)
            number = next((one for one in found if one is not None), None)
            if number is not None:
                self._tokens[name] = self._tokens.get(name, 0) + number

    def usage(self) -> Usage:
        """Tokens of all model spans."""
        return Usage(
            input=self._tokens.get("input"),
            output=self._tokens.get("output"),
            cache_read=self._tokens.get("cache_read"),
        )


_TOKENS = {
    "input": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
    "output": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"),
    "cache_read": ("gen_ai.usage.cache_read.input_tokens", "llm.token_count.prompt_details.cache_read"),
}


def _key(message: Mapping[str, Any]) -> str:
    calls = [[one.get("id"), one.get("function")] for _, one in recorded_calls(message)]
    text = content_text(message.get("content")) or ""
    return canonical([message.get("role"), text, message.get("tool_call_id"), calls])


def _actor(
    span: Span, kinds: Mapping[str, str], parents: Mapping[str, str | None], names: Mapping[str, str]
) -> str:
    """The agent, or a sub-agent where an agent span lies inside another."""
    agents: list[str] = []
    current, seen = span.parent_id, {span.span_id}
    while current is not None and current not in seen:
        seen.add(current)
        if kinds.get(current) == "agent":
            agents.append(names[current])
        current = parents.get(current)
    return f"subagent:{agents[0]}" if len(agents) > 1 else Actor.AGENT


def _arguments(span: Span) -> Any:
    """The arguments of a tool span; content is often not captured, which is not the same as empty."""
    for name in _ARGUMENTS:
        if name in span.attributes:
            value = span.attributes[name]
            found = decoded(value)
            if (
                name == "tool.parameters"
                and isinstance(found, dict)
                and found.keys() & {"properties", "$schema"}
            ):
                # Some producers put the schema of the tool here.
                continue
            return value
    return NOT_RECORDED


def _result(span: Span) -> Result | None:
    value = next((span.attributes[one] for one in _RESULTS if one in span.attributes), None)
    if value is None and span.failed is None:
        return None
    text = value if isinstance(value, str) else "" if value is None else compact(value)
    if not text and span.failed:
        text = as_text(dict(span.events[-1][1]).get("exception.message")) or "" if span.events else ""
    flag = span.failed
    return Result(
        text=content_text(text) or "", is_error=flag, error_rule=None if flag is None else "span status"
    )
