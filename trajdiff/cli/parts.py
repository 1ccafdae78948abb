"""Parts of a report: the outcomes of some of its tasks, worked on somewhere else, as one file.

A part holds outcomes under the names of the work they are of. ``merge`` reads the traces like ``report`` does
and takes the outcomes from the parts, so that nothing has to agree but what the outcomes depend on.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import click
import msgspec

from trajdiff.errors import InputError
from trajdiff.execution.runner import Lost, Runner
from trajdiff.files import read_file
from trajdiff.frozen import replace
from trajdiff.render.safety import one_line

if TYPE_CHECKING:
    from trajdiff.model import InputFile

FORMAT = "trajdiff.part/1"
_SHARD = re.compile(r"(\d{1,5})/(\d{1,5})")


class Shard(click.ParamType[tuple[int, int]]):
    """``i/n``: the i-th of n parts of the tasks, from 1."""

    name = "shard"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """(i, n)."""
        if isinstance(value, tuple):
            return value
        found = _SHARD.fullmatch(str(value).strip())
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            self.fail(f"{value!r} is no part i/n with i from 1 to n, such as 1/4", param, ctx)
        return int(found[1]), int(found[2])


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a part file. ``traces`` are the paths that were read, ``files`` the files behind them with
    their SHA-256, ``lost`` tasks without outcome."""

    format: str
    shard: tuple[int, int]
    traces: list[str]
    outcomes: dict[str, bytes]
    lost: dict[str, str] = {}
    files: dict[str, str] = {}


class Parts:
    """The outcomes of several parts, asked for like those of a cache."""

    def __init__(self, files: Sequence[tuple[str, Part]]) -> None:
        self._outcomes = {name: value for _, part in files for name, value in part.outcomes.items()}
        self._lost = {task: reason for _, part in files for task, reason in part.lost.items()}
        self.traces = list(dict.fromkeys(path for _, part in files for path in part.traces))
        self._files = {path: sha for _, part in files for path, sha in part.files.items()}
        self._now: dict[str, str] = {}
        total = max(part.shard[1] for _, part in files)
        there = {part.shard[0] for _, part in files if part.shard[1] == total}
        self._absent = [f"{number}/{total}" for number in range(1, total + 1) if number not in there]

    def get(self, kind: str, key: str) -> bytes | None:
        """The outcome under a name, or None; files that lie elsewhere by now are called as they are now."""
        value = self._outcomes.get(key)
        if value is None or not self._now:
            return value
        outcome = msgspec.msgpack.decode(zlib.decompress(value))
        return zlib.compress(msgspec.msgpack.encode(_called(outcome, self._now)), 1)

    def moved(self, files: Sequence[InputFile]) -> dict[str, str]:
        """Where files lay when the parts were made, by where they lie now; known by what they hold."""
        there = {file.path for file in files}
        gone: dict[str, list[str]] = {}
        for path, sha in self._files.items():
            if path not in there:
                gone.setdefault(sha, []).append(path)
        new = [file for file in files if file.path not in self._files]
        found = {file.path: gone[file.sha256].pop(0) for file in new if gone.get(file.sha256)}
        self._now = {then: now for now, then in found.items()}
        return found

    def put(self, kind: str, key: str, value: bytes) -> None:
        """Nothing is added to parts."""

    def missing(self, task_id: str) -> Lost:
        """The reason why a task has no outcome. Raises ``InputError`` where that was not known to be."""
        if task_id in self._lost:
            return Lost(reason=self._lost[task_id])
        details = [f"no part is there for {', '.join(self._absent)}"] if self._absent else []
        raise InputError(
            f'no part holds task "{one_line(task_id)}"',
            *details,
            "traces, settings, options and version must be those the parts were made with",
        )


