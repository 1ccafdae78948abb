"""``validate``: every file against the schema of its format, and what reading it has to say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trajdiff.errors import InputError
from trajdiff.frozen import replace
from trajdiff.importers.document import Document, Record
from trajdiff.importers.doubled_keys import doubled_keys
from trajdiff.importers.folders import Piece, layouts
from trajdiff.importers.gathering import gather
from trajdiff.importers.jsontext import BadJsonError
from trajdiff.importers.naming import id_text, place_of, shortened
from trajdiff.importers.opening import open_document
from trajdiff.importers.protocol import FileValidation, Importer, ReadOptions, Unreadable
from trajdiff.importers.reading import read_empty, read_file
from trajdiff.importers.recognition import not_recognised, recognise
from trajdiff.importers.side_files import forced_importer, recognising
from trajdiff.model import Diagnostic, Severity
from trajdiff.natural import natural_key

#: One broken loop of a producer can break every record in the same way; this many say enough.
_MAX_PROBLEMS = 200


def check_files(paths: Sequence[str], options: ReadOptions) -> tuple[FileValidation, ...]:
    """Every file behind ``paths``; see ``trajdiff.importers.validate``."""
    forced = forced_importer(options)
    gathered = gather(paths)
    absent = [one for one in gathered.diagnostics if one.severity is Severity.ERROR]
    if not gathered.files:
        first = absent[0] if absent else None
        raise InputError(f"{first.path}: {first.message}" if first else "no files were found")
    checked = [_check(piece, forced, options) for piece in layouts(gathered.files, forced)]
    checked += [FileValidation(path=one.path or "", format=None, trials=0, problems=(one,)) for one in absent]
    return tuple(sorted(checked, key=lambda one: natural_key(one.path)))


def _check(piece: Piece, forced: Importer | None, options: ReadOptions) -> FileValidation:
    path = piece.given.path
    try:
        document = open_document(path, options.stdin)
        claimed = piece.claimed or recognise(
            document, forced, named=piece.given.named, mapped=recognising(options)
        )
        if claimed is None:
            problem = not_recognised(document, named=True)
            return FileValidation(path=path, format=None, trials=0, problems=(problem,))
    except Unreadable as error:
        found = read_empty(path) if error.slug == "empty_file" else None
        if found is not None:
            trials, told = len(found[1].trials), found[1].diagnostics
            return FileValidation(path=path, format=found[0].title, trials=trials, problems=told)
        return FileValidation(path=path, format=None, trials=0, problems=(error.diagnostic(path),))
    importer = claimed[0]
    try:
        problems = _violations(importer, document, piece)
        imported = read_file(importer, document, piece.members, options)
    except Unreadable as error:
        return FileValidation(path=path, format=importer.title, trials=0, problems=(error.diagnostic(path),))
    # A record that gave no trial makes the file invalid; what the schema found there is told once.
    places = tuple((problem.path, problem.pointer or "") for problem in problems)
    more = [
        replace(one, severity=Severity.ERROR) if one.slug == "unreadable_record" else one
        for one in imported.diagnostics
        if not (one.slug in _SAID_BY_SCHEMA and _told(one, places))
    ]
    more += _doubled(document, imported.diagnostics)
    if not imported.trials and not imported.unread:
        empty = Diagnostic(
            severity=Severity.ERROR, slug="no_trials", message="there is no trial in it", path=path
        )
        more.append(empty)
    everything = sorted((*problems, *more), key=lambda one: _RANK[one.severity])
    return FileValidation(
        path=path, format=importer.title, trials=len(imported.trials), problems=tuple(everything)
    )


#: What reading says about a place where the schema has spoken already.
_SAID_BY_SCHEMA = frozenset(
    {"unreadable_record", "odd_reward", "unknown_verdict", "unknown_termination", "no_steps", "no_messages"}
)


def _doubled(document: Document, told: Sequence[Diagnostic]) -> list[Diagnostic]:
    """A warning for every record in which a key occurs twice, unless reading has named the key there."""
    found: list[Diagnostic] = []
    said = [one for one in told if one.slug == "duplicate_key"]
    for place, keys in doubled_keys(document):
        known = " ".join(detail for one in said if one.pointer == place for detail in one.details)
        new = [key for key in keys if f'"{shortened(key)}"' not in known]
        if new:
            names = ", ".join(f'"{shortened(key)}"' for key in new[:5])
            found.append(
                Diagnostic(
                    severity=Severity.WARNING,
                    slug="duplicate_key",
                    message=f"a key occurs twice in one object: {names}; the last one counts",
                    path=document.path,
                    pointer=place,
                )
            )
    return found[:_MAX_PROBLEMS]


def _told(diagnostic: Diagnostic, places: tuple[tuple[str | None, str], ...]) -> bool:
    return any(path == diagnostic.path and at.startswith(diagnostic.pointer or "") for path, at in places)


_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


def _violations(importer: Importer, document: Document, piece: Piece) -> list[Diagnostic]:
    if importer.record_schema is None:
        return []
    found: list[Diagnostic] = []
    for where, record in _records(importer, document, piece):
        for problem in _record_problems(importer.record_schema, where, record):
            if len(found) == _MAX_PROBLEMS:
                message = f"more than {_MAX_PROBLEMS} problems; the rest is not listed"
                found.append(
                    Diagnostic(severity=Severity.ERROR, slug="too_many_problems", message=message, path=where)
                )
                return found
            found.append(problem)
    return found


def _records(importer: Importer, document: Document, piece: Piece) -> Iterator[tuple[str, Record]]:
    """The records of a file and of its companions, each with the path of the file it lies in."""
    yield from ((document.path, record) for record in importer.records(document))
    for member in piece.members:
        try:
            inner = open_document(member)
        except Unreadable:
            # Reading tells that this companion cannot be opened.
            continue
        yield from ((member, record) for record in importer.records(inner))


def _record_problems(schema: str, path: str, record: Record) -> Iterator[Diagnostic]:
    from trajdiff.schema import violations

    try:
        value = record.decode()
    except BadJsonError:
        # Reading tells this one, with the place in the line.
        return
    task_id, trial_id = _names(value)
    for one in violations(value, schema):
        pointer = place_of(record.pointer + one.pointer.removeprefix("$"), record.line)
        who = f'trial {trial_id} of task "{task_id}"' if task_id and trial_id else ""
        about = (f"expected {one.expected}, found {one.found}", who)
        yield Diagnostic(
            severity=Severity.ERROR,
            slug="schema_violation",
            message=one.problem,
            path=path,
            pointer=pointer,
            details=tuple(detail for detail in about if detail),
            task_id=task_id,
            trial_id=trial_id,
        )


def _names(value: Any) -> tuple[str | None, str | None]:
    if not isinstance(value, dict):
        return None, None
    trial = value.get("trial_id") if "trial_id" in value else value.get("trial")
    return id_text(value.get("task_id")), id_text(trial)
