"""Standard output and standard error: who may be coloured, how wide they are, and what they can encode."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from typing import BinaryIO, TextIO

from trajdiff.errors import InputError, UsageError

#: Width without a terminal, and the least that tables are laid out for.
DEFAULT_WIDTH, LEAST_WIDTH = 100, 40
#: Locales whose terminals may draw the marks of ambiguous width two cells wide.
_AMBIGUOUS = ("zh", "ja", "ko")


class ClosedPipeError(Exception):
    """The reader of our output is gone, which is not a failure."""


class UnwritableError(UsageError):
    """Standard output takes no more, for instance because a disk is full."""


class State:
    """What the end of the program has to know: whether to show a traceback, and how far the work is."""

    def __init__(self, *, debug: bool = False) -> None:
        self.debug = debug
        self.stage = ""


def say(text: str) -> None:
    """One message on standard error."""
    _write(sys.stderr, f"{text}\n", encoding=None)


def put(content: str | bytes, *, utf8: bool = False) -> None:
    """A result on standard output; ``utf8`` for formats that are UTF-8 whatever the terminal speaks."""
    _write(sys.stdout, content, encoding="utf-8" if utf8 else None)


def flush() -> None:
    """Hands everything over to the reader, so that a closed pipe is noticed while it can be handled."""
    for stream in _open():
        try:
            stream.flush()
        except BrokenPipeError as error:
            raise ClosedPipeError from error
        except OSError as error:
            _refused(stream, error)


def standard_input() -> bytes | None:
    """What stands on standard input, None where it was closed before the program started."""
    if sys.stdin is None:
        return None
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise InputError(f"standard input: cannot be read ({error.strerror or error})") from error


def silence() -> None:
    """Points closed streams to nowhere, so that the interpreter does not complain when it ends."""
    for stream in _open():
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
            continue
        with contextlib.suppress(OSError, ValueError, AttributeError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def _open() -> list[TextIO]:
    """The two streams, without one that was closed before the program started."""
    both: tuple[TextIO | None, ...] = (sys.stdout, sys.stderr)
    return [stream for stream in both if stream is not None]


def _write(stream: TextIO | None, content: str | bytes, encoding: str | None) -> None:
    """Characters that the stream cannot encode become backslash escapes; lone surrogates always do. A stream
    that was closed before the program started is None: nobody reads it."""
    if stream is None:
        return
    chosen = encoding or stream.encoding or "utf-8"
    data = content if isinstance(content, bytes) else content.encode(chosen, "backslashreplace")
    try:
        binary = getattr(stream, "buffer", None)
        if binary is None:
            stream.write(data.decode(chosen, "replace"))
        else:
            stream.flush()
            _write_all(binary, data)
    except BrokenPipeError as error:
        raise ClosedPipeError from error
    except OSError as error:
        _refused(stream, error)


def _write_all(binary: BinaryIO, data: bytes) -> None:
    """Unbuffered streams (PYTHONUNBUFFERED) and those that do not block take a part and say how much."""
    rest = memoryview(data)
    while rest:
        try:
            taken = binary.write(rest)
        except BlockingIOError as error:
            taken = error.characters_written
        rest = rest[taken or 0 :]
        if rest:
            _until_writable(binary)
    while True:
        try:
            return binary.flush()
        except BlockingIOError:
            _until_writable(binary)


def _until_writable(binary: BinaryIO) -> None:
    import select

    with contextlib.suppress(
        ValueError, OSError
    ):  # a stream without a number, or one that cannot be waited for
        select.select([], [binary], [], 1.0)


def _refused(stream: TextIO, error: OSError) -> None:
    """A result that cannot be written is told; a message that cannot be told ends no work."""
    if stream is sys.stderr:
        silence()
        return
    raise UnwritableError(f"standard output: cannot be written ({error.strerror or error})") from error


def use_color(when: str, environment: Mapping[str, str]) -> bool:
    """Whether standard output is coloured: ``--color``, then NO_COLOR, TERM=dumb, FORCE_COLOR, the terminal."""
    if when != "auto":
        return when == "always"
    if environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return False
    return bool(environment.get("FORCE_COLOR")) or is_terminal(sys.stdout)


def use_ascii(environment: Mapping[str, str]) -> bool:
    """Whether the marks must be ASCII: no UTF-8, or a terminal that may draw them two cells wide."""
    if (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "").replace("_", "") != "utf8":
        return True
    locale = environment.get("LC_ALL") or environment.get("LC_CTYPE") or environment.get("LANG") or ""
    return is_terminal(sys.stdout) and locale.lower().startswith(_AMBIGUOUS)


def width(environment: Mapping[str, str]) -> int:
    """Cells of a line on standard output: of the terminal, else ``COLUMNS``, else 100."""
    asked = environment.get("COLUMNS", "")
    if asked.isdecimal() and int(asked) > 0:
        return max(int(asked), LEAST_WIDTH)
    if is_terminal(sys.stdout):
        import shutil

        return max(shutil.get_terminal_size((80, 24)).columns, LEAST_WIDTH)
    return DEFAULT_WIDTH


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal; a closed one is not."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False
