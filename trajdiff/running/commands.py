"""Runs one command of the user with a time limit, bounded output and an end for everything it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_POLL_S = 0.1
#: Between asking a program to end and ending it.
_GRACE_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended: exit ``code`` or ``killed`` by a signal; ``stopped`` says why we ended it.

    ``output`` is the end of what it printed; ``cut`` counts the bytes beyond the limit, which are dropped.
    """

    code: int | None
    killed: str | None = None
    stopped: str | None = None
    seconds: float = 0.0
    output: str = ""
    cut: int = 0
    problem: str | None = None

    @property
    def ok(self) -> bool:
        """Whether it ran to its end and says that all is well."""
        return self.code == 0 and self.stopped is None and self.problem is None

    def words(self, limit: float) -> str:
        """What went wrong, in a few words, with the last line that was printed."""
        last = next((line.strip() for line in reversed(self.output.splitlines()) if line.strip()), "")
        if self.problem is not None:
            return self.problem
        if self.stopped == "time":
            what = f"no end after {limit:g} s"
        elif self.stopped is not None:
            what = self.stopped
        elif self.killed is not None:
            what = f"ended by {self.killed}"
        else:
            what = f"exit code {self.code}"
        return f"{what}: {last[:200]}" if last else what


class _Output:
    """Copies what a program prints into a file, up to a limit; the rest is read and dropped."""

    def __init__(self, stream: IO[bytes], target: Path, limit: int) -> None:
        self.cut = 0
        self.problem: str | None = None
        self._tail = b""
        self._stream, self._target, self._limit = stream, target, limit
        self._thread = threading.Thread(target=self._copy, daemon=True)
        self._thread.start()

    def _copy(self) -> None:
        room = self._limit
        with contextlib.suppress(OSError, ValueError), contextlib.ExitStack() as stack:
            try:
                file = stack.enter_context(self._target.open("wb"))
            except OSError as error:
                self.problem, file = str(error), None
            while block := os.read(self._stream.fileno(), 65536):
                self._tail = (self._tail + block)[-4000:]
                kept = block[:room]
                room -= len(kept)
                self.cut += len(block) - len(kept)
                if file is not None and kept:
                    try:
                        file.write(kept)
                        file.flush()
                    except OSError as error:
                        self.problem, file = str(error), None

    def finish(self) -> str:
        """Wait for the end of the stream; returns the end of the text."""
        self._thread.join(timeout=_GRACE_S)
        self._stream.close()
        return self._tail.decode("utf-8", "replace")


def run_command(
    words: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    output: Path,
    limit: float,
    output_limit: int,
    stop: threading.Event,
    watch: Callable[[], str | None] | None = None,
    pid_file: Path | None = None,
) -> Ended:
    """Run a command to its end. ``watch`` is asked ten times a second for a reason to stop it.

    The command is a process group of its own; whatever of it still runs afterwards is ended too.
    """
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            list(words),
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Ended(code=None, problem=f"cannot be started: {error}")
    assert process.stdout is not None
    if pid_file is not None:
        with contextlib.suppress(OSError):
            pid_file.write_text(f"{process.pid} {_born(process.pid)}\n", encoding="utf-8")
    copied = _Output(process.stdout, output, output_limit)
    stopped = _wait(process, began + limit, stop, watch)
    _end_group(process.pid)
    text = copied.finish()
    if pid_file is not None:
        with contextlib.suppress(OSError):
            pid_file.unlink()
    code = process.returncode
    return Ended(
        code=code if code >= 0 else None,
        killed=_signal_name(-code) if code < 0 and stopped is None else None,
        stopped=stopped,
        seconds=time.monotonic() - began,
        output=text,
        cut=copied.cut,
    )


def _wait(
    process: subprocess.Popen[bytes],
    until: float,
    stop: threading.Event,
    watch: Callable[[], str | None] | None,
) -> str | None:
    """Wait for the process; the reason why it was ended, or None."""
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=max(min(_POLL_S, until - time.monotonic()), 0.001))
            return None
        reason = "interrupted" if stop.is_set() else watch() if watch is not None else None
        if reason is None and time.monotonic() >= until:
            reason = "time"
        if reason is not None:
            _ask_to_end(process)
            return reason


def _ask_to_end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGTERM)
        else:
            process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=_GRACE_S)
        return
    _end_group(process.pid)
    process.kill()
    process.wait()


def _end_group(group: int) -> None:
    if hasattr(os, "killpg"):
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)


def end_leftover(pid_file: Path) -> bool:
    """End the process group that a killed run left behind; True if there was one.

    A number that meanwhile belongs to another process is left alone: the time of its start must be the same.
    Where the system does not tell that time, nothing is ended.
    """
    try:
        number, born = pid_file.read_text(encoding="utf-8").split()
    except (OSError, ValueError):
        return False
    with contextlib.suppress(OSError):
        pid_file.unlink()
    if not number.isdecimal() or born == "-" or _born(int(number)) != born:
        return False
    _end_group(int(number))
    return True


def _born(pid: int) -> str:
    """When a process was started, in the system's own ticks; ``-`` where that is not told."""
    if not sys.platform.startswith("linux"):
        return "-"
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return "-"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
