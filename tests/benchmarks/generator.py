"""Makes recorded runs of any size for the benchmarks: the same parameters give the same bytes.

The traces are made up in the shape of a tau2 results file, in which most of the bulk (``raw_data``) is what a
model answered once more, unread. What varies between the trials of a task is what varies in real ones: wording,
a read left out or repeated, two reads swapped, and in failed trials one write with another amount or none.
Equal calls get equal results, as they do from a simulated environment.

    python -m tests.benchmarks.generator FILE.json --megabytes 500
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

#: Steps of one trial (a call with its result, or a message) and trials of one task in the large corpora.
STEPS, TRIALS = 60, 8
#: Least bytes of one step in the file, on average.
STEP_BYTES = 6_000
MEGABYTE = 1_000_000

_TEXT = (
    "order account billing parcel refund address window customer transfer balance invoice warranty schedule "
    "delivery confirm because please before after there would should number store change update later status "
    "shipping payment credit reason model color small large item product review details thank you for"
)
_WORDS = _TEXT.split()
_READS = ("get_order", "get_user", "find_product", "list_payments", "get_shipment", "search_flights")
_WRITES = ("update_address", "refund_item", "cancel_order", "book_transfer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a corpus is made of; ``seed`` picks the wording and who fails where."""

    trials: int = TRIALS
    steps: int = STEPS
    step_bytes: int = STEP_BYTES + 400
    seed: int = 7


LARGE = Plan()
#: The small corpus of the targets has the steps of everyday files and little beside them.
SMALL = Plan(trials=4, steps=30, step_bytes=1_200)


def simulations(plan: Plan, task: int) -> Iterator[dict[str, Any]]:
    """The trials of one task as tau2 simulations."""
    rng = random.Random(f"{plan.seed}/{task}")
    script = [_part(rng, task, place) for place in range(plan.steps - 1)]
    writes = [place for place, part in enumerate(script) if part["kind"] == "write"]
    for trial in range(plan.trials):
        own = random.Random(f"{plan.seed}/{task}/{trial}")
        failed = own.random() < 0.4
        broken = writes[task % len(writes)] if failed and writes else None
        steps = _played(own, script, broken, kept=trial % 2 == 0)
        yield _simulation(plan, own, task, trial, steps, failed=failed)


def _part(rng: random.Random, task: int, place: int) -> dict[str, Any]:
    """One step of the script every trial of a task follows."""
    kind = "user" if place == 0 else rng.choices(("read", "write", "agent", "user"), (11, 2, 4, 3))[0]
    number = f"{task}-{place}"
    if kind in ("agent", "user"):
        sentences = [_sentence(rng, 6 + rng.randrange(14)) for _ in range(3 + rng.randrange(4))]
        return {"kind": kind, "versions": _versions(rng, sentences, number)}
    name = rng.choice(_READS if kind == "read" else _WRITES)
    arguments: dict[str, Any] = {"order_id": f"#W{task:04d}{place:03d}", "user_id": f"user_{task}_{place % 5}"}
    if kind == "write":
        arguments |= {"amount": round(rng.uniform(5, 900), 2), "reason": _sentence(rng, 8)}
    result = _record(rng, number, rows=rng.choice((3, 6, 10, 16, 24)) if kind == "read" else 3)
    return {"kind": kind, "name": name, "arguments": arguments, "result": result}


def _versions(rng: random.Random, sentences: list[str], number: str) -> list[str]:
    """Four wordings of one message that state the same values."""
    out = []
    for _ in range(4):
        mixed = [sentence for sentence in sentences if rng.random() < 0.85]
        rng.shuffle(mixed)
        out.append(f"About order #W{number.replace('-', '')}: " + " ".join(mixed))
    return out


def _sentence(rng: random.Random, words: int) -> str:
    return " ".join(rng.choice(_WORDS) for _ in range(words)).capitalize() + "."


def _record(rng: random.Random, number: str, rows: int) -> str:
    """A result: one JSON record with a list of items in it."""
    items = [
        {
            "item_id": f"{rng.randrange(10**9, 10**10)}",
            "name": rng.choice(_WORDS),
            "price": round(rng.uniform(1, 500), 2),
            "options": {"color": rng.choice(_WORDS), "size": rng.choice(("S", "M", "L"))},
            "available": rng.random() < 0.8,
        }
        for _ in range(rows)
    ]
    record = {"order_id": f"#W{number}", "status": "processed", "items": items, "note": _sentence(rng, 12)}
    return msgspec.json.encode(record).decode()


def _played(rng: random.Random, script: list[dict[str, Any]], broken: int | None, *, kept: bool) -> list[Any]:
    """One trial's way through the script."""
    out: list[dict[str, Any]] = []
    for place, part in enumerate(script):
        if place == broken:
            if kept:
                arguments = {**part["arguments"], "amount": 1.0}
                out.append({**part, "arguments": arguments, "result": '{"status":"ok","amount":1.0}'})
            continue
        chance = rng.random()
        if part["kind"] == "read" and chance < 0.03:
            continue
        out.append(part)
        if part["kind"] == "read" and chance > 0.97:
            out.append(part)
        if part["kind"] == "read" and 0.5 < chance < 0.53 and len(out) > 1 and out[-2]["kind"] == "read":
            out[-1], out[-2] = out[-2], out[-1]
    return out


