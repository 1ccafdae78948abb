"""Runs programs and reads what they took: processor time, time on the wall, peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
_BYTECODE = tempfile.TemporaryDirectory()


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """Seconds of processor and wall, peak memory in megabytes (of the largest process), and what was said."""

    cpu: float
    wall: float
    megabytes: float
    out: str = ""


def taken(arguments: list[str], cache: Path | None = None) -> Taken:
    """What a Python program takes. Raises ``RuntimeError`` with its messages where it fails."""
    paths = [str(PROJECT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0"}
    # As installed: bytecode is there, whatever this shell says about writing it.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = _BYTECODE.name
    if cache is not None:
        environment["TRAJDIFF_CACHE"] = str(cache)
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment
    )
    assert process.stdout is not None
    out = process.stdout.read().decode("utf-8", "replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - started
    if process.returncode != 0:
        raise RuntimeError(out[-2000:])
    return Taken(cpu=usage.ru_utime + usage.ru_stime, wall=wall, megabytes=usage.ru_maxrss / 1024, out=out)


def trajdiff(*arguments: str, cache: Path | None = None) -> Taken:
    """What one command takes; without a cache it keeps nothing."""
    options = ["--no-cache"] if cache is None and arguments[0] != "--help" else []
    return taken(["-m", "trajdiff", *arguments, *options], cache)


_ORJSON = """
import sys, time, orjson
path, lines = sys.argv[1], sys.argv[1].endswith("l")
seconds = 0.0
with open(path, "rb") as file:
    if lines:
        for line in file:
            start = time.process_time()
            orjson.loads(line)
            seconds += time.process_time() - start
    else:
        data = file.read()
        start = time.process_time()
        value = orjson.loads(data)
        seconds = time.process_time() - start
print(seconds)
"""


def orjson_seconds(path: Path) -> float:
    """Processor time of ``orjson.loads`` for the whole file, or line by line."""
    return float(taken(["-c", _ORJSON, str(path)]).out)
