"""Results of verifiers, one rollout a line, read by a mapping that comes with the package.

The ``metadata.json`` of the run says model, sampling and how many rollouts were planned. Its means are no
trials: they are compared with the rollouts, and the rollouts count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from trajdiff.frozen import replace
from trajdiff.importers.document import Document, Record
from trajdiff.importers.jsontext import BadJsonError, plain_number
from trajdiff.importers.lenient import as_object
from trajdiff.importers.naming import as_text, whole_number
from trajdiff.importers.protocol import Claim, Imported, Peek, Plan, ReadOptions, Shape, Source, Unreadable
from trajdiff.importers.shipped_importer import ShippedImporter
from trajdiff.model import Diagnostic, Severity, Trial

_ROWS, _METADATA = "results.jsonl", "metadata.json"
_KEYS = ("env", "model", "num_examples", "rollouts_per_example")
#: The means in the metadata are rounded.
_ROUNDED = 1e-3
_BY_MAPPING = ShippedImporter(
    name="verifiers",
    title="verifiers results",
    recognised_by="lines with prompt, completion and reward; metadata.json beside them",
)


class _Verifiers(Struct, frozen=True):
    name: str = _BY_MAPPING.name
    title: str = _BY_MAPPING.title
    recognised_by: str = _BY_MAPPING.recognised_by
    record_schema: str | None = None

    def sniff(self, peek: Peek) -> Claim | None:
        """The rollouts, or the metadata of their run."""
        if peek.shape is Shape.OBJECT and peek.heads and peek.heads[0].has(*_KEYS):
            return Claim(rule=f"metadata with {', '.join(_KEYS)}")
        return _BY_MAPPING.sniff(peek)

    def records(self, document: Document) -> Iterable[Record]:
        """There is no schema to check them against."""
        return _BY_MAPPING.records(document)

    def read(self, source: Source, options: ReadOptions) -> Imported:
        """Every rollout is a trial; the metadata beside the file says what was planned."""
        document = source.document
        if document.shape is Shape.OBJECT and set(_KEYS) <= document.fields.keys():
            document.notices.add(Severity.NOTE, "companion", "the metadata of a run; read with its results")
            return Imported(trials=(), diagnostics=document.notices.all(), unread=1)
        imported = _BY_MAPPING.read(source, options)
        metadata = _metadata_of(source)
        return imported if metadata is None else _with_metadata(imported, metadata, document.path)


IMPORTER = _Verifiers()


def _metadata_of(source: Source) -> Mapping[str, Any] | None:
    """The metadata beside a file of results; None where there is none that can be read."""
    path = source.document.path
    if not path.endswith(_ROWS):
        return None
    try:
        document = source.open(path.removesuffix(_ROWS) + _METADATA)
        return {key: document.field(key) for key in document.fields} if document.fields else None
    except (Unreadable, BadJsonError):
        return None


def _with_metadata(imported: Imported, metadata: Mapping[str, Any], path: str) -> Imported:
    sampling = {key: one for key, one in as_object(metadata.get("sampling_args")).items() if one is not None}
    model, suite = as_text(metadata.get("model")), as_text(metadata.get("env"))
    trials = tuple(_with_maker(trial, model, sampling, suite) for trial in imported.trials)
    planned = whole_number(metadata.get("rollouts_per_example"))
    plans = tuple(
        Plan(task=replace(plan.task, suite=plan.task.suite or suite), expected_n=planned or plan.expected_n)
        for plan in imported.plans
    )
    producer = {key: metadata[key] for key in ("env", "model", "date") if as_text(metadata.get(key))}
    found = [*imported.diagnostics, *_contradictions(trials, metadata, path)]
    return replace(imported, trials=trials, plans=plans, producer=producer, diagnostics=tuple(found))


def _with_maker(trial: Trial, model: str | None, sampling: Mapping[str, Any], suite: str | None) -> Trial:
    known = trial.provenance
    provenance = replace(known, model=known.model or model, sampling=known.sampling or sampling)
    return replace(trial, provenance=provenance, suite=trial.suite or suite)


def _contradictions(trials: tuple[Trial, ...], metadata: Mapping[str, Any], path: str) -> list[Diagnostic]:
    """What the metadata says and the rollouts do not bear out."""
    said: list[str] = []
    examples, tasks = whole_number(metadata.get("num_examples")), {trial.task_id for trial in trials}
    if examples is not None and examples != len(tasks):
        said.append(f"examples: {examples} in the metadata, {len(tasks)} here")
    mean, rewards = plain_number(metadata.get("avg_reward")), [trial.reward for trial in trials]
    recorded = [one for one in rewards if one is not None]
    if mean is not None and recorded and len(recorded) == len(rewards):
        actual = sum(recorded) / len(recorded)
        if abs(actual - mean) > _ROUNDED:
            said.append(f"mean reward: {mean:.4g} in the metadata, {actual:.4g} here")
    if not said:
        return []
    return [
        Diagnostic(
            severity=Severity.WARNING,
            slug="totals_differ",
            message="the metadata of the run and its rollouts do not agree; the rollouts count",
            path=path,
            details=tuple(said),
        )
    ]
