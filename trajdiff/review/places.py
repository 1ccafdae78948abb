"""Where the verdicts of reviewers are kept: as the settings say, else beside the traces."""

from __future__ import annotations

import glob
import itertools
from collections.abc import Sequence
from pathlib import Path

from trajdiff.files import exists, is_file
from trajdiff.review.verdicts import DEFAULT_FILE


def reviews_file(setting: str | None, traces: Sequence[str]) -> Path:
    """The file of the settings; else the one beside the first path of the traces, or in the current folder
    where only that is there. It need not exist."""
    if setting is not None:
        return Path(setting)
    files = [place / DEFAULT_FILE for place in (*map(beside, traces[:1]), Path())]
    return next((file for file in files if is_file(str(file))), files[0])


def beside(path: str) -> Path:
    """The folder that holds a file or a folder of traces, or the folder a glob starts from."""
    if path == "-":
        return Path()
    parts = Path(path).parts
    fixed = list(itertools.takewhile(lambda part: not glob.has_magic(part), parts))
    if len(fixed) < len(parts) and not exists(path):
        return Path(*fixed)
    return Path(path).parent
