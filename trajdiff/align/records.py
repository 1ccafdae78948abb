"""Other names of an identifier: what its record has and no record beside it has.

People speak of "the one for 25.90", not of record 10077. A value that only one record of a result holds stands
for that record's identifier when a message states it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any

from trajdiff.align.memo import once
from trajdiff.align.prepared import PreparedTrial
from trajdiff.align.readings import Reading
from trajdiff.align.values import (
    FEW_KEYS,
    canonical,
    is_identifier,
    is_volatile,
    leaves,
    names_reference,
    parse_embedded,
)

Leaf = tuple[str, str]
#: Objects that stand beside each other, each with its key where they stand in an object.
Group = Sequence[tuple[str | None, Mapping[str, Any]]]
#: Results with more records than this are catalogues nobody reads out; they are passed over.
MAX_RECORDS = 400
#: A value that is the only one of its kind among fewer records than this says nothing.
MIN_RECORDS = 2
#: Records stand less deep than this.
MAX_DEPTH = 8


def aliases(trial: PreparedTrial, identifier: str) -> frozenset[Leaf]:
    """The (path, value) leaves that single out the record of an identifier, over the results of a trial."""
    if not is_identifier(identifier):
        return frozenset()
    known: dict[str, frozenset[Leaf]] = trial.memo.setdefault("aliases", {})
    found = known.get(identifier)
    if found is None:
        groups = [group for one in _indices(trial) for group in one.get(identifier, ())]
        found = known[identifier] = frozenset[Leaf]().union(*(group.own[identifier] for group in groups))
    return found


@once
def _indices(trial: PreparedTrial) -> Sequence[Mapping[str, Sequence[_Records]]]:
    """The records of each result of the trial, where there are any."""
    calls = (step for step in trial.steps if step.is_call and not step.failed)
    readings = {id(step.reading): step.reading for step in calls if step.reading is not None}
    return [found for one in readings.values() if (found := _index(one))]


class _Records:
    """Records that stand beside each other."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._own: Mapping[str, frozenset[Leaf]] | None = None

    @property
    def own(self) -> Mapping[str, frozenset[Leaf]]:
        """Identifier to what its record has and no other: worked out only where somebody asks for a record."""
        if self._own is None:
            found: dict[str, frozenset[Leaf]] = {}
            for identifier, own in _singled_out(self._group):
                found[identifier] = found.get(identifier, frozenset()) | own
            self._own = found
        return self._own


@once
def _index(reading: Reading) -> Mapping[str, Sequence[_Records]]:
    """Identifier to the groups of records of one result that hold it."""
    found: dict[str, list[_Records]] = {}
    for group in _groups(reading.value):
        records = _Records(group)
        for identifier in frozenset[str]().union(*(_ids(key, record) for key, record in group)):
            found.setdefault(identifier, []).append(records)
    return found


def _groups(value: Any) -> Iterator[Group]:
    """Groups of records that stand beside each other: objects in a list, or under the keys of an object."""
    rest = [(value, 0)]
    while rest:
        value, depth = rest.pop()
        if isinstance(value, str):
            value = parse_embedded(value)
        if isinstance(value, dict):
            items: Iterable[tuple[str | None, Any]] = value.items()
        elif isinstance(value, list):
            items = zip(repeat(None), value)
        else:
            continue
        records: list[tuple[str | None, Mapping[str, Any]]] = []
        for key, item in items:
            kind = type(item)
            if kind is dict:
                records.append((key, item))
            elif kind is not list and not (kind is str and not item[:1].isalnum()):
                continue  # most texts hold no records: their first character decides
            if depth < MAX_DEPTH:
                rest.append((item, depth + 1))
        if MIN_RECORDS <= len(records) <= MAX_RECORDS:
            yield records


def _ids(key: str | None, record: Mapping[str, Any]) -> set[str]:
    """What a record is called: its own identifiers stand at its top level (deeper ones belong to records inside
    it), or it stands under its identifier."""
    if "" in record:  # what stands under no name stands at the top level
        ids = {value for path, value in leaves(record) if is_identifier(value) and _names_record(path)}
    else:
        few = len(record) <= FEW_KEYS
        items = (parse_embedded(record[name]) for name in (_names if few else _own_names)(tuple(record)))
        scalars = (canonical(x) for x in items if x is not None and not isinstance(x, (dict, list, tuple)))
        ids = {value for value in scalars if is_identifier(value)}
    if key is not None and is_identifier(str(key)):
        ids.add(str(key).casefold())
    return ids


def _own_names(names: tuple[Any, ...]) -> tuple[Any, ...]:
    """The names of a record under which its own identifiers stand."""
    return tuple(name for name in names if _names_record(str(name)) and not is_volatile(str(name)))


#: Most records have the names of others.
_names = lru_cache(maxsize=4096)(_own_names)


def _singled_out(records: Group) -> Iterator[tuple[str, frozenset[Leaf]]]:
    all_leaves = [tuple(leaves(record)) for _, record in records]
    times = Counter(leaf for found in all_leaves for leaf in set(found))
    for (key, record), found in zip(records, all_leaves, strict=True):
        ids = _ids(key, record)
        own = frozenset(
            (path, value)
            for path, value in found
            if times[(path, value)] == 1 and value not in ids and value not in ("true", "false", "null")
        )
        for identifier in sorted(ids):
            yield identifier, own


def _names_record(path: str) -> bool:
    return "." not in path and "[" not in path and names_reference(path)
