"""The steps of an ATIF trajectory, versions 1.0 to 1.8, read leniently."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from trajdiff.importers.arguments import NOT_RECORDED, read_arguments
from trajdiff.importers.atif_own import add_own_step, own_part
from trajdiff.importers.call_entries import call_entries
from trajdiff.importers.jsontext import compact, plain_number
from trajdiff.importers.lenient import as_list, as_object
from trajdiff.importers.naming import as_text, id_text, shortened, whole_number
from trajdiff.importers.notices import Notices
from trajdiff.importers.steps import StepBuilder, spoken
from trajdiff.importers.texts import content_text
from trajdiff.model import Actor, Provenance, Result, Severity, StepKind, Usage

_ACTORS = {"system": Actor.SYSTEM, "user": Actor.USER, "agent": Actor.AGENT}
_KNOWN_MINORS = frozenset(f"ATIF-v1.{minor}" for minor in range(9))
_MAX_DEPTH = 8


class AtifReader(Struct, kw_only=True):
    """Adds the steps of one trial's trajectories; ``messages`` counts the recorded steps of all of them."""

    builder: StepBuilder
    notices: Notices
    messages: int = 0
    copied: int = 0
    started_at: str | None = None
    ended_at: str | None = None
    calls: int = 0
    _tokens: dict[str, int] = field(default_factory=dict)
    _cost: list[float] = field(default_factory=list)

    def add(
        self, trajectory: Mapping[str, Any], *, at: str = "", actor: str | None = None, depth: int = 0
    ) -> None:
        """Add all steps of a trajectory and of the sub-agents inside it."""
        version = as_text(trajectory.get("schema_version")) or ""
        if version and version not in _KNOWN_MINORS:
            word = shortened(version, 30)
            self.notices.once(
                Severity.WARNING, "unknown_version", word, f'the format version "{word}"', "read as ATIF-v1.8"
            )
        waiting = {
            id_text(one.get("trajectory_id")) or id_text(one.get("session_id")) or str(i): (i, one)
            for i, one in enumerate(as_list(trajectory.get("subagent_trajectories")))
            if isinstance(one, dict)
        }
        for position, step in enumerate(as_list(trajectory.get("steps"))):
            place = f"{at}.steps[{position}]"
            if not isinstance(step, dict):
                self._opaque(step, place)
                continue
            if step.get("is_copied_context") is True:
                self.copied += 1
                continue
            self._step(step, place, actor)
            for named in _subagent_ids(step):
                if named in waiting and depth < _MAX_DEPTH:
                    self._subagent(*waiting.pop(named), at, depth)
        for number, inner in waiting.values():
            if depth < _MAX_DEPTH:
                self._subagent(number, inner, at, depth)

    def _subagent(self, number: int, inner: Mapping[str, Any], at: str, depth: int) -> None:
        name = as_text(as_object(inner.get("agent")).get("name")) or "agent"
        place = f"{at}.subagent_trajectories[{number}]"
        self.add(inner, at=place, actor=f"subagent:{name}", depth=depth + 1)

    def _opaque(self, step: Any, place: str) -> None:
        self.notices.once(
            Severity.WARNING, "unknown_message", "step", "a step that is not an object is kept as it is"
        )
        self.builder.entry(
            actor=Actor.ENVIRONMENT, text=content_text(compact(step)), message=self.messages, at=place
        )
        self.messages += 1

    def _step(self, step: Mapping[str, Any], place: str, actor: str | None) -> None:
        index = self.messages
        self.messages += 1
        if own := own_part(step):
            add_own_step(self.builder, step, own, place, index)
            return
        source = as_text(step.get("source")) or "agent"
        who = _ACTORS.get(source, Actor.ENVIRONMENT)
        if who is Actor.AGENT and actor is not None:
            who_text: str = actor
        else:
            who_text = who
        self._note(step)
        reasoning = step.get("reasoning_content")
        if isinstance(reasoning, str) and reasoning.strip():
            self.builder.entry(
                actor=who_text, kind=StepKind.REASONING, text=content_text(reasoning), message=index, at=place
            )
        calls = [
            # Entries that are no objects keep their text as arguments, as in every format.
            (where, {"function_name": one.get("name"), **one})
            for where, one in call_entries(step.get("tool_calls"))
        ]
        observed = as_list(as_object(step.get("observation")).get("results"))
        text = content_text(step.get("message"))
        if (spoken(text, calls) and text is not None) or not (calls or observed or reasoning):
            self.builder.entry(
                actor=who_text, text=text, message=index, at=place, model=as_text(step.get("model_name"))
            )
        for number, (where, call) in enumerate(calls):
            self._call(call, number, index, place + where, who_text, len(calls))
        self._observe(observed, [id_text(one.get("tool_call_id")) for _, one in calls], index, place)

    def _call(
        self, call: Mapping[str, Any], number: int, index: int, place: str, actor: str, count: int
    ) -> None:
        self.calls += 1
        self.builder.call(
            actor=actor,
            name=as_text(call.get("function_name")),
            # The models of the format say object; published files hold JSON text too.
            arguments=read_arguments(call.get("arguments", NOT_RECORDED)),
            message=index,
            place=number,
            at=place,
            call_id=id_text(call.get("tool_call_id")),
            group=index if count > 1 else None,
        )

    def _observe(self, observed: list[Any], waiting: list[str | None], index: int, place: str) -> None:
        """Give the results to the calls of their step: by link first, the rest by position."""
        found = [(i, one) for i, one in enumerate(observed) if isinstance(one, dict)]
        linked = [(i, one) for i, one in found if id_text(one.get("source_call_id")) is not None]
        loose = [(i, one) for i, one in found if id_text(one.get("source_call_id")) is None]
        for number, one in linked:
            call_id = id_text(one.get("source_call_id"))
            if call_id in waiting:
                waiting.remove(call_id)
            self.builder.result(
                _result(one), message=index, at=f"{place}.observation.results[{number}]", call_id=call_id
            )
        for number, one in loose:
            at = f"{place}.observation.results[{number}]"
            if waiting:
                waiting.pop(0)
                self.builder.result(_result(one), message=index, at=at)
            else:
                self.builder.orphan(_result(one), source=self.builder.source(at, index), message=index)

    def _note(self, step: Mapping[str, Any]) -> None:
        """Times, tokens and cost of a step."""
        when = as_text(step.get("timestamp"))
        if when is not None:
            self.started_at = self.started_at or when
            self.ended_at = when
        metrics = as_object(step.get("metrics"))
        for name in ("prompt_tokens", "completion_tokens", "cached_tokens"):
            number = whole_number(metrics.get(name))
            if number is not None:
                self._tokens[name] = self._tokens.get(name, 0) + number
        cost = plain_number(metrics.get("cost_usd"))
        if cost is not None:
            self._cost.append(cost)

    def usage(self, trajectory: Mapping[str, Any]) -> Usage:
        """Tokens by the totals of the file; by its steps where some were copied or there are no totals."""
        totals = as_object(trajectory.get("final_metrics"))
        whole = {name: whole_number(totals.get(f"total_{name}")) for name in _TOKENS}
        if self.copied or all(one is None for one in whole.values()):
            whole = {name: self._tokens.get(name) for name in _TOKENS}
        return Usage(
            input=whole["prompt_tokens"],
            output=whole["completion_tokens"],
            cache_read=whole["cached_tokens"],
        )

    def cost(self, trajectory: Mapping[str, Any]) -> float | None:
        """The cost by the total of the file, else by its steps."""
        total = plain_number(as_object(trajectory.get("final_metrics")).get("total_cost_usd"))
        if self.copied or total is None:
            return sum(self._cost) if self._cost else None
        return total


