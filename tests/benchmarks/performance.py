"""All performance targets as ratios in one run, as a table; peers beside it where they are installed.

    python -m tests.benchmarks.performance --megabytes 500 --folder /large/disk
    python -m tests.benchmarks.performance --megabytes 2000 --only jsonl

Absolute times depend on the machine and say little; every ratio is taken between two runs one after the other.
Files are made for the run and deleted after it.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.generator import LARGE, MEGABYTE, SMALL, write_corpus
from tests.benchmarks.measuring import Taken, orjson_seconds, taken, trajdiff
from tests.benchmarks.peers import PEERS, version
from trajdiff.importers.kept_files import SETTLED


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One line of the table: a value and the most it should be (None: shown for comparison only)."""

    check: str
    value: float
    target: float | None
    said: str = ""

    @property
    def met(self) -> bool:
        """Whether the value keeps to its target."""
        return self.target is None or self.value <= self.target


def _report(path: Path, *options: str) -> Taken:
    return trajdiff("report", str(path), "--no-config", "-q", *options)


def _seconds(one: Taken) -> str:
    return f"{one.cpu:.2f} s of processor, {one.wall:.1f} s, {one.megabytes:.0f} MB"


def _warm(folder: Path) -> None:
    """Runs each command once, so that no measured one writes the bytecode that an installation has."""
    path = folder / "warm.json"
    write_corpus(path, LARGE, tasks=2)
    _report(path)
    _report(path, "--jobs", "2")
    trajdiff("compare", "task", "1", str(path), "--no-config", "-q", cache=folder / "warm-cache")


def _made(folder: Path, name: str, megabytes: int) -> Path:
    path = folder / name
    write_corpus(path, LARGE, size=megabytes * MEGABYTE)
    return path


def json(folder: Path, megabytes: int, repeats: int) -> Iterator[Measured]:
    """One results file: against parsing it whole, memory, and two processes against one."""
    path = _made(folder, "large.json", megabytes)
    least, one = orjson_seconds(path), _report(path)
    said = f"{_seconds(one)}; orjson {least:.2f} s"
    yield Measured(
        check=f"report on {megabytes} MB JSON: CPU / orjson whole file",
        value=one.cpu / least,
        target=2,
        said=said,
    )
    size = path.stat().st_size / (1 << 20)
    yield Measured(check="peak memory beyond the size of the file, MB", value=one.megabytes - size, target=150)
    ratios: list[float] = []
    for _ in range(repeats):
        two, again = _report(path, "--jobs", "2"), _report(path) if ratios else one
        ratios.append(two.wall / again.wall)
    said = f"{_seconds(two)}; of {repeats}: {' '.join(f'{ratio:.2f}' for ratio in ratios)}"
    middle = sorted(ratios)[len(ratios) // 2]
    yield Measured(check="two processes / one, wall", value=middle, target=0.8, said=said)
    path.unlink()


def jsonl(folder: Path, megabytes: int, _: int) -> Iterator[Measured]:
    """The same trials line by line: against parsing each line, and memory."""
    path = _made(folder, "large.jsonl", megabytes)
    least, one = orjson_seconds(path), _report(path)
    said = f"{_seconds(one)}; orjson {least:.2f} s"
    yield Measured(
        check=f"report on {megabytes} MB JSONL: CPU / orjson per line",
        value=one.cpu / least,
        target=3,
        said=said,
    )
    yield Measured(check="peak memory, MB", value=one.megabytes, target=200)
    path.unlink()


def small(folder: Path, _: int, __: int) -> Iterator[Measured]:
    """50 tasks of 4 trials of 30 steps: everyday work, and the second time with a cache."""
    path = folder / "small.json"
    write_corpus(path, SMALL, tasks=50)
    tiny = folder / "tiny.json"
    write_corpus(tiny, SMALL, tasks=1)
    least, imports, one = orjson_seconds(path), _report(tiny), _report(path)
    yield Measured(
        check="small corpus: (CPU - that of one task) / orjson",
        value=(one.cpu - imports.cpu) / least,
        target=5,
        said=f"{_seconds(one)}; orjson {least:.2f} s",
    )
    time.sleep(SETTLED + 0.5)  # a file that has just been written is not trusted to stay as it is
    cache = folder / "cache"
    command = ("compare", "task", "7", str(path), "--no-config", "-q")
    first, second = trajdiff(*command, cache=cache), trajdiff(*command, cache=cache)
    yield Measured(check="compare task, wall s", value=first.wall, target=1, said=_seconds(first))
    yield Measured(
        check="compare task again with cache, wall s", value=second.wall, target=0.5, said=_seconds(second)
    )


def growth(folder: Path, _: int, __: int) -> Iterator[Measured]:
    """Twice the tasks, twice the time."""
    times = []
    for tasks in (8, 16):
        path = folder / f"{tasks}.jsonl"
        write_corpus(path, LARGE, tasks=tasks)
        times.append(_report(path).cpu)
    yield Measured(check="time(2N) / time(N), 8 and 16 tasks", value=times[1] / times[0], target=2.2)


def start(_: Path, __: int, ___: int) -> Iterator[Measured]:
    """Help against an interpreter that does nothing."""
    trajdiff("--help")
    ratios: list[float] = []
    for _again in range(5):
        bare, shown = taken(["-c", "pass"]), trajdiff("--help")
        ratios.append(shown.wall / bare.wall)
    yield Measured(check="--help / python -c pass, wall (middle of 5)", value=sorted(ratios)[2], target=6)


def peers(folder: Path, _: int, __: int) -> Iterator[Measured]:
    """One task of 8 trials of 60 steps, all pairs."""
    path = folder / "task.json"
    write_corpus(path, LARGE, tasks=1)

    def seconds(tool: str) -> float:
        return float(taken(["-m", "tests.benchmarks.peers", tool, str(path)]).out)

    own = seconds("own")
    for peer in PEERS:
        found = version(peer)
        if found is not None:
            other = seconds(peer)
            yield Measured(
                check=f"8 x 60 task / {peer} {found}",
                value=own / other,
                target=0.3 if peer == "agentdiff" else None,
                said=f"{own * 1000:.0f} ms against {other * 1000:.0f} ms",
            )


GROUPS: dict[str, Callable[[Path, int, int], Iterator[Measured]]] = {
    "json": json,
    "jsonl": jsonl,
    "small": small,
    "growth": growth,
    "start": start,
    "peers": peers,
}


def line(one: Measured) -> str:
    """One line of the table."""
    mark = "" if one.target is None else "met" if one.met else "MISSED"
    target = "" if one.target is None else f"<= {one.target:g}"
    return f"{one.check:<56} {one.value:8.2f}  {target:>7}  {mark:<6}  {one.said}".rstrip()


def main() -> int:
    """Prints the table; 0 if every target was met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100, help="size of the large files")
    parser.add_argument("--folder", type=Path, help="where files of that size find room")
    parser.add_argument("--only", action="append", choices=GROUPS, help="groups of checks; repeatable")
    parser.add_argument("--repeats", type=int, default=1, help="comparisons of two processes with one")
    asked = parser.parse_args()
    names = ("orjson", "msgspec", "rapidfuzz", "numpy", "networkx")
    print(
        f"Python {sys.version.split()[0]}; " + ", ".join(f"{n} {importlib.metadata.version(n)}" for n in names)
    )
    every = True
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        _warm(Path(folder))
        for group in asked.only or GROUPS:
            for one in GROUPS[group](Path(folder), asked.megabytes, asked.repeats):
                print(line(one), flush=True)
                every = every and one.met
    return 0 if every else 1


if __name__ == "__main__":
    sys.exit(main())
