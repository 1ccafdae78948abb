"""What a call does to files: reads, edits, removals, runs and checks, with paths.

A call is a command line, a program, or an editing tool with a path. The words are data (``commands.toml``).
"""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from importlib import resources
from typing import Any

from msgspec import Struct

from trajdiff.align.prepared import PreparedStep
from trajdiff.align.values import words
from trajdiff.divergence.work.shell import Simple, simple_commands

#: An editor takes one verb as its command; longer text is a command line.
LONGEST_VERB = 40
_PATCHED = re.compile(r"^(?:\+\+\+ (?:b/)?|\*\*\* (?:Update|Add|Delete) File: )(\S+)", re.MULTILINE)
_OPENED = re.compile(r"""open\(\s*[rbuf]*['"]([^'"\n]+)['"]\s*,\s*(?:mode\s*=\s*)?['"][wax]""")
_WRITTEN = re.compile(r"""Path\(\s*[rbuf]*['"]([^'"\n]+)['"]\s*\)\.write_(?:text|bytes)\(""")
_CALLED = re.compile(r"""^(\w+)\(\s*(?:\w+\s*=\s*)?['"]([^'"\n]+)['"]""", re.MULTILINE)
_NUMBERS = re.compile(r"\d+(?:[.,:]\d+)*[smh]?")


class Verb(StrEnum):
    """What is done to a file, or with it."""

    READ = "read"
    EDIT = "edit"
    REMOVE = "remove"
    RESTORE = "restore"
    RUN = "run"
    CHECK = "check"
    SHOW = "show"


class Act(Struct, frozen=True, kw_only=True):
    """One thing a call does. ``path`` is None where it is about no file in particular; ``target`` says what is
    checked or run; ``whole`` marks an edit that writes the file anew; ``text`` is what an edit says."""

    verb: Verb
    path: str | None = None
    target: str = ""
    whole: bool = False
    text: str = ""


