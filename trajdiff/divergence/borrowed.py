"""References that are borrowed: passed trials of another run, or of another agent on the same task (grade C).

They are compared like passes, but they count as none: no passed trial of the task supports the claim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from trajdiff.align.prepared import PreparedTrial
from trajdiff.divergence.case import Case, Suspect
from trajdiff.divergence.evidence import divergence as judged
from trajdiff.divergence.finding import Divergence, Grade
from trajdiff.divergence.support import smallest_p
from trajdiff.frozen import replace
from trajdiff.model import Corpus, TaskTrials, Trial, Verdict

#: A borrowed trial is named by its reference, so that it is never taken for a trial of the task.
_LACKS = "grade "


class References(Struct, frozen=True, kw_only=True):
    """What the user named as reference. ``own``: task id to the id of one of its passed trials, which alone is
    compared with. ``borrowed``: task id to passed trials from elsewhere; ``first`` takes them even where the
    task has passes of its own."""

    own: Mapping[str, str] = field(default_factory=dict)
    borrowed: Mapping[str, tuple[Trial, ...]] = field(default_factory=dict)
    first: bool = False

    def of(self, task_id: str) -> References:
        """What is named for one task."""
        own = {task: trial for task, trial in self.own.items() if task == task_id}
        borrowed = {task: trials for task, trials in self.borrowed.items() if task == task_id}
        return References(own=own, borrowed=borrowed, first=self.first)


def problem(task: TaskTrials) -> str:
    """The id of the problem that a task tries, without whose trials these are."""
    return task.task_id.removesuffix(f" [{task.group}]") if task.group else task.task_id


def of_other_groups(corpus: Corpus) -> dict[str, tuple[Trial, ...]]:
    """For every task without a pass the passes of other models or agents on the same problem."""
    passes: dict[str, list[Trial]] = {}
    for task in corpus.tasks:
        passes.setdefault(problem(task), []).extend(t for t in task.passes if t.comparable)
    return {
        task.task_id: tuple(passes[problem(task)])
        for task in corpus.tasks
        if task.group and not task.passes and passes[problem(task)]
    }


def renamed(trials: Sequence[Trial]) -> list[Trial]:
    """The trials under their full references, for preparation beside the trials of the task."""
    return [replace(trial, trial_id=reference(trial)) for trial in trials]


def reference(trial: Trial) -> str:
    """``path#task/trial``."""
    return f"{trial.source.path}#{trial.task_id}/{trial.trial_id}"


def borrowed_divergence(case: Case, suspect: Suspect) -> Divergence:
    """The divergence of a failing trial from borrowed passes: grade C, with no support among passed trials."""
    found = judged(case, suspect)
    other = suspect.reference or case.passes[0]
    at = suspect.expected.step.source.message_index if suspect.expected is not None else None
    place = other.trial_id if at is None else f"{other.trial_id}@{at}"
    support = found.support
    told = [line for line in found.evidence if not line.startswith(_LACKS)]
    return replace(
        found,
        grade=Grade.C,
        sentence=f"{found.sentence} The reference is borrowed: {place}.",
        passed_root=None,
        passed_manifest=None,
        first_difference=None,
        passed_put_back=0,
        support=support and replace(support, passed_with=0, passed=0, smallest_p=smallest_p(support.failed, 0)),
        evidence=(
            *told,
            f"grade C: the reference is borrowed from {_whose(other)}",
        ),
    )


def _whose(trial: PreparedTrial) -> str:
    made_by = trial.trial.provenance
    return " / ".join(name for name in (made_by.agent, made_by.model) if name) or "another run"


def usable(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """Those that may serve as reference: passed, and with something recorded."""
    return tuple(trial for trial in trials if trial.verdict is Verdict.PASS and trial.comparable)
