"""The canonical form of values: what counts as the same argument, result or stated value.

A canonical value is a string, so that equality and hashing are cheap and order is total. The rules:
stringified JSON and literals are parsed; numbers compare by value (1 = 1.0, true is not
1); case, white space and width of text are folded; key order does not matter; lists of identifiers or objects
are multisets; parallel lists are zipped; volatile values (request ids, timestamps of the call) are dropped.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import repeat
from typing import Any

from trajdiff.align.language import fold

_NUMBER = re.compile(r"-?(0|[1-9]\d{0,17})(\.\d{1,12})?")
_STARTS = frozenset("-0123456789")
_DIGIT = re.compile(r"[0-9]")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
#: Keys whose values change with every call without meaning anything to the task.
_VOLATILE = frozenset(
    {
        ("request", "id"), ("trace", "id"), ("span", "id"), ("call", "id"), ("tool", "call", "id"),
        ("correlation", "id"), ("idempotency", "key"), ("nonce",), ("timestamp",), ("request", "time"),
    }
)  # fmt: skip
#: Deeper nesting than any argument needs; beyond it text is compared as it stands.
MAX_DEPTH = 24
#: Longer texts are seldom met again; remembering them would hold the log in memory.
_REMEMBERED = 200
#: Objects of more keys are seldom of a kind that is met again.
FEW_KEYS = 32
#: Whole numbers below this are written the same way in any case.
_PLAIN_INTEGERS = 10**18
#: What a text that holds an object or list ends in, but for white space.
_CLOSING = frozenset("]}")


@lru_cache(maxsize=16384)
def words(name: str) -> tuple[str, ...]:
    """The words of an identifier in lower case: ``getOrder_v2`` gives get, order, v, 2."""
    return tuple(match.casefold() for match in _WORD.findall(name))


def parse_embedded(value: Any) -> Any:
    """A string that holds a JSON or Python object or list, parsed; anything else as it is."""
    if not isinstance(value, str) or value[:1].isalnum():  # most texts: decided by their first character
        return value
    text = value.strip()
    if not text or text[0] not in "[{" or text[-1] not in "]}":
        return value
    for parse in (json.loads, ast.literal_eval):
        try:
            parsed = parse(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        if isinstance(parsed, (dict, list)):
            return parsed
    return value


def number(value: float | int | str) -> str | None:
    """The canonical text of a number (1, 1.0 and "1.00" give ``1``), or None where it is not one."""
    if isinstance(value, str):
        if value[:1] not in _STARTS or not _NUMBER.fullmatch(value):
            return None
        return _plain(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return _plain(str(value))


@lru_cache(maxsize=32768)
def _plain(digits: str) -> str | None:
    try:
        decimal = Decimal(digits).normalize()
    except InvalidOperation:
        return None
    return "0" if decimal == 0 else format(decimal, "f")


def canonical(value: Any, ignore: tuple[str, ...] = (), path: str = "", depth: int = 0) -> str:
    """The canonical string of a value; ``ignore`` holds glob patterns of paths that are left out."""
    scalar = _scalar(value)
    if scalar is not None:
        return scalar
    if isinstance(value, str):
        value = parse_embedded(value)
        if isinstance(value, str):
            return _canonical_text(value)
    if depth >= MAX_DEPTH:
        return repr(value)
    if isinstance(value, (dict, Mapping)):
        return _canonical_object(value, ignore, path, depth)
    if isinstance(value, (list, tuple)):
        inner = f"{path}[]" if ignore else ""  # where nothing is ignored no path is asked for
        items = [canonical(item, ignore, inner, depth + 1) for item in value]
        return "[" + ",".join(items if _is_ordered(value) else sorted(items)) + "]"
    return _canonical_text(str(value))


def _scalar(value: Any) -> str | None:
    """The canonical string of most values that hold no others; None where that is not seen at once."""
    kind = type(value)
    if kind is str:
        last = value[-1:]
        if value[:1].isalnum() or not (last in _CLOSING or last.isspace()):
            return _canonical_text(value)
        return None
    if kind is int and -_PLAIN_INTEGERS < value < _PLAIN_INTEGERS:
        return str(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return number(value) or str(value) if isinstance(value, (int, float)) else None


@lru_cache(maxsize=16384)
def is_volatile(key: str) -> bool:
    """Whether values under this key change with every call without meaning anything to the task."""
    return words(key) in _VOLATILE


def leaves(
    value: Any, ignore: tuple[str, ...] = (), path: str = "", depth: int = 0
) -> Iterator[tuple[str, str]]:
    """(path, canonical scalar) of every scalar in the value, in order; list positions are written ``[]``."""
    found: list[tuple[str, str]] = []
    _collect(found, value, ignore, path, depth)
    return iter(found)


def _collect(found: list[tuple[str, str]], value: Any, ignore: tuple[str, ...], path: str, depth: int) -> None:
    if isinstance(value, str):
        value = value if value[:1].isalnum() else parse_embedded(value)
        if isinstance(value, str):
            found.append((path, _canonical_text(value)))
            return
    inside: Iterable[tuple[str, Any]]
    if isinstance(value, (dict, Mapping)) and depth < MAX_DEPTH:
        inside = [(inner, value[key]) for key, inner in _members(value, path)]
        inside = [(inner, item) for inner, item in inside if item is not None]
        if ignore:
            inside = [(inner, item) for inner, item in inside if not ignored(inner, ignore)]
    elif isinstance(value, (list, tuple)) and depth < MAX_DEPTH:
        inside = zip(repeat(f"{path}[]"), value)
    else:
        found.append((path, canonical(value)))
        return
    for inner, item in inside:
        scalar = _scalar(item)
        if scalar is None:
            _collect(found, item, ignore, inner, depth + 1)
        else:
            found.append((inner, scalar))


def canonical_and_leaves(value: Any) -> tuple[str, tuple[tuple[str, str], ...]]:
    """``canonical`` and ``leaves`` of a value, read once."""
    found: list[tuple[str, str]] = []
    return _both(found, value, "", 0), tuple(found)


def _both(found: list[tuple[str, str]], value: Any, path: str, depth: int) -> str:
    if isinstance(value, str):
        value = value if value[:1].isalnum() else parse_embedded(value)
    if not isinstance(value, (Mapping, list, tuple)) or depth >= MAX_DEPTH:
        _collect(found, value, (), path, depth)
        return canonical(value, (), "", depth)
    if isinstance(value, Mapping):
        return _both_of_object(found, value, path, depth)
    inner, items = f"{path}[]", []
    for item in value:
        shown = _scalar(item)
        if shown is None:
            shown = _both(found, item, inner, depth + 1)
        else:
            found.append((inner, shown))
        items.append(shown)
    return "[" + ",".join(items if _is_ordered(value) else sorted(items)) + "]"


def _both_of_object(found: list[tuple[str, str]], value: Mapping[Any, Any], path: str, depth: int) -> str:
    members, parts, lists = _members(value, path), [], 0
    for key, inner in members:
        item = value[key]
        if item is None:
            continue
        shown = _scalar(item)
        if shown is None:
            shown = _both(found, item, inner, depth + 1)
            lists += not isinstance(item, Mapping)
        else:
            found.append((inner, shown))
        parts.append(f"{key}:{shown}")
    # Parallel lists are shown together, and of keys that are the same text one counts.
    if lists > 1 or not (type(members) is tuple or all(type(key) is str for key, _ in members)):
        return _canonical_object(value, (), "", depth)
    return "{" + ",".join(sorted(parts)) + "}"


def _members(value: Mapping[Any, Any], path: str) -> Sequence[tuple[Any, str]]:
    """(key, path) of the members of an object that mean something, in order of their names."""
    known = _named_members(tuple(value), path) if len(value) <= FEW_KEYS else None
    return _ordered_members(value, path) if known is None else known


@lru_cache(maxsize=2048)
def _named_members(keys: tuple[Any, ...], path: str) -> tuple[tuple[Any, str], ...] | None:
    """The members of the objects of one kind; None where keys are no texts: 1 and true would be one key."""
    return tuple(_ordered_members(keys, path)) if all(type(key) is str for key in keys) else None


def _ordered_members(keys: Iterable[Any], path: str) -> list[tuple[Any, str]]:
    return [(key, _join(path, str(key))) for key in sorted(keys, key=str) if not is_volatile(str(key))]


def prune(value: Any, ignore: tuple[str, ...], path: str = "", depth: int = 0) -> Any:
    """The value without the object keys whose paths match one of the glob patterns; the same object where
    there are none."""
    if not ignore or depth >= MAX_DEPTH:
        return value
    value = parse_embedded(value)
    if isinstance(value, Mapping):
        kept = {key: _join(path, str(key)) for key in value if not ignored(_join(path, str(key)), ignore)}
        return {key: prune(value[key], ignore, inner, depth + 1) for key, inner in kept.items()}
    if isinstance(value, list):
        return [prune(item, ignore, f"{path}[]", depth + 1) for item in value]
    return value


def ignored(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether a path matches one of the glob patterns."""
    return bool(patterns) and any(fnmatchcase(path, pattern) for pattern in patterns)


