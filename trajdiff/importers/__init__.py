"""Readers of recorded trials, one module per format.

``load`` reads paths into a ``Corpus``, ``validate`` says what is wrong with files, ``known_formats`` lists what
can be read and ``trial_record`` writes a trial in the project's own format. The work behind them is imported
when it is first needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trajdiff.importers.protocol import FileValidation, FormatInfo, ReadOptions
from trajdiff.model import Corpus, Task, Trial

__all__ = ["FileValidation", "FormatInfo", "ReadOptions", "known_formats", "load", "trial_record", "validate"]

_DEFAULTS = ReadOptions()


def load(paths: Sequence[str], options: ReadOptions = _DEFAULTS) -> Corpus:
    """Read files, folders, globs and ``-`` into one corpus.

    The result does not depend on the order of ``paths``. Raises ``InputError`` if nothing could be read, if
    two recordings of one trial contradict each other, or at the first problem with ``on_error="fail"``.
    """
    from trajdiff.importers.collector import paused_collector
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
