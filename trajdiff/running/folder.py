"""The folder of a run: who may write to it, which trials are done, and their records.

A finished trial is written in three steps, so that a run killed between any two of them loses nothing: its
record beside its trace, a line in the journal, the record at its public place.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from trajdiff.errors import InputError, UsageError
from trajdiff.running.commands import end_leftover
from trajdiff.running.plan import Plan
from trajdiff.running.slots import Slot

_HIDDEN = ".run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A line of the journal: a slot that is finished, the hash of its record, what was to be told about it.

    ``counted`` is False for a trial without a verdict that did not stop at a limit of its own.
    """

    key: str
    attempt: int
    sha256: str
    verdict: str
    counted: bool
    state: str | None
    problems: tuple[str, ...]


class RunFolder:
    """Use as a context manager; one process at a time. Raises ``UsageError`` and ``InputError``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.hidden = path / _HIDDEN
        self.done: dict[str, Done] = {}
        self.notes: list[str] = []
        self._lock: IO[bytes] | None = None

    def __enter__(self) -> Self:
        with writing(self.path):
            self.hidden.mkdir(parents=True, exist_ok=True)
            self._lock = (self.hidden / "lock").open("ab")
        if not _locked(self._lock):
            self._lock.close()
            raise UsageError(
                f"{self.path}: another run is at work in this folder",
                "wait for its end, or give the plan another out",
            )
        self._read_journal()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lock is not None:
            self._lock.close()

    # The plan

    def adopt(self, plan: Plan, about: Mapping[str, Any]) -> None:
        """Note the plan of a new folder; a folder of another plan is refused, with what differs."""
        file = self.hidden / "run.json"
        mine = {**plan.identity(), **about}
        if not file.exists():
            if any(one for one in self.path.iterdir() if one.name != _HIDDEN):
                raise UsageError(f"{self.path}: holds files that no run made", "give the plan an empty out")
            with writing(file):
                replace_file(file, json.dumps(mine, indent=1, ensure_ascii=False).encode() + b"\n")
            return
        try:
            known = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"{file}: cannot be read ({error})") from error
        other = [key for key in mine if json.loads(json.dumps(mine[key])) != known.get(key)]
        if other:
            raise UsageError(
                f"{self.path}: was made by another plan; different: {', '.join(other)}",
                "trials of two plans are not trials of one another; give the plan another out",
            )

    # Trials

    def _read_journal(self) -> None:
        file = self.hidden / "journal.jsonl"
        try:
            lines = file.read_bytes().split(b"\n")
        except FileNotFoundError:
            return
        except OSError as error:
            raise InputError(f"{file}: cannot be read ({error.strerror or error})") from error
        for line in lines:
            try:
                said = json.loads(line)
                problems = tuple(said["problems"])
                done = Done(**{**said, "problems": problems})
            except (ValueError, TypeError, KeyError):
                continue  # the half line of a run that was killed: its trial is run again
            self.done[done.key] = done

    def restore(self) -> None:
        """Put finished records back where they are missing or were changed, and say so."""
        for done in self.done.values():
            public = self.path / f"{done.key}.jsonl"
            kept = self.hidden / done.key / str(done.attempt) / "record.jsonl"
            if _hash(public) == done.sha256:
                continue
            if public.exists():
                self.notes.append(f"{public}: was changed after its trial had ended, and was put back")
            if _hash(kept) != done.sha256:
                raise InputError(
                    f"{kept}: the record of a finished trial is gone or was changed",
                    f"remove {self.hidden / done.key} and its line in the journal to run it again",
                )
            with writing(public):
                public.parent.mkdir(parents=True, exist_ok=True)
                replace_file(public, kept.read_bytes())

    def end_leftovers(self, slot: Slot) -> None:
        """End what a killed run left running for this slot, and say that its trial is run again."""
        folder = self.hidden / slot.key
        attempts = [int(one.name) for one in folder.glob("*") if one.name.isdecimal()]
        for attempt in sorted(attempts):
            running = end_leftover(folder / str(attempt) / "pid")
            end = "; what still ran of it was ended" if running else ""
            self.notes.append(
                f"trial {slot.trial_id} of task {slot.task.id} was interrupted and is run again; what there was"
                f" is kept in {folder / str(attempt)}{end}"
            )

    def attempt(self, slot: Slot) -> tuple[int, Path]:
        """A new folder for an attempt at a slot, and its number."""
        folder = self.hidden / slot.key
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            number = 1 + max([int(one.name) for one in folder.iterdir() if one.name.isdecimal()], default=0)
            made = folder / str(number)
            made.mkdir()
        return number, made

    def finish(self, done: Done, record: bytes) -> None:
        """Keep the record of a finished trial. Raises ``InputError`` where it cannot be written."""
        kept = self.hidden / done.key / str(done.attempt) / "record.jsonl"
        public = self.path / f"{done.key}.jsonl"
        with writing(kept):
            replace_file(kept, record)
        line = asdict(done)
        with writing(self.hidden / "journal.jsonl"), (self.hidden / "journal.jsonl").open("ab") as journal:
            # A leading line break ends the half line of a run that was killed.
            journal.write(b"\n" + json.dumps(line, ensure_ascii=True).encode() + b"\n")
            journal.flush()
            os.fsync(journal.fileno())
        with writing(public):
            public.parent.mkdir(parents=True, exist_ok=True)
            replace_file(public, record)
        self.done[done.key] = done


@contextlib.contextmanager
def writing(path: Path) -> Any:
    """Turns a full disk and its kin into a message; what was finished before stays."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror or error})",
            "finished trials are kept; make room and run the same command again",
        ) from error


def replace_file(path: Path, data: bytes) -> None:
    """Write beside the target and rename, so that no reader sees half a file."""
    beside = path.with_name(f".{path.name}.part")
    with beside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def _hash(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def _locked(file: IO[bytes]) -> bool:
    """Take the lock, which the system gives back when the process ends in whatever way."""
    try:
        import fcntl
    except ImportError:
        return _locked_on_windows(file)
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _locked_on_windows(file: IO[bytes]) -> bool:
    import importlib

    msvcrt: Any = importlib.import_module("msvcrt")
    try:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True