def changed_paths(left: Any, right: Any, ignore: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Paths at which two argument values differ in canonical form, sorted."""
    return tuple(sorted(set(_changed(parse_embedded(left), parse_embedded(right), ignore, "", 0))))


def only_left(left: Any, right: Any, ignore: tuple[str, ...] = ()) -> tuple[tuple[str, str], ...]:
    """Leaves of ``left`` that ``right`` lacks, as a multiset difference, in order of ``left``."""
    spare = Counter(leaves(right, ignore))
    out = []
    for leaf in leaves(left, ignore):
        if spare[leaf]:
            spare[leaf] -= 1
        else:
            out.append(leaf)
    return tuple(out)


def is_identifier(value: str) -> bool:
    """Whether a canonical scalar looks like an id, an amount or a date rather than a word or prose."""
    if not value or " " in value:
        return False
    if value.isascii():
        return _DIGIT.search(value) is not None
    return any(char.isdigit() for char in value)


#: Last words of argument names that hold a reference to a record, whatever the value looks like.
_REFERENCE_WORDS = frozenset(
    {
        "id",
        "ids",
        "number",
        "numbers",
        "no",
        "code",
        "codes",
        "key",
        "keys",
        "ref",
        "refs",
        "reference",
        "sku",
        "uuid",
    }
)
#: Digits alone are an amount or a count unless they are this long.
_LONG_NUMBER = 7


def leaf_name(path: str) -> str:
    """The last name in a path of arguments or results, without the signs of a list."""
    return path.replace("[]", "").rsplit(".", 1)[-1]


@lru_cache(maxsize=16384)
def names_reference(path: str) -> bool:
    """Whether the name of an argument or field says that it holds a reference to a record."""
    name = words(leaf_name(path))
    return bool(name) and name[-1] in _REFERENCE_WORDS


def is_reference(path: str, value: str) -> bool:
    """Whether a canonical scalar at a path refers to a record: its name says so, or it looks like an id."""
    if value in ("", "null", "true", "false"):
        return False
    if names_reference(path):
        return True
    if _NUMBER.fullmatch(value):
        return len(value) >= _LONG_NUMBER and "." not in value
    return is_identifier(value) and len(value) > 2 and any(char.isalpha() for char in value)


def _canonical_text(value: str) -> str:
    return _canonical_remembered(value) if len(value) <= _REMEMBERED else _canonical_new(value)


@lru_cache(maxsize=32768)
def _canonical_remembered(value: str) -> str:
    return _canonical_new(value)


def _canonical_new(value: str) -> str:
    folded = fold(value)
    return number(folded) or folded


def _canonical_object(value: Mapping[Any, Any], ignore: tuple[str, ...], path: str, depth: int) -> str:
    kept = {str(key): item for key, item in value.items() if item is not None and not is_volatile(str(key))}
    if ignore:
        kept = {name: item for name, item in kept.items() if not ignored(_join(path, name), ignore)}
    parts = []
    for keys in _parallel(kept):
        rows = sorted(
            "(" + ",".join(canonical(item, ignore, path, depth + 1) for item in row) + ")"
            for row in zip(*(parse_embedded(kept[key]) for key in keys), strict=True)
        )
        parts.append(f"{'+'.join(keys)}:[{','.join(rows)}]")
        for key in keys:
            del kept[key]
    # Where nothing is ignored no path is asked for.
    for key, item in kept.items():
        shown = _scalar(item)
        if shown is None:
            shown = canonical(item, ignore, _join(path, key) if ignore else "", depth + 1)
        parts.append(f"{key}:{shown}")
    return "{" + ",".join(sorted(parts)) + "}"


def _parallel(kept: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Groups of keys that hold parallel lists: equal length of at least two scalars, and one name's words
    contain the other's (``ids``, ``new_ids``)."""
    lists = {}
    candidates = [
        key
        for key, value in kept.items()
        if isinstance(value, list) or (isinstance(value, str) and not value[:1].isalnum())
    ]
    if len(candidates) < 2:
        return []
    for key in sorted(candidates):
        value = kept[key]
        if isinstance(value, str):
            value = parse_embedded(value)
        if isinstance(value, list) and len(value) > 1 and all(not isinstance(v, (dict, list)) for v in value):
            lists[key] = (frozenset(words(key)), len(value))
    if len(lists) < 2:
        return []
    groups = []
    for short in sorted(lists, key=lambda key: (len(lists[key][0]), key)):
        names, length = lists.get(short, (frozenset(), 0))
        longer = [
            key for key in sorted(lists) if key != short and names < lists[key][0] and lists[key][1] == length
        ]
        if names and longer:
            groups.append((short, *longer))
            for key in (short, *longer):
                lists[key] = (frozenset(), 0)
    return groups


def _is_ordered(value: list[Any] | tuple[Any, ...]) -> bool:
    # Sentences and commands are read in order; ids, amounts and objects are a set as far as the task goes.
    return any(isinstance(item, str) and len(item.split()) > 3 for item in value)


def _changed(left: Any, right: Any, ignore: tuple[str, ...], path: str, depth: int) -> Iterator[str]:
    if canonical(left, ignore, path) == canonical(right, ignore, path):
        return
    if not (isinstance(left, Mapping) and isinstance(right, Mapping)) or depth >= MAX_DEPTH:
        yield path
        return
    inner = [
        found
        for key in sorted({*map(str, left), *map(str, right)})
        if not (is_volatile(key) or ignored(_join(path, key), ignore))
        for found in _changed(
            parse_embedded(left.get(key)), parse_embedded(right.get(key)), ignore, _join(path, key), depth + 1
        )
    ]
    # Parallel lists that hold the same members, paired otherwise, differ only as a whole.
    yield from inner or sorted(
        _join(path, key) for side in (left, right) for keys in _parallel(side) for key in keys[1:]
    )


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
