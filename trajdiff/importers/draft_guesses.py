"""Guesses of a drafted mapping where no name of a key is known: by the values, each marked as a guess.

Also lists what lies in the file, so that a mapping can be written without opening it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from trajdiff.importers.draft_shape import Layout
from trajdiff.importers.toml_text import comment, path_text, toml

Entries = Sequence[dict[str, Any]]
Path = tuple[str, ...]

SUCCESS = ("success", "succeeded", "is_success")
GUESS = "   # a guess by the values: check"
_IDENTIFIER = re.compile(r"^[^\W\d][\w.:/-]{0,60}$")
_MOST = 8
_SHOWN = 24


def leaves_of(entries: Entries) -> dict[Path, list[Any]]:
    """The values of every key of the entries, keys of objects inside them (one level) included, by path."""
    found: dict[Path, list[Any]] = {}
    for one in entries:
        for key, value in one.items():
            found.setdefault((key,), []).append(value)
            for inner, deeper in value.items() if isinstance(value, dict) else ():
                found.setdefault((key, inner), []).append(deeper)
    return found


def outcome_guess(entries: Entries) -> str | None:
    """The only key whose values are all true or false; ``success`` often means that the run finished."""
    found = leaves_of(entries)
    if any(path[-1] in SUCCESS for path in found):
        return None
    flags = [path for path, values in found.items() if all(isinstance(one, bool) for one in values)]
    return path_text(flags[0]) if len(flags) == 1 else None


def trial_guess(entries: Entries) -> str | None:
    """The first key of the entries whose values are small numbers that count up."""
    for path, values in leaves_of(entries).items():
        numbers = [one for one in values if isinstance(one, int) and not isinstance(one, bool)]
        distinct = sorted(set(numbers))
        counted = distinct == list(range(distinct[0], distinct[0] + len(distinct))) if distinct else False
        if len(numbers) == len(entries) > 1 and len(distinct) > 1 and counted and distinct[0] in (0, 1):
            return path_text(path)
    return None


def task_guess(entries: Entries) -> str | None:
    """The first key of the entries around the trajectories whose values are all different."""
    for path, values in leaves_of(entries).items():
        named = all(isinstance(one, str | int) and not isinstance(one, bool) for one in values)
        if named and len(values) == len(entries) and len({str(one) for one in values}) == len(values):
            return path_text(path)
    return None


def kind_key(entries: Entries) -> str | None:
    """The key that tells kinds of entries apart: a word in all of them, of which there are few."""
    best: tuple[int, str] | None = None
    for key in entries[0] if entries else ():
        words = [one.get(key) for one in entries]
        if not all(isinstance(word, str) and _IDENTIFIER.match(word) for word in words):
            continue
        count = len(set(words))
        if 1 < count <= min(_MOST, len(words) // 2 or 1) and (best is None or count < best[0]):
            best = (count, key)
    return None if best is None else best[1]


def entry_guess(entries: Entries, kind: str | None) -> list[str] | None:
    """The lines that say what entries of one kind become; None where the values say nothing."""
    found = {path: values for path, values in leaves_of(entries).items() if path != (kind,)}
    names = [path for path, values in found.items() if all(map(_is_identifier, values))]
    for given in (path for path, values in found.items() if all(map(_holds_arguments, values))):
        # Name and arguments stand in one object, which itself looks like arguments from outside.
        name = next((path for path in names if path[:-1] == given[:-1]), None)
        if name is not None:
            return _call(found, name, given)
    return _message(found)


def _call(found: dict[Path, list[Any]], name: Path, given: Path) -> list[str]:
    encoded = any(isinstance(one, str) for one in found[given])
    path = toml(path_text(given))
    lines = [f'emit  = "tool_call"{GUESS}', f"name  = {toml(path_text(name))}"]
    lines.append(f'arguments = {{path = {path}, decode = "json"}}' if encoded else f"arguments = {path}")
    # The container of name and arguments is no result, nor is what lies inside another candidate.
    rest = [one for one in found if len(one) == 1 and one not in (name, given) and one != name[:1]]
    flags = [one for one in rest if all(isinstance(value, bool) for value in found[one])]
    answers = [
        one for one in rest if one not in flags and any(isinstance(v, dict | list | str) for v in found[one])
    ]
    if answers:
        lines.append(f"result = {toml(path_text(answers[0]))}")
    if len(flags) == 1:
        lines.append(f"error = {toml(path_text(flags[0]))}   # only if true means that it failed")
    return lines


def _message(found: dict[Path, list[Any]]) -> list[str] | None:
    texts = {path: values for path, values in found.items() if all(isinstance(one, str) for one in values)}
    if not texts:
        return None
    text = max(texts, key=lambda path: (sum(map(len, texts[path])) / len(texts[path]), path))
    lines = [f'emit  = "message"{GUESS}', f"text  = {toml(path_text(text))}"]
    for path, values in texts.items():
        words = list(dict.fromkeys(values))
        if path != text and len(words) <= _MOST and all(map(_is_identifier, words)):
            # Who speaks cannot be told from the words: agent, user and system are the choices.
            pairs = ", ".join(f'{toml(word)} = "{_speaker(word)}"' for word in words)
            lines.append(f"actor = {{path = {toml(path_text(path))}, values = {{{pairs}}}}}   # agent or user?")
            break
    return lines


def _speaker(word: str) -> str:
    lower = word.lower()
    return "agent" if any(part in lower for part in ("agent", "assist", "bot", "model", "ai")) else "user"


def _holds_arguments(value: Any) -> bool:
    if isinstance(value, str):
        return value.lstrip().startswith("{")
    return isinstance(value, dict) and not any(isinstance(one, dict | list) for one in value.values())


def _is_identifier(value: Any) -> bool:
    return isinstance(value, str) and _IDENTIFIER.match(value) is not None


def contents_of(layout: Layout) -> Iterator[str]:
    """What lies in the file, as comments: each list with the keys of its entries and their first values."""
    if isinstance(layout.root, dict):
        yield from _listed("$root", [layout.root])
    path = ""
    for level in layout.levels:
        path = f"{path}.{path_text(level.path)}[*]" if level.path else "[*]"
        yield from _listed(path.removeprefix("."), level.entries)


def _listed(path: str, entries: Entries) -> Iterator[str]:
    found = []
    for key, values in leaves_of(entries).items():
        first = next((one for one in values if one is not None), None)
        if not isinstance(first, dict | list):
            word = json.dumps(first, ensure_ascii=False)
            found.append(f"{path_text(key)} {word if len(word) <= _SHOWN else word[: _SHOWN - 1] + '…'}")
    yield comment(f"# - {path}   {' · '.join(found[: _MOST * 2]) or 'lists only'}")
