"""EvalKit ``outputDir/trial-N`` folders: one record a sample in each.

No public specification is known; the layout follows the project's own description and a made-up folder. Every
file under a ``trial-N`` is read, also those of several run folders; N is the number of the trial.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from trajdiff.importers import scoring, verdicts
from trajdiff.importers.bare import tell_unread, value_of
from trajdiff.importers.dialects import add_message
from trajdiff.importers.document import Document, Record
from trajdiff.importers.jsontext import plain_number
from trajdiff.importers.lenient import as_list, as_object
from trajdiff.importers.naming import as_text, id_text, whole_number
from trajdiff.importers.notices import Where
from trajdiff.importers.protocol import Claim, Head, Imported, Peek, Plan, ReadOptions, Shape, Source
from trajdiff.importers.steps import StepBuilder
from trajdiff.importers.texts import content_text
from trajdiff.model import (
    Judgement,
    Provenance,
    SourceRef,
    Task,
    Termination,
    TerminationReason,
    Trial,
    Verdict,
)

_FOLDER = re.compile(r"^trial-(?P<number>[0-9]{1,6})$")
_SAMPLE_KEYS = ("sampleId", "sample_id", "id")
_MAX_TRIALS = 10_000


class _EvalKit(Struct, frozen=True):
    name: str = "evalkit"
    title: str = "EvalKit trial-N folders"
    recognised_by: str = "records with sampleId and scores, in folders trial-0, trial-1, ..."
    record_schema: str | None = None

    def sniff(self, peek: Peek) -> Claim | None:
        """Records with a sample id and scores; a plain ``id`` counts in a ``trial-N`` folder only."""
        if peek.shape in (Shape.FOLDER, Shape.ARCHIVE):
            return None
        numbered = _folder_of(peek.path) is not None
        if any(_is_sample(head, numbered) for head in peek.heads):
            return Claim(rule="sampleId and scores" + (" in trial-N" if numbered else ""))
        return None

    def records(self, document: Document) -> Iterable[Record]:
        """Every record is a trial."""
        return document.records()

    def read(self, source: Source, options: ReadOptions) -> Imported:
        """Every record that names its sample is a trial; the folder gives its number."""
        document = source.document
        folder = _folder_of(document.path)
        slots = _slots(folder)
        trials: list[Trial] = []
        unread = 0
        for record in document.records():
            value = value_of(record, document.notices)
            sample = _sample_id(value)
            if sample is None:
                unread += 1
                if record.problem is None:
                    tell_unread(document.notices, "a record has no sample id", record.place)
                continue
            trials.append(_trial(value, sample, folder, record, document, options))
        return Imported(
            trials=tuple(trials),
            plans=tuple(
                Plan(
                    task=Task(task_id=one.task_id),
                    expected_n=len(slots) or None,
                    lost=slots,
                )
                for one in trials
            ),
            diagnostics=document.notices.all(),
            producer={"name": "EvalKit"} | ({} if folder is None else {"run": folder.above}),
            unread=unread,
        )


IMPORTER = _EvalKit()


class _TrialFolder(Struct, frozen=True, kw_only=True):
    """The ``trial-N`` a file lies in, and the folder above it."""

    number: int
    above: str

    @property
    def first(self) -> int:
        """The number that the folders begin with."""
        slots = _slots(self)
        return int(slots[0]) if slots else 0


def _folder_of(path: str) -> _TrialFolder | None:
    parts = path.split("/")[:-1]
    for place in range(len(parts) - 1, -1, -1):
        found = _FOLDER.match(parts[place])
        if found is not None:
            return _TrialFolder(number=int(found["number"]), above="/".join(parts[:place]))
    return None


def _is_sample(head: Head, numbered: bool) -> bool:
    keys = _SAMPLE_KEYS if numbered else _SAMPLE_KEYS[:2]
    return any(head.has(key) for key in keys) and bool(head.keys & {"scores", "score"})


def _sample_id(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    return next((found for key in _SAMPLE_KEYS if (found := id_text(value.get(key)))), None)


def _slots(folder: _TrialFolder | None) -> tuple[str, ...]:
    """The numbers of all trials of this output folder, from 0, or from 1 where there is no 0."""
    if folder is None:
        return ()
    try:
        names = os.listdir(folder.above or ".")  # noqa: PTH208 - names only
    except OSError:
        return ()
    numbers = [int(found["number"]) for name in names if (found := _FOLDER.match(name))]
    numbers.append(folder.number)
    if max(numbers) > _MAX_TRIALS:
        return ()
    return tuple(str(number) for number in range(min(1, *numbers), max(numbers) + 1))


def _trial(
    value: dict[str, Any],
    sample: str,
    folder: _TrialFolder | None,
    record: Record,
    document: Document,
    options: ReadOptions,
) -> Trial:
    number = folder.number if folder is not None else whole_number(value.get("trial"))
    trial_id = "" if number is None else str(number)
    where = Where(document.notices, document.path, record.pointer, record.line, sample, trial_id)
    builder = StepBuilder(path=document.path, pointer=record.pointer, line=record.line)
    messages = value.get("messages")
    if not isinstance(messages, list):
        where.warn("no_messages", "messages are not there", "it keeps its verdict and is not compared")
    listed = as_list(messages)
    for index, message in enumerate(listed):
        add_message(builder, message, index, f".messages[{index}]", document.notices)
    termination = _termination(value)
    steps = builder.finish(termination, messages=len(listed), at="")
    builder.report(where)
    scores = recorded_scores(value)
    error = content_text(value.get("error")) or None
    judgement = _judgement(scores, error, where, options)
    verdicts.tell_unscored(where, judgement, termination, None, at=".scores")
    return Trial(
        task_id=sample,
        trial_id=trial_id,
        # Slots count from 0, whichever number the folders begin with.
        ordinal=-1 if number is None else max(number - (folder.first if folder else 0), 0),
        steps=steps,
        judgement=judgement,
        source=SourceRef(path=document.path, pointer=record.pointer, line=record.line),
        reward=plain_number(scoring.as_number(judgement.raw)),
        sub_scores=scores,
        termination=termination,
        error=error,
        duration_s=plain_number(value.get("duration")),
        provenance=Provenance(model=as_text(value.get("model"))),
        message_count=len(listed),
        # Every output folder numbers its own trials.
        metadata={} if folder is None else {"run": folder.above},
    )


def recorded_scores(value: Mapping[str, Any]) -> dict[str, Any]:
    """Scores by name, of an object, a list of objects with their scorer, or one score."""
    recorded = value.get("scores", value.get("score"))
    if isinstance(recorded, dict):
        if "value" in recorded and not isinstance(recorded["value"], dict | list):
            return {as_text(recorded.get("scorer")) or "score": recorded["value"]}
        return {name: one.get("value") if isinstance(one, dict) else one for name, one in recorded.items()}
    if not isinstance(recorded, list):
        return {} if recorded is None else {"score": recorded}
    made: dict[str, Any] = {}
    for place, one in enumerate(recorded):
        said = as_object(one)
        name = as_text(said.get("scorer")) or as_text(said.get("name")) or f"score {place + 1}"
        while name in made:
            name = f"{name}~{place + 1}"
        made[name] = said.get("value") if isinstance(one, dict) else one
    return made


def _judgement(scores: Mapping[str, Any], error: str | None, where: Where, options: ReadOptions) -> Judgement:
    if options.scorer is not None or len(scores) <= 1:
        return scoring.judge(
            scores,
            chosen=options.scorer,
            threshold=options.threshold,
            notices=where.notices,
            error=error,
        )
    parts = [
        scoring.judge_value(value, name=name, threshold=options.threshold, notices=where.notices, error=error)
        for name, value in scores.items()
    ]
    states = [one.state for one in parts]
    # One failed score decides; one without a value leaves it open whether all would have passed.
    order = (Verdict.FAIL, Verdict.INFRA, Verdict.UNSCORED, Verdict.PASS)
    state = next(one for one in order if one in states)
    rule = "all scores are C" if options.threshold is None else f"all scores >= {options.threshold:g}"
    return Judgement(state=state, raw=dict(scores), scorer="all scores", rule=rule, threshold=options.threshold)


def _termination(value: Mapping[str, Any]) -> Termination:
    raw = as_text(value.get("termination")) or as_text(value.get("stopReason"))
    if raw is None:
        return Termination()
    known = {one.value: one for one in TerminationReason}
    return Termination(reason=known.get(raw, TerminationReason.UNKNOWN), raw=raw, rule="recorded")
