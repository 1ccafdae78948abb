"""What a mapping finds in files: coverage of every key, what no rule fits, and the first trial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from trajdiff.errors import InputError, UsageError
from trajdiff.frozen import replace
from trajdiff.importers.gathering import gather
from trajdiff.importers.jsontext import BadJsonError
from trajdiff.importers.mapping import mapped_importer, read_mapped
from trajdiff.importers.mapping_draft import draft_mapping
from trajdiff.importers.mapping_values import Coverage
from trajdiff.importers.opening import open_document
from trajdiff.importers.own_record import record_of
from trajdiff.importers.protocol import Imported, ReadOptions, Unreadable
from trajdiff.model import Diagnostic, Severity, Trial


class KeyCoverage(Struct, frozen=True, kw_only=True):
    """One key of a mapping: its expression, in how many trajectories it gave a value, and the first value."""

    key: str
    expression: str
    found: int
    null: int
    example: str | None


class MapCheck(Struct, frozen=True, kw_only=True):
    """What a mapping finds in one file.

    ``entries`` counts the entries of all trajectories; ``unmatched`` are those that no rule fits and
    ``left_out`` the records without a trial, as place and beginning. ``record`` is the first trial in the
    project's own format.
    """

    path: str
    mapping: str
    records: int = 0
    trials: int = 0
    entries: int = 0
    keys: tuple[KeyCoverage, ...] = ()
    unmatched: tuple[tuple[str, str], ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    first: Trial | None = None
    record: dict[str, Any] | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every record gave a trial and every entry a step, and nothing was wrong."""
        wrong = any(one.severity is Severity.ERROR for one in self.diagnostics)
        return self.trials > 0 and not (self.unmatched or self.left_out or wrong)


def check_mapping(paths: Sequence[str], options: ReadOptions) -> tuple[MapCheck, ...]:
    """Check the mapping of ``options.map``, or the only one of the settings, against every file.

    Raises ``UsageError`` without a mapping and ``InputError`` without a file.
    """
    name = options.map or _only(options)
    importer = mapped_importer(name, options.maps, options.maps_origin)
    gathered = gather(paths)
    if not gathered.files:
        problem = next((one for one in gathered.diagnostics if one.severity is Severity.ERROR), None)
        raise InputError(f"{problem.path}: {problem.message}" if problem else "no files were found")
    checked = []
    for given in gathered.files:
        empty = MapCheck(path=given.path, mapping=name)
        try:
            document = open_document(given.path, options.stdin)
            imported, coverage = read_mapped(importer.rules, document, options)
        except Unreadable as error:
            checked.append(replace(empty, diagnostics=(error.diagnostic(given.path),)))
            continue
        except (BadJsonError, RecursionError):
            unread = Unreadable("not_json", "cannot be read: not JSON, or nested too deeply")
            checked.append(replace(empty, diagnostics=(unread.diagnostic(given.path),)))
            continue
        checked.append(_checked(empty, imported, coverage))
    return tuple(checked)


def draft_for(path: str, stdin: bytes | None = None) -> str:
    """A draft of a mapping for a file. Raises ``InputError`` if it cannot be read."""
    try:
        return draft_mapping(open_document(path, stdin))
    except Unreadable as error:
        raise InputError(f"{path}: {error.message}", *error.details) from None


def _only(options: ReadOptions) -> str:
    names = sorted(options.maps)
    if len(names) == 1:
        return names[0]
    if names:
        raise UsageError("several mappings in the settings", f"choose one with --map: {', '.join(names)}")
    raise UsageError(
        "no mapping in the settings",
        "trajdiff map draft FILE writes one to start from: trajdiff map draft FILE > trajdiff.toml",
    )


def _checked(empty: MapCheck, imported: Imported, coverage: Coverage) -> MapCheck:
    keys = tuple(
        KeyCoverage(
            key=key,
            expression=expression,
            found=coverage.found.get(key, 0),
            null=coverage.null.get(key, 0),
            example=coverage.examples.get(key),
        )
        for key, expression in coverage.expressions.items()
    )
    first = imported.trials[0] if imported.trials else None
    record = None
    if first is not None:
        plan = imported.plans[0]
        record = record_of(first, plan.task, plan.expected_n)
    return replace(
        empty,
        records=coverage.records,
        trials=coverage.trials,
        entries=coverage.entries,
        keys=keys,
        unmatched=tuple(coverage.unmatched),
        left_out=tuple(coverage.left_out),
        first=first,
        record=record,
        diagnostics=imported.diagnostics,
    )
