"""The texts of the summary page in one language: data files, filled in with counts and names."""

from __future__ import annotations

import string
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

#: Languages of the page, the default first; each has a file in ``summary_text``.
LANGUAGES = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Code:
    """A name, a command or a step from a log: set apart from the words around it."""

    text: str


#: A sentence: our own words, and what is quoted.
Phrase = tuple[str | Code, ...]


@dataclass(frozen=True, slots=True)
class Words:
    """The texts of one language by section and name."""

    texts: Mapping[str, Any]

    @property
    def language(self) -> str:
        """The language tag of the page."""
        return str(self.texts["language"])

    def text(self, section: str, name: str) -> str:
        """A text as it stands in the file."""
        return str(self.texts[section][name])

    def say(self, section: str, key: str, /, **values: object) -> Phrase:
        """A text with its names filled in; phrases and quoted values stay what they are."""
        return filled(self.text(section, key), values)

    def count(self, name: str, n: int) -> str:
        """``1 task``, ``2 tasks``."""
        return str(self.texts["count"][name][0 if n == 1 else 1]).format(n=n)

    def kind(self, name: str, tool: str | None) -> Phrase:
        """What a kind of divergence is, in plain words."""
        named, bare = self.texts["kinds"][name]
        return filled(named, {"tool": Code(tool)}) if tool else filled(bare, {})

    def listed(self, names: tuple[str, ...], most: int = 8) -> Phrase:
        """Quoted names, then how many more there are."""
        parts: list[str | Code] = []
        for name in names[:most]:
            parts += [str(self.texts["list"])] if parts else []
            parts.append(Code(name))
        if len(names) > most:
            parts.append(self.count("more", len(names) - most))
        return tuple(parts)


@cache
def words(language: str) -> Words:
    """The texts of a language; ``LANGUAGES`` are there."""
    source = files("trajdiff.render").joinpath("summary_text", f"{language}.toml").read_text(encoding="utf-8")
    return Words(tomllib.loads(source))


def filled(template: str, values: Mapping[str, object]) -> Phrase:
    """A template with ``{name}`` replaced; values are never templates themselves."""
    parts: list[str | Code] = []
    for before, name, _, _ in string.Formatter().parse(template):
        if before:
            parts.append(before)
        if name is None:
            continue
        value = values[name]
        parts += list(value) if isinstance(value, tuple) else [value if isinstance(value, Code) else str(value)]
    return tuple(parts)
