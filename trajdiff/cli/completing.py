"""What a shell may complete beyond options: task ids and trials of the last reading in this folder.

They are remembered in the user's cache when the program is used on a terminal. Completion parses no traces.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from trajdiff.files import write_file

if TYPE_CHECKING:
    from trajdiff.model import Corpus

#: Ids kept of one reading, and bytes of the file: an answer must be quick.
_MOST_IDS, _MOST_BYTES = 5000, 2_000_000


def remember(corpus: Corpus, environment: Mapping[str, str]) -> None:
    """Keeps the ids of this reading for completion; whatever goes wrong is no business of the command."""
    tasks = {task.task_id: [trial.trial_id for trial in task.trials] for task in corpus.tasks[:_MOST_IDS]}
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        file = cache_file(environment)
        text = json.dumps(tasks)
        if len(text) < _MOST_BYTES and not (file.is_file() and file.read_text(encoding="utf-8") == text):
            file.parent.mkdir(parents=True, exist_ok=True)
            write_file(file, text)


def cache_file(environment: Mapping[str, str]) -> Path:
    """One file per working folder, in the user's cache. Deleting it is always safe."""
    base = environment.get("XDG_CACHE_HOME") or environment.get("LOCALAPPDATA")
    home = Path(base) if base else Path.home() / ".cache"
    name = hashlib.sha256(os.fsencode(Path.cwd())).hexdigest()[:16]
    return home / "trajdiff" / f"completion-{name}.json"


def complete_task(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Task ids that begin with what was typed."""
    return [CompletionItem(task) for task in _known() if task.startswith(incomplete)]


def complete_trial(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Trials as TASK/TRIAL."""
    references = (f"{task}/{trial}" for task, trials in _known().items() for trial in trials)
    return [CompletionItem(text) for text in references if text.startswith(incomplete)]


def _known() -> dict[str, list[str]]:
    with contextlib.suppress(OSError, ValueError, RuntimeError):
        file = cache_file(os.environ)
        if file.stat().st_size <= _MOST_BYTES:
            found: Any = json.loads(file.read_text(encoding="utf-8"))
            if isinstance(found, dict):
                return {str(task): [str(one) for one in trials] for task, trials in found.items()}
    return {}
