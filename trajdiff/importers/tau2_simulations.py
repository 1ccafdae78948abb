"""One tau2 simulation as a trial: messages, verdict, sub-scores, termination, usage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from trajdiff.frozen import replace
from trajdiff.importers import verdicts
from trajdiff.importers.jsontext import plain_number
from trajdiff.importers.naming import as_text, id_text, shortened, whole_number
from trajdiff.importers.notices import Notices, Where
from trajdiff.importers.protocol import ReadOptions
from trajdiff.importers.steps import StepBuilder
from trajdiff.importers.stored_steps import Recipe, StoredSteps
from trajdiff.importers.tau2_checks import criteria, failed_checks, sub_scores
from trajdiff.importers.tau2_messages import add_message, flattened_ticks, usage_of
from trajdiff.importers.tau2_records import Message, message_of
from trajdiff.importers.texts import content_text
from trajdiff.model import (
    Effect,
    Judgement,
    Provenance,
    SourceRef,
    Step,
    Termination,
    TerminationReason,
    Trial,
    Verdict,
)

_REASONS = {
    "user_stop": TerminationReason.USER_DONE,
    "agent_stop": TerminationReason.AGENT_DONE,
    "max_steps": TerminationReason.MAX_STEPS,
    "timeout": TerminationReason.TIME_LIMIT,
    "too_many_errors": TerminationReason.TOO_MANY_ERRORS,
    "agent_error": TerminationReason.AGENT_ERROR,
    "user_error": TerminationReason.USER_SIM_ERROR,
    "infrastructure_error": TerminationReason.INFRA_ERROR,
    "context_window_exceeded": TerminationReason.CONTEXT_LIMIT,
    "unexpected_error": TerminationReason.UNKNOWN,
}


def exported_simulation(value: dict[str, Any]) -> dict[str, Any]:
    """The export of one task, with the names a results file uses."""
    run = value["run_info"] if isinstance(value["run_info"], dict) else {}
    return {
        **value,
        "id": run.get("simulation_id"),
        "timestamp": run.get("timestamp"),
        "duration": run.get("duration_sec"),
        "termination_reason": run.get("termination_reason"),
        "agent_cost": run.get("agent_cost"),
        "user_cost": run.get("user_cost"),
    }


class Simulation(Struct, frozen=True, kw_only=True):
    """A simulation that was read; its steps are finished when the effects of all tools are known, unless they
    are ``kept`` in their file."""

    trial: Trial
    builder: StepBuilder | None
    at: str
    contradicted: bool
    kept: StoredSteps | None = None

    @property
    def producer_id(self) -> str | None:
        """The simulation id."""
        return self.trial.producer_id

    @property
    def label(self) -> str:
        """Task and trial, as shown in messages."""
        return f"{self.trial.task_id}/{self.trial.trial_id}"

    def stored(self, recipe: Recipe) -> Simulation:
        """The same with its steps left in the file."""
        return replace(self, builder=None, kept=StoredSteps(self._steps({}), recipe))

    def finish(self, effects: Mapping[str, Effect]) -> Trial:
        """The trial with its steps."""
        return replace(self.trial, steps=self.kept if self.kept is not None else self._steps(effects))

    def _steps(self, effects: Mapping[str, Effect]) -> tuple[Step, ...]:
        if self.builder is None:
            return ()
        self.builder.hint(effects)
        return self.builder.finish(self.trial.termination, messages=self.trial.message_count, at=self.at)


def read_simulation(
    value: Any,
    *,
    path: str,
    pointer: str,
    line: int | None,
    suite: str | None,
    provenance: Provenance,
    options: ReadOptions,
    notices: Notices,
) -> Simulation:
    """Read one simulation; ``value`` is a dict or a typed record with the same fields."""
    task_id = id_text(value.get("task_id")) or ""
    number = whole_number(value.get("trial"))
    trial_id = id_text(value.get("trial")) or ""
    builder, messages = _built(value, StepBuilder(path=path, pointer=pointer, line=line), notices)
    where = Where(notices, path, pointer, line, task_id, trial_id)
    builder.report(where)
    info = value.get("reward_info")
    reward_info: Mapping[str, Any] = info if isinstance(info, dict) else {}
    raw_reason = value.get("termination_reason")
    termination = _termination(raw_reason, bool(messages))
    judgement = _judgement(reward_info.get("reward"), raw_reason, bool(messages), options)
    _tell(where, info, raw_reason, termination, judgement)
    trial = Trial(
        task_id=task_id,
        trial_id=trial_id,
        ordinal=-1 if number is None else number,
        steps=(),
        judgement=judgement,
        source=SourceRef(path=path, pointer=pointer, line=line),
        suite=suite,
        producer_id=id_text(value.get("id")),
        reward=plain_number(reward_info.get("reward")),
        sub_scores=sub_scores(reward_info),
        items=criteria(reward_info),
        termination=termination,
        error=_error(value, raw_reason),
        usage=usage_of(value.get("agent_usage"), [message for message, _ in messages]),
        cost_usd=plain_number(value.get("agent_cost")),
        duration_s=plain_number(value.get("duration")),
        started_at=as_text(value.get("start_time")) or as_text(value.get("timestamp")),
        ended_at=as_text(value.get("end_time")),
        provenance=replace(provenance, seed=_seed(value.get("seed"))),
        message_count=len(messages),
        metadata=_metadata(value),
    )
    failed = judgement.state is Verdict.PASS and failed_checks(reward_info)
    return Simulation(trial=trial, builder=builder, at=_place_of_end(raw_reason), contradicted=bool(failed))


def steps_of(
    value: Any, *, path: str, pointer: str, line: int | None, effects: Mapping[str, Effect]
) -> tuple[Step, ...]:
    """The steps that ``read_simulation`` gives the trial, without the rest of it."""
    builder, messages = _built(value, StepBuilder(path=path, pointer=pointer, line=line), Notices(path))
    builder.hint(effects)
    raw_reason = value.get("termination_reason")
    termination = _termination(raw_reason, bool(messages))
    return builder.finish(termination, messages=len(messages), at=_place_of_end(raw_reason))


def _built(value: Any, builder: StepBuilder, notices: Notices) -> tuple[StepBuilder, list[tuple[Message, str]]]:
    """The builder with all messages of a simulation, and these with their places."""
    messages = _messages(value)
    for index, (message, at) in enumerate(messages):
        add_message(builder, message, index, at, notices)
    return builder, messages


def _place_of_end(raw_reason: Any) -> str:
    return ".termination_reason" if raw_reason is not None else ""


def _messages(value: Any) -> list[tuple[Message, str]]:
    """The recorded messages, each with its JSON path relative to the simulation."""
    messages = value.get("messages")
    if isinstance(messages, list):
        return [(message_of(message), f".messages[{index}]") for index, message in enumerate(messages)]
    ticks = value.get("ticks")
    flat = flattened_ticks(ticks) if isinstance(ticks, list) else []
    return [(message_of(message), at) for message, at in flat]


def _termination(raw: Any, any_messages: bool) -> Termination:
    if raw is None:
        return Termination(rule=None if any_messages else "no messages")
    text = content_text(raw) or ""
    return Termination(reason=_REASONS.get(text, TerminationReason.UNKNOWN), raw=text)


def _judgement(raw: Any, reason: Any, any_messages: bool, options: ReadOptions) -> Judgement:
    if reason == "infrastructure_error":
        return verdicts.infra(raw, "termination infrastructure_error")
    if reason == "agent_error" and not any_messages:
        # The agent could not be called at all; the reward of 0 beside it was never earned.
        return verdicts.infra(raw, "agent_error without messages")
    return verdicts.from_reward(raw, threshold=options.threshold)


def _error(value: Any, reason: Any) -> str | None:
    if reason not in ("infrastructure_error", "agent_error", "user_error", "unexpected_error"):
        return None
    info = value.get("info")
    said = info.get("error") if isinstance(info, dict) else None
    return content_text(said) or str(reason)


def _seed(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _metadata(value: Any) -> dict[str, Any]:
    kept = {"user_cost": plain_number(value.get("user_cost")), "mode": as_text(value.get("mode"))}
    return {key: one for key, one in kept.items() if one is not None}


def _tell(where: Where, reward_info: Any, reason: Any, termination: Termination, judgement: Judgement) -> None:
    recorded = isinstance(reward_info, dict)
    reward = reward_info.get("reward") if recorded else None
    at = ".reward_info.reward" if recorded else ".reward_info"
    verdicts.tell_unscored(where, judgement, termination, reward, at=at)
    if reason is not None and termination.raw not in _REASONS:
        found = shortened(str(termination.raw), 30)
        message = f'the termination reason "{found}" is not known'
        where.warn("unknown_termination", message, "kept as unknown", at=".termination_reason")
