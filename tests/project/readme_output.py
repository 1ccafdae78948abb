"""Puts what the program prints into the marked places of README.md: ``python -m tests.project.readme_output``.

A place starts with ``<!-- output of: trajdiff COMMAND -->``; ``(N lines)`` after the command cuts the output.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

PLACE = re.compile(
    r"(?P<mark><!-- output of: trajdiff (?P<command>.*?)(?: \((?P<lines>\d+) lines\))? -->)\n"
    r".*?<!-- end of output -->",
    flags=re.S,
)


def printed(command: str, project: Path) -> str:
    """Standard output of a command of trajdiff, as a file or pipe would get it. Raises if it fails."""
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    arguments = [sys.executable, "-m", "trajdiff", *shlex.split(command)]
    done = subprocess.run(
        arguments, cwd=project, env=environment, capture_output=True, encoding="utf-8", check=True
    )
    return done.stdout


def filled(text: str, project: Path) -> str:
    """The text with every marked place holding the present output; cut outputs end in ``…``."""

    def fill(place: re.Match[str]) -> str:
        lines = printed(place["command"], project).splitlines()
        limit = int(place["lines"] or len(lines))
        shown = [f"$ trajdiff {place['command']}", *lines[:limit], *(["…"] if limit < len(lines) else [])]
        return "\n".join((place["mark"], "```console", *shown, "```", "<!-- end of output -->"))

    return PLACE.sub(fill, text)


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    readme = root / "README.md"
    readme.write_text(filled(readme.read_text(encoding="utf-8"), root), encoding="utf-8")
