"""A file of values by key (sqlite), shared by all commands of a user that run at the same time.

Whatever goes wrong with it (a full disk, a broken file, no permission) costs time, never a result: then nothing
is found and nothing kept, and ``problem`` says why.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    import sqlite3

Found = TypeVar("Found")

FILE = "cache.sqlite"
#: Raised when the layout of the file changes: a file of another number is thrown away.
LAYOUT = 1
#: Bytes of values from which on those not used for longest are dropped, down to the lower number.
MOST_BYTES, KEPT_BYTES = 1_000_000_000, 800_000_000
#: Seconds to wait for another command that writes.
PATIENCE = 2.0
_SIDE_FILES = ("", "-wal", "-shm", "-journal")


class Info(Struct, frozen=True, kw_only=True):
    """What the cache holds: values by kind with their bytes, and the size of its files."""

    path: Path
    kinds: tuple[tuple[str, int, int], ...]
    file_bytes: int


class Store:
    """The values of one cache folder. Values are checked against their digest when they are read."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self.problem: str | None = None
        self._open: sqlite3.Connection | None = None
        self._given_up = False

    def get(self, kind: str, key: str) -> bytes | None:
        """The value, or None."""

        def read(connection: sqlite3.Connection) -> bytes | None:
            row = connection.execute(
                "select value, digest, used from entry where kind = ? and key = ?", (kind, key)
            ).fetchone()
            if row is None:
                return None
            value, digest, used = row
            if _digest(value) != digest:
                connection.execute("delete from entry where kind = ? and key = ?", (kind, key))
                return None
            if time.time() - used > 3600:
                connection.execute(
                    "update entry set used = ? where kind = ? and key = ?", (int(time.time()), kind, key)
                )
            return bytes(value)

        return self._try(read)

    def put(self, kind: str, key: str, value: bytes) -> None:
        """Keep a value."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "insert or replace into entry values (?, ?, ?, ?, ?)",
                (kind, key, value, _digest(value), int(time.time())),
            )

        self._try(write)

    def prune(self) -> None:
        """Drop the values not used for longest where there are too many."""

        if sum(size for _, size in self._files()) <= MOST_BYTES:
            return  # to sum up the values looks at each of them

        def drop(connection: sqlite3.Connection) -> None:
            total = connection.execute("select coalesce(sum(length(value)), 0) from entry").fetchone()[0]
            if total <= MOST_BYTES:
                return
            rows = connection.execute("select rowid, length(value) from entry order by used, rowid").fetchall()
            for row, size in rows:
                if total <= KEPT_BYTES:
                    break
                connection.execute("delete from entry where rowid = ?", (row,))
                total -= size

        self._try(drop)

    def info(self) -> Info:
        """What is in it; an empty one where there is none."""
        kinds: list[tuple[str, int, int]] = []
        if self.path.exists():
            found = self._try(
                lambda connection: connection.execute(
                    "select kind, count(*), sum(length(value)) from entry group by kind order by kind"
                ).fetchall()
            )
            kinds = [(str(kind), int(count), int(size)) for kind, count, size in found or ()]
        return Info(path=self.path, kinds=tuple(kinds), file_bytes=sum(size for _, size in self._files()))

    def clear(self) -> int:
        """Deletes the cache; the bytes that were freed. Raises ``OSError``."""
        self.close()
        freed = 0
        for file, size in self._files():
            file.unlink(missing_ok=True)
            freed += size
        return freed

    def close(self) -> None:
        """Let go of the file."""
        if self._open is not None:
            with contextlib.suppress(Exception):
                self._open.close()
            self._open = None

    def _files(self) -> list[tuple[Path, int]]:
        files = [self.path.with_name(self.path.name + suffix) for suffix in _SIDE_FILES]
        return [(file, file.stat().st_size) for file in files if file.is_file()]

    def _try(self, action: Callable[[sqlite3.Connection], Found]) -> Found | None:
        """Do something with the file; a broken one is made anew, anything else ends the use of the cache."""
        import sqlite3

        for again in (True, False):
            if self._given_up:
                return None
            try:
                if self._open is None:
                    self._open = self._connected()
                with self._open:
                    return action(self._open)
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) and "busy" not in str(error):
                    self._give_up(error)
                return None  # another command writes just now
            except sqlite3.DatabaseError as error:
                self.close()
                if not again or not self._thrown_away():
                    self._give_up(error)
            except OSError as error:
                self._give_up(error)
        return None

    def _connected(self) -> sqlite3.Connection:
        import sqlite3

        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=PATIENCE)
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = off")
        known = connection.execute("pragma user_version").fetchone()[0]
        if known not in (0, LAYOUT):
            connection.close()
            raise sqlite3.DatabaseError(f"layout {known}")
        with connection:
            connection.execute(
                "create table if not exists entry (kind text, key text, value blob, digest blob, used integer,"
                " primary key (kind, key))"
            )
            connection.execute(f"pragma user_version = {LAYOUT}")
        return connection

    def _thrown_away(self) -> bool:
        try:
            self.clear()
        except OSError:
            return False
        return True

    def _give_up(self, error: Exception) -> None:
        self.close()
        self._given_up = True
        self.problem = str(error) or type(error).__name__


def _digest(value: bytes) -> bytes:
    return hashlib.blake2b(value, digest_size=16).digest()
