"""Writes the bundled sample traces and their known answers: ``python -m tests.samples.build [--check]``."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.samples import (
    cancellations,
    coupons,
    deliveries,
    exchanges,
    never_pass,
    questions,
    refunds,
    tau2_tasks,
    zh_orders,
    zh_service,
)
from tests.samples.answers import known_roots
from tests.samples.notation import Task
from tests.samples.records import jsonl
from tests.samples.tau2_file import tau2

ROOT = Path(__file__).resolve().parents[2]


def _ordered(*groups: tuple[Task, ...]) -> tuple[Task, ...]:
    return tuple(sorted((task for group in groups for task in group), key=lambda task: task.task_id))


ENGLISH = _ordered(
    refunds.TASKS,
    cancellations.TASKS,
    deliveries.TASKS,
    questions.TASKS,
    exchanges.TASKS,
    coupons.TASKS,
    never_pass.TASKS,
)
CHINESE = _ordered(zh_orders.TASKS, zh_service.TASKS)
TAU2 = _ordered(tau2_tasks.TASKS)
ALL = _ordered(ENGLISH, CHINESE, TAU2)


def files() -> dict[str, str]:
    """Path below the project folder and content of every generated file."""
    return {
        "sample_traces/shop.jsonl": jsonl(ENGLISH),
        "sample_traces/shop-zh.jsonl": jsonl(CHINESE),
        "sample_traces/shop-tau2.json": tau2(TAU2),
        "tests/samples/known_roots.json": known_roots(ALL),
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
