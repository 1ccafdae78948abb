"""Harbor job and trial folders. Totals of the job are checked, never read as trials.

The layout is that of harbor 0.26; no published job with several attempts a task was at hand. How a per-job
policy for exceptions is written is inferred.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from trajdiff.frozen import replace
from trajdiff.importers.bare import value_of
from trajdiff.importers.document import Document, Record
from trajdiff.importers.harbor_trial import Folder, TrialReader
from trajdiff.importers.lenient import as_list, as_object
from trajdiff.importers.naming import id_text, whole_number
from trajdiff.importers.notices import Notices
from trajdiff.importers.protocol import Claim, Imported, Peek, Plan, ReadOptions, Shape, Source, Unreadable
from trajdiff.model import Severity, Task, Trial
from trajdiff.natural import natural_key

_RESULT, _CONFIG = "result.json", "config.json"
_JOB, _TRIAL = "Harbor job", "Harbor trial"


class _Harbor(Struct, frozen=True):
    name: str = "harbor"
    title: str = "Harbor job or trial folder"
    recognised_by: str = "folder whose result.json has stats and n_total_trials, or task_name and trial_name"
    record_schema: str | None = None

    def sniff(self, peek: Peek) -> Claim | None:
        """A job, a trial, or a trial folder that lost its result."""
        if peek.shape is not Shape.FOLDER:
            return _file_claim(peek)
        if peek.open is None or peek.below is None:
            return None
        head = peek.open(_RESULT) if _RESULT in peek.files else None
        claim = _file_claim(head) if head is not None else None
        if claim is not None:
            return replace(claim, head=_RESULT, members=_members(peek, _RESULT))
        if head is None and _CONFIG in peek.files and {"agent", "verifier"} <= set(peek.folders):
            return Claim(
                rule="a trial folder without result.json", head=_CONFIG, members=_members(peek, _CONFIG)
            )
        return None

    def records(self, document: Document) -> Iterable[Record]:
        """The results lie one a file; there is no schema for them."""
        return document.records()

    def read(self, source: Source, options: ReadOptions) -> Imported:
        """Every trial folder is a trial."""
        document = source.document
        root = document.path.rpartition("/")[0]
        folder = Folder(
            path=root,
            files=tuple(_relative(one, root) for one in (document.path, *source.members)),
            source=source,
            notices=document.notices,
        )
        result = _first_object(document)
        reader = TrialReader(options=options, notices=document.notices)
        if _is_job(result):
            return _read_job(result, folder, reader)
        trial = reader.trial(folder, result if document.path.endswith(_RESULT) else None)
        config = folder.beside(_CONFIG)
        return _imported([trial], config, document.notices, {})


IMPORTER = _Harbor()


def _file_claim(peek: Peek) -> Claim | None:
    """A result file, of a folder or given by itself."""
    if peek.shape is not Shape.OBJECT or not peek.heads:
        return None
    head = peek.heads[0]
    if head.has("stats", "n_total_trials"):
        return Claim(rule=f"{_JOB}: result.json with stats and n_total_trials")
    if head.has("task_name", "trial_name"):
        return Claim(rule=f"{_TRIAL}: result.json with task_name and trial_name")
    return None


def _members(peek: Peek, head: str) -> tuple[str, ...]:
    assert peek.below is not None
    return tuple(one for one in sorted(peek.below(), key=natural_key) if one != head)


def _relative(path: str, root: str) -> str:
    return path[len(root) + 1 :] if root else path


def _first_object(document: Document) -> dict[str, Any]:
    for record in document.records():
        value = value_of(record, document.notices, "result.json")
        if isinstance(value, dict):
            return value
    raise Unreadable("not_a_log", "an object is expected")


def _is_job(result: Mapping[str, Any]) -> bool:
    return "n_total_trials" in result and "stats" in result


def _read_job(result: dict[str, Any], folder: Folder, reader: TrialReader) -> Imported:
    notices = folder.notices
    trials: list[Trial] = []
    empty = 0
    for name in folder.folders():
        inner = folder.inside(name)
        recorded = inner.object(_RESULT) if _RESULT in inner.files else None
        if recorded is None and not inner.looks_like_trial():
            continue
        if recorded is not None and "trial_name" not in recorded:
            empty += 1
            notices.add(
                Severity.WARNING,
                "unreadable_record",
                f"{name}: result.json is not that of a trial",
                "this folder is left out; the others are read",
                path=inner.place(_RESULT),
            )
            continue
        trials.append(reader.trial(inner, recorded))
    trials, replaced = _without_regraded(_with_suites(trials), notices)
    config = folder.object(_CONFIG) if _CONFIG in folder.files else None
    _reconcile(result, trials, notices)
    made = _imported(trials, config, notices, {"job": id_text(result.get("id"))})
    return replace(made, unread=empty + replaced)


def _with_suites(trials: list[Trial]) -> list[Trial]:
    """A trial that lost its result does not name its data set; the other trials of its task do."""
    suites = {one.task_id: one.suite for one in trials if one.suite is not None}
    return [one if one.suite is not None else replace(one, suite=suites.get(one.task_id)) for one in trials]


def _without_regraded(trials: list[Trial], notices: Notices) -> tuple[list[Trial], int]:
    """A regrade scores an earlier trial again: the same trajectory, one trial, the new score."""
    by_name = {
        name: one for one in trials for name in (one.producer_id, one.metadata.get("trial_name")) if name
    }
    gone: set[int] = set()
    for trial in trials:
        regraded = by_name.get(trial.metadata.get("regrade_of"))
        if regraded is not None and regraded is not trial and id(regraded) not in gone:
            gone.add(id(regraded))
            notices.add(
                Severity.NOTE,
                "superseded_trial",
                f'a trial of task "{trial.task_id}" was graded again: the new grade counts',
                f"counted: {trial.source.path} ({trial.verdict})",
                f"left out: {regraded.source.path} ({regraded.verdict})",
                path=regraded.source.path,
                task_id=trial.task_id,
            )
    return [one for one in trials if id(one) not in gone], len(gone)


def _imported(
    trials: list[Trial], config: Mapping[str, Any] | None, notices: Notices, producer: Mapping[str, Any]
) -> Imported:
    attempts = whole_number(as_object(config).get("n_attempts"))
    if attempts is None:
        notices.add(
            Severity.NOTE,
            "unknown_plan",
            "the job configuration with n_attempts is not there",
            "how many trials were planned is not known",
        )
    else:
        attempts *= max(1, len(as_list(as_object(config).get("agents"))))
    tasks = {
        one.task_id: Task(task_id=one.task_id, suite=one.suite, fingerprint=one.provenance.environment_version)
        for one in trials
    }
    return Imported(
        trials=tuple(trials),
        plans=tuple(Plan(task=task, expected_n=attempts) for task in tasks.values()),
        diagnostics=notices.all(),
        producer={key: one for key, one in {"name": "harbor", **producer}.items() if one is not None},
    )


def _reconcile(result: Mapping[str, Any], trials: list[Trial], notices: Notices) -> None:
    """The totals of the job against the trials that are there; the trials are trusted."""
    stats = as_object(result.get("stats"))
    errors = sum(one.metadata.get("exception") is not None for one in trials)
    found = {
        "n_total_trials": (result.get("n_total_trials"), len(trials)),
        "n_completed_trials": (stats.get("n_completed_trials", stats.get("n_trials")), len(trials)),
        "n_errored_trials": (stats.get("n_errored_trials", stats.get("n_errors")), errors),
    }
    differ = [
        f"{name}: {announced} announced, {there} found"
        for name, (recorded, there) in found.items()
        if (announced := whole_number(recorded)) is not None and announced != there
    ]
    if differ:
        notices.add(
            Severity.NOTE,
            "totals_differ",
            "the totals of the job do not fit its trials; the trials count",
            *differ,
        )
