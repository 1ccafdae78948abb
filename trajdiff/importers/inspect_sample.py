"""One sample and epoch of an inspect_ai log as a trial, beside what the header says about all of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from trajdiff.importers import scoring, verdicts
from trajdiff.importers.inspect_steps import add_steps
from trajdiff.importers.jsontext import canonical, plain_number
from trajdiff.importers.lenient import as_object
from trajdiff.importers.naming import as_text, id_text, whole_number
from trajdiff.importers.notices import Notices, Where
from trajdiff.importers.protocol import ReadOptions
from trajdiff.importers.steps import StepBuilder
from trajdiff.importers.texts import content_text
from trajdiff.model import (
    Judgement,
    Provenance,
    Severity,
    SourceRef,
    Task,
    Termination,
    TerminationReason,
    Trial,
    Usage,
)

_LIMITS = {
    "message": TerminationReason.MAX_STEPS,
    "turn": TerminationReason.MAX_STEPS,
    "time": TerminationReason.TIME_LIMIT,
    "working": TerminationReason.TIME_LIMIT,
    "token": TerminationReason.TOKEN_LIMIT,
    "cost": TerminationReason.COST_LIMIT,
    "context": TerminationReason.CONTEXT_LIMIT,
    "operator": TerminationReason.CANCELLED,
}
_STOPS = {
    "stop": TerminationReason.AGENT_DONE,
    "tool_calls": TerminationReason.UNKNOWN,
    "max_tokens": TerminationReason.TOKEN_LIMIT,
    "model_length": TerminationReason.CONTEXT_LIMIT,
    "content_filter": TerminationReason.REFUSAL,
}


class Sample(Struct, frozen=True, kw_only=True):
    """A sample as recorded; ``told`` is True where it could not be read and that was said already."""

    pointer: str
    value: Any = None
    told: bool = False


class Run(Struct, frozen=True, kw_only=True):
    """What the header of a log says about all its samples."""

    suite: str | None
    run_id: str | None
    task_run: str | None
    epochs: int | None
    sample_ids: tuple[str, ...]
    invalidated: bool
    provenance: Provenance
    producer: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, header: Mapping[str, Any]) -> Run:
        """The run of a header; every field may be missing."""
        spec = as_object(header.get("eval"))
        config, dataset = as_object(spec.get("config")), as_object(spec.get("dataset"))
        listed = dataset.get("sample_ids")
        named = map(id_text, listed) if isinstance(listed, list) else ()
        solver = id_text(spec.get("solver"))
        revision = id_text(as_object(spec.get("revision")).get("commit"))
        packages = as_object(spec.get("packages"))
        producer = {
            "name": "inspect_ai",
            "version": packages.get("inspect_ai"),
            "task_version": spec.get("task_version"),
            "task_args": spec.get("task_args"),
            "model": spec.get("model"),
        }
        task_run = id_text(spec.get("task_id"))
        run_id = id_text(spec.get("eval_id")) or "/".join(filter(None, (id_text(spec.get("run_id")), task_run)))
        return cls(
            suite=as_text(spec.get("task")),
            run_id=run_id or None,
            task_run=task_run,
            epochs=whole_number(config.get("epochs")) or None,
            sample_ids=tuple(one for one in named if one is not None),
            invalidated=header.get("invalidated") is True,
            provenance=Provenance(
                model=as_text(spec.get("model")),
                agent=solver,
                sampling=_sampling(spec, header),
                environment_version=revision,
                fixture_version=id_text(spec.get("task_version")),
                scorer_version=_scorers(spec.get("scorers")),
            ),
            producer={key: one for key, one in producer.items() if one is not None},
        )


def _sampling(spec: Mapping[str, Any], header: Mapping[str, Any]) -> Mapping[str, Any]:
    planned = as_object(as_object(header.get("plan")).get("config"))
    merged = planned | as_object(spec.get("model_generate_config"))
    return {key: one for key, one in merged.items() if one is not None}


def _scorers(scorers: Any) -> str | None:
    """Names and options of the scorers as one text, so that another rule is another version."""
    if not isinstance(scorers, list):
        return None
    named = [[one.get("name"), one.get("options") or {}] for one in scorers if isinstance(one, dict)]
    if not named:
        return None
    digest = hashlib.sha256(canonical(named).encode()).hexdigest()[:8]
    return ", ".join(str(name) for name, _ in named) + f" ({digest})"


class RunReader(Struct, frozen=True, kw_only=True):
    """Reads the samples of one log."""

    run: Run
    path: str
    notices: Notices
    options: ReadOptions

    def trial(self, sample: Sample) -> tuple[Trial, Task] | None:
        """The trial of a sample and its task; None if it names neither, which is told."""
        value = sample.value
        if sample.told:
            return None
        task_id = id_text(value.get("id")) if isinstance(value, dict) else None
        if task_id is None:
            what = "a sample has no id" if isinstance(value, dict) else "a sample is not an object"
            self.notices.add(
                Severity.WARNING,
                "unreadable_record",
                what,
                "this sample is left out; the others are read",
                pointer=sample.pointer,
            )
            return None
        task = Task(
            task_id=task_id,
            suite=self.run.suite,
            script=None,
            fingerprint=_fingerprint(value),
            expected_outputs=_target(value.get("target")),
        )
        return self._trial(value, sample.pointer, task_id), task

    def _trial(self, value: dict[str, Any], pointer: str, task_id: str) -> Trial:
        epoch = whole_number(value.get("epoch"))
        trial_id = "" if epoch is None else str(epoch)
        where = Where(self.notices, self.path, pointer, None, task_id, trial_id)
        builder = StepBuilder(path=self.path, pointer=pointer)
        read = add_steps(builder, value, self.notices)
        error = _error_text(value.get("error"))
        termination = _termination(value, error)
        steps = builder.finish(termination, messages=read.messages, at="")
        builder.report(where)
        scores = _scores(value.get("scores"))
        judgement = self._judgement(value, scores, termination, error)
        if judgement.rule not in ("several scores, none chosen",):
            verdicts.tell_unscored(where, judgement, termination, judgement.raw, at=".scores")
        producer_id = id_text(value.get("uuid")) or (
            f"{self.run.run_id}/{trial_id}" if self.run.run_id and trial_id else None
        )
        return Trial(
            task_id=task_id,
            trial_id=trial_id,
            # Epochs count from 1, slots from 0: files of one run that fill each other up are found so.
            ordinal=-1 if epoch is None else epoch - 1,
            steps=steps,
            judgement=judgement,
            source=SourceRef(path=self.path, pointer=pointer),
            suite=self.run.suite,
            producer_id=producer_id,
            reward=plain_number(scoring.as_number(judgement.raw)),
            sub_scores=scores,
            termination=termination,
            error=error,
            usage=_usage(value.get("model_usage")),
            cost_usd=_cost(value.get("model_usage")),
            duration_s=plain_number(value.get("total_time")),
            started_at=as_text(value.get("started_at")) or read.started_at,
            ended_at=as_text(value.get("completed_at")) or read.ended_at,
            provenance=self.run.provenance,
            message_count=read.messages,
            metadata=_metadata(value, self.run),
        )

    def _judgement(
        self, value: dict[str, Any], scores: dict[str, Any], termination: Termination, error: str | None
    ) -> Judgement:
        if value.get("invalidation") is not None or self.run.invalidated:
            return verdicts.infra(scores or None, "invalidated by the producer")
        # A limit is no error of the infrastructure; what is recorded as an error is one unless it was scored.
        return scoring.judge(
            scores,
            chosen=self.options.scorer,
            threshold=self.options.threshold,
            notices=self.notices,
            error=error,
        )


def _scores(recorded: Any) -> dict[str, Any]:
    """Scorer name to value; lists and objects stay what they are."""
    return {
        str(name): one.get("value") if isinstance(one, dict) else one
        for name, one in as_object(recorded).items()
    }


def _error_text(error: Any) -> str | None:
    if isinstance(error, dict):
        error = error.get("message")
    return content_text(error)


def _termination(value: dict[str, Any], error: str | None) -> Termination:
    limit = value.get("limit")
    if isinstance(limit, dict):
        kind = id_text(limit.get("type")) or ""
        return Termination(reason=_LIMITS.get(kind, TerminationReason.UNKNOWN), raw=kind, rule="limit")
    if error is not None:
        cancelled = error.startswith("CancelledError")
        reason = TerminationReason.CANCELLED if cancelled else TerminationReason.INFRA_ERROR
        return Termination(reason=reason, raw=error[:200], rule="error")
    choices = as_object(value.get("output")).get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    stop = id_text(first.get("stop_reason")) if isinstance(first, dict) else None
    if stop is None:
        return Termination()
    return Termination(reason=_STOPS.get(stop, TerminationReason.UNKNOWN), raw=stop, rule="output.stop_reason")


def _usage(recorded: Any) -> Usage:
    """Tokens of all models of the sample; input tokens of this log leave cache reads and writes out."""
    rows = [one for one in as_object(recorded).values() if isinstance(one, dict)]

    def total(name: str) -> int | None:
        found = [number for row in rows if (number := whole_number(row.get(name))) is not None]
        return sum(found) if found else None

    fresh, read, write = (
        total(name) for name in ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
    )
    known = [one for one in (fresh, read, write) if one is not None]
    return Usage(
        input=sum(known) if fresh is not None else None,
        output=total("output_tokens"),
        cache_read=read,
        cache_write=write,
        reasoning=total("reasoning_tokens"),
    )


def _cost(recorded: Any) -> float | None:
    rows = [one for one in as_object(recorded).values() if isinstance(one, dict)]
    found = [cost for row in rows if (cost := plain_number(row.get("total_cost"))) is not None]
    return sum(found) if found else None


def _fingerprint(value: dict[str, Any]) -> str:
    definition = {key: value.get(key) for key in ("input", "target")}
    return hashlib.sha256(canonical(definition).encode()).hexdigest()[:16]


def _target(target: Any) -> tuple[str, ...] | None:
    if isinstance(target, list):
        return tuple(content_text(one) or "" for one in target)
    return (target,) if isinstance(target, str) and target else None


def _metadata(value: dict[str, Any], run: Run) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if run.task_run is not None:
        made["run"] = run.task_run
    retries = value.get("error_retries")
    if isinstance(retries, list) and retries:
        made["error_retries"] = len(retries)
    return made