_TOKENS = ("prompt_tokens", "completion_tokens", "cached_tokens")


def _subagent_ids(step: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    for one in as_list(as_object(step.get("observation")).get("results")):
        for ref in as_list(as_object(one).get("subagent_trajectory_ref")):
            named = as_object(ref)
            for key in ("trajectory_id", "session_id"):
                known = id_text(named.get(key))
                if known is not None:
                    found.append(known)
    return found


def _result(recorded: Mapping[str, Any]) -> Result:
    """This format has no error flag; only what a producer adds says whether a call failed."""
    extra = as_object(recorded.get("extra"))
    text = content_text(recorded.get("content")) or ""
    flag, code = extra.get("is_error"), extra.get("exit_code")
    if isinstance(flag, bool):
        return Result(text=text, is_error=flag, error_rule="extra.is_error")
    if isinstance(code, int) and not isinstance(code, bool):
        return Result(text=text, is_error=code != 0, error_rule="extra.exit_code")
    return Result(text=text)


def provenance_of(trajectory: Mapping[str, Any]) -> Provenance:
    """Agent, version and model as the trajectory names them."""
    agent = as_object(trajectory.get("agent"))
    return Provenance(
        model=as_text(agent.get("model_name")),
        agent=as_text(agent.get("name")),
        tool_version=id_text(agent.get("version")),
    )
