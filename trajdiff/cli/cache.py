"""``trajdiff cache``: what is kept of earlier commands, and how to delete it."""

from __future__ import annotations

import os
from typing import Any

import click

from trajdiff.cache.store import Store
from trajdiff.cli.kept import cache_folder
from trajdiff.cli.options import common_options
from trajdiff.cli.shapes import Command, Group
from trajdiff.cli.streams import put, say
from trajdiff.errors import UsageError
from trajdiff.render.safety import one_line

_KINDS = {
    "analysis": "results of single tasks beside all others",
    "outcome": "results of tasks",
    "trials": "files that were read",
    "stamp": "files known by their times",
}


@click.group(cls=Group, short_help="what is kept of earlier commands", examples=("trajdiff cache info",))
def cache() -> None:
    """Results of earlier commands, kept so that the same work is not done twice.

    Deleting them is always safe. --no-cache of any command works without them, TRAJDIFF_CACHE names another
    folder.
    """


@cache.command(
    cls=Command,
    short_help="where the cache lies and what is in it",
    examples=("trajdiff cache info", "trajdiff cache info --ascii", "trajdiff cache info --quiet"),
)
@common_options
def info(**_: Any) -> int:
    """Where the cache lies, what is in it, and how large it is."""
    store = Store(cache_folder(os.environ))
    found = store.info()
    lines = [f"{one_line(str(found.path))}   {found.file_bytes:,} bytes"]
    lines += [f"{_KINDS.get(kind, kind)}: {count:,}, {size:,} bytes" for kind, count, size in found.kinds]
    put("\n".join(lines if found.kinds else [*lines, "nothing is kept"]) + "\n")
    if store.problem is not None:
        say(f"warning: the cache cannot be used: {one_line(store.problem)}")
    return 0


@cache.command(
    cls=Command,
    short_help="delete the cache",
    examples=("trajdiff cache clear", "trajdiff cache clear --quiet", "trajdiff cache clear --ascii"),
)
@common_options
def clear(**_: Any) -> int:
    """Delete everything that is kept; the next command works it out anew."""
    store = Store(cache_folder(os.environ))
    try:
        freed = store.clear()
    except OSError as error:
        raise UsageError(
            f"{one_line(str(store.path))}: cannot be deleted ({error.strerror or error})"
        ) from error
    put(f"{freed:,} bytes freed\n")
    return 0
