"""inspect_ai logs: ``.eval`` archives and ``.json`` files.

Read without the producer's library. An archive without header (a run that crashed or is under way) is read
from its journal and its samples; one whose directory is lost gives the samples that are complete.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from trajdiff.importers import jsontext
from trajdiff.importers.archive import Archive, BadMemberError
from trajdiff.importers.document import Document, Record
from trajdiff.importers.inspect_sample import Run, RunReader, Sample
from trajdiff.importers.jsontext import BadJsonError
from trajdiff.importers.naming import as_text, id_text, whole_number
from trajdiff.importers.notices import Notices
from trajdiff.importers.protocol import Claim, Imported, Peek, Plan, ReadOptions, Shape, Source, Unreadable
from trajdiff.model import Severity, Task, Trial
from trajdiff.natural import natural_key

_HEADER = "header.json"
_START = "_journal/start.json"
_SAMPLE = re.compile(r"^samples/(?P<name>.+_epoch_[0-9]+)(?P<chunked>/sample)?\.json$", re.DOTALL)
_CHUNK = re.compile(
    r"^samples/(?P<name>.+_epoch_[0-9]+)/(?P<part>messages|events|attachments)/(?P<start>[0-9]+)\.json$"
)


class _InspectLog(Struct, frozen=True):
    name: str = "inspect"
    title: str = "inspect_ai log"
    recognised_by: str = (
        ".eval archive with header.json or _journal/start.json; object with version, status, eval"
    )
    record_schema: str | None = None

    def sniff(self, peek: Peek) -> Claim | None:
        """An archive with the header or journal of a log, or an object with version, status and eval."""
        if peek.shape is Shape.ARCHIVE:
            found = [name for name in (_HEADER, _START) if name in peek.files]
            if not found and any(_SAMPLE.match(name) for name in peek.files):
                found = ["samples"]
            return Claim(rule=f"archive with {found[0]}") if found else None
        if peek.shape is Shape.OBJECT and peek.heads and peek.heads[0].has("version", "status", "eval"):
            return Claim(rule="version, status, eval")
        if _is_manifest(peek):
            return Claim(rule="a list of logs, not a log")
        return None

    def records(self, document: Document) -> Iterable[Record]:
        """The samples of a ``.json`` log; those of an archive are no records of one text."""
        return document.items("samples") or ()

    def read(self, source: Source, options: ReadOptions) -> Imported:
        """Every sample and epoch is a trial; what the log announces and does not hold is missing."""
        document = source.document
        if document.archive is not None:
            return _read_archive(document, document.archive, options)
        if _is_manifest(document.peek):
            raise Unreadable(
                "log_manifest",
                "a list of logs, not a log",
                "give the .eval or .json files that it names, or their folder",
            )
        return _read_json(document, options)


IMPORTER = _InspectLog()


def _is_manifest(peek: Peek) -> bool:
    """``logs.json`` maps the names of logs to their headers."""
    if peek.shape is not Shape.OBJECT or not peek.heads or not peek.heads[0].keys:
        return False
    head = peek.heads[0]
    if not all(key.endswith((".eval", ".json")) for key in head.keys):
        return False
    first = head.get(min(head.keys))
    return isinstance(first, dict) and "eval" in first


def _read_json(document: Document, options: ReadOptions) -> Imported:
    header = {}
    for key in ("version", "status", "eval", "plan", "stats", "error", "invalidated"):
        try:
            header[key] = document.field(key)
        except BadJsonError as error:
            message = f"{key} cannot be read: {error.problem}"
            document.notices.add(Severity.WARNING, "unreadable_header", message, pointer=f"$.{key}")
    samples = document.items("samples")
    if samples is None:
        document.notices.add(
            Severity.WARNING, "no_samples", "the log holds no samples (a header only)", pointer="$.samples"
        )
    found = (_recorded(one, document.notices) for one in samples or ())
    return _imported(header, found, document, options)


def _recorded(record: Record, notices: Notices) -> Sample:
    try:
        return Sample(pointer=record.pointer, value=record.decode())
    except BadJsonError as error:
        _tell_lost(notices, record.place, error.problem)
        return Sample(pointer=record.pointer, told=True)


def _tell_lost(notices: Notices, place: str, problem: str) -> None:
    message = f"a sample cannot be read: {problem}"
    notices.add(
        Severity.WARNING,
        "unreadable_record",
        message,
        "this sample is left out; the others are read",
        pointer=place,
    )


def _read_archive(document: Document, archive: Archive, options: ReadOptions) -> Imported:
    notices = document.notices
    header = _member(archive, _HEADER, notices)
    if not isinstance(header, dict):
        header = _member(archive, _START, notices)
        header = {"status": "started", **header} if isinstance(header, dict) else {}
        if _HEADER not in archive.members:
            notices.add(
                Severity.WARNING,
                "incomplete_log",
                "the log has no header: the run crashed or is under way",
                "its finished samples are read; the others are listed as missing",
            )
    if archive.cut:
        notices.add(
            Severity.WARNING,
            "truncated_archive",
            "the archive is cut: its directory is lost",
            "the samples that are complete are read; what the log announces beside them is listed as missing",
        )
    return _imported(header, _archived(document, archive), document, options)


def _archived(document: Document, archive: Archive) -> Iterator[Sample]:
    # The order of the members has no meaning; names make it the same for every copy of the log.
    for name in sorted(archive.members, key=natural_key):
        found = _SAMPLE.match(name)
        if found is None:
            continue
        try:
            value = document.member(archive.read(name), name)
            if found["chunked"] and isinstance(value, dict):
                value = _with_chunks(document, archive, found["name"], value)
        except (BadMemberError, BadJsonError) as error:
            _tell_lost(document.notices, name, error.problem)
            yield Sample(pointer=f"{name}#$", told=True)
            continue
        yield Sample(pointer=f"{name}#$", value=value)


def _with_chunks(document: Document, archive: Archive, name: str, value: dict[str, Any]) -> dict[str, Any]:
    """A sample whose long lists lie in members of their own, put together."""
    parts: dict[str, list[Any]] = {}
    for member in sorted(archive.members, key=natural_key):
        found = _CHUNK.match(member)
        if found is not None and found["name"] == name:
            piece = document.member(archive.read(member), member)
            parts.setdefault(found["part"], []).extend(piece if isinstance(piece, list) else [])
    if "attachments" in parts:
        value = value | {"attachments": {str(i): one for i, one in enumerate(parts.pop("attachments"))}}
    return value | parts


def _member(archive: Archive, name: str, notices: Notices) -> Any:
    if name not in archive.members:
        return None
    try:
        return jsontext.decode(archive.read(name))
    except (BadMemberError, BadJsonError) as error:
        notices.add(
            Severity.WARNING, "unreadable_header", f"{name} cannot be read: {error.problem}", pointer=name
        )
        return None


def _imported(
    header: Mapping[str, Any], samples: Iterable[Sample], document: Document, options: ReadOptions
) -> Imported:
    run = Run.of(header)
    reader = RunReader(run=run, path=document.path, notices=document.notices, options=options)
    trials: list[Trial] = []
    tasks: list[Task] = []
    unread = 0
    for sample in samples:
        made = reader.trial(sample)
        if made is None:
            unread += 1
            continue
        trials.append(made[0])
        tasks.append(made[1])
    _tell_status(header, document.notices)
    return Imported(
        trials=tuple(trials),
        plans=tuple(_plans(run, tasks, trials)),
        diagnostics=document.notices.all(),
        producer=run.producer,
        unread=unread,
    )


def _plans(run: Run, tasks: list[Task], trials: list[Trial]) -> Iterator[Plan]:
    """Every announced or recorded sample, with the number of its epochs and those that are not there."""
    by_id: dict[str, Task] = {task_id: Task(task_id=task_id, suite=run.suite) for task_id in run.sample_ids}
    by_id |= {task.task_id: task for task in tasks}
    there: dict[str, set[str]] = {}
    for trial in trials:
        there.setdefault(trial.task_id, set()).add(trial.trial_id)
    for task_id in sorted(by_id, key=natural_key):
        lost: tuple[str, ...] = ()
        if run.epochs is not None:
            known = there.get(task_id, set())
            lost = tuple(str(n) for n in range(1, min(run.epochs, 10_000) + 1) if str(n) not in known)
        yield Plan(task=by_id[task_id], expected_n=run.epochs, lost=lost)


def _tell_status(header: Mapping[str, Any], notices: Notices) -> None:
    """The status speaks about the run, never about its samples: it is told and changes no verdict."""
    status = as_text(header.get("status"))
    if status in ("error", "cancelled"):
        error = header.get("error")
        said = id_text(error.get("message")) if isinstance(error, dict) else None
        details = ("each sample keeps its own verdict", *((f"error: {said[:200]}",) if said else ()))
        notices.add(Severity.NOTE, "run_status", f'the status of the run is "{status}"', *details)
    version = whole_number(header.get("version"))
    if version is not None and not 1 <= version <= 3:
        notices.add(Severity.WARNING, "unknown_version", f"log version {version}", "read as version 2")
