"""What the user gives beside the traces: the importer that is forced, mappings that recognise, side files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from msgspec import Struct

from trajdiff.errors import UsageError
from trajdiff.importers.document import Document, Record
from trajdiff.importers.gathering import Given
from trajdiff.importers.ledger import SETTLED, Ledger
from trajdiff.importers.protocol import Claim, Imported, Importer, Peek, ReadOptions, Source, Unreadable
from trajdiff.importers.registry import importer_named
from trajdiff.model import Diagnostic, Trial, Verdict


def forced_importer(options: ReadOptions) -> Importer | None:
    """The importer of ``--from`` or ``--map``. Raises ``UsageError`` for unknown names, and for both."""
    if options.format and options.map:
        raise UsageError("--from and --map exclude each other")
    if options.map:
        from trajdiff.importers.mapping import mapped_importer

        return mapped_importer(options.map, options.maps, options.maps_origin)
    return importer_named(options.format) if options.format else None


def recognising(options: ReadOptions) -> tuple[Importer, ...]:
    """Mappings of the settings that say by which keys a file is theirs."""
    if options.format or options.map:
        return ()
    names = sorted(name for name, table in options.maps.items() if table.get("recognise"))
    if not names:
        return ()
    from trajdiff.importers.mapping import mapped_importer

    return tuple(mapped_importer(name, options.maps, options.maps_origin) for name in names)


def without_side_files(files: Sequence[Given], ledger: Ledger | None) -> list[Given]:
    """The files to read without those that hold the outcomes."""
    ours = set() if ledger is None else {os.path.realpath(path) for path in ledger.files}
    return [given for given in files if given.identity not in ours]


def settled_after_join(diagnostics: Iterable[Diagnostic], trials: Iterable[Trial]) -> list[Diagnostic]:
    """The diagnostics without those about outcomes that a row supplied in the meantime."""
    by_path: dict[str, list[Trial]] = {}
    for trial in trials:
        by_path.setdefault(trial.source.path, []).append(trial)

    def still_open(one: Diagnostic) -> bool:
        if one.slug not in SETTLED:
            return True
        about = by_path.get(one.path or "", [])
        named = [trial for trial in about if (trial.task_id, trial.trial_id) == (one.task_id, one.trial_id)]
        return not about or any(trial.verdict is Verdict.UNSCORED for trial in named or about)

    return [one for one in diagnostics if still_open(one)]


class _BareOutcome(Struct, frozen=True):
    """Stands for the reader of trials of which only the outcome is known."""

    name: str = "outcome"
    title: str = "outcome without a trace"
    recognised_by: str = "a row of --outcomes"
    record_schema: str | None = None

    def sniff(self, peek: Peek) -> Claim | None:
        """Claims no file."""
        return None

    def records(self, document: Document) -> Iterable[Record]:
        """There are none."""
        return ()

    def read(self, source: Source, options: ReadOptions) -> Imported:
        """There is nothing to read."""
        raise Unreadable("no_trace", "there is no trace to read")


BARE_OUTCOME = _BareOutcome()
