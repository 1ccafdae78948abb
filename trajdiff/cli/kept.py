"""The cache of this user: where it lies, which program wrote into it, and the results of tasks in it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajdiff import __version__
from trajdiff.cache.store import Store
from trajdiff.execution.remembering import Remembering

if TYPE_CHECKING:
    from trajdiff.execution.runner import Runner
    from trajdiff.importers import ReadOptions
    from trajdiff.model import Corpus


def cache_folder(environment: Mapping[str, str]) -> Path:
    """``TRAJDIFF_CACHE``, else the cache folder of the user."""
    if environment.get("TRAJDIFF_CACHE"):
        return Path(environment["TRAJDIFF_CACHE"])
    from platformdirs import user_cache_path

    return user_cache_path("trajdiff", appauthor=False)


def store_of(options: Mapping[str, Any]) -> Store | None:
    """The cache, None where it is not wanted and in commands that have none."""
    return None if options.get("no_cache", True) else Store(cache_folder(os.environ))


@cache
def code_stamp(*, anywhere: bool = False) -> str:
    """The program by its version and its files, so that another program never takes the results of this one.

    ``anywhere`` looks at what the files hold, which is the same on every machine, instead of when they changed.
    """
    root = Path(__file__).resolve().parent.parent
    found: list[tuple[object, ...]] = []
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if name != "__pycache__"]
        for file in (Path(folder, name) for name in files):
            status = file.stat()
            about = hashlib.sha256(file.read_bytes()).hexdigest() if anywhere else status.st_mtime_ns
            found.append((file.relative_to(root).as_posix(), status.st_size, about))
    return f"{__version__} {hashlib.sha256(repr(sorted(found)).encode()).hexdigest()}"


def reading_stamp(options: ReadOptions) -> str:
    """How files are read; what stands on standard input counts by its digest, like any file."""
    from trajdiff.frozen import replace

    return repr(replace(options, stdin=None))


def remembering(
    runner: Runner,
    store: Any,
    corpus: Corpus,
    reading: ReadOptions,
    code: str,
    moved: Mapping[str, str] | None = None,
) -> Runner:
    """The runner, with the outcomes in ``store`` before it; ``moved`` as for ``naming``."""
    from trajdiff.task_keys import Outcomes, known_under, naming

    name = naming(corpus, code, reading_stamp(reading), moved)
    return Remembering(runner, Outcomes(store), known_under(name))


def kept_files(store: Store) -> Any:
    """What was read from files before."""
    from trajdiff.importers.kept_files import KeptFiles

    return KeptFiles(store, code_stamp())
