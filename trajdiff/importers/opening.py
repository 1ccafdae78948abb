"""Opens a file: decompressed, in UTF-8, with a plain message for what is not a log at all."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import stat
import zlib
from pathlib import Path

from trajdiff.files import can_be_named
from trajdiff.importers.archive import (
    MAX_DECOMPRESSED,
    ZIP_MAGIC,
    ZSTD_MAGIC,
    BadMemberError,
    open_archive,
    unpack_zstd,
)
from trajdiff.importers.document import Document
from trajdiff.importers.file_places import LARGE, Stamp, stamp_of
from trajdiff.importers.long_lines import long_lines
from trajdiff.importers.protocol import Unreadable

_LFS = b"version https://git-lfs"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def open_document(path: str, stdin: bytes | None = None, *, shallow: bool = False) -> Document:
    """Open ``path`` (``-`` is ``stdin``). Raises ``Unreadable`` with what is wrong in plain words.

    A ``shallow`` document refuses values that are nested too deeply for readers that walk them.
    """
    if not can_be_named(path):
        raise Unreadable("unreadable_file", "a name that no file can have")
    lines = long_lines(path, shallow=shallow) if path != "-" else None
    if lines is not None:
        return lines
    stamp = _stamp(path)
    data = content = _content(path, stdin)
    sha256 = hashlib.sha256(data).hexdigest()
    data = _decompressed(data)
    if data.startswith(ZIP_MAGIC):
        return Document(path, data, sha256, archive=open_archive(data), shallow=shallow)
    data = _as_utf8(data)
    if not data or data.isspace():  # a stripped copy of a large file would double it
        raise Unreadable(
            "empty_file", "the file is empty (0 bytes)" if not data else "the file holds only white space"
        )
    if data.startswith(_LFS):
        raise Unreadable(
            "git_lfs_pointer",
            "a Git LFS pointer: the content was not downloaded",
            "run git lfs pull in that repository",
        )
    if b"\x00" in data[:1024]:
        raise Unreadable("binary_file", "not a text file")
    plain = data is content and len(data) >= LARGE
    return Document(path, data, sha256, shallow=shallow, stamp=stamp if plain else None)


def _stamp(path: str) -> Stamp | None:
    try:
        return stamp_of(Path(path).stat())
    except OSError:
        return None


def _content(path: str, stdin: bytes | None) -> bytes:
    if path == "-":
        if stdin is None:
            raise Unreadable("no_stdin", "nothing was given on standard input")
        return stdin
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            # A named pipe or a device may never end, and a folder full of logs holds none.
            raise Unreadable("unreadable_file", "no regular file")
        return Path(path).read_bytes()
    except PermissionError:
        raise Unreadable("unreadable_file", "no permission to read this file") from None
    except OSError as error:
        raise Unreadable("unreadable_file", f"cannot be read: {error.strerror or error}") from None


def _decompressed(data: bytes) -> bytes:
    if data.startswith(ZSTD_MAGIC):
        try:
            return unpack_zstd(data)
        except BadMemberError as error:
            raise Unreadable(
                "bad_archive", f"compressed with zstd, but not readable: {error.problem}"
            ) from None
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            content = packed.read(MAX_DECOMPRESSED + 1)
    except EOFError:
        raise Unreadable("truncated_archive", "not a complete .gz file (still being written?)") from None
    except (OSError, zlib.error) as error:
        raise Unreadable("bad_archive", f"not a readable .gz file: {error}") from None
    if len(content) > MAX_DECOMPRESSED:
        raise Unreadable("too_large", "more than 2 GB when decompressed")
    return content


def _as_utf8(data: bytes) -> bytes:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            if encoding == "utf-8":
                return data[len(mark) :]
            try:
                return data.decode(encoding, "surrogatepass").encode("utf-8", "surrogatepass")
            except UnicodeError:
                raise Unreadable("bad_encoding", f"begins as {encoding.upper()} text but is not") from None
    # UTF-16 without a mark: JSON begins with an ASCII character, so every other byte of its start is zero.
    for encoding, zero in (("utf-16-le", 1), ("utf-16-be", 0)):
        start = data[:4]
        if len(start) == 4 and start[zero] == start[zero + 2] == 0 and start[1 - zero] and start[3 - zero]:
            return data.decode(encoding, "replace").encode("utf-8", "surrogatepass")
    return data
