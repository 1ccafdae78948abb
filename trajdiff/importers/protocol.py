"""What an importer is, what it is asked and what it hands back. Plain values, cheap to import."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from trajdiff.importers.meter import Progress
from trajdiff.model import Diagnostic, Severity, Task, Trial

if TYPE_CHECKING:
    from trajdiff.importers.document import Document, Record


#: What can keep the trials of one task apart; tasks of two suites always are two tasks.
GROUP_DIMENSIONS = (
    "model",
    "agent",
    "suite",
    "sampling",
    "prompt_version",
    "tool_version",
    "environment_version",
    "fixture_version",
    "scorer_version",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """How recorded trials are read.

    ``format`` forces an importer by name; ``threshold`` makes ``reward >= threshold`` a pass;
    ``on_duplicate`` is ``error``, ``latest``, ``first`` or None (an error where the verdicts differ, else the
    latest); ``on_error`` is ``skip`` or ``fail``; ``strict`` is ``fail`` plus an error for every unscored or
    missing trial; ``suite`` names the suite of trials that record none; ``expected_trials`` is the planned
    number of trials of every task; ``scorer`` names the score that decides, as ``NAME`` or ``NAME.key``;
    ``map`` names the mapping that reads everything, ``maps`` are those of the settings file ``maps_origin``;
    ``outcomes`` are files with verdicts or manifests; ``group_by`` names what keeps trials of one task apart,
    None for model and agent, empty for nothing;
    ``stdin`` is the content of the path ``-``; ``kept`` are ``KeptFiles`` of earlier calls, None for none;
    ``progress`` is told how far the reading is, None for nobody.
    """

    format: str | None = None
    threshold: float | None = None
    on_duplicate: str | None = None
    on_error: str = "skip"
    strict: bool = False
    suite: str | None = None
    expected_trials: int | None = None
    scorer: str | None = None
    map: str | None = None
    maps: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    maps_origin: str = "settings"
    outcomes: tuple[str, ...] = ()
    group_by: tuple[str, ...] | None = None
    stdin: bytes | None = None
    kept: Any = field(default=None, repr=False, compare=False)
    progress: Progress | None = field(default=None, repr=False, compare=False)


class FormatInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A format that can be read: its name for ``--from``, its title and how it is recognised."""

    name: str
    title: str
    recognised_by: str


class FileValidation(msgspec.Struct, frozen=True, kw_only=True):
    """What ``validate`` found in one file. ``format`` is None where the file was not recognised."""

    path: str
    format: str | None
    trials: int
    problems: tuple[Diagnostic, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether no problem is an error; warnings and notes leave a file valid."""
        return all(problem.severity is not Severity.ERROR for problem in self.problems)


class Shape(StrEnum):
    """What a file or folder looks like from outside."""

    OBJECT = "object"
    ARRAY = "array"
    LINES = "lines"
    ARCHIVE = "archive"
    FOLDER = "folder"


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """One of the first records of a file: its keys, and its short values on demand."""

    keys: frozenset[str]
    get: Callable[[str], Any]

    def has(self, *names: str) -> bool:
        """Whether all these keys are there."""
        return self.keys.issuperset(names)


class Peek(msgspec.Struct, frozen=True, kw_only=True):
    """What an importer sees before it says whether a file is its own.

    ``heads`` are the first records that are objects. For a folder there are none; ``files`` and ``folders``
    name what lies directly in it, ``inside`` lists the files of a folder in it, ``below`` those at any depth,
    and ``open`` peeks into one. For an archive ``files`` are its members.
    """

    shape: Shape
    path: str
    heads: tuple[Head, ...] = ()
    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    inside: Callable[[str], tuple[str, ...]] | None = None
    below: Callable[[], tuple[str, ...]] | None = None
    open: Callable[[str], Peek | None] | None = None


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """An importer says that a file is its own, and by which rule.

    A folder is claimed with the ``head`` file that stands for it and the ``members`` read with it (names
    relative to the folder).
    """

    rule: str
    head: str | None = None
    members: tuple[str, ...] = ()


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A task that a file announces, with the planned number of trials and the slots known to be lost.

    With ``whole_task`` the number is that of the task, however many files its trials lie in; without, it is
    that of one run of the producer, and several runs add up.
    """

    task: Task
    expected_n: int | None = None
    whole_task: bool = False
    lost: tuple[str, ...] = ()


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """What one file (or folder layout) holds.

    A trial whose log has no number comes with ordinal -1 and its own id, or an empty one; the numbers are
    given when all files are read. ``unread`` counts the records that gave no trial. ``reported`` are tasks that
    this file gives an outcome of, while their trials lie in other files.
    """

    trials: tuple[Trial, ...]
    plans: tuple[Plan, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    producer: Mapping[str, Any] = msgspec.field(default_factory=dict)
    unread: int = 0
    reported: tuple[str, ...] = ()


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """The file an importer is to read, and its companions (paths as the user would write them)."""

    document: Document
    members: tuple[str, ...] = ()
    open: Callable[[str], Document]


class Importer(Protocol):
    """Reads one recorded format. A module of this package that defines ``IMPORTER`` is found by itself."""

    @property
    def name(self) -> str:
        """Short name for ``--from``."""

    @property
    def title(self) -> str:
        """Name as shown to the reader."""

    @property
    def recognised_by(self) -> str:
        """How a file of this format is told apart, in a few words."""

    @property
    def record_schema(self) -> str | None:
        """Name of the JSON Schema that every record must fit, without suffix."""

    def sniff(self, peek: Peek) -> Claim | None:
        """Say whether this file or folder is of this format; must not depend on other importers."""

    def records(self, document: Document) -> Iterable[Record]:
        """The records of a file (or of one companion) that must fit ``record_schema``."""

    def read(self, source: Source, options: ReadOptions) -> Imported:
        """Read all trials. Raises ``Unreadable`` if the file holds nothing that can be used."""


class Unreadable(Exception):  # noqa: N818 - it names the file's state; the loader turns it into a diagnostic
    """A file that cannot be read at all: what is wrong, where in the file, and what to do about it."""

    def __init__(self, slug: str, message: str, *details: str, pointer: str | None = None) -> None:
        super().__init__(message)
        self.slug = slug
        self.message = message
        self.details = details
        self.pointer = pointer

    def diagnostic(self, path: str, severity: Severity = Severity.ERROR) -> Diagnostic:
        """The same as a diagnostic about ``path``."""
        return Diagnostic(
            severity=severity,
            slug=self.slug,
            message=self.message,
            path=path,
            pointer=self.pointer,
            details=self.details,
        )
