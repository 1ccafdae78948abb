"""``python -m trajdiff`` and ``trajdiff`` are the same program.

Loading it takes longer than a quick Ctrl-C, so the interrupt is heeded here from the first import on.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

#: The code of an interrupted program.
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Loads the program, runs one command and returns its exit code."""
    try:
        from trajdiff.cli import main as run

        return run(arguments)
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("interrupted\n")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
