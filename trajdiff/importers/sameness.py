"""When two recordings are the same: equal content, and what was recorded about who produced them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trajdiff.frozen import field_names, is_frozen_value, replace
from trajdiff.importers.jsontext import canonical
from trajdiff.importers.naming import shortened
from trajdiff.model import Diagnostic, Provenance, Severity, SourceRef, Task, Trial

#: What tells two trials of one number apart: these are not recordings of one trial.
_IDENTITY = ("model", "agent", "seed")
_MAKER = ("model", "agent")
#: What makes trials of one task hard to compare; the seed is expected to differ.
_COMPARED = tuple(name for name in field_names(Provenance) if name != "seed")
#: Where a trial lies, its names and what is known about its making (some logs have that in the file name only)
#: do not belong to its content.
_PLACE = frozenset(
    {"source", "result_source", "task_id", "trial_id", "ordinal", "producer_id", "suite", "provenance"}
)


def recorded_difference(one: Trial, other: Trial) -> str | None:
    """The first of model, agent, seed and run that both record differently; None if nothing does."""
    found = next((name for name in _IDENTITY if _differ(one.provenance, other.provenance, name)), None)
    return "run" if found is None and other_run(one, other) else found


def other_run(one: Trial, other: Trial) -> bool:
    """Whether two trials are recorded as of different runs of their producer, or arms of an intervention, each
    with numbers of its own."""
    pairs = [(one.metadata.get(name), other.metadata.get(name)) for name in ("run", "arm")]
    return any(mine is not None and theirs is not None and mine != theirs for mine, theirs in pairs)


def is_retry(one: Trial, other: Trial) -> bool:
    """Whether one is the producer's own second attempt at the other: the same run, under another id."""
    mine, theirs = one.metadata.get("run"), other.metadata.get("run")
    return mine is not None and mine == theirs and other_id(one, other) and not other_run(one, other)


def other_maker(one: Trial, other: Trial) -> bool:
    """Whether two trials are recorded as made by different models or agents."""
    return any(_differ(one.provenance, other.provenance, name) for name in _MAKER)


def other_id(one: Trial, other: Trial) -> bool:
    """Whether the producer gave the two trials different ids."""
    return _differ(one, other, "producer_id")


def _differ(one: object, other: object, name: str) -> bool:
    mine, theirs = getattr(one, name), getattr(other, name)
    return mine is not None and theirs is not None and mine != theirs


def same_content(one: Trial, other: Trial) -> bool:
    """Whether two trials record the same: steps, verdict and everything but their place."""
    if len(one.steps) != len(other.steps) or one.verdict is not other.verdict:
        return False
    return content_of(one) == content_of(other)


def content_of(trial: Trial) -> str:
    """What a trial records, as a text to compare: equal texts are equal trials."""
    # Which run a recording belongs to is part of its place: a copied folder is another run by its path.
    metadata = {key: one for key, one in trial.metadata.items() if key != "run"}
    return canonical(_plain(replace(trial, metadata=metadata, steps=tuple(trial.steps))))


def _plain(value: Any) -> Any:
    if is_frozen_value(value):
        named = ((name, getattr(value, name)) for name in field_names(value) if name not in _PLACE)
        return {name: _plain(inner) for name, inner in named if not isinstance(inner, SourceRef)}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value


def mixed_provenance(task_id: str, trials: Sequence[Trial], definitions: Sequence[Task]) -> list[Diagnostic]:
    """A warning if the trials of one task were made by different models, agents or versions."""
    details = []
    for name in _COMPARED:
        values = _distinct(getattr(trial.provenance, name) for trial in trials)
        if len(values) > 1:
            details.append(f"{name.replace('_', ' ')}: {', '.join(shortened(one, 40) for one in values)}")
    scorers = _distinct(trial.judgement.scorer for trial in trials)
    if len(scorers) > 1:
        details.append(f"scorer: {', '.join(shortened(one, 40) for one in scorers)}")
    if len(_distinct(task.fingerprint for task in definitions)) > 1:
        details.append("the definition of the task")
    if not details:
        return []
    return [
        Diagnostic(
            severity=Severity.WARNING,
            slug="mixed_provenance",
            message=f'the trials of task "{task_id}" were not all made under the same conditions',
            path=trials[0].source.path if trials else None,
            details=(
                "these differ: " + "; ".join(details),
                "pass^k and comparisons pool them; give the runs apart, or keep them apart with --group-by",
            ),
            task_id=task_id,
        )
    ]


def _distinct(values: Any) -> list[str]:
    texts = {
        value if isinstance(value, str) else canonical(value) for value in values if value not in (None, {})
    }
    return sorted(texts)
