"""``load``: gathers files, finds the format of each, reads them and puts the trials of a task together."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from trajdiff.errors import InputError
from trajdiff.frozen import replace
from trajdiff.importers.document import Document
from trajdiff.importers.folders import Piece, layouts
from trajdiff.importers.gathering import Given, gather
from trajdiff.importers.grouping import Unit, group_trials
from trajdiff.importers.jsontext import BadJsonError
from trajdiff.importers.ledger import Ledger, read_ledger
from trajdiff.importers.meter import Meter
from trajdiff.importers.opening import open_document
from trajdiff.importers.protocol import Imported, Importer, ReadOptions, Unreadable
from trajdiff.importers.reading import read_empty, read_file
from trajdiff.importers.recognition import not_recognised, recognise
from trajdiff.importers.registry import importer_named, is_shipped
from trajdiff.importers.side_files import (
    BARE_OUTCOME,
    forced_importer,
    recognising,
    settled_after_join,
    without_side_files,
)
from trajdiff.importers.stored_steps import begin_reading
from trajdiff.model import Corpus, Diagnostic, InputFile, Severity, Verdict
from trajdiff.natural import natural, natural_key

_NAMED = 8


class _Session(Struct, kw_only=True):
    """What one call of ``load`` collects. ``forced`` is the importer of ``--from`` or ``--map``.

    ``mapped`` are mappings of the settings that recognise files by themselves.
    """

    options: ReadOptions
    forced: Importer | None
    mapped: tuple[Importer, ...] = ()
    ledger: Ledger | None = None
    meter: Meter = field(default_factory=lambda: Meter((), None))
    diagnostics: list[Diagnostic] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)

    def fail_or(self, diagnostic: Diagnostic) -> None:
        """Keep a diagnostic; with ``fail`` or ``strict`` the first error stops."""
        self.diagnostics.append(diagnostic)
        if stops(diagnostic, self.options):
            raise as_error(diagnostic)


#: The warning that means that a trial could not be read.
_LOST = "unreadable_record"


def stops(diagnostic: Diagnostic, options: ReadOptions) -> bool:
    """Whether this diagnostic ends the reading under the given options."""
    if options.on_error != "fail" and not options.strict:
        return False
    return diagnostic.severity is Severity.ERROR or diagnostic.slug == _LOST


def as_error(diagnostic: Diagnostic) -> InputError:
    """The diagnostic as an error: place, message, details."""
    details = list(diagnostic.details)
    if diagnostic.pointer:
        details.insert(0, f"at {diagnostic.pointer}")
    head = f"{diagnostic.path}: {diagnostic.message}" if diagnostic.path else diagnostic.message
    return InputError(head, *details)


def read_corpus(paths: Sequence[str], options: ReadOptions) -> Corpus:
    """Read everything behind ``paths``; see ``trajdiff.importers.load``."""
    begin_reading()
    session = _Session(
        options=options,
        forced=forced_importer(options),
        mapped=recognising(options),
        ledger=read_ledger(options.outcomes, options.threshold),
    )
    gathered = gather(paths)
    for diagnostic in gathered.diagnostics:
        session.fail_or(diagnostic)
    pieces = layouts(without_side_files(gathered.files, session.ledger), session.forced)
    session.meter = Meter((piece.given.path for piece in pieces), options.progress)
    for piece in pieces:
        _read_piece(piece, session)
        session.meter.finished(piece.given.path)
    _add_absent(session)
    if not any(unit.imported.trials for unit in session.units):
        raise _nothing(paths, session)
    tasks, more = group_trials(session.units, options, session.ledger)
    if session.ledger is not None:
        trials = [trial for task in tasks for trial in task.trials]
        session.diagnostics = settled_after_join(session.diagnostics, trials)
        more += tuple(session.ledger.notes)
    for diagnostic in (*more, *_reported_without_trial(session.units)):
        session.fail_or(diagnostic)
    corpus = Corpus(
        tasks=tasks,
        files=tuple(_input_file(unit) for unit in session.units),
        diagnostics=tuple(sorted(session.diagnostics, key=_diagnostic_order)),
    )
    if options.strict:
        _refuse_gaps(corpus)
    return corpus


def _diagnostic_order(diagnostic: Diagnostic) -> tuple[object, ...]:
    # The order inside one file is the order of discovery; sorting is stable.
    rank = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}[diagnostic.severity]
    return rank, natural_key(diagnostic.path or "")


# The file stage


def _read_piece(piece: Piece, session: _Session) -> None:
    path = piece.given.path
    # What a side file says about a file may change how it is read.
    kept = session.options.kept if session.ledger is None and path != "-" else None
    known = kept.find(piece, session.options) if kept is not None else None
    if known is not None:
        _add(known, session)
        return
    try:
        document = open_document(path, session.options.stdin)
        document.told = session.meter.within
        claim = piece.claimed or recognise(
            document, _forced_for(path, session), named=piece.given.named, mapped=session.mapped
        )
        if claim is None:
            session.fail_or(not_recognised(document, named=piece.given.named))
            return
        imported = read_file(claim[0], document, piece.members, session.options)
    except Unreadable as error:
        _keep_unreadable(error, piece, session)
        return
    except (BadJsonError, RecursionError) as error:
        problem = error.problem if isinstance(error, BadJsonError) else "nested too deeply"
        session.fail_or(Unreadable("not_json", f"cannot be read: {problem}").diagnostic(path))
        return
    if session.ledger is not None:
        imported = session.ledger.apply(path, imported)
    digest = _hash(document, piece)
    unit = _unit(path, claim[0], claim[1].rule, digest, imported)
    if kept is not None and is_shipped(claim[0]):
        kept.keep(piece, session.options, unit)
    _add(unit, session)


def _unit(path: str, importer: Importer, rule: str, digest: str, imported: Imported) -> Unit:
    return Unit(
        path=path,
        importer=importer.name,
        title=importer.title,
        rule=rule,
        sha256=digest,
        imported=imported,
    )


def _add(unit: Unit, session: _Session) -> None:
    session.units.append(unit)
    for diagnostic in unit.imported.diagnostics:
        session.fail_or(diagnostic)


def _forced_for(path: str, session: _Session) -> Importer | None:
    """The importer the user asked for, for all files or in the manifest for this one."""
    named = session.ledger.forced_format(path) if session.ledger is not None else None
    return session.forced if named is None else importer_named(named)


def _keep_unreadable(error: Unreadable, piece: Piece, session: _Session) -> None:
    """Tell that a file cannot be read; a trial that a side file or its name knows is kept without steps."""
    path = piece.given.path
    empty = error.slug == "empty_file"
    known = None
    if session.ledger is not None:
        known = session.ledger.trial_of_unreadable(path, empty=empty)
    if known is not None:
        _add_without_trace(path, known, session)
    elif empty and (found := read_empty(path)) is not None:
        importer, imported = found
        if session.ledger is not None:
            imported = session.ledger.apply(path, imported)
        _add_without_trace(path, imported, session, importer)
        return
    session.fail_or(error.diagnostic(path, _severity(error, piece.given)))


def _add_without_trace(
    path: str, imported: Imported, session: _Session, importer: Importer = BARE_OUTCOME
) -> None:
    digest = hashlib.sha256(b"").hexdigest()
    rule = "outcome only" if importer is BARE_OUTCOME else "an empty file with its name"
    session.units.append(_unit(path, importer, rule, digest, imported))
    for diagnostic in imported.diagnostics:
        session.fail_or(diagnostic)


def _add_absent(session: _Session) -> None:
    """Trials that the manifest knows and whose files are not there."""
    if session.ledger is not None:
        for path, imported in session.ledger.absent_files(unit.path for unit in session.units):
            _add_without_trace(path, imported, session)


def _reported_without_trial(units: Sequence[Unit]) -> Iterator[Diagnostic]:
    """A warning for a report that judges tasks of which no trial was read."""
    there = {trial.task_id for unit in units for trial in unit.imported.trials}
    for unit in units:
        lacking = natural({name for name in unit.imported.reported if name not in there})
        if lacking:
            more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
            count = "1 task" if len(lacking) == 1 else f"{len(lacking)} tasks"
            yield Diagnostic(
                severity=Severity.WARNING,
                slug="reported_without_trial",
                message=f"the report and the trials do not match: it judges {count} of which no trial was read",
                path=unit.path,
                details=(f"{', '.join(lacking[:_NAMED])}{more}", "they are not counted: no trial, no outcome"),
            )


#: A file of a folder that is no JSON by its name and none by its content is a stray file, not a broken log.
_STRAY = frozenset({"not_json", "binary_file", "not_a_log", "archive"})
_JSON_NAME = re.compile(r"\.(json|jsonl|ndjson)(\.gz)?$", re.IGNORECASE)


def _severity(error: Unreadable, given: Given) -> Severity:
    stray = error.slug in _STRAY and not given.named and not _JSON_NAME.search(given.path)
    stray = stray or (error.slug == "no_trajectories" and not given.named)
    return Severity.WARNING if stray else Severity.ERROR


def _hash(document: Document, piece: Piece) -> str:
    """SHA-256 of the file; with companions, of the list of all their hashes."""
    if not piece.members:
        return document.sha256
    total = hashlib.sha256(document.sha256.encode())
    for member in piece.members:
        try:
            with open(member, "rb") as stream:  # noqa: PTH123
                total.update(hashlib.file_digest(stream, "sha256").digest())
        except OSError:
            total.update(b"-")
    return total.hexdigest()


def _input_file(unit: Unit) -> InputFile:
    return InputFile(
        path=unit.path,
        format=unit.title,
        sha256=unit.sha256,
        tasks=len({(trial.suite, trial.task_id) for trial in unit.imported.trials}),
        trials=len(unit.imported.trials),
        recognised_by=unit.rule,
        producer=unit.imported.producer,
    )


# When there is nothing, or not enough


def _nothing(paths: Sequence[str], session: _Session) -> InputError:
    problems = [one for one in session.diagnostics if one.severity is not Severity.NOTE]
    if len(problems) == 1 and len(paths) == 1:
        return as_error(replace(problems[0], path=problems[0].path or paths[0]))
    details = []
    for unit in session.units:
        details.append(f"{unit.path}: {unit.title} without any trial")
    for problem in problems[:5]:
        details.append(f"{problem.path}: {problem.message}")
    if len(problems) > 5:
        details.append(f"and {len(problems) - 5} more")
    if not details:
        details.append("no files were found")
    return InputError(f"nothing to compare in {', '.join(sorted(paths, key=natural_key)[:5])}", *details)


def _refuse_gaps(corpus: Corpus) -> None:
    unscored = [
        f"{task.task_id}/{trial.trial_id}"
        for task in corpus.tasks
        for trial in task.trials
        if trial.verdict is Verdict.UNSCORED
    ]
    missing = [f"{task.task_id}/{slot}" for task in corpus.tasks for slot in task.missing]
    for what, refs in (("has no verdict", unscored), ("is missing", missing)):
        if refs:
            more = f", and {len(refs) - 5} more" if len(refs) > 5 else ""
            count = f"{len(refs)} trial{'s' if len(refs) > 1 else ''}"
            verb = what if len(refs) == 1 else what.replace("has", "have").replace("is", "are")
            raise InputError(
                f"{count} {verb}", ", ".join(refs[:5]) + more, "--strict asks for a verdict of every trial"
            )
