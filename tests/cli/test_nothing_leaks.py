"""Whatever file is written: no secret that the patterns know, and with --no-content nothing that was said."""

from __future__ import annotations

import base64
import gzip
import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import call, record, run, say, write_records

MAIL, KEY = "ana.lee@example.com", "sk-" + "proj-" + "Zx9Zx9Zx9Zx9Zx9Zx9"
#: Words that occur in what was said and nowhere else.
SAID = "quokka"


def found(word: str) -> list[dict[str, Any]]:
    """Six tasks: a wrong argument, a loop without a pass, an infrastructure end, no verdict, one that always
    passes and one on the same path; ``word`` is in every text of them."""

    def trial(
        task: str, n: int, verdict: str, size: str, *more: dict[str, Any], **extra: Any
    ) -> dict[str, Any]:
        made = record(
            task, str(n), verdict,
            say("user", f"{word} please"),
            call("look_up", {"owner": word, "size": size}, who=word),
            *more,
            call("book", {"status": word}, who=word, size=f"{size} {word}", **{f"x_{word.split('@')[0]}": 1}),
            say("agent", f"{word} booked {size}"),
            **extra,
        )  # fmt: skip
        made["task"]["title"] = f"about {word}"
        return made

    loop = [call("poll", f"waiting {word}", who=word)] * 4
    rows = [trial("mixed", n, "fail" if n % 2 else "pass", "large" if n % 2 else "small") for n in range(4)]
    rows += [trial("never", n, "fail", "small", *loop) for n in range(2)]
    rows += [trial("infra", n, "infra" if n else "pass", "small", error=f"crash {word}") for n in range(2)]
    rows += [trial("open", n, "unscored", "small") for n in range(2)]
    rows += [trial("fine", n, "pass", "small", *loop[:n]) for n in range(3)]
    rows += [trial("same", n, "fail" if n else "pass", "small", termination="max_steps") for n in range(2)]
    return rows


def unpacked(path: Path) -> str:
    """Everything readable in a file: members of a workbook, compressed chunks of a page, columns of a table."""
    data = path.read_bytes()
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(io.BytesIO(data)) as book:
            return "\n".join(book.read(name).decode("utf-8", "replace") for name in book.namelist())
    if path.suffix == ".parquet":
        return str(pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist())
    text = data.decode("utf-8")
    parts = [text]
    for chunk in re.findall(r"H4sI[A-Za-z0-9+/=\s]{40,}", text):
        parts.append(gzip.decompress(base64.b64decode(chunk)).decode("utf-8"))
    return "\n".join(parts).replace("&#8203;", "").replace("\\", "")


COMMANDS = {
    "report": ("report", "runs"),
    "task": ("compare", "task", "mixed", "runs", "--full"),
    "never": ("compare", "task", "never", "runs", "--full"),
    "trials": ("compare", "trials", "mixed/0", "mixed/1", "runs", "--full"),
    "unstable": ("unstable", "runs"),
    "inspect": ("inspect", "runs"),
    "runs": ("compare", "runs", "base", "runs"),
    "check": ("check", "runs", "--baseline", "base", "--fail-on", "new-failure,new-divergence"),
}
EXPORTS = ("csv", "tsv", "xlsx", "parquet", "json", "jsonl", "md", "html")


def written(here: Path, *more: str) -> dict[str, str]:
    """Every file that any command writes."""
    made: dict[str, str] = {}
    for name, command in COMMANDS.items():
        suffixes = EXPORTS if name == "report" else ("md", "json", "jsonl")
        targets = [part for suffix in suffixes for part in ("--to", f"{name}.{suffix}")]
        extra = ["--junit", "check.xml"] if name == "check" else []
        extra += ["--summary", "sum.html", "--stats"] if name == "report" else []
        result = run(*command, *targets, *extra, *more)
        assert result.code in (0, 1, 3), result.err
        assert "internal error" not in result.err
    for name in ("alignment", "divergences", "trials"):
        for suffix in EXPORTS:
            assert run("export", name, "runs", "--to", f"{name}.{suffix}", *more).code == 0
    for path in sorted(here.iterdir()):
        if path.is_file():
            made[path.name] = unpacked(path)
    assert len(made) > 40
    return made


@pytest.fixture
def folder(here: Path) -> Path:
    return here


def test_no_file_holds_a_secret(folder: Path) -> None:
    write_records(folder / "runs" / "r.jsonl", found(f"{MAIL} {KEY}"))
    write_records(folder / "base" / "r.jsonl", [{**row, "verdict": "pass"} for row in found("x")])
    files = written(folder)
    leaks = {name: word for name, text in files.items() for word in (MAIL, KEY) if word in text}
    assert not leaks
    seen = [name for name, text in files.items() if "redacted:email" in text]
    assert {"alignment.xlsx", "alignment.parquet", "task.md", "report.html", "trials.json"} <= set(seen)


def test_without_content_no_file_holds_what_was_said(folder: Path) -> None:
    write_records(folder / "runs" / "r.jsonl", found(SAID))
    write_records(folder / "base" / "r.jsonl", [{**row, "verdict": "pass"} for row in found(SAID)])
    full = {name for name, text in written(folder).items() if SAID in text}
    assert {f"alignment.{suffix}" for suffix in EXPORTS} <= full
    assert {
        "report.html",
        "report.json",
        "report.md",
        "task.md",
        "task.json",
        "trials.json",
        "never.json",
    } <= full
    files = written(folder, "--no-content")
    assert not sorted(name for name, text in files.items() if SAID in text)
    assert all("book" in files[name] for name in full if name.startswith(("alignment", "report.html", "task")))
