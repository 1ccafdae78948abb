"""Zip containers as logs use them: deflate and zstd members, several zstd frames a member, cut files.

The standard library lists zstd members but cannot read them before Python 3.14, and the backport's own zip
reader refuses members made of several frames; so the members are read here.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from msgspec import Struct, field

from trajdiff.importers.protocol import Unreadable

if TYPE_CHECKING:
    import zipfile

#: A few kilobytes can decompress to anything; this much is more than any known log.
MAX_DECOMPRESSED = 2 << 30
ZIP_MAGIC = b"PK\x03\x04"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_STORED, _DEFLATE, _ZSTD = 0, 8, 93
_LOCAL = struct.Struct("<4sHHHHHIIIHH")
_LENGTH_FOLLOWS = 0x08
_UTF8_NAME = 0x800
_LONG_SIZES = 0xFFFFFFFF


class BadMemberError(Exception):
    """A member of an archive that cannot be read; ``problem`` is in plain words."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


class Member(Struct, frozen=True, kw_only=True):
    """One member: where its compressed bytes lie and what must come out. ``size`` is None where unknown."""

    name: str
    method: int
    start: int
    end: int
    size: int | None
    crc: int | None


class Archive(Struct, kw_only=True):
    """A zip file in memory. ``cut`` is True where its directory is lost and the members were searched for."""

    data: bytes
    members: dict[str, Member] = field(default_factory=dict)
    cut: bool = False

    def read(self, name: str) -> bytes:
        """The content of a member. Raises ``BadMemberError``."""
        member = self.members[name]
        raw = self.data[member.start : member.end]
        if member.size is not None and member.size > MAX_DECOMPRESSED:
            raise BadMemberError("more than 2 GB when decompressed")
        content = _unpacked(member, raw)
        if member.size is not None and len(content) != member.size:
            raise BadMemberError(f"{len(content)} bytes came out where {member.size} are announced")
        if member.crc is not None and zlib.crc32(content) != member.crc:
            raise BadMemberError("its checksum does not fit")
        return content


def open_archive(data: bytes) -> Archive:
    """Find the members of a zip file, by its directory or, where that is lost, one after the other.

    Raises ``Unreadable`` if not even one member can be found.
    """
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as listed:
            found = [_from_directory(data, info) for info in listed.infolist() if not info.is_dir()]
        return Archive(data=data, members={one.name: one for one in found if one is not None})
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, OSError, RuntimeError):
        pass
    members = {one.name: one for one in _searched(data)}
    if not members:
        raise Unreadable(
            "truncated_archive",
            "a zip archive that is cut before the end of its first member",
            "it may still be being written, or was not copied completely",
        )
    return Archive(data=data, members=members, cut=True)


def _from_directory(data: bytes, info: zipfile.ZipInfo) -> Member | None:
    # The local header may hold zeros for the sizes; only its own length is taken from it.
    header = data[info.header_offset : info.header_offset + _LOCAL.size]
    if len(header) < _LOCAL.size or header[:4] != ZIP_MAGIC or info.flag_bits & 1:
        return None
    *_, name_length, extra_length = _LOCAL.unpack(header)
    start = info.header_offset + _LOCAL.size + name_length + extra_length
    return Member(
        name=info.filename,
        method=info.compress_type,
        start=start,
        end=start + info.compress_size,
        size=info.file_size,
        crc=info.CRC,
    )


def _searched(data: bytes) -> Iterator[Member]:
    """The complete members of a file without directory, from one local header to the next."""
    position = data.find(ZIP_MAGIC)
    while position >= 0:
        header = data[position : position + _LOCAL.size]
        if len(header) < _LOCAL.size:
            return
        _, _, flags, method, _, _, crc, packed, size, name_length, extra_length = _LOCAL.unpack(header)
        start = position + _LOCAL.size + name_length + extra_length
        name = data[position + _LOCAL.size : position + _LOCAL.size + name_length]
        following = data.find(ZIP_MAGIC, start)
        if flags & _LENGTH_FOLLOWS or packed == _LONG_SIZES:
            # The lengths stand behind the member; where it ends is seen when it is decompressed.
            end, announced, checked = (following if following >= 0 else len(data)), None, None
        else:
            end, announced, checked = start + packed, size, crc
        if end > len(data):
            return
        text = name.decode("utf-8" if flags & _UTF8_NAME else "cp437", "replace")
        yield Member(name=text, method=method, start=start, end=end, size=announced, crc=checked)
        position = data.find(ZIP_MAGIC, end if announced is not None else start)


def _unpacked(member: Member, raw: bytes) -> bytes:
    if member.method == _STORED:
        return raw
    if member.method == _DEFLATE:
        try:
            engine = zlib.decompressobj(-15)
            content = engine.decompress(raw, MAX_DECOMPRESSED)
        except zlib.error as error:
            raise BadMemberError(f"damaged ({error})") from None
        if engine.unconsumed_tail:
            raise BadMemberError("more than 2 GB when decompressed")
        if not engine.eof:
            raise BadMemberError("it ends early")
        return content
    if member.method == _ZSTD:
        return unpack_zstd(raw)
    raise BadMemberError(f"compressed by method {member.method}, which is not known here")


def unpack_zstd(raw: bytes) -> bytes:
    """Decompress zstd, across all its frames. Raises ``BadMemberError``."""
    zstd = _zstd_module()
    content = io.BytesIO()
    try:
        stream: IO[bytes] = zstd.ZstdFile(io.BytesIO(raw))
        with stream:
            while piece := stream.read(1 << 20):
                content.write(piece)
                if content.tell() > MAX_DECOMPRESSED:
                    raise BadMemberError("more than 2 GB when decompressed")
    except EOFError:
        raise BadMemberError("it ends early") from None
    except (zstd.ZstdError, OSError, ValueError) as error:
        raise BadMemberError(f"damaged ({error})") from None
    return content.getvalue()


def _zstd_module() -> Any:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        try:
            from backports import zstd  # type: ignore[no-redef, unused-ignore]
        except ImportError:
            raise BadMemberError(
                "compressed with zstd (method 93), which this Python cannot read; pip install backports.zstd"
            ) from None
    return zstd
