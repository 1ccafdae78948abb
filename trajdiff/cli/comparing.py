"""``trajdiff compare`` with everything in it."""

from __future__ import annotations

from trajdiff.cli.compare import compare
from trajdiff.cli.runs import compare_runs

compare.add_command(compare_runs)

__all__ = ["compare"]
