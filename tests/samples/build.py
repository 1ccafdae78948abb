"""Writes the bundled sample traces and their known answers: ``python -m tests.samples.build [--check]``."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.samples import refunds
from tests.samples.answers import known_roots
from tests.samples.notation import Task
from tests.samples.records import jsonl

ROOT = Path(__file__).resolve().parents[2]


def _ordered(*groups: tuple[Task, ...]) -> tuple[Task, ...]:
    return tuple(sorted((task for group in groups for task in group), key=lambda task: task.task_id))


ENGLISH = _ordered(refunds.TASKS)


def files() -> dict[str, str]:
    """Path below the project folder and content of every generated file."""
    return {
        "sample_traces/shop.jsonl": jsonl(ENGLISH),
        "tests/samples/known_roots.json": known_roots(_ordered(ENGLISH)),
    }


def stale() -> tuple[str, ...]:
    """Paths of generated files that are absent or differ from what the scenarios say."""
    wanted = {path: text.encode() for path, text in files().items()}
    return tuple(
        path
        for path, content in wanted.items()
        if not (ROOT / path).is_file() or (ROOT / path).read_bytes() != content
    )


def main(arguments: list[str]) -> int:
    """Write the files, or only compare them with ``--check`` (exit code 1 where one differs)."""
    if arguments == ["--check"]:
        different = stale()
        for path in different:
            print(f"{path} differs from its scenarios; run python -m tests.samples.build")
        return 1 if different else 0
    if arguments:
        print("usage: python -m tests.samples.build [--check]")
        return 2
    for path, text in files().items():
        (ROOT / path).write_bytes(text.encode())
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
