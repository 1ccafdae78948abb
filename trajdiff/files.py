"""Writes a finished document whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


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
