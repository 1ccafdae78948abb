"""Reads any JSON layout by a mapping of the settings: expressions onto the canonical record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from shlex import quote
from typing import Any

from msgspec import Struct, field

from trajdiff.errors import UsageError
from trajdiff.importers.bare import tell_unread
from trajdiff.importers.document import Document, Record
from trajdiff.importers.expressions import Item, Places, Scope
from trajdiff.importers.jsontext import BadJsonError, compact
from trajdiff.importers.mapping_rules import MappingRules, compile_mapping
from trajdiff.importers.mapping_trial import MappedTrial, mapped_trial
from trajdiff.importers.mapping_values import Coverage, Reader
from trajdiff.importers.naming import place_of, shortened
from trajdiff.importers.notices import Notices
from trajdiff.importers.protocol import Claim, Imported, Peek, ReadOptions, Shape, Source, Unreadable
from trajdiff.model import Severity, Trial


class MappedImporter(Struct, frozen=True):
    """An importer made from a mapping; ``--map NAME`` forces it."""

    rules: MappingRules
    name: str
    title: str
    recognised_by: str
    record_schema: str | None = None

    def sniff(self, peek: Peek) -> Claim | None:
        """A file with the keys of ``recognise`` whose path fits ``files``."""
        if peek.shape in (Shape.FOLDER, Shape.ARCHIVE) or not _fits(peek.path, self.rules.files):
            return None
        keys = self.rules.recognise
        if keys and not any(head.has(*keys) for head in peek.heads):
            return None
        return Claim(rule=f"records with {', '.join(keys)}" if keys else f"--map {self.name}")

    def records(self, document: Document) -> Iterable[Record]:
        """There is no schema to check them against."""
        return document.records()

    def read(self, source: Source, options: ReadOptions) -> Imported:
        """Every trajectory that names a task is a trial."""
        return read_mapped(self.rules, source.document, options)[0]


def _fits(path: str, pattern: str | None) -> bool:
    if pattern is None or path == "-":
        return True
    wanted = pattern.replace("**/", "*")
    return fnmatchcase(path, wanted) or fnmatchcase(path, f"*/{wanted}")


def mapped_importer(name: str, maps: Mapping[str, Mapping[str, Any]], origin: str) -> MappedImporter:
    """The importer of the mapping ``name`` of the settings, or of one that comes with the package."""
    from trajdiff.importers.shipped import shipped_names, shipped_table

    if name in maps:
        table: Mapping[str, Any] = maps[name]
    elif name in shipped_names():
        table, origin = shipped_table(name), "shipped mapping"
    else:
        known = ", ".join(sorted({*maps, *shipped_names()}))
        raise UsageError(
            f'no mapping "{shortened(name, 40)}"',
            f"known: {known}",
            f"write it as [map.{shortened(name, 40)}] into the settings; trajdiff map draft FILE makes one",
        )
    return importer_of(compile_mapping(name, table, origin))


def importer_of(rules: MappingRules) -> MappedImporter:
    """The importer that follows these rules."""
    keys = ", ".join(rules.recognise)
    return MappedImporter(
        rules=rules,
        name=rules.name,
        title=f"mapping {rules.name}",
        recognised_by=f"records with {keys}" if keys else f"asked for with --map {rules.name}",
    )


class _Reading(Struct, kw_only=True):
    """What one file gives on the way."""

    rules: MappingRules
    document: Document
    options: ReadOptions
    reader: Reader
    found: list[MappedTrial] = field(default_factory=list)
    unread: int = 0

    def leave_out(self, problem: str, place: str, value: Any) -> None:
        """Tell that a record gives no trial."""
        self.unread += 1
        self.reader.coverage.left_out.append((place, shortened(compact(value), 100)))
        tell_unread(self.document.notices, problem, place)


def read_mapped(rules: MappingRules, document: Document, options: ReadOptions) -> tuple[Imported, Coverage]:
    """Read a file by a mapping, and count what was found in it. Raises ``Unreadable`` if nothing was."""
    coverage = Coverage()
    reading = _Reading(
        rules=rules, document=document, options=options, reader=Reader(document.notices, coverage)
    )
    for root, pointer, line in _roots(reading):
        places = Places(root, pointer)
        for number, item in enumerate(_trajectories(rules, root)):
            coverage.records += 1
            _read_trajectory(reading, item, number, root, places, line)
    coverage.trials = len(reading.found)
    if coverage.records == 0 and reading.unread == 0:
        raise _nothing(rules, document)
    _tell_unmatched(coverage, document.notices)
    trials: tuple[Trial, ...] = tuple(one.trial for one in reading.found)
    imported = Imported(
        trials=trials,
        plans=tuple(one.plan for one in reading.found),
        diagnostics=document.notices.all(),
        unread=reading.unread,
    )
    return imported, coverage


def _roots(reading: _Reading) -> Iterator[tuple[Any, str, int | None]]:
    """The documents of a file with pointer and line: each line, or the whole."""
    document = reading.document
    if document.shape is Shape.LINES:
        for record in document.records():
            value = _decoded(record, reading)
            if value is not None:
                yield value, record.pointer, record.line
        return
    if document.shape is Shape.ARRAY:
        yield [_decoded(record, reading) for record in document.records()], "$", None
        return
    for record in document.records():
        value = _decoded(record, reading)
        if value is not None:
            yield value, "$", None


def _decoded(record: Record, reading: _Reading) -> Any:
    try:
        return record.decode()
    except BadJsonError as error:
        reading.leave_out(f"a record cannot be read: {error.problem}", record.place, None)
        return None


def _trajectories(rules: MappingRules, root: Any) -> list[Item]:
    if rules.trajectories is not None:
        return rules.trajectories.items(Scope(root=root, record=root, trial=root, here=root))
    entries = root if isinstance(root, list) else [root]
    return [Item(value=one, source=one, outermost=one) for one in entries if one is not None]


def _read_trajectory(
    reading: _Reading, item: Item, number: int, root: Any, places: Places, line: int | None
) -> None:
    pointer = places.of(item.source) or f"$[{number}]"
    place = place_of(pointer, line)
    reading.reader.place = place
    # Of JSONL a record is a line, whatever lies inside it.
    record = root if line is not None else item.outermost
    parent = root if item.parent is None else item.parent
    scope = Scope(root=root, record=record, trial=item.value, here=item.value, parent=parent)
    if not isinstance(item.value, dict | list):
        reading.leave_out("a trajectory is not an object", place, item.value)
        return
    trial = mapped_trial(
        reading.rules,
        scope,
        places,
        reading.reader,
        path=reading.document.path,
        pointer=pointer,
        line=line,
        options=reading.options,
    )
    if trial is None:
        expression = reading.rules.fields["task"].expression.text
        reading.leave_out(f"a trajectory has no task ({expression} gives nothing)", place, item.value)
        return
    reading.found.append(trial)


def _nothing(rules: MappingRules, document: Document) -> Unreadable:
    expression = rules.trajectories.text if rules.trajectories is not None else "the file"
    return Unreadable(
        "no_trajectories",
        f"the mapping {rules.name} finds no trajectory in it",
        f"trajectories: {expression} gives nothing",
        f"trajdiff map check {quote(document.path)} --map {rules.name} shows what is found",
    )


def _tell_unmatched(coverage: Coverage, notices: Notices) -> None:
    count = len(coverage.unmatched)
    if count:
        what = "entry fits" if count == 1 else "entries fit"
        notices.add(
            Severity.WARNING,
            "unmatched_entry",
            f"{count} {what} no rule of steps; kept as {'it is' if count == 1 else 'they are'}",
            *(f"{place}: {start}" for place, start in coverage.unmatched[:3]),
        )
