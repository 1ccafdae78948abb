"""The command line: options in, one library call, write. The only place that prints, exits, reads the
environment and catches ``TrajdiffError``."""

from __future__ import annotations

from collections.abc import Sequence

from trajdiff.cli.failures import run as run_program  # a module of this package is called run
from trajdiff.cli.program import cli

__all__ = ["cli", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; ``arguments`` default to those of the process."""
    return run_program(cli, arguments)
