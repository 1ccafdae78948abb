"""The events of an OpenHands history: pairs, V0 actions and observations, V1 events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from trajdiff.importers.arguments import NOT_RECORDED, read_arguments
from trajdiff.importers.jsontext import compact
from trajdiff.importers.lenient import as_list, as_object
from trajdiff.importers.naming import as_text, id_text, shortened
from trajdiff.importers.notices import Notices
from trajdiff.importers.steps import StepBuilder
from trajdiff.importers.texts import content_text
from trajdiff.model import Actor, Result, Severity, StepKind

# fmt: off
#: What an action records beside its arguments.
_BOOKKEEPING = frozenset((
    "action", "action_risk", "cause", "confirmation_state", "hidden", "id", "is_confirmed", "keep_prompt",
    "llm_metrics", "message", "security_risk", "source", "thought", "timestamp", "timeout",
    "tool_call_metadata", "blocking", "is_static", "is_input", "kind",
))
#: Events that say nothing about what the agent did.
_STATES = frozenset((
    "agent_state_changed", "null", "change_agent_state", "ConversationStateUpdateEvent", "PauseEvent",
    "CondensationRequest", "TokenEvent", "LLMCompletionLogEvent",
))
# fmt: on
_COMPACTIONS = frozenset({"condensation", "Condensation", "CondensationSummaryEvent"})
_ACTORS = {"user": Actor.USER, "agent": Actor.AGENT}


def flattened(history: list[Any]) -> Iterator[tuple[str, Any]]:
    """Every event with its place; very old histories are lists of action and observation."""
    for place, one in enumerate(history):
        if isinstance(one, list):
            yield from ((f"[{place}][{inner}]", event) for inner, event in enumerate(one))
        else:
            yield f"[{place}]", one


class EventReader(Struct, kw_only=True):
    """Adds events to a trial; events of one model response are one message."""

    builder: StepBuilder
    notices: Notices
    messages: int = 0
    finished: bool = False
    times: list[str] = field(default_factory=list)
    _responses: dict[str, int] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)
    _places: dict[int, int] = field(default_factory=dict)
    _causes: dict[str, str] = field(default_factory=dict)

    def add(self, history: list[Any], at: str) -> None:
        """Add a whole history, which lies at ``at``."""
        events = list(flattened(history))
        self.expect(event for _, event in events)
        for place, event in events:
            self.add_event(event, at + place)

    def expect(self, events: Iterable[Any]) -> None:
        """Note how many calls each model response makes: several are parallel."""
        for event in events:
            known = _response(as_object(event))
            if known is not None and _is_action(as_object(event)):
                self._sizes[known] = self._sizes.get(known, 0) + 1

    def add_event(self, event: Any, at: str) -> None:
        """Add one event, which lies at ``at``."""
        if not isinstance(event, dict):
            self._say(Actor.ENVIRONMENT, content_text(compact(event)), at)
            self.notices.once(Severity.WARNING, "unknown_message", "event", "an event of no known kind is kept")
            return
        when = as_text(event.get("timestamp"))
        self.times += [when] if when else []
        self._event(event, at)

    def _event(self, event: Mapping[str, Any], at: str) -> None:
        kind = as_text(event.get("kind")) or as_text(event.get("action")) or as_text(event.get("observation"))
        if kind in _STATES:
            return
        if kind in _COMPACTIONS:
            text = content_text(event.get("summary") or as_object(event.get("args")).get("summary"))
            self._say(Actor.SYSTEM, text, at, StepKind.COMPACTION)
        elif _is_action(event):
            self._action(event, at)
        elif _is_observation(event):
            self._observation(event, at)
        else:
            self._message(event, kind, at)

    def _say(self, actor: str, text: str | None, at: str, kind: StepKind = StepKind.MESSAGE) -> None:
        self.builder.entry(actor=actor, text=text, message=self.messages, at=at, kind=kind)
        self.messages += 1

    def _message(self, event: Mapping[str, Any], kind: str | None, at: str) -> None:
        """What was said, the system prompt, or an error of the conversation."""
        args = as_object(event.get("args"))
        source = as_text(event.get("source"))
        if kind in ("system", "SystemPromptEvent"):
            prompt = event.get("system_prompt")
            text = content_text(args.get("content") or as_object(prompt).get("text") or prompt)
            self._say(Actor.SYSTEM, text, at)
        elif kind in ("message", "MessageEvent"):
            said = as_object(event.get("llm_message")).get("content")
            text = content_text(
                next((one for one in (said, args.get("content"), event.get("content")) if one), "")
            )
            # The oldest events name no source: there only the task comes from the user.
            actor = _ACTORS.get(source or "user", Actor.ENVIRONMENT)
            self._say(actor, text, at)
        elif kind == "ConversationErrorEvent":
            text = content_text(event.get("detail") or event.get("error") or event.get("code"))
            self._say(Actor.ENVIRONMENT, text, at, StepKind.ERROR)
        else:
            self._say(Actor.ENVIRONMENT, content_text(compact(event)), at)
            word = shortened(kind or "none", 40)
            self.notices.once(
                Severity.WARNING, "unknown_message", word, f'an event of kind "{word}" is kept as it is'
            )

    # Actions and what came back

    def _index(self, event: Mapping[str, Any]) -> int:
        known = _response(event)
        if known is not None and known in self._responses:
            return self._responses[known]
        index = self.messages
        self.messages += 1
        if known is not None:
            self._responses[known] = index
        return index

    def _action(self, event: Mapping[str, Any], at: str) -> None:
        index = self._index(event)
        self.finished = self.finished or _name(event) in ("finish", "FinishAction")
        args = as_object(event.get("args"))
        thought = event.get("reasoning_content")
        if isinstance(thought, str) and thought.strip():
            self.builder.entry(
                actor=Actor.AGENT, kind=StepKind.REASONING, text=content_text(thought), message=index, at=at
            )
        said = content_text(event.get("thought") or args.get("thought") or None)
        if said and said.strip() and index not in self._places:
            self.builder.entry(actor=Actor.AGENT, text=said, message=index, at=at)
        place = self._places.get(index, 0)
        self._places[index] = place + 1
        known = _response(event)
        call_id = _call_id(event) or _event_id(event.get("id"))
        own = id_text(event.get("id"))
        if own is not None and call_id is not None:
            self._causes[own] = call_id
        self.builder.call(
            actor=Actor.AGENT,
            name=_name(event),
            arguments=read_arguments(_arguments(event)),
            message=index,
            place=place,
            at=at,
            call_id=call_id,
            group=index if known is not None and self._sizes.get(known, 0) > 1 else None,
            started_at=as_text(event.get("timestamp")),
        )

    def _observation(self, event: Mapping[str, Any], at: str) -> None:
        cause = id_text(event.get("cause")) or id_text(event.get("action_id"))
        call_id = self._causes.get(cause or "") or _call_id(event)
        if call_id is None and cause is not None:
            # It answers an event that was no call, such as the task itself.
            text = content_text(event.get("content"))
            if text:
                self._say(Actor.ENVIRONMENT, text, at)
            return
        index = self.messages
        self.messages += 1
        self.builder.result(
            _result(event), message=index, at=at, call_id=call_id, ended_at=as_text(event.get("timestamp"))
        )


def _event_id(value: Any) -> str | None:
    known = id_text(value)
    return None if known is None else f"event {known}"


def _is_action(event: Mapping[str, Any]) -> bool:
    if as_text(event.get("kind")) == "ActionEvent":
        return True
    action = as_text(event.get("action"))
    if action in (None, "message", "system", "recall") or "kind" in event:
        return False
    return event.get("source") in (None, "agent")


def _is_observation(event: Mapping[str, Any]) -> bool:
    kind = as_text(event.get("kind"))
    if kind is not None:
        return kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation")
    return as_text(event.get("observation")) is not None


def _response(event: Mapping[str, Any]) -> str | None:
    """The model response an action came from."""
    whole = as_object(as_object(event.get("tool_call_metadata")).get("model_response"))
    return id_text(event.get("llm_response_id")) or id_text(whole.get("id"))


def _call_id(event: Mapping[str, Any]) -> str | None:
    named = as_object(event.get("tool_call_metadata"))
    return id_text(event.get("tool_call_id")) or id_text(named.get("tool_call_id"))


def _name(event: Mapping[str, Any]) -> str | None:
    named = as_text(as_object(event.get("tool_call_metadata")).get("function_name"))
    return as_text(event.get("tool_name")) or named or as_text(event.get("action"))


def _arguments(event: Mapping[str, Any]) -> Any:
    if as_text(event.get("kind")) == "ActionEvent":
        call = as_object(event.get("tool_call"))
        function = as_object(call.get("function")) or call
        if "arguments" in function:
            return function["arguments"]
        action = event.get("action")
        if not isinstance(action, dict):
            return NOT_RECORDED
        return {key: one for key, one in action.items() if key != "kind"}
    args = event.get("args")
    held: Mapping[str, Any] = args if isinstance(args, dict) else event
    return {key: one for key, one in held.items() if key not in _BOOKKEEPING}


def _result(event: Mapping[str, Any]) -> Result:
    kind = as_text(event.get("kind"))
    if kind in ("AgentErrorEvent", "UserRejectObservation"):
        text = content_text(event.get("error") or event.get("rejection_reason")) or ""
        return Result(text=text, is_error=True, error_rule=kind)
    held = event.get("observation") if kind == "ObservationEvent" else event
    seen = as_object(held)
    content = next((seen[key] for key in ("content", "output", "text") if seen.get(key) is not None), None)
    text = content_text(content if content is not None else compact(held)) or ""
    if kind is None and as_text(event.get("observation")) == "error":
        return Result(text=text, is_error=True, error_rule="an error observation")
    extras = as_object(event.get("extras"))
    metadata = as_object(extras.get("metadata") or seen.get("metadata"))
    for flag in (seen.get("is_error"), seen.get("error")):
        if isinstance(flag, bool):
            return Result(text=text, is_error=flag, error_rule="is_error")
    for code in (seen.get("exit_code"), extras.get("exit_code"), metadata.get("exit_code")):
        if isinstance(code, int) and not isinstance(code, bool):
            return Result(text=text, is_error=code != 0, error_rule="exit_code")
    success = event.get("success")
    if isinstance(success, bool):
        return Result(text=text, is_error=not success, error_rule="success")
    return Result(text=text, is_error=None, truncated=False)


def tasks_of(row: Mapping[str, Any]) -> str | None:
    """The instance of a row: its id, or the issue of the variant that resolves issues."""
    known = id_text(row.get("instance_id"))
    if known is not None:
        return known
    issue = as_object(row.get("issue"))
    number = id_text(issue.get("number"))
    named = [one for one in (as_text(issue.get("owner")), as_text(issue.get("repo"))) if one]
    return f"{'/'.join(named)}#{number}" if number is not None else None


def listed(row: Mapping[str, Any]) -> list[Any]:
    """The history of a row."""
    return as_list(row.get("history"))
