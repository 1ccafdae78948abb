"""The cache keeps values between commands, and nothing that happens to its file ever costs a result."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
from pathlib import Path

import pytest

from trajdiff.cache import store as module
from trajdiff.cache.store import FILE, Store


def test_values_are_there_for_the_next_command(tmp_path: Path) -> None:
    first = Store(tmp_path / "new" / "folder")
    assert first.get("outcome", "a") is None
    first.put("outcome", "a", b"one")
    first.put("outcome", "a", b"two")
    first.put("trials", "a", b"")
    first.close()
    again = Store(tmp_path / "new" / "folder")
    assert (again.get("outcome", "a"), again.get("trials", "a")) == (b"two", b"")
    assert again.get("outcome", "b") is None
    assert again.info().kinds == (("outcome", 1, 3), ("trials", 1, 0))
    assert again.clear() == 0 or not (tmp_path / "new" / "folder" / FILE).exists()
    assert Store(tmp_path / "new" / "folder").get("outcome", "a") is None


@pytest.mark.parametrize("content", [b"", b"no database at all", b"SQLite format 3\0" + b"\xff" * 3000])
def test_a_broken_file_is_made_anew(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    store = Store(tmp_path)
    assert store.get("outcome", "a") is None
    store.put("outcome", "a", b"one")
    assert store.get("outcome", "a") == b"one"
    assert store.problem is None


def test_a_file_of_another_layout_is_thrown_away(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as other:
        other.execute("create table entry (something text)")
        other.execute("pragma user_version = 99")
    other.close()
    store = Store(tmp_path)
    store.put("outcome", "a", b"one")
    assert store.get("outcome", "a") == b"one"


def test_a_value_that_was_changed_is_not_found(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put("outcome", "a", b"one")
    store.close()
    with sqlite3.connect(tmp_path / FILE) as other:
        other.execute("update entry set value = ?", (b"two",))
    other.close()
    assert Store(tmp_path).get("outcome", "a") is None


def test_a_full_disk_ends_the_use_of_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path)
    store.put("outcome", "a", b"one")
    assert store._open is not None
    store._open.execute("pragma max_page_count = 1")  # what sqlite says then is what it says of a full disk
    store.put("outcome", "b", os.urandom(1_000_000))
    assert store.problem is not None
    assert "full" in store.problem
    assert store.get("outcome", "a") is None
    assert Store(tmp_path).get("outcome", "a") == b"one"


@pytest.mark.skipif(os.name == "nt", reason="needs a folder that is a file")
def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file" / "cache")
    store.put("outcome", "a", b"one")
    assert store.get("outcome", "a") is None
    assert store.problem


def test_a_writer_that_takes_long_is_not_waited_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.1)
    store = Store(tmp_path)
    store.put("outcome", "a", b"one")
    with sqlite3.connect(tmp_path / FILE, isolation_level=None) as other:
        other.execute("begin immediate")
        store.put("outcome", "b", b"two")
        assert store.get("outcome", "a") == b"one"
        assert store.get("outcome", "b") is None
        other.execute("commit")
    other.close()
    store.put("outcome", "b", b"two")
    assert store.get("outcome", "b") == b"two"
    assert store.problem is None


def _write(folder: str, name: str) -> None:
    store = Store(Path(folder))
    for number in range(40):
        store.put("outcome", f"{name}{number}", f"{name}{number}".encode())
    store.close()


def test_commands_at_the_same_time_share_it(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_write, args=(str(tmp_path), name)) for name in "abc"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    store = Store(tmp_path)
    for name in "abc":
        for number in range(40):
            assert store.get("outcome", f"{name}{number}") == f"{name}{number}".encode()


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 250)
    monkeypatch.setattr(module, "KEPT_BYTES", 150)
    clock = iter(range(0, 1_000_000, 10_000))
    monkeypatch.setattr("trajdiff.cache.store.time.time", lambda: float(next(clock)))
    store = Store(tmp_path)
    for key in "abc":
        store.put("outcome", key, key.encode() * 100)
    assert store.get("outcome", "a") is not None  # used once more
    store.prune()
    assert [store.get("outcome", key) is not None for key in "abc"] == [True, False, False]
