"""``--reference REF``: what failing trials are compared with instead of the passes of their task."""

from __future__ import annotations

from collections.abc import Callable

from trajdiff.cli.names import find_trial, parse_reference, path_named
from trajdiff.divergence.borrowed import References, problem, usable
from trajdiff.errors import UsageError
from trajdiff.files import exists
from trajdiff.model import Corpus, TaskTrials, Trial, Verdict
from trajdiff.render.safety import one_line


def read_references(text: str, corpus: Corpus, where: str, read: Callable[[str], Corpus]) -> References:
    """What ``--reference`` names; ``where`` says what was read, ``read`` reads another path in the same way.

    Raises ``UsageError`` where it names no passed trial of a task that was read.
    """
    if _is_path(text):
        return _of_run(corpus, read(text), text, where)
    trial, source = _trial(text, corpus, where, read)
    if not usable([trial]):
        raise UsageError(
            f"{one_line(text)}: a reference is a passed trial, and this one is {_why_not(trial)}",
            "trajdiff compare trials sets any two trials of a task side by side",
        )
    owner = next((task for task in corpus.tasks if any(trial is own for own in task.trials)), None)
    if owner is not None and source is corpus:
        others = [t for t in corpus.tasks if problem(t) == problem(owner) and t is not owner]
        return References(
            own={owner.task_id: trial.trial_id},
            borrowed={task.task_id: (trial,) for task in others},
            first=True,
        )
    wanted = _problem_of(source, trial)
    tasks = [task for task in corpus.tasks if problem(task) == wanted]
    if not tasks:
        raise UsageError(
            f"{one_line(text)}: no trial of task {one_line(wanted)} is in {one_line(where)}",
            "a reference belongs to a task that is compared",
        )
    return References(borrowed={task.task_id: (trial,) for task in tasks}, first=True)


def _is_path(text: str) -> bool:
    # A bracket may belong to the id of a task.
    return exists(text) or "*" in text or "?" in text


def _of_run(corpus: Corpus, run: Corpus, text: str, where: str) -> References:
    """The passes of another run, for every task of this one."""
    passes: dict[str, list[Trial]] = {}
    for task in run.tasks:
        passes.setdefault(problem(task), []).extend(usable(task.trials))
    borrowed = {
        task.task_id: tuple(passes[problem(task)]) for task in corpus.tasks if passes.get(problem(task))
    }
    if not borrowed:
        raise UsageError(
            f"{one_line(text)}: it has no passed trial of a task in {one_line(where)}",
            "trajdiff inspect lists tasks and verdicts of a file",
        )
    return References(borrowed=borrowed)


def _trial(text: str, corpus: Corpus, where: str, read: Callable[[str], Corpus]) -> tuple[Trial, Corpus]:
    """The trial that a reference names, and what it was read with."""
    path = path_named(text)
    known = {file.path for file in corpus.files}
    if path is None or path in known:
        return find_trial(corpus, text, where)[0], corpus
    parse_reference(text)
    if not exists(path):
        raise UsageError(f"{one_line(path)}: no such file", "a reference is written PATH#TASK/TRIAL")
    run = read(path)
    return find_trial(run, text, path)[0], run


def _problem_of(source: Corpus, trial: Trial) -> str:
    owner: TaskTrials | None = next(
        (task for task in source.tasks if any(trial is own for own in task.trials)), None
    )
    return problem(owner) if owner is not None else trial.task_id


def _why_not(trial: Trial) -> str:
    return "without steps" if trial.verdict is Verdict.PASS else str(trial.verdict)
