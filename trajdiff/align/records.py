"""Other names of an identifier: what its record has and no record beside it has.

People speak of "the one for 25.90", not of record 10077. A value that only one record of a result holds stands
for that record's identifier when a message states it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from trajdiff.align.prepared import PreparedStep
from trajdiff.align.values import is_identifier, leaves, names_reference, parse_embedded

Leaf = tuple[str, str]
#: Results with more records than this are catalogues nobody reads out; they are passed over.
MAX_RECORDS = 400
#: A value that is the only one of its kind among fewer records than this says nothing.
MIN_RECORDS = 2


def aliases(steps: Iterable[PreparedStep]) -> dict[str, frozenset[Leaf]]:
    """Identifier to the (path, value) leaves that single its record out, over the results of the calls."""
    found: dict[str, set[Leaf]] = {}
    for step in steps:
        if step.is_call and not step.failed:
            for records in _groups(step.result):
                for identifier, own in _singled_out(records):
                    found.setdefault(identifier, set()).update(own)
    return {identifier: frozenset(own) for identifier, own in found.items()}


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
