"""Made-up inspect_ai logs: as one JSON document, and packed into archives the way runs write them."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from typing import Any

from backports import zstd


def inspect_call(name: str, arguments: Any, call_id: str, **more: Any) -> dict[str, Any]:
    return {"id": call_id, "function": name, "arguments": arguments, "type": "function"} | more


def inspect_messages() -> list[dict[str, Any]]:
    return [
        {"id": "m0", "role": "system", "content": "Look lamps up before you sell them."},
        {"id": "m1", "role": "user", "content": "I want the tall lamp."},
        {
            "id": "m2",
            "role": "assistant",
            "content": "",
            "tool_calls": [
                inspect_call("find_lamp", {"size": "tall"}, "c1"),
                inspect_call("stock", {"lamp": 7}, "c2"),
            ],
        },
        {"id": "m3", "role": "tool", "tool_call_id": "c1", "function": "find_lamp", "content": "lamp 7"},
        {
            "id": "m4",
            "role": "tool",
            "tool_call_id": "c2",
            "function": "stock",
            "content": "",
            "error": {"type": "timeout", "message": "no answer"},
        },
        {"id": "m5", "role": "assistant", "content": "It is sold out."},
    ]


def sample(sample_id: Any = "lamp/7", epoch: int = 1, scores: Any = None, **more: Any) -> dict[str, Any]:
    made = {
        "id": sample_id,
        "epoch": epoch,
        "input": "I want the tall lamp.",
        "target": "7",
        "messages": inspect_messages(),
        "output": {"choices": [{"message": {}, "stop_reason": "stop"}]},
        "scores": {"match": {"value": "C"}} if scores is None else scores,
        "events": [],
        "model_usage": {"m-1": {"input_tokens": 10, "output_tokens": 4, "input_tokens_cache_read": 30}},
        "uuid": f"u-{sample_id}-{epoch}",
    }
    return made | more


def header(epochs: int = 2, sample_ids: Any = ("lamp/7",), **more: Any) -> dict[str, Any]:
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": "E1",
            "run_id": "R1",
            "task": "lamps",
            "task_id": "T1",
            "model": "m-1",
            "dataset": {"name": "lamps", "sample_ids": list(sample_ids)},
            "config": {"epochs": epochs},
            "packages": {"inspect_ai": "0.3.999"},
        },
        "plan": {"config": {"temperature": 0.5}},
    } | more


def members(
    *samples: dict[str, Any], head: dict[str, Any] | None = None, start: dict[str, Any] | None = None
) -> dict[str, bytes]:
    """The files of an archive by name; without ``head`` it is one of a run that crashed."""
    whole = head or header()
    made: dict[str, Any] = {"_journal/start.json": start or {"version": 2, "eval": whole["eval"]}}
    for one in samples:
        made[f"samples/{one['id']}_epoch_{one['epoch']}.json"] = one
    if head is not None:
        made["header.json"] = head
    return {name: json.dumps(one).encode() for name, one in made.items()}


def packed(
    files: dict[str, bytes], *, method: str = "deflate", frames: int = 1, cut: int | None = None
) -> bytes:
    """A zip of ``files``: deflate by the standard library, zstd members written by hand."""
    if method == "deflate":
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
            for name, content in files.items():
                made.writestr(name, content)
        data = out.getvalue()
    else:
        data = _zstd_zip(files, frames)
    return data if cut is None else data[:cut]


def _zstd_zip(files: dict[str, bytes], frames: int) -> bytes:
    body, directory = b"", b""
    for name, content in files.items():
        step = max(1, -(-len(content) // frames))
        raw = b"".join(zstd.compress(content[at : at + step]) for at in range(0, len(content), step))
        encoded = name.encode()
        shared = struct.pack("<HHHHHIII", 63, 0x800, 93, 0, 33, zlib.crc32(content), len(raw), len(content))
        place = len(body)
        body += b"PK\x03\x04" + shared + struct.pack("<HH", len(encoded), 0) + encoded + raw
        directory += b"PK\x01\x02" + struct.pack("<H", 63) + shared
        directory += struct.pack("<HHHHHII", len(encoded), 0, 0, 0, 0, 0, place) + encoded
    end = struct.pack("<HHHHIIH", 0, 0, len(files), len(files), len(directory), len(body), 0)
    return body + directory + b"PK\x05\x06" + end
