"""Other names of an identifier: what its record has and no record beside it has.

People speak of "the one for 25.90", not of record 10077. A value that only one record of a result holds stands
for that record's identifier when a message states it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from trajdiff.align.prepared import PreparedStep
from trajdiff.align.readings import Reading
from trajdiff.align.values import is_identifier, leaves, names_reference, parse_embedded

Leaf = tuple[str, str]
#: Results with more records than this are catalogues nobody reads out; they are passed over.
MAX_RECORDS = 400
#: A value that is the only one of its kind among fewer records than this says nothing.
MIN_RECORDS = 2


def aliases(steps: Iterable[PreparedStep]) -> Mapping[str, frozenset[Leaf]]:
    """Identifier to the (path, value) leaves that single its record out, over the results of the calls."""
    readings: dict[int, Mapping[str, frozenset[Leaf]]] = {}
    for step in steps:
        if step.is_call and not step.failed and step.reading is not None:
            readings.setdefault(id(step.reading), _records(step.reading))
    return _Aliases([found for found in readings.values() if found])


class _Aliases(Mapping[str, frozenset[Leaf]]):
    """What several results say, put together for the identifiers that are asked about."""

    def __init__(self, parts: Sequence[Mapping[str, frozenset[Leaf]]]) -> None:
        self._parts = parts

    def __getitem__(self, identifier: str) -> frozenset[Leaf]:
        found = [part[identifier] for part in self._parts if identifier in part]
        if not found:
            raise KeyError(identifier)
        return frozenset().union(*found)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(identifier for part in self._parts for identifier in part))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _records(reading: Reading) -> Mapping[str, frozenset[Leaf]]:
    """The aliases in one result, worked out once."""
    known: Mapping[str, frozenset[Leaf]] | None = reading.memo.get("aliases")
    if known is None:
        found: dict[str, set[Leaf]] = {}
        for records in _groups(reading.value):
            for identifier, own in _singled_out(records):
                found.setdefault(identifier, set()).update(own)
        known = reading.memo["aliases"] = {identifier: frozenset(own) for identifier, own in found.items()}
    return known


def _groups(value: Any, depth: int = 0) -> Iterator[Sequence[tuple[str | None, Mapping[str, Any]]]]:
    """Groups of records that stand beside each other: objects in a list, or under the keys of an object."""
    value = parse_embedded(value)
    if depth > 8 or not isinstance(value, (dict, list)):
        return
    items = list(value.items()) if isinstance(value, dict) else [(None, item) for item in value]
    records = [(key, item) for key, item in items if isinstance(item, dict)]
    if MIN_RECORDS <= len(records) <= MAX_RECORDS:
        yield records
    for _, item in items:
        yield from _groups(item, depth + 1)


def _singled_out(
    records: Sequence[tuple[str | None, Mapping[str, Any]]],
) -> Iterator[tuple[str, frozenset[Leaf]]]:
    all_leaves = [tuple(leaves(record)) for _, record in records]
    times = Counter(leaf for found in all_leaves for leaf in set(found))
    for (key, _), found in zip(records, all_leaves, strict=True):
        ids = {value for path, value in found if is_identifier(value) and _names_record(path)}
        if key is not None and is_identifier(key):
            ids.add(key.casefold())
        own = frozenset(
            (path, value)
            for path, value in found
            if times[(path, value)] == 1 and value not in ids and value not in ("true", "false", "null")
        )
        for identifier in sorted(ids):
            yield identifier, own


def _names_record(path: str) -> bool:
    # The record's own identifier stands at its top level; deeper ones belong to records inside it.
    return "." not in path and "[" not in path and names_reference(path)
