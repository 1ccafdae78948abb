"""Writes finished documents: to standard output, or beside the target and renamed at the end."""

from __future__ import annotations

import os
from pathlib import Path

from trajdiff.cli.streams import put
from trajdiff.errors import UsageError
from trajdiff.files import write_file

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
    check_target(target)
    try:
        write_file(target, content)
    except OSError as error:
        raise UsageError(f"{_short(target)}: cannot be written ({_why(error)})") from error


def _short(target: str) -> str:
    return target if len(target) <= 80 else f"{target[:60]}...{target[-15:]}"


def _why(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)