def _called(value: Any, names: Mapping[str, str]) -> Any:
    """The value with every path in ``names``, or inside one, by its new name."""
    if isinstance(value, dict):
        return {key: _called(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [_called(inner, names) for inner in value]
    if isinstance(value, str):
        for then, now in names.items():
            if value == then or value.startswith((f"{then}/", f"{then}#")):
                return now + value[len(then) :]
    return value


class Nowhere:
    """Does no work: what is in no part is missing."""

    here = False

    def __init__(self, missing: Callable[[str], Lost]) -> None:
        self._missing = missing

    def run(self, function: Callable[[Any], Any], jobs: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """See ``Runner``."""
        for number, job in enumerate(jobs):
            yield number, self._missing(job.task.task_id)


class OneShard:
    """Works on every n-th task only, and writes down what came of it: with every level, and for an answer that
    rests on some levels also without any of them, since which are allowed is known when all parts are there."""

    here = False

    def __init__(self, runner: Runner, shard: tuple[int, int], name: Callable[[Any], str]) -> None:
        self._runner, self._name = runner, name
        self._number, self._total = shard
        self._done = False
        self.outcomes: dict[str, bytes] = {}
        self.lost: dict[str, str] = {}

    def run(self, function: Callable[[Any], Any], jobs: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """See ``Runner``; tasks of other parts are left out, and what is asked for again is there."""
        if self._done:
            return
        self._done = True
        own = list(range(self._number - 1, len(jobs), self._total))
        waiting = []
        for at, result in self._runner.run(function, [jobs[number] for number in own]):
            waiting += self._kept(jobs[own[at]], result)
            yield own[at], result
        while waiting:
            now, waiting = waiting, []
            for at, result in self._runner.run(function, now):
                waiting += self._kept(now[at], result)

    def _kept(self, job: Any, result: Any) -> list[Any]:
        """Keeps a result; the jobs for what it comes to without some of the levels that it relied on."""
        self._keep(job, result)
        ahead = () if isinstance(result, Lost) else result.ahead
        further = [one for levels, known in ahead for one in self._kept(replace(job, levels=levels), known)]
        ways = [] if isinstance(result, Lost) else _without(job.levels, result.relied)
        jobs = {way: replace(job, levels=way) for way in ways}
        return further + [again for again in jobs.values() if self._name(again) not in self.outcomes]

    def _keep(self, job: Any, result: Any) -> None:
        from trajdiff.task_keys import packed

        value = None if isinstance(result, Lost) else packed(result)
        if value is not None:
            self.outcomes[self._name(job)] = value
        else:
            self.lost[job.task.task_id] = result.reason if isinstance(result, Lost) else "it cannot be written"


def _without(levels: Sequence[str], relied: Sequence[str]) -> list[tuple[str, ...]]:
    """The levels without each choice of those that were relied on."""
    choices = [drop for count in range(1, len(relied) + 1) for drop in combinations(relied, count)]
    return [tuple(level for level in levels if level not in drop) for drop in choices]


def part_of(
    runner: OneShard, shard: tuple[int, int], traces: Sequence[str], files: Sequence[InputFile]
) -> bytes:
    """The part as a file."""
    part = Part(
        format=FORMAT,
        shard=shard,
        traces=list(traces),
        outcomes=dict(sorted(runner.outcomes.items())),
        lost=dict(sorted(runner.lost.items())),
        files={file.path: file.sha256 for file in files},
    )
    return msgspec.msgpack.encode(part)


def read_parts(paths: Sequence[str]) -> Parts:
    """The parts behind these paths. Raises ``InputError`` for a file that is none."""
    files = []
    for path in paths:
        try:
            part = msgspec.msgpack.decode(read_file(path), type=Part)
        except OSError as error:
            raise InputError(f"{one_line(path)}: cannot be read ({error.strerror or error})") from error
        except (msgspec.MsgspecError, ValueError) as error:
            raise InputError(f"{one_line(path)}: is no part of a report", "made with report --shard") from error
        if part.format != FORMAT:
            raise InputError(f'{one_line(path)}: a part of the format "{one_line(part.format)}", not {FORMAT}')
        files.append((path, part))
    return Parts(files)
