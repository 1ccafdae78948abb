"""Names of the work on a task by everything that its outcome depends on, and outcomes as bytes.

Two pieces of work with one name have one outcome: the same trials of the same file contents, read in the same
way, under the same settings, by the same code.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from trajdiff.analysed import in_words, led, of_work, shell
from trajdiff.cache.values import Bytes, written
from trajdiff.frozen import replace
from trajdiff.model import Corpus, Trial
from trajdiff.task_jobs import TaskJob, TaskOutcome

#: What kind of values outcomes are, where they are kept among others.
KIND = "outcome"
_decoder = msgspec.msgpack.Decoder(TaskOutcome)


class Outcomes:
    """Outcomes kept as bytes. One that cannot be written and read back the same is not kept."""

    def __init__(self, store: Bytes) -> None:
        self._store = store

    def get(self, key: str) -> TaskOutcome | None:
        """The outcome under this name, or None."""
        packed = self._store.get(KIND, key)
        return None if packed is None else unpacked(packed)

    def put(self, key: str, outcome: TaskOutcome) -> None:
        """Keep an outcome."""
        value = packed(outcome)
        if value is not None:
            self._store.put(KIND, key, value)


def packed(outcome: TaskOutcome) -> bytes | None:
    """The outcome as bytes, without those ahead of it; None where it would not come back the same."""
    value = written(replace(outcome, ahead=()), _decoder)
    return None if value is None else zlib.compress(value, 1)


def unpacked(value: bytes) -> TaskOutcome | None:
    """The outcome behind bytes, None where they are none."""
    try:
        outcome = _decoder.decode(zlib.decompress(value))
    except (ValueError, TypeError, zlib.error, msgspec.MsgspecError):
        return None
    finding = outcome.finding
    return outcome if finding is None else replace(outcome, finding=led(finding))


def naming(
    corpus: Corpus, code: str, reading: str, moved: Mapping[str, str] | None = None
) -> Callable[[TaskJob], str]:
    """What names the jobs of this corpus; ``code`` is the program, ``reading`` how files were read. ``moved``
    are files that lay elsewhere when the names were given: where they lie, and where they lay."""
    paths = [_renaming(now, then) for now, then in (moved or {}).items()]
    digests = {file.path: file.sha256 for file in corpus.files}
    everything = hashlib.sha256("\n".join(file.sha256 for file in corpus.files).encode()).hexdigest()

    def name(job: TaskJob) -> str:
        parts: list[Any] = [
            code,
            reading,
            of_work(job.settings),
            sorted(job.effect_of.items()),
            job.levels,
            job.wanted,
            job.only_roles,
            job.references.own,
            job.references.first,
            replace(job.task, trials=()),
        ]
        borrowed: Sequence[Trial] = [t for trials in job.references.borrowed.values() for t in trials]
        trials = (*job.task.trials, *job.others, *borrowed)
        parts += [(*shell(trial), digests.get(trial.source.path, everything)) for trial in trials]
        text = in_words(parts)
        for now, then in paths:
            text = now.sub(then, text)
        return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()

    return name


def known_under(name: Callable[[TaskJob], str]) -> Callable[[TaskJob], Iterator[str]]:
    """The name of a job, then those of the same work with more in its outcome, see ``fitted``."""

    def names(job: TaskJob) -> Iterator[str]:
        yield name(job)
        if job.only_roles:
            job = replace(job, only_roles=False)
            yield name(job)
        if not job.wanted:
            yield name(replace(job, wanted=True))

    return names


def _renaming(now: str, then: str) -> tuple[re.Pattern[str], Callable[[re.Match[str]], str]]:
    """What finds a path, or one inside it, in the ``repr`` of values, and what stood there before."""
    found = re.compile(f"(['\"]){re.escape(repr(now)[1:-1])}((?:[/#][^'\"]*)?)\\1")
    quote, inner = repr(then)[0], repr(then)[1:-1]
    return found, lambda match: f"{quote}{inner}{match[2]}{quote}"
