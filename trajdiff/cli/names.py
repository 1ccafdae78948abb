"""Finds the task or trial a user means: exact id, unique beginning, or a suggestion."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from trajdiff.cli.suggest import nearest
from trajdiff.errors import UsageError
from trajdiff.files import exists, real_path
from trajdiff.frozen import replace
from trajdiff.render.safety import one_line

if TYPE_CHECKING:
    from trajdiff.model import Corpus, TaskTrials, Trial

_CANDIDATES = 5


class Reference(Struct, frozen=True, kw_only=True):
    """``path#task/trial@message``; the path and the message may be absent."""

    path: str | None
    task: str
    trial: str
    message: int | None


def parse_reference(text: str) -> Reference:
    """The parts of a trial reference: the last ``#`` ends the path, the last ``/`` begins the trial."""
    path, mark, rest = text.rpartition("#")
    task, slash, trial = rest.rpartition("/")
    if not slash or not task or not trial:
        raise UsageError(
            f'"{one_line(text)}" is no reference to a trial', "write TASK/TRIAL, for instance L1-061/1"
        )
    head, at, number = trial.rpartition("@")
    message = int(number) if at and head and number.isdecimal() else None
    return Reference(
        path=path if mark else None, task=task, trial=head if message is not None else trial, message=message
    )


def path_named(text: str) -> str | None:
    """The file that a reference names, if any; a ``#`` may also belong to the id of the task."""
    cuts = [at for at, sign in enumerate(text) if sign == "#"]
    for at in reversed(cuts):
        if text[:at] and exists(text[:at]):
            return text[:at]
    path = parse_reference(text).path
    # What is no path by its looks is the beginning of an id.
    return path if path is not None and (Path(path).suffix or "/" in path) else None


def named_trials(wanted: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The ids that a list separated by commas names, where ids may hold commas themselves."""
    found: list[str] = []
    at = 0
    while at < len(wanted):
        spans = range(len(wanted), at, -1)
        texts = ((end, glue.join(wanted[at:end])) for end in spans for glue in (",", ", "))
        end, name = next(((end, text) for end, text in texts if text in known), (at + 1, wanted[at]))
        found.append(name)
        at = end
    return tuple(found)


def find_task(corpus: Corpus, wanted: str, where: str) -> TaskTrials:
    """The task with this id or unique beginning of an id; ``where`` names the traces in the message."""
    exact = [task for task in corpus.tasks if task.task_id == wanted]
    if exact:
        return exact[0]
    begin = [task for task in corpus.tasks if wanted and task.task_id.startswith(wanted)]
    if len(begin) == 1:
        return begin[0]
    if begin:
        names = _some([one_line(task.task_id) for task in begin])
        raise UsageError(f'"{one_line(wanted)}" begins {len(begin)} task ids', names)
    count = len(corpus.tasks)
    near = nearest(wanted, [task.task_id for task in corpus.tasks])
    hints = [f"did you mean {' or '.join(one_line(name) for name in near)}?"] if near else []
    raise UsageError(
        f'no task "{one_line(wanted)}" in {one_line(where)} ({count} task{"" if count == 1 else "s"})',
        *hints,
        f"its tasks: {_some([one_line(task.task_id) for task in corpus.tasks])}",
    )


def _some(names: Sequence[str]) -> str:
    left = len(names) - _CANDIDATES
    more = f" and {left} more (trajdiff inspect --json has all)" if left > 0 else ""
    return f"{', '.join(names[:_CANDIDATES])}{more}"


def find_trial(corpus: Corpus, text: str, where: str) -> tuple[Trial, int | None]:
    """The trial a reference means, and the message it names."""
    exact = _exact(corpus, text)
    if exact is not None:
        return exact
    reference = parse_reference(text)
    if reference.path is not None and path_named(text) is None:
        reference = replace(reference, path=None, task=f"{reference.path}#{reference.task}")
    task = find_task(corpus, reference.task, where)
    found = [
        trial for trial in task.trials if trial.trial_id == reference.trial and _is_in(trial, reference.path)
    ]
    if len(found) == 1:
        return found[0], reference.message
    if found:
        raise UsageError(
            f'"{one_line(text)}" is in {len(found)} sources',
            *(one_line(f"{trial.source.path}#{trial.task_id}/{trial.trial_id}") for trial in found),
            "use one of these",
        )
    if reference.path is not None and not any(_is_in(trial, reference.path) for trial in task.trials):
        there = exists(reference.path)
        raise UsageError(
            f"{one_line(reference.path)}: {'not among the files that were read' if there else 'no such file'}",
            *(["name it among the TRACES, or give none"] if there else []),
            f'task "{one_line(task.task_id)}" is in: '
            + _some(list(dict.fromkeys(one_line(trial.source.path) for trial in task.trials))),
        )
    ids = ", ".join(one_line(trial.trial_id) for trial in task.trials[:20])
    raise UsageError(
        f'no trial "{one_line(reference.trial)}" of task "{one_line(task.task_id)}" in'
        f" {one_line(reference.path or where)}",
        f"its trials: {ids}",
    )


def _is_in(trial: Trial, path: str | None) -> bool:
    """Whether a trial is of the file, however that is written; None is any file."""
    known = trial.source.path
    return path is None or path == known or (known != "-" and real_path(path) == real_path(known))


def _exact(corpus: Corpus, text: str) -> tuple[Trial, int | None] | None:
    """The one trial whose reference is exactly this text; ids may hold ``/``, ``@`` and ``#`` themselves."""
    head, at, number = text.rpartition("@")
    readings: list[tuple[str, int | None]] = [(text, None)]
    if at and head and number.isdecimal():
        readings.append((head, int(number)))
    for written, message in readings:
        found = [
            trial
            for task in corpus.tasks
            for trial in task.trials
            if written
            in (
                f"{task.task_id}/{trial.trial_id}",
                f"{trial.source.path}#{task.task_id}/{trial.trial_id}",
            )
        ]
        if len(found) == 1:
            return found[0], message
    return None
