"""From what the user named to the files that are read: folders, globs, standard input, each file once."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct, field

from trajdiff.model import Diagnostic, Severity
from trajdiff.natural import natural_key

_GLOB = re.compile(r"[*?\[]")

#: Files that lie beside logs and are none: roll-ups and companions of known producers.
_LEFT_OUT = (
    ("summary.json", "a roll-up, not a log"),
    ("eval_stats.json", "a roll-up, not a log"),
    ("reductions.json", "a roll-up, not a log"),
    ("*_all.jsonl", "a roll-up, not a log"),
    ("*_enhanced_logs.json", "a companion of a log"),
    ("base_state.json", "a companion of a log"),
    ("*.reviews.jsonl", "verdicts of reviewers, not a log"),
    ("results_user_hallucination.json", "attempts that the producer discarded"),
)
_DISCARDED_FOLDERS = {"hallucination_discarded": "attempts that the producer discarded"}
#: Working files of trajdiff run beside its trials: raw traces and copies of the trials, not worth a word.
_RUN_FILES = ".run"
# fmt: off
_NOT_LOGS = frozenset((
    ".cfg", ".css", ".csv", ".gif", ".html", ".ini", ".ipynb", ".jpeg", ".jpg", ".js", ".lock", ".log",
    ".md", ".mp3", ".parquet", ".pdf", ".png", ".py", ".pyc", ".rst", ".sh", ".svg", ".toml", ".tsv",
    ".txt", ".wav", ".xlsx", ".xml", ".yaml", ".yml",
))
# fmt: on


class Given(Struct, frozen=True, kw_only=True):
    """A file to read. ``named`` is True where the user named this very file."""

    path: str
    identity: str
    named: bool


class Gathered(Struct, kw_only=True):
    """The files in natural order of their paths, and what was to be said about the rest."""

    files: tuple[Given, ...] = ()
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def say(self, severity: Severity, slug: str, path: str, message: str, *details: str) -> None:
        """Add a diagnostic about ``path``."""
        self.diagnostics.append(
            Diagnostic(severity=severity, slug=slug, message=message, path=path, details=details)
        )


def gather(paths: Sequence[str]) -> Gathered:
    """Every file behind ``paths``, each once under the first of its names in natural order."""
    gathered = Gathered()
    found: dict[str, Given] = {}
    for path in sorted({_tidy(path) for path in paths}, key=natural_key):
        for given in _behind(path, gathered):
            known = found.get(given.identity)
            if known is None or _order(given) < _order(known):
                found[given.identity] = given
    gathered.files = tuple(sorted(found.values(), key=lambda given: natural_key(given.path)))
    return gathered


def _order(given: Given) -> tuple[bool, object]:
    return not given.named, natural_key(given.path)


def _tidy(path: str) -> str:
    text = os.fspath(path)
    if os.sep != "/":
        text = text.replace(os.sep, "/")
    return text.rstrip("/") or text


def _behind(path: str, gathered: Gathered) -> Iterator[Given]:
    if path == "-":
        yield Given(path="-", identity="-", named=True)
    elif os.path.isdir(path):  # noqa: PTH112 - paths stay text, exactly as the user gave them
        yield from _inside(path, gathered)
    elif os.path.exists(path):  # noqa: PTH110
        yield _given(path, named=True)
    elif _GLOB.search(path):
        yield from _matching(path, gathered)
    else:
        gathered.say(Severity.ERROR, "no_such_file", path, "no such file or folder")


def _given(path: str, *, named: bool) -> Given:
    return Given(path=path, identity=os.path.realpath(path), named=named)


def _matching(pattern: str, gathered: Gathered) -> Iterator[Given]:
    matches = sorted((_tidy(one) for one in glob.glob(pattern, recursive=True)), key=natural_key)  # noqa: PTH207
    if not matches:
        gathered.say(Severity.ERROR, "no_match", pattern, "no file matches this pattern")
    for match in matches:
        if not os.path.isdir(match):  # noqa: PTH112
            if not _left_out(match, gathered):
                yield _given(match, named=False)
        elif "**" not in pattern:
            # With ** the files inside are matches of their own.
            yield from _inside(match, gathered)


def _inside(root: str, gathered: Gathered) -> Iterator[Given]:
    """Files of a folder and its folders; links that lead back into it are followed once."""
    waiting, seen = [root], {os.path.realpath(root)}
    while waiting:
        folder = waiting.pop()
        try:
            names = sorted(os.listdir(folder), key=natural_key)  # noqa: PTH208
        except OSError as error:
            gathered.say(Severity.ERROR, "unreadable_folder", folder, f"cannot be read: {error.strerror}")
            continue
        for name in names:
            path = f"{folder.rstrip('/')}/{name}"
            if not os.path.isdir(path):  # noqa: PTH112
                if not _left_out(path, gathered):
                    yield _given(path, named=False)
            elif os.path.realpath(path) not in seen and not _folder_left_out(path, names, gathered):
                seen.add(os.path.realpath(path))
                waiting.append(path)


def _left_out(path: str, gathered: Gathered) -> bool:
    name = path.rsplit("/", 1)[-1]
    reason = next((reason for pattern, reason in _LEFT_OUT if fnmatchcase(name, pattern)), None)
    if name.startswith("."):
        reason = "a hidden file"
    elif reason is None and os.path.splitext(name)[1].lower() in _NOT_LOGS:  # noqa: PTH122
        reason = "not a log by its name"
    if reason is None:
        return False
    gathered.say(Severity.NOTE, "skipped_file", path, reason, "name the file itself to have it read")
    return True


def _folder_left_out(path: str, beside: list[str], gathered: Gathered) -> bool:
    name = path.rsplit("/", 1)[-1]
    reason = _DISCARDED_FOLDERS.get(name)
    if name == _RUN_FILES:
        return True
    if name.startswith(".") or name == "__pycache__":
        reason = "a hidden folder" if name.startswith(".") else "compiled code"
    elif name == "artifacts" and "results.json" in beside:
        reason = "working files of the producer"
    if reason is None:
        return False
    gathered.say(Severity.NOTE, "skipped_folder", path, reason, "name the folder itself to have it read")
    return True
