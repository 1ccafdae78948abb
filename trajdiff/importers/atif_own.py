"""Steps of an ATIF trajectory that this program wrote: what ATIF has no place for stands under ``extra``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajdiff.importers.lenient import as_list, as_object
from trajdiff.importers.naming import as_text, id_text, whole_number
from trajdiff.importers.own_steps import beside_call, recorded_arguments, times_and_model
from trajdiff.importers.steps import StepBuilder
from trajdiff.importers.texts import content_text
from trajdiff.model import Actor, Result, StepKind

OWN = "trajdiff"


def own_part(recorded: Mapping[str, Any]) -> Mapping[str, Any]:
    """What this program wrote beside a trajectory, a step, a call or a result; empty where it did not."""
    return as_object(as_object(recorded.get("extra")).get(OWN))


def add_own_step(
    builder: StepBuilder, step: Mapping[str, Any], own: Mapping[str, Any], at: str, message: int
) -> None:
    """Add one step as it was before it was written; ``message`` counts the steps where no number is kept."""
    if own.get("placeholder") is True:
        return
    index = whole_number(own.get("message"))
    index = message if index is None else index
    actor = as_text(own.get("actor")) or Actor.AGENT
    kind = own.get("kind")
    if kind == StepKind.ORPHAN_RESULT:
        for place, one in enumerate(as_list(as_object(step.get("observation")).get("results"))):
            source = builder.source(f"{at}.observation.results[{place}]", index)
            named = {"call_id": id_text(own.get("call_id")), "name": as_text(own.get("name"))}
            builder.orphan(_result(as_object(one)), source=source, message=index, **named)
        return
    more = {"name": as_text(own.get("name")), **times_and_model(own)}
    thought = step.get("reasoning_content")
    if isinstance(thought, str):
        extra = more if "text" not in own else {}
        builder.entry(
            actor=actor, kind=StepKind.REASONING, text=content_text(thought), message=index, at=at, **extra
        )
    if "text" in own:
        text = content_text(step.get("message")) if own["text"] is True else None
        known = StepKind(kind) if kind in tuple(StepKind) else StepKind.MESSAGE
        builder.entry(actor=actor, kind=known, text=text, message=index, at=at, **more)
    _add_calls(builder, step, own, actor, index, at)


def _add_calls(
    builder: StepBuilder, step: Mapping[str, Any], own: Mapping[str, Any], actor: str, index: int, at: str
) -> None:
    holder, place = (step, at) if "tool_calls" in step else (own, f"{at}.extra.{OWN}")
    observed = as_list(as_object(holder.get("observation")).get("results"))
    results = {
        id_text(one.get("source_call_id")): (number, one)
        for number, one in enumerate(observed)
        if isinstance(one, dict)
    }
    for number, call in enumerate(as_list(holder.get("tool_calls"))):
        if not isinstance(call, dict):
            continue
        said = own_part(call)
        recorded = {} if said.get("absent") is True else {"arguments": call.get("arguments"), **said}
        written = id_text(call.get("tool_call_id"))
        draft = builder.call(
            actor=actor,
            name=None if "name" in said else as_text(call.get("function_name")),
            arguments=recorded_arguments(recorded),
            message=index,
            place=number,
            at=f"{place}.tool_calls[{number}]",
            call_id=id_text(said["call_id"]) if "call_id" in said else written,
            group=whole_number(said.get("parallel_group")),
            **beside_call(said),
        )
        draft["call_uid"] = as_text(said.get("call_uid")) or draft["call_uid"]
        if written in results:
            position, result = results[written]
            answer = whole_number(said.get("result_message"))
            where = f"{place}.observation.results[{position}]"
            draft["result"] = _result(result)
            draft["result_source"] = builder.source(where, index if answer is None else answer)


def _result(recorded: Mapping[str, Any]) -> Result:
    own = own_part(recorded)
    flag = own.get("is_error")
    return Result(
        text=content_text(recorded.get("content")) or "",
        is_error=flag if isinstance(flag, bool) else None,
        error_rule=as_text(own.get("error_rule")),
        truncated=own.get("truncated") is True,
    )