class Reader(Struct):
    """Reads the calls of one trial in order: it knows the current folder and the file that is open."""

    folder: str = ""
    opened: str | None = None

    def acts(self, step: PreparedStep) -> tuple[Act, ...]:
        """What a call does; empty for a call that is no command and no editor."""
        tool, arguments = set(words(step.step.name or "")), step.arguments
        line = _argument(arguments, "command_arguments")
        path = _argument(arguments, "path_arguments")
        if line is not None and path is None:
            if tool & _words("programs") and not _begins_with(line, step.step.name or ""):
                return tuple(self._program(line))
            if tool & _words("shells") or _begins_with(line, step.step.name or ""):
                return tuple(self._line(line))
        return tuple(self._editor(tool, line, path, arguments))

    def _place(self, path: str) -> str:
        path = path.strip("'\"")
        return posixpath.normpath(path if path.startswith(("/", "~")) else posixpath.join(self.folder, path))

    def _editor(self, tool: set[str], line: str | None, path: str | None, arguments: Any) -> Iterator[Act]:
        does = set(words(line)) if line is not None and len(line) < LONGEST_VERB else tool
        verb = next(
            (
                verb
                for name, verb in (
                    ("editor_restores", Verb.RESTORE),
                    ("editor_reads", Verb.READ),
                    ("editor_writes", Verb.EDIT),
                )
                if does & _words(name)
            ),
            None,
        )
        if verb is None:
            return
        text = "\n".join(_texts(arguments))
        patched = _PATCHED.findall(text)
        if path is None and not patched and not (text and self.opened and verb is Verb.EDIT):
            return
        for named in patched if path is None and patched else [path or self.opened or ""]:
            place = self._place(named)
            self.opened = place
            yield Act(verb=verb, path=place, text=text, whole="create" in does)

    def _program(self, code: str) -> Iterator[Act]:
        for found in (*_OPENED.findall(code), *_WRITTEN.findall(code)):
            yield Act(verb=Verb.EDIT, path=self._place(found), whole=True)
        for name, path in _CALLED.findall(code):
            if name == "open":
                continue
            if name in _words("writes"):
                yield Act(verb=Verb.EDIT, path=self._place(path), text=code, whole="create" in name)
            elif name in _words("reads"):
                yield Act(verb=Verb.READ, path=self._place(path))
        yield Act(verb=Verb.RUN, target="program")

    def _line(self, line: str) -> Iterator[Act]:
        if line.startswith("*** Begin Patch"):
            yield from self._edits(_PATCHED.findall(line), line)
            return
        first, _, rest = line.partition("\n")
        head = first.split()
        if head and head[0] == "edit" and rest and self.opened:
            # A line editor: what follows the first line is text, not commands.
            yield Act(verb=Verb.EDIT, path=self.opened, text=rest)
            return
        for simple in simple_commands(line):
            yield from self._simple(simple)

    def _edits(self, paths: list[str], text: str) -> Iterator[Act]:
        for path in paths:
            yield Act(verb=Verb.EDIT, path=self._place(path), text=text)

    def _simple(self, simple: Simple) -> Iterator[Act]:
        named = _without_prefixes(simple.words)
        for path in simple.into:
            yield Act(verb=Verb.EDIT, path=self._place(path), text=simple.body or "", whole=simple.replaces)
        if not named:
            return
        name, rest = posixpath.basename(named[0]), named[1:]
        plain = [word for word in rest if not word.startswith("-")]
        if name == "cd":
            self.folder = self._place(plain[0]) if plain else "~"
        elif name in _words("vcs"):
            yield from self._version_control(plain, simple)
        elif name in ("sed", "perl") and any(word.startswith(("-i", "--in-place", "-pi")) for word in rest):
            for path in plain[-1:] if "-e" in rest else plain[1:]:
                yield Act(verb=Verb.EDIT, path=self._place(path), text=" ".join(rest))
        elif name in _words("reads"):
            yield from self._read(name, plain)
        elif name in {*_words("removes"), *_words("targets"), *_words("writes")}:
            yield from self._changed(name, plain, simple)
        else:
            yield from self._ran(name, named[0], plain, simple)

    def _read(self, name: str, plain: list[str]) -> Iterator[Act]:
        for path in plain:
            yield Act(verb=Verb.READ, path=self._place(path))
        if not plain:
            yield Act(verb=Verb.READ)
        elif name.startswith("open"):
            self.opened = self._place(plain[0])

    def _ran(self, name: str, written: str, plain: list[str], simple: Simple) -> Iterator[Act]:
        runner = name in _words("runners")
        told = {part for word in plain for part in (word, *re.split(r"[:/]", word))}
        if name in _words("checks") or (runner and told & _words("check_words")):
            yield Act(verb=Verb.CHECK, target=_target(name, plain))
        elif simple.body is not None and (runner or written.startswith("./")):
            yield from self._program(simple.body)
        else:
            yield Act(verb=Verb.RUN, target=_target(name, plain) if runner else name)

    def _changed(self, name: str, plain: list[str], simple: Simple) -> Iterator[Act]:
        if name in _words("removes"):
            for path in plain:
                yield Act(verb=Verb.REMOVE, path=self._place(path))
        elif name in _words("targets"):
            if len(plain) > 1:
                yield Act(verb=Verb.EDIT, path=self._place(plain[-1]), whole=True)
            if name == "mv" and plain:
                yield Act(verb=Verb.REMOVE, path=self._place(plain[0]))
        else:
            yield from self._written(name, plain, simple)

    def _written(self, name: str, plain: list[str], simple: Simple) -> Iterator[Act]:
        text = simple.body or ""
        if name == "patch":
            yield from self._edits(_PATCHED.findall(text), text)
            return
        for path in plain:
            place = self._place(path)
            yield Act(verb=Verb.EDIT, path=place, text=text, whole=name in ("tee", "create", "create_file"))
            self.opened = place if name.startswith("create") else self.opened

    def _version_control(self, plain: list[str], simple: Simple) -> Iterator[Act]:
        does, paths = (plain[0], plain[1:]) if plain else ("", [])
        if does in _words("vcs_restores"):
            files = [path for path in paths if "." in path or "/" in path]
            yield from (Act(verb=Verb.RESTORE, path=self._place(path)) for path in files)
            if not files:
                yield Act(verb=Verb.RESTORE)
        elif does in _words("vcs_shows"):
            yield from (Act(verb=Verb.SHOW, path=self._place(path), target=does) for path in paths)
            if not paths:
                yield Act(verb=Verb.SHOW, target=does)
        elif does in _words("vcs_writes"):
            text = simple.body or ""
            yield from self._edits(_PATCHED.findall(text), text)
        else:
            yield Act(verb=Verb.READ)


def _target(name: str, plain: list[str]) -> str:
    """What is run or checked, without numbers that differ each time."""
    return _NUMBERS.sub("0", " ".join((name.rstrip("0123456789."), *plain)))


def _without_prefixes(named: tuple[str, ...]) -> list[str]:
    rest = list(named)
    while rest and (rest[0] in _words("prefixes") or re.fullmatch(r"\w+=.*|-\w+|\d+[smh]?", rest[0])):
        rest.pop(0)
    return rest


def _begins_with(line: str, tool: str) -> bool:
    return bool(tool) and line.split(maxsplit=1)[:1] == [tool]


def _argument(arguments: Any, name: str) -> str | None:
    """The argument of one of the names that the data lists, where it is text; text alone is a command line."""
    if isinstance(arguments, str):
        return arguments if name == "command_arguments" else None
    if not isinstance(arguments, dict):
        return None
    found = (arguments[key] for key in _listed(name) if isinstance(arguments.get(key), str))
    return next(found, None)


def _texts(arguments: Any) -> list[str]:
    if isinstance(arguments, str):
        return [arguments]
    if not isinstance(arguments, dict):
        return []
    return [arguments[key] for key in _listed("text_arguments") if isinstance(arguments.get(key), str)]


@lru_cache(maxsize=1)
def _data() -> dict[str, tuple[str, ...]]:
    text = (resources.files("trajdiff.divergence.work") / "commands.toml").read_text("utf-8")
    return {name: tuple(found) for name, found in tomllib.loads(text).items()}


@lru_cache(maxsize=64)
def _words(name: str) -> frozenset[str]:
    return frozenset(_data()[name])


def _listed(name: str) -> tuple[str, ...]:
    return _data()[name]


def is_scratch(path: str) -> bool:
    """Whether a path lies in a folder for temporary files."""
    return any(part in _words("scratch_folders") for part in path.split("/")[:-1])
