"""Hides secrets and personal data in whatever is meant to be shared.

Works on finished values (a report, a comparison, a corpus) after the analysis, so it cannot change a result.
Equal values get the same placeholder, ``[redacted:token#1]``: a difference between two secrets stays visible
as a difference. Numbers are given in the order of appearance.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from typing import Any, TypeVar

from trajdiff.align.table import Cell, Row
from trajdiff.errors import InputError, TrajdiffError
from trajdiff.frozen import field_names, is_frozen_value, replace
from trajdiff.redaction_patterns import PERSONAL, SECRET_FIELDS, SECRETS, Pattern, is_secret_name
from trajdiff.settings_rules import RedactRules

T = TypeVar("T")

#: What a placeholder looks like, also where Markdown has escaped it.
PLACEHOLDER = re.compile(r"redacted:([a-z]+)\\?#(?:&#8203;)?[0-9]+")
#: Fields that hold fingerprints, made by us from hashes: nothing to hide, and no accident may change them.
_FINGERPRINTS = frozenset({"row_id", "sha256", "format_version", "tool_version"})
#: A value hidden for its name is also hidden in running text, if it is no ordinary word.
_TELLING = re.compile(r"(?=.*[0-9\W_]).{6,}", re.S)


class Redactor:
    """Replaces what the rules cover. One redactor per document: its numbers and counts belong together.

    ``counts`` says how many places were hidden, by kind.
    """

    def __init__(self, rules: RedactRules | None = None) -> None:
        rules = rules or RedactRules()
        self._named = rules.secrets
        self._patterns = (
            *(Pattern(kind="custom", regex=re.compile(text)) for text in rules.patterns),
            *(SECRETS if rules.secrets else ()),
            *(PERSONAL if rules.personal else ()),
        )
        self._placeholders: dict[str, str] = {}
        self._numbers: Counter[str] = Counter()
        self._done: dict[str, tuple[str, Counter[str]]] = {}
        self._known: re.Pattern[str] | None = None
        self.counts: Counter[str] = Counter()

    def apply(self, value: T) -> T:
        """The same value with every text in it cleaned. Raises ``InputError`` where a rule fails: then nothing
        may be written."""
        try:
            if self._named:
                self._learn(value)
            made: T = rebuilt(value, self.text, self._secret_pair if self._named else None)
            return made
        except TrajdiffError:
            raise
        except Exception as error:  # whatever went wrong, what is not cleaned must not leave
            raise InputError(
                "redaction failed, nothing was written", f"{type(error).__name__}: {error}"[:200],
                "look at redact.patterns in the settings, or give --no-redact",
            ) from error  # fmt: skip

    def text(self, text: str) -> str:
        """One text, cleaned and counted."""
        found = self._done.get(text)
        if found is None:
            found = self._done[text] = self._clean(text)
        if not found[1]:
            return text
        self.counts += found[1]
        return found[0]

    def _clean(self, text: str) -> tuple[str, Counter[str]]:
        counts: Counter[str] = Counter()
        if len(text) < 5:
            return text, counts

        def hide(kind: str, accept: Callable[[str], bool] | None, match: re.Match[str]) -> str:
            group = "value" if "value" in match.re.groupindex and match["value"] is not None else 0
            value = match[group]
            if PLACEHOLDER.search(value) or not value or (accept is not None and not accept(value)):
                return match[0]
            counts[kind] += 1
            start, end = match.start(group) - match.start(), match.end(group) - match.start()
            return match[0][:start] + self._placeholder(kind, value) + match[0][end:]

        if self._known is not None:
            text = self._known.sub(partial(hide, "secret", None), text)
        for pattern in self._patterns:
            if any(mark in text for mark in pattern.marks) if pattern.marks else True:
                text = pattern.regex.sub(partial(hide, pattern.kind, pattern.accept), text)
        return text, counts

    def _placeholder(self, kind: str, value: str) -> str:
        if value not in self._placeholders:
            self._numbers[kind] += 1
            self._placeholders[value] = f"[redacted:{kind}#{self._numbers[kind]}]"
        return self._placeholders[value]

    def _secret_pair(self, name: str, value: str) -> str | None:
        """The value of an argument whose name says that it is secret; None where it is not."""
        inner = value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value
        if not is_secret_name(name) or inner in ("", "null", "true", "false", "{}", "[]"):
            return None
        if PLACEHOLDER.search(inner):
            return None
        self.counts["secret"] += 1
        hidden = self._placeholder("secret", inner)
        return hidden if inner is value else f'"{hidden}"'

    def _learn(self, value: Any) -> None:
        """Values that are secret for their name are looked for in all texts: people repeat passwords."""
        found: set[str] = set()

        def pair(name: str, text: str) -> None:
            if is_secret_name(name):
                found.add(text.strip('"'))

        def look(text: str) -> str:
            for pattern in SECRET_FIELDS:
                if any(mark in text for mark in pattern.marks):
                    found.update(match["value"] for match in pattern.regex.finditer(text))
            return text

        rebuilt(value, look, pair)
        telling = sorted((text for text in found if _TELLING.fullmatch(text)), key=lambda t: (-len(t), t))
        if telling:
            words = "|".join(re.escape(text) for text in telling)
            self._known = re.compile(f"(?<![A-Za-z0-9_])(?:{words})(?![A-Za-z0-9_])")
            self._done.clear()


Pair = Callable[[str, str], str | None]


def rebuilt(value: Any, text: Callable[[str], str], pair: Pair | None = None) -> Any:
    """A value with ``text`` applied to every text in it; what does not change stays the same object.

    Walks frozen values, tuples, lists and dicts. ``pair`` is asked first for named values (dict entries,
    arguments of a call) and may give the whole new value. What was one object at two places is one afterwards,
    rows and cells of tables left out.
    """
    return _Rebuilding(text, pair).of(value)


class _Rebuilding:
    """One walk; remembers the objects it has been at."""

    def __init__(self, text: Callable[[str], str], pair: Pair | None) -> None:
        self._text, self._pair = text, pair
        #: By its id each value, which keeps that as long as it is here, and what was made of it.
        self._made: dict[int, tuple[Any, Any]] = {}

    def of(self, value: Any) -> Any:
        """The value, cleaned."""
        if isinstance(value, str):
            return value if isinstance(value, Enum) else self._text(value)
        if value is None or isinstance(value, bool | int | float | bytes | Enum):
            return value
        if isinstance(value, Mapping):
            return self._mapping(value)
        if isinstance(value, tuple | list):
            new: list[Any] = [self.of(entry) for entry in value]
            if all(one is other for one, other in zip(new, value, strict=True)):
                return value
            return type(value)(new)
        if isinstance(value, Row | Cell):
            # Those of large logs are made where they are asked for: to remember them would hold all at once.
            return self._fields(value)
        if is_frozen_value(value):
            known = self._made.get(id(value))
            if known is None:
                known = self._made[id(value)] = value, self._fields(value)
            return known[1]
        return value

    def _mapping(self, value: Mapping[Any, Any]) -> Any:
        made: dict[Any, Any] = {}
        same = True
        for key, entry in value.items():
            known = self._pair is not None and isinstance(key, str) and isinstance(entry, str)
            whole = self._pair(key, entry) if known and self._pair is not None else None
            name, new = self.of(key), self.of(entry) if whole is None else whole
            same = same and name is key and new is entry
            made[name] = new
        return value if same else made

    def _fields(self, value: Any) -> Any:
        changed: dict[str, Any] = {}
        for name in field_names(value):
            old = getattr(value, name)
            if name in _FINGERPRINTS:
                continue
            if name == "arguments" and isinstance(old, tuple):
                new: Any = tuple(self._argument(entry) for entry in old)
                new = old if new == old else new
            else:
                new = self.of(old)
            if new is not old:
                changed[name] = new
        return replace(value, **changed) if changed else value

    def _argument(self, entry: Any) -> Any:
        """One (name, value) of a call."""
        if not (isinstance(entry, tuple) and len(entry) == 2 and all(isinstance(part, str) for part in entry)):
            return self.of(entry)
        name, value = entry
        whole = self._pair(name, value) if self._pair is not None else None
        return (self._text(name), self._text(value) if whole is None else whole)


def counts_text(counts: Mapping[str, int]) -> str:
    """``3 values redacted (2 email, 1 token)``."""
    total = sum(counts.values())
    inside = ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items()) if number)
    return f"{total} value{'' if total == 1 else 's'} redacted{f' ({inside})' if inside else ''}"


def counted_in(content: str) -> Counter[str]:
    """Placeholders in a finished document, by kind."""
    return Counter(match[1] for match in PLACEHOLDER.finditer(content))
