"""Lets an importer read an opened file, and tells what holds for every format.

A value too deep for an importer costs one record, not the file; a trial without steps is told whoever read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from trajdiff.frozen import replace
from trajdiff.importers.document import Document
from trajdiff.importers.opening import open_document
from trajdiff.importers.protocol import Imported, Importer, ReadOptions, Source
from trajdiff.importers.registry import importers
from trajdiff.model import Diagnostic, Severity, Trial

#: What readers say themselves about a trial without steps.
_TOLD = frozenset({"no_messages", "no_steps", "no_trajectory", "no_trace", "empty_trace"})
_SHOWN = 8


def read_file(importer: Importer, document: Document, members: Sequence[str], options: ReadOptions) -> Imported:
    """What a file and its companions hold. Raises ``Unreadable``, ``BadJsonError`` and ``RecursionError``."""
    try:
        source = Source(document=document, members=tuple(members), open=open_document)
        imported = importer.read(source, options)
    except RecursionError:
        # Readers walk values recursively. To look for depth beforehand would cost every good file its time.
        again = open_document(document.path, options.stdin, shallow=True)
        source = Source(document=again, members=tuple(members), open=partial(open_document, shallow=True))
        imported = importer.read(source, options)
    return _with_note_on_steps(imported, document.path)


def read_empty(path: str) -> tuple[Importer, Imported] | None:
    """The trial that an empty file stands for, where its name says whose it is; None for any other file."""
    for importer in importers():
        empty_trial = getattr(importer, "empty_trial", None)
        imported = empty_trial(path) if empty_trial is not None else None
        if imported is not None:
            return importer, imported
    return None


def _with_note_on_steps(imported: Imported, path: str) -> Imported:
    """A trial without steps keeps its verdict and cannot be compared: told once a file."""
    told = {(one.task_id, one.trial_id) for one in imported.diagnostics if one.slug in _TOLD}
    bare = [
        trial
        for trial in imported.trials
        if not trial.comparable and (trial.task_id, trial.trial_id or None) not in told
    ]
    if not bare:
        return imported
    count = "1 trial holds" if len(bare) == 1 else f"{len(bare)} trials hold"
    more = ", …" if len(bare) > _SHOWN else ""
    note = Diagnostic(
        severity=Severity.NOTE,
        slug="no_steps",
        message=f"{count} no steps: {', '.join(_name(trial) for trial in bare[:_SHOWN])}{more}",
        path=path,
        details=("kept with verdict, counted in pass^k and not compared",),
        task_id=bare[0].task_id if len(bare) == 1 else None,
        trial_id=(bare[0].trial_id or None) if len(bare) == 1 else None,
    )
    return replace(imported, diagnostics=(*imported.diagnostics, note))


def _name(trial: Trial) -> str:
    return f"{trial.task_id}/{trial.trial_id}" if trial.trial_id else trial.task_id
