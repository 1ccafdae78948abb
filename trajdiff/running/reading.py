"""From the trace that an agent wrote to the trial of its slot; whatever else is in the file is told."""

from __future__ import annotations

from pathlib import Path

from trajdiff.errors import InputError
from trajdiff.frozen import replace
from trajdiff.importers import ReadOptions, load
from trajdiff.model import (
    Corpus,
    Judgement,
    SourceRef,
    Step,
    StepKind,
    Termination,
    TerminationReason,
    Trial,
    Verdict,
)
from trajdiff.running.slots import Slot

_OWN = "trajdiff/1"


def read_trace(path: Path, slot: Slot) -> tuple[Trial | None, tuple[str, ...]]:
    """(the slot's trial, problems). None where the trace holds no trial of this slot."""
    if not path.is_file():
        return None, ("the agent wrote no trace",)
    try:
        corpus = load([str(path)], ReadOptions(on_duplicate="latest", group_by=()))
    except InputError as error:
        return None, (f"the trace cannot be read: {error.message}",)
    problems = tuple(
        one.message
        for one in corpus.diagnostics
        if one.slug in ("unreadable_record", "stray_event", "not_utf8", "glued_objects")
    )
    mine = [t for t in corpus.trials if (t.task_id, t.trial_id) == (slot.task.id, slot.trial_id)]
    others = [t for t in corpus.trials if (t.task_id, t.trial_id) != (slot.task.id, slot.trial_id)]
    if not mine and len(others) == 1 and not _names_trials(corpus):
        return others[0], problems
    if others:
        first = others[0]
        count = f"{len(others)} other trials" if len(others) > 1 else "another trial"
        named = f'the first is {first.trial_id} of task "{first.task_id}"'
        problems += (f"the trace holds {count}, {named}: an agent wrote to the wrong trial",)
    return (mine[0] if mine else None), problems


def _names_trials(corpus: Corpus) -> bool:
    """Whether the format says which task and trial it records; a bare list of messages does not."""
    return any(file.format == _OWN for file in corpus.files)


def empty_trial(slot: Slot, error: str | None, reason: TerminationReason, verdict: Verdict) -> Trial:
    """A trial of which nothing was recorded."""
    end = Step(
        index=0,
        actor="environment",
        kind=StepKind.TERMINATION,
        source=SourceRef(path="", pointer="$"),
        text=reason.value,
    )
    return Trial(
        task_id=slot.task.id,
        trial_id=slot.trial_id,
        ordinal=slot.number,
        steps=(end,),
        judgement=Judgement(state=verdict, rule="what the runner saw"),
        source=SourceRef(path="", pointer="$"),
        termination=Termination(reason=reason),
        error=error,
    )


def settled(trial: Trial, slot: Slot, *, suite: str | None, state: str | None) -> Trial:
    """The trial under the names of its slot, with its seed, its start state and its arm."""
    provenance = replace(trial.provenance, seed=slot.seed, fixture_version=state)
    metadata = dict(trial.metadata)
    if slot.arm is not None:
        metadata |= {"arm": slot.arm.name, "pinned": len(slot.arm.pins)}
    return replace(
        trial,
        task_id=slot.task.id,
        trial_id=slot.trial_id,
        ordinal=slot.number,
        suite=suite if suite is not None else trial.suite,
        provenance=provenance,
        metadata=metadata,
    )
