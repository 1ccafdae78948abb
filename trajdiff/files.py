"""Reads a file that was named, and writes a finished document whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

#: Bytes of a device after which it is taken to have no end.
_ENDLESS = 1 << 24


def read_file(path: str | os.PathLike[str]) -> bytes:
    """What a file, a pipe or a terminal holds. Raises ``OSError``, also for a name that no file can have and
    for a device without an end."""
    try:
        with Path(path).open("rb") as file:
            if not stat.S_ISCHR(os.fstat(file.fileno()).st_mode):
                return file.read()
            data = file.read(_ENDLESS)
    except ValueError as error:  # a NUL or a lone surrogate in the name
        raise OSError(errno.EINVAL, "a name that no file can have", os.fspath(path)) from error
    if len(data) == _ENDLESS:
        raise OSError(errno.EINVAL, "a device without an end", os.fspath(path))
    return data


def read_text(path: str | os.PathLike[str]) -> str:
    """The UTF-8 text of a file, every line end a line feed. Raises like ``read_file``, and ``ValueError``."""
    return read_file(path).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def exists(path: str) -> bool:
    """Whether something is there. A name that no file can have is the name of none."""
    return os.path.exists(path)  # noqa: PTH110 - Path.exists raises where a name is too long or may not be asked


def can_be_named(path: str) -> bool:
    """Whether a file can have this name at all."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def real_path(path: str) -> str:
    """The path without links; a name that no file can have stays as it is."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def is_file(path: str) -> bool:
    """Whether a file is there, see ``exists``."""
    return os.path.isfile(path)  # noqa: PTH113


def write_file(target: str | os.PathLike[str], content: str | bytes) -> None:
    """Text becomes UTF-8. The file is written beside its place and renamed at the end, so that a failed run
    leaves no half file; a device or a named pipe is written to, never replaced. Raises ``OSError``."""
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    path = Path(target)
    if path.exists() and not path.is_file():
        path.write_bytes(data)
    else:
        _replace(Path(os.path.realpath(path)), data)


def _replace(path: Path, data: bytes) -> None:
    beside = path.with_name(f".{path.name[:40]}.{os.getpid()}.part")
    try:
        with beside.open("xb") as file:
            file.write(data)
        if path.exists():
            beside.chmod(path.stat().st_mode & 0o777)
        beside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
