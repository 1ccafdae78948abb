"""Rows for failing trials about which nothing is claimed, and findings inside one trial (grade D)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.divergence.case import Case
from trajdiff.divergence.endings import loop
from trajdiff.divergence.evidence import first_difference, recovered, ref, show
from trajdiff.divergence.finding import Blame, Divergence, Grade, Kind, Reason, Side, StepRef
from trajdiff.divergence.ledger import is_write
from trajdiff.model import LIMITS, Effect, StepKind, TerminationReason, Trial


def abstention(trial: Trial, reason: Reason, text: str, case: Case | None = None) -> Divergence:
    """A failing trial about which nothing is claimed, with the reason and the first difference."""
    same = reason is Reason.SAME_PATH
    return Divergence(
        task_id=trial.task_id,
        trial_id=trial.trial_id,
        abstained=True,
        reason=reason,
        kind=Kind.SAME_PATH if same else None,
        actor=Blame.GRADER if same else None,
        headline=text,
        sentence=text[:1].upper() + text[1:] + ".",
        first_difference=first_difference(case) if case is not None else None,
        recovered=recovered(case) if case is not None else (),
        row_id=_row_id(trial, reason),
    )


def infrastructure(trial: Trial, prepared: PreparedTrial | None) -> Divergence:
    """A trial that the harness, network or sandbox ended: its last recorded message, no support, no grade."""
    last = None
    if prepared is not None:
        spoken = [s for s in prepared.steps if s.step.kind is not StepKind.TERMINATION]
        last = spoken[-1] if spoken else None
    what = (trial.error or trial.termination.raw or "ended by infrastructure").strip().splitlines()[0]
    place = _last_place(prepared, trial) if last is not None and prepared is not None else None
    return Divergence(
        task_id=trial.task_id,
        trial_id=trial.trial_id,
        abstained=False,
        reason=Reason.INFRASTRUCTURE,
        kind=Kind.INFRASTRUCTURE,
        actor=Blame.INFRASTRUCTURE,
        headline=f"trial {trial.trial_id}: {what}",
        sentence=f"Trial {trial.trial_id} was ended by infrastructure ({what}) and is not compared.",
        root=place,
        manifest=place,
        identity="|".join((trial.task_id, Kind.INFRASTRUCTURE.value)),
        row_id=_row_id(trial, Reason.INFRASTRUCTURE),
    )


def inside_one_trial(trial: Trial, prepared: PreparedTrial, recorded: int) -> Divergence:
    """A finding without any pass to compare with: a loop, an error that was not repaired, a trial cut short."""
    why = "no trial of this task passed" if not recorded else "no passed trial has steps to compare with"
    repeated = loop(prepared.steps)
    calls = prepared.calls
    refused = _unrepaired(calls)
    if repeated is not None:
        kind, step = Kind.LOOP, repeated
        times = sum(1 for call in calls if call.full_key == repeated.full_key)
        words = f"{repeated.step.name} repeated {times} times, same arguments and result"
    elif calls and calls[-1].failed and calls[-1].position >= len(prepared.steps) - 3:
        kind, step = Kind.UNRECOVERED_ERROR, calls[-1]
        words = f"{step.step.name} failed and was not repaired"
    elif refused is not None:
        kind, step = Kind.UNRECOVERED_ERROR, refused
        words = f"{step.step.name} failed and was not repaired"
    elif trial.termination.reason is TerminationReason.INCOMPLETE and calls:
        kind, step = Kind.EARLY_STOP, calls[-1]
        words = f"the record ends after {step.step.name}"
    elif trial.termination.reason in LIMITS and calls:
        kind, step = Kind.EARLY_STOP, calls[-1]
        words = f"stopped by its own limit after {step.step.name}"
    else:
        return abstention(trial, Reason.NO_PASSING_TRIAL, why)
    place = ref(prepared, step)
    side = Side(trial_id=trial.trial_id, text=show(step), message=step.step.source.message_index)
    return Divergence(
        task_id=trial.task_id,
        trial_id=trial.trial_id,
        abstained=False,
        kind=kind,
        actor=Blame.AGENT,
        grade=Grade.D,
        tool=step.step.name,
        headline=words,
        sentence=f"Inside the trial: {words}; {why}, so nothing is compared.",
        root=place,
        manifest=place,
        root_sides=(side,),
        manifest_sides=(side,),
        identity="|".join((trial.task_id, kind.value, step.step.name or "")),
        row_id=_row_id(trial, Reason.NO_PASSING_TRIAL),
    )


def _unrepaired(calls: Sequence[PreparedStep]) -> PreparedStep | None:
    """The last refused write of a kind that the trial never got done; a refusal may be right, so this is told
    only where there is nothing to compare with."""
    done = {step.label for step in calls if is_write(step)}
    refused = (step for step in reversed(calls) if step.failed and step.effect is Effect.WRITE)
    return next((step for step in refused if step.label not in done), None)


def _last_place(prepared: PreparedTrial, trial: Trial) -> StepRef:
    """The last recorded message: the result of a call stands behind the call."""
    recorded = [s for s in prepared.steps if s.step.kind is not StepKind.TERMINATION]
    step = recorded[-1]
    place = ref(prepared, step)
    source = step.step.result_source
    if source is None:
        return place
    return StepRef(
        trial_id=trial.trial_id, step=step.index, message=source.message_index, pointer=source.pointer,
        path=source.path, line=source.line,
    )  # fmt: skip


def _row_id(trial: Trial, reason: Reason) -> str:
    digest = hashlib.sha256(f"{trial.task_id}\0{trial.trial_id}\0{reason}".encode("utf-8", "backslashreplace"))
    return f"d-{digest.hexdigest()[:10]}"
