"""Makes an importer of a shipped mapping, so that its files are recognised by themselves."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from trajdiff.importers.document import Document, Record
from trajdiff.importers.protocol import Claim, Imported, Peek, ReadOptions, Shape, Source
from trajdiff.importers.shipped import shipped_table

if TYPE_CHECKING:
    from trajdiff.importers.mapping import MappedImporter


class ShippedImporter(Struct, frozen=True):
    """An importer that is a shipped mapping; expressions are compiled when the first file is read."""

    name: str
    title: str
    recognised_by: str
    record_schema: str | None = None

    def sniff(self, peek: Peek) -> Claim | None:
        """A file whose records have the keys of ``recognise``."""
        keys = tuple(shipped_table(self.name)["recognise"])
        if peek.shape in (Shape.FOLDER, Shape.ARCHIVE) or not any(head.has(*keys) for head in peek.heads):
            return None
        return Claim(rule=f"records with {', '.join(keys)}")

    def records(self, document: Document) -> Iterable[Record]:
        """There is no schema to check them against."""
        return document.records()

    def read(self, source: Source, options: ReadOptions) -> Imported:
        """Read by the mapping."""
        return _compiled(self.name).read(source, options)


@cache
def _compiled(name: str) -> MappedImporter:
    from trajdiff.importers.mapping import importer_of
    from trajdiff.importers.mapping_rules import compile_mapping

    return importer_of(compile_mapping(name, shipped_table(name), "shipped mapping"))
