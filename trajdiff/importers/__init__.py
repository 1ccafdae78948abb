"""Readers of recorded trials, one module per format.

``load`` reads paths into a ``Corpus``, ``validate`` says what is wrong with files, ``known_formats`` lists what
can be read and ``trial_record`` writes a trial in the project's own format. The work behind them is imported
when it is first needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from trajdiff.importers.protocol import FileValidation, FormatInfo, ReadOptions
from trajdiff.model import Corpus, Task, Trial

__all__ = [
    "FileValidation",
    "FormatInfo",
    "ReadOptions",
    "check_mapping",
    "converted",
    "converted_to_atif",
    "draft_mapping",
    "known_formats",
    "load",
    "manifest_traces",
    "trial_record",
    "validate",
]

if TYPE_CHECKING:
    from trajdiff.importers.mapping_check import MapCheck

_DEFAULTS = ReadOptions()


def load(paths: Sequence[str], options: ReadOptions = _DEFAULTS) -> Corpus:
    """Read files, folders, globs and ``-`` into one corpus.

    The result does not depend on the order of ``paths``. Raises ``InputError`` if nothing could be read, if
    two recordings of one trial contradict each other, or at the first problem with ``on_error="fail"``.
    """
    from trajdiff.execution.collector import paused_collector
    from trajdiff.importers.loading import read_corpus

    with paused_collector():
        return read_corpus(paths, options)


def validate(paths: Sequence[str], options: ReadOptions = _DEFAULTS) -> tuple[FileValidation, ...]:
    """Check every file of ``paths`` against its format; raises ``InputError`` if there is no file at all."""
    from trajdiff.importers.validation import check_files

    return check_files(paths, options)


def known_formats() -> tuple[FormatInfo, ...]:
    """The formats that can be read, by name."""
    from trajdiff.importers.registry import importers

    return tuple(
        FormatInfo(name=one.name, title=one.title, recognised_by=one.recognised_by) for one in importers()
    )


def trial_record(trial: Trial, task: Task, expected_n: int | None) -> dict[str, Any]:
    """The trajdiff/1 record of a trial, ready for JSON; reading it again gives the same trial."""
    from trajdiff.importers.own_record import record_of

    return record_of(trial, task, expected_n)


def converted(corpus: Corpus) -> str:
    """All trials of a corpus as trajdiff/1, one a line; reading them gives the same tasks and trials."""
    from trajdiff.importers.conversion import converted as write

    return write(corpus)


def converted_to_atif(corpus: Corpus) -> str:
    """All trials of a corpus as ATIF trajectories, one a line; reading them gives the same trials."""
    from trajdiff.importers.conversion import converted_to_atif as write

    return write(corpus)


def check_mapping(paths: Sequence[str], options: ReadOptions) -> tuple[MapCheck, ...]:
    """What the mapping of ``options`` finds in every file; raises ``UsageError`` if there is no mapping."""
    from trajdiff.importers.mapping_check import check_mapping as check

    return check(paths, options)


def manifest_traces(outcomes: Sequence[str]) -> tuple[str, ...]:
    """The files and globs that the manifests among these files name; raises ``InputError`` for a bad file."""
    from trajdiff.importers.manifest import named_traces
    from trajdiff.importers.outcome_rows import read_rows

    return named_traces(read_rows(outcomes))


def draft_mapping(path: str, stdin: bytes | None = None) -> str:
    """A draft of a mapping for a file of an unknown layout, as TOML; raises ``InputError`` if it is no JSON."""
    from trajdiff.importers.mapping_check import draft_for

    return draft_for(path, stdin)
