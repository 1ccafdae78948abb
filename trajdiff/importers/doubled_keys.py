"""Finds keys that occur twice in one object; the fast decoder lets the last one win without a word.

For checking files only: it decodes every text once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from trajdiff.importers.archive import BadMemberError
from trajdiff.importers.document import Document, Record
from trajdiff.importers.jsontext import BadJsonError, Doubles, bytes_to_text, tolerant
from trajdiff.importers.protocol import Shape


def doubled_keys(document: Document) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Places of a file (a record where it is one, else ``$``) with the keys that occur twice there."""
    if document.archive is not None:
        yield from _in_archive(document)
    elif document.shape is not Shape.OBJECT:
        yield from _in_records(document.records())
    elif whole := _doubles(document.data):
        found = [one for key in document.fields for one in _in_records(document.items(key) or ())]
        inner = {key for _, keys in found for key in keys}
        yield from found
        if rest := tuple(key for key in whole if key not in inner):
            yield "$", rest


def _in_archive(document: Document) -> Iterator[tuple[str, tuple[str, ...]]]:
    assert document.archive is not None
    for name in sorted(document.archive.members):
        if name.endswith(".json"):
            try:
                keys = _doubles(document.archive.read(name))
            except BadMemberError:
                continue  # reading tells it
            if keys:
                yield name, keys


def _in_records(records: Iterable[Record]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for record in records:
        if not record.decoded and (keys := _doubles(record.raw)):
            yield record.place, keys


def _doubles(raw: bytes | msgspec.Raw) -> tuple[str, ...]:
    doubles = Doubles()
    try:
        tolerant(bytes_to_text(bytes(raw))[0], doubles)
    except BadJsonError:
        return ()  # reading tells it
    return tuple(dict.fromkeys(doubles.keys))
