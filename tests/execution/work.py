"""Work for workers to do: each function is imported by them under this name."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any


def square(number: int) -> int:
    return number * number


def die_at_three(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def leave_at_three(number: int) -> int:
    if number == 3:
        os._exit(7)
    return number * number


def sleep_at_three(number: int) -> int:
    if number == 3:
        time.sleep(60)
    return number * number


def run_out_at_three(number: int) -> int:
    if number == 3:
        raise MemoryError
    return number * number


def fail_at_three(number: int) -> int:
    if number == 3:
        raise LookupError("three")
    return number * number


def unsendable_at_three(number: int) -> Any:
    return (lambda: number) if number == 3 else number


def length(text: str) -> int:
    return len(text)


def own_process_once_short(path: str) -> int:
    """The number of its process; for the path "short" it leaves that there and runs out of memory."""
    if Path(path).name == "short":
        Path(path).write_text(str(os.getpid()), encoding="utf-8")
        raise MemoryError
    return os.getpid()


def own_process(folder: str) -> int:
    """Leaves a file with the number of its process, and takes its time."""
    Path(folder, str(os.getpid())).touch()
    time.sleep(0.2)
    return os.getpid()
