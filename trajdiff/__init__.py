"""trajdiff: where failing trials of an agent task left the ways of succeeding, beside pass^k.

``trajdiff.load(...)`` reads recorded runs; see ``trajdiff.api``. Importing the package loads nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trajdiff.api import Runs, RunsReport, load
    from trajdiff.errors import TrajdiffError

__version__ = "0.1.0"

__all__ = ["Runs", "RunsReport", "TrajdiffError", "__version__", "load"]


def __getattr__(name: str) -> Any:
    """The public names, each imported when it is first used."""
    if name == "TrajdiffError":
        from trajdiff.errors import TrajdiffError

        return TrajdiffError
    if name in ("load", "Runs", "RunsReport"):
        from trajdiff import api

        return getattr(api, name)
    raise AttributeError(f"module 'trajdiff' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
