"""Small made-up tasks, written down step by step, recorded as trajdiff/1 and read back the public way.

Steps are written in the notation of the bundled samples (``user``, ``agent``, ``call``, ``broken``, ``think``);
``.root()`` marks the step that must be named, ``.near()`` the step where it takes effect, so that no message
index is counted by hand. A step may also be a plain dict of a trajdiff/1 record, for odd shapes.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tests.samples.notation import Line, agent, broken, call, messages_of, think, user
from trajdiff.align.prepared import PreparedStep, PreparedTrial, Preparer
from trajdiff.analysis import Analysis, analyse
from trajdiff.divergence.effects import classify
from trajdiff.divergence.finding import Divergence
from trajdiff.importers import load
from trajdiff.model import Corpus
from trajdiff.settings import Settings

__all__ = [
    "Line", "Steps", "agent", "analysed", "broken", "call", "corpus", "judged", "marked", "of", "prepared",
    "raw_step", "record", "records", "think", "trial_of", "user",
]  # fmt: skip

Step: TypeAlias = "Line | Mapping[str, Any]"
Steps: TypeAlias = "Sequence[Step]"


def raw_step(step: Step) -> Mapping[str, Any]:
    """A step as a trajdiff/1 record has it."""
    if not isinstance(step, Line):
        return step
    if not step.is_call:
        return {"actor": step.actor, "kind": "message", "text": step.text}
    arguments = json.dumps(step.arguments) if step.as_text else dict(step.arguments)
    made: dict[str, Any] = {"actor": step.actor, "kind": "tool_call", "name": step.name, "arguments": arguments}
    if step.is_answered:
        made["result"] = {"text": step.result, "is_error": True} if step.is_error else step.result
    if step.group is not None:
        made["parallel_group"] = step.group
    return made


def record(trial_id: str, steps: Steps, verdict: str = "pass", **more: Any) -> dict[str, Any]:
    """One trial. ``more`` are further keys of the record; the task is ``T1`` unless ``task_id`` is given."""
    end = "user_done" if steps and raw_step(steps[-1]).get("actor") == "user" else "agent_done"
    made = {
        "schema": "trajdiff/1",
        "task_id": "T1",
        "trial_id": trial_id,
        "verdict": verdict,
        "termination": end,
    }
    return made | {"steps": [raw_step(step) for step in steps]} | more


def records(passes: Iterable[Steps], failing: Iterable[Steps], **more: Any) -> list[dict[str, Any]]:
    """All trials of one task: passes ``p0``, ``p1``, …, failing trials ``f0``, …; ``more`` goes into each."""
    return [
        record(f"{name}{number}", steps, verdict, **more)
        for name, verdict, trials in (("p", "pass", passes), ("f", "fail", failing))
        for number, steps in enumerate(trials)
    ]


def corpus(made: Iterable[Mapping[str, Any]]) -> Corpus:
    """The records written to a file and read back."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "made.jsonl")
        path.write_text("".join(json.dumps(one) + "\n" for one in made), "utf-8")
        return load([str(path)])


def analysed(made: Iterable[Mapping[str, Any]], settings: Settings | None = None) -> Analysis:
    """The analysis of the records."""
    return analyse(corpus(made), settings or Settings())


def of(analysis: Analysis, trial_id: str = "f0", task_id: str = "T1") -> Divergence:
    """What is said about one failed or crashed trial."""
    (found,) = (d for d in analysis.findings[task_id].divergences if d.trial_id == trial_id)
    return found


def judged(
    passes: Iterable[Steps], failing: Steps, settings: Settings | None = None, **more: Any
) -> Divergence:
    """What is said about a failing trial beside these passes. ``more`` goes into every record."""
    return of(analysed(records(passes, [failing], **more), settings))


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """Message indices of the marked steps; the manifest is the root where none is marked."""

    root: int
    manifest: int


def marked(steps: Sequence[Line]) -> Marked:
    """The places that the marks of a failing trial name."""
    places = [message for message, _ in messages_of(tuple(steps))]
    (root,) = (at for line, at in zip(steps, places, strict=True) if line.mark == "root")
    later = [at for line, at in zip(steps, places, strict=True) if line.mark == "near"]
    return Marked(root=root, manifest=later[0] if later else root)


def prepared(steps: Steps, settings: Settings | None = None, trial_id: str = "p0") -> PreparedTrial:
    """One trial made ready for comparison, for tests of the layers below the analysis."""
    settings = settings or Settings()
    (trial,) = corpus([record(trial_id, steps)]).trials
    return Preparer(settings=settings, effect_of=classify([trial], settings).of).trial(trial)


def trial_of(*steps: Step) -> tuple[PreparedStep, ...]:
    """The prepared steps of one trial, without its end."""
    return tuple(step for step in prepared(steps).steps if step.step.kind.value != "termination")


def check_blamed(
    passes: Iterable[Steps],
    failing: Sequence[Line],
    kinds: str,
    actor: str = "agent",
    settings: Settings | None = None,
    **more: Any,
) -> Divergence:
    """The failing trial is blamed at its marked steps, with one of the kinds (words in one text)."""
    said, wanted = judged(passes, failing, settings, **more), marked(failing)
    assert not said.abstained, said.headline
    assert said.root is not None
    assert said.manifest is not None
    assert (said.root.message, said.manifest.message) == (wanted.root, wanted.manifest), said.sentence
    assert said.kind in kinds.split()
    assert said.actor == actor
    return said


def check_spared(
    passes: Iterable[Steps], failing: Steps, settings: Settings | None = None, **more: Any
) -> Divergence:
    """Nothing is claimed about the failing trial, and the reader is told why."""
    said = judged(passes, failing, settings, **more)
    assert said.abstained, said.sentence
    assert (said.root, said.manifest, said.grade, said.support) == (None, None, None, None)
    assert said.reason is not None
    assert said.sentence
    return said
