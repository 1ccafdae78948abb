"""All checks of the project, in the order in which a failure is quickest to see: ``python -m tests``.

``--quick`` leaves out the tests marked slow (they build the wheel and install it).
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent


def checks(*, quick: bool) -> dict[str, list[str]]:
    """The arguments of each check for ``python -m``, by name."""
    return {
        "lint": ["ruff", "check", "."],
        "format": ["ruff", "format", "--check", "."],
        "types": ["mypy"],
        "tests": ["pytest", "-n", "2", "--dist", "loadfile", *(["-m", "not slow"] if quick else [])],
    }


def main(arguments: Sequence[str]) -> int:
    """Runs every check even if one fails; 0 if all passed, 1 if one failed, 2 for unknown arguments."""
    if set(arguments) - {"--quick"}:
        print("usage: python -m tests [--quick]", file=sys.stderr)
        return 2
    failed = []
    for name, command in checks(quick="--quick" in arguments).items():
        print(f"== {name}: python -m {' '.join(command)}", flush=True)
        started = time.monotonic()
        code = subprocess.run([sys.executable, "-m", *command], cwd=PROJECT, check=False).returncode
        print(
            f"== {name}: {'passed' if code == 0 else 'FAILED'} in {time.monotonic() - started:.0f} s",
            flush=True,
        )
        if code:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "all checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
