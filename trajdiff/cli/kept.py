"""The cache of this user: where it lies, which program wrote into it, and the results of tasks in it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trajdiff import __version__
from trajdiff.cache.store import Store
from trajdiff.execution.remembering import Remembering
from trajdiff.frozen import replace

if TYPE_CHECKING:
    from trajdiff.analysed import KeptAnalysis
    from trajdiff.execution.runner import Runner
    from trajdiff.importers import ReadOptions
    from trajdiff.model import Corpus
    from trajdiff.settings import Settings


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
    found = sorted(
        (path, status.st_size, _digest(root / path) if anywhere else status.st_mtime_ns)
        for path, status in _files(str(root))
    )
    return f"{__version__} {hashlib.sha256(repr(found).encode()).hexdigest()}"


def _files(folder: str, inside: str = "") -> Iterator[tuple[str, os.stat_result]]:
    """The files in a folder and its folders, as paths relative to it."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_dir():
                yield f"{inside}{entry.name}", entry.stat()
            elif entry.name != "__pycache__":
                yield from _files(entry.path, f"{inside}{entry.name}/")


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def reading_stamp(options: ReadOptions) -> str:
    """How files are read; what stands on standard input counts by its digest, like any file."""
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


def kept_analysis(
    store: Store,
    corpus: Corpus,
    settings: Settings,
    reading: ReadOptions,
    *,
    tasks: Sequence[str],
    whole: bool,
) -> KeptAnalysis:
    """What was found out about these tasks before."""
    from trajdiff.analysed import KeptAnalysis

    code = code_stamp(anywhere=False)
    how = reading_stamp(reading)
    return KeptAnalysis(store, corpus, settings, tasks=tasks, whole=whole, code=code, reading=how)


def kept_files(store: Store) -> Any:
    """What was read from files before."""
    from trajdiff.importers.kept_files import KeptFiles

    return KeptFiles(store, code_stamp(anywhere=False))
