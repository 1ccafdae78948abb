"""The fields of tau2 records that are used, as typed records: the bulk of a file (``raw_data`` of its messages)
is skipped while it is decoded. What was decoded in another way gets the same form here."""

from __future__ import annotations

from typing import Any

import msgspec

from trajdiff.importers import jsontext
from trajdiff.importers.document import Record

KNOWN_ROLES = frozenset({"system", "user", "assistant", "tool"})


class Call(msgspec.Struct):
    """An entry of ``tool_calls``."""

    name: Any = None
    id: Any = None
    # Raw, so that doubled keys are noticed and the arguments are decoded only once.
    arguments: msgspec.Raw | msgspec.UnsetType | Any = msgspec.UNSET
    requestor: Any = None


class _TypedCall(Call):
    arguments: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class Message(msgspec.Struct):
    """One message. ``whole`` is all that was recorded of one whose role is not understood."""

    role: Any = None
    content: Any = None
    tool_calls: Any = None
    tool_messages: Any = None
    id: Any = None
    name: Any = None
    requestor: Any = None
    error: Any = None
    timestamp: Any = None
    usage: Any = None
    whole: Any = None


class _TypedMessage(Message):
    tool_calls: list[_TypedCall] | None = None


class _TypedSimulation(msgspec.Struct):
    """One simulation; ``get`` reads it like an object that was decoded whole."""

    id: Any = None
    task_id: Any = None
    timestamp: Any = None
    start_time: Any = None
    end_time: Any = None
    duration: Any = None
    termination_reason: Any = None
    agent_cost: Any = None
    user_cost: Any = None
    agent_usage: Any = None
    reward_info: Any = None
    messages: list[_TypedMessage] | None = None
    ticks: Any = None
    trial: Any = None
    seed: Any = None
    mode: Any = None
    info: Any = None
    run_info: Any = msgspec.UNSET

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a field."""
        return getattr(self, key, default)


_DECODER = msgspec.json.Decoder(_TypedSimulation)


def decode_simulation(record: Record) -> Any:
    """A simulation, typed where it has the usual shape. Raises ``BadJsonError``."""
    if not record.decoded and record.problem is None:
        try:
            simulation = _DECODER.decode(record.raw)
            # Of a message that is not understood everything is kept, not only the usual fields.
            known = all(message.role in KNOWN_ROLES for message in simulation.messages or ())
            if known and simulation.run_info is msgspec.UNSET:
                return simulation
        except (*jsontext.FAST_ERRORS, TypeError):
            pass
    return record.decode()


def message_of(value: Any) -> Message:
    """A message however it was decoded; what is no object has no field."""
    if isinstance(value, Message):
        return value
    if not isinstance(value, dict):
        return Message(whole=value)
    return Message(**{name: value[name] for name in _MESSAGE_FIELDS if name in value}, whole=value)


def call_of(value: Any) -> Call:
    """A call however it was decoded."""
    if isinstance(value, Call):
        return value
    return Call(**{name: value[name] for name in _CALL_FIELDS if name in value})


_MESSAGE_FIELDS = tuple(name for name in Message.__struct_fields__ if name != "whole")
_CALL_FIELDS = Call.__struct_fields__