def _simulation(
    plan: Plan, rng: random.Random, task: int, trial: int, steps: list[Any], *, failed: bool
) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for part in steps:
        messages.extend(_messages(plan, rng, part, len(messages)))
    return {
        "id": f"sim-{task}-{trial}",
        "task_id": str(task),
        "trial": trial,
        "seed": 1000 + trial,
        "start_time": f"2026-01-01T10:{trial:02d}:00",
        "end_time": f"2026-01-01T10:{trial:02d}:59",
        "duration": 59.0 + trial,
        "termination_reason": "user_stop",
        "agent_cost": 0.01 * (1 + trial),
        "user_cost": 0.002,
        "reward_info": {"reward": 0.0 if failed else 1.0, "reward_breakdown": {"DB": 0.0 if failed else 1.0}},
        "messages": messages,
    }


def _messages(plan: Plan, rng: random.Random, part: dict[str, Any], at: int) -> Iterator[dict[str, Any]]:
    stamp = f"2026-01-01T10:00:{at % 60:02d}"
    usage = {"completion_tokens": 40 + at, "prompt_tokens": 1000 + 40 * at}
    if part["kind"] in ("read", "write"):
        call = {
            "id": f"call_{at}",
            "name": part["name"],
            "arguments": part["arguments"],
            "requestor": "assistant",
        }
        bulk = plan.step_bytes - len(part["result"]) - 800
        yield {
            "role": "assistant",
            "content": None,
            "tool_calls": [call],
            "turn_idx": at,
            "timestamp": stamp,
            "cost": 0.001,
            "usage": usage,
            "raw_data": _raw_data(rng, None, bulk),
        }
        yield {
            "id": call["id"],
            "role": "tool",
            "content": part["result"],
            "requestor": "assistant",
            "error": False,
            "turn_idx": at + 1,
            "timestamp": stamp,
        }
        return
    text = rng.choice(part["versions"])
    yield {
        "role": "assistant" if part["kind"] == "agent" else "user",
        "content": text,
        "tool_calls": None,
        "turn_idx": at,
        "timestamp": stamp,
        "cost": 0.001,
        "usage": usage,
        "raw_data": _raw_data(rng, text, plan.step_bytes - 2 * len(text) - 500),
    }


def _pool() -> str:
    rng = random.Random(0)
    return " ".join(rng.choice(_WORDS) for _ in range(40_000))


_FILLER = _pool()


def _raw_data(rng: random.Random, text: str | None, size: int) -> dict[str, Any]:
    """What the model's service answered: the message once more, token by token figures, reasoning."""
    size = max(size, 60)
    tokens = [
        {"token": _WORDS[(size + place) % len(_WORDS)], "logprob": -0.125 * place, "bytes": None}
        for place in range(size // 160)
    ]
    start = rng.randrange(len(_FILLER) - size)
    return {
        "id": "chatcmpl-made-up",
        "object": "chat.completion",
        "model": "made-up-1",
        "choices": [{"index": 0, "message": {"content": text, "role": "assistant"}, "logprobs": tokens}],
        "reasoning": _FILLER[start : start + max(size - 55 * len(tokens), 0)],
    }


_INFO = {
    "git_commit": "0" * 40,
    "num_trials": TRIALS,
    "max_steps": 200,
    "agent_info": {"implementation": "llm_agent", "llm": "made-up-1", "llm_args": {"temperature": 0.0}},
    "user_info": {"implementation": "user_simulator", "llm": "made-up-1"},
    "environment_info": {"domain_name": "made_up", "policy": "be kind"},
}


def write_corpus(path: Path, plan: Plan, *, tasks: int | None = None, size: int | None = None) -> int:
    """Writes whole tasks until there are ``tasks`` of them or the file has ``size`` bytes; the suffix says
    whether it is one results file (``.json``) or one simulation a line (``.jsonl``). Returns the tasks."""
    encoder = msgspec.json.Encoder()
    lines = path.suffix == ".jsonl"
    first = True
    with path.open("wb", buffering=1 << 20) as out:
        if not lines:
            info = {**_INFO, "num_trials": plan.trials}
            out.write(b'{"timestamp":"2026-01-01T10:00:00","info":' + encoder.encode(info))
            out.write(b',"tasks":[],"simulations":[')
        done = 0
        while (done < tasks) if tasks is not None else (out.tell() < (size or 0)):
            for simulation in simulations(plan, done):
                out.write(b"" if first or lines else b",")
                out.write(encoder.encode(simulation))
                out.write(b"\n" if lines else b"")
                first = False
            done += 1
        if not lines:
            out.write(b"]}\n")
    return done


def main() -> None:
    """The command line of this module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--megabytes", type=int)
    parser.add_argument("--tasks", type=int)
    parser.add_argument("--small", action="store_true", help="4 trials of 30 short steps a task")
    asked = parser.parse_args()
    plan = SMALL if asked.small else LARGE
    size = None if asked.megabytes is None else asked.megabytes * MEGABYTE
    tasks = write_corpus(asked.file, plan, tasks=asked.tasks, size=size)
    size = asked.file.stat().st_size
    print(f"{asked.file}: {size} bytes, {tasks} tasks, {size // (tasks * plan.trials * plan.steps)} a step")


if __name__ == "__main__":
    main()
