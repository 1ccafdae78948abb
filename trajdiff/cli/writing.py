"""Writes finished documents: to standard output, or beside the target and renamed at the end."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from trajdiff.cli.streams import put
from trajdiff.errors import UsageError

STANDARD_OUTPUT = "-"


def check_target(target: str) -> None:
    """Raises ``UsageError`` for a target that cannot be written, before any work is done for it."""
    if target == STANDARD_OUTPUT:
        return
    path = Path(target)
    try:
        os.lstat(path)  # a name that no file can have is told apart from one that no file has
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        raise UsageError(f"{_short(target)}: cannot be written ({_why(error)})") from error
    if path.is_dir():
        raise UsageError(f"{target}: is a directory")
    if not path.parent.is_dir():
        raise UsageError(f"{target}: no folder {path.parent}")


def write(target: str, content: str | bytes) -> None:
    """Write a document as UTF-8; a failed run leaves no half file. Raises ``UsageError`` where it cannot."""
    if target == STANDARD_OUTPUT:
        put(content, utf8=True)
        return
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    check_target(target)
    path = Path(target)
    try:
        if path.exists() and not path.is_file():  # a device or a named pipe must not be replaced by a file
            path.write_bytes(data)
        else:
            _replace(Path(os.path.realpath(path)), data)
    except OSError as error:
        raise UsageError(f"{_short(target)}: cannot be written ({_why(error)})") from error


def _short(target: str) -> str:
    return target if len(target) <= 80 else f"{target[:60]}...{target[-15:]}"


def _why(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)


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
