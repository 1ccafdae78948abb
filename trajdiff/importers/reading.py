"""Lets an importer read an opened file; a value too deep for it costs one record, not the file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from trajdiff.importers.document import Document
from trajdiff.importers.opening import open_document
from trajdiff.importers.protocol import Imported, Importer, ReadOptions, Source


def read_file(importer: Importer, document: Document, members: Sequence[str], options: ReadOptions) -> Imported:
    """What a file and its companions hold. Raises ``Unreadable``, ``BadJsonError`` and ``RecursionError``."""
    try:
        return importer.read(Source(document=document, members=tuple(members), open=open_document), options)
    except RecursionError:
        # Readers walk values recursively. To look for depth beforehand would cost every good file its time.
        again = open_document(document.path, options.stdin, shallow=True)
        opener = partial(open_document, shallow=True)
        return importer.read(Source(document=again, members=tuple(members), open=opener), options)
