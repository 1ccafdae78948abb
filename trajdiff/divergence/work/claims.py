"""What separates a failing trial that works by commands from its passes.

No two passes write the same commands, so the passes say at which level they agree: path and enclosing
definition, else path, and what checks said at the end. A level is used only where no pass of the task would be
accused by the others, and never on the word of one pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from trajdiff.align.prepared import PreparedStep, PreparedTrial
from trajdiff.divergence.case import Case, Suspect
from trajdiff.divergence.finding import Blame, Kind
from trajdiff.divergence.work.ledger import Work, work_of, works_by_commands

#: Passes that must agree: one pass never establishes a level.
AGREEING = 2
#: From fine to coarse.
LEVELS: tuple[tuple[str, Callable[[Work], frozenset[str]]], ...] = (
    ("definitions", Work.definitions),
    ("paths", Work.paths),
)
CHECKS = "checks"
#: Slashes in the path of a file that lies right below a folder of the root.
IN_ROOT = 2


class Marks(Struct, frozen=True, kw_only=True):
    """What a trial leaves behind at one level, under names that hold for all trials of the task."""

    trials: tuple[frozenset[str], ...]

    def shared(self, without: int | None = None) -> frozenset[str]:
        """What all (but one) of the trials have."""
        rest = [marks for number, marks in enumerate(self.trials) if number != without]
        return frozenset.intersection(*rest) if rest else frozenset()

    @property
    def agree(self) -> bool:
        """Whether no trial lacks what all others have."""
        return all(self.shared(number) <= marks for number, marks in enumerate(self.trials))


def by_commands(case: Case) -> bool:
    """Whether the failing trial and all passes work by commands."""
    # One that does not is enough, and the cases of a task share most of their passes.
    return not case.borrowed and all(works_by_commands(trial) for trial in (*case.passes, case.failing))


def work_claim(case: Case) -> Suspect | None:
    """The earliest claim at the finest level that the passes establish, or None."""
    if len(case.passes) < AGREEING:
        return None
    known = _paths(case)
    for level, marks_of in LEVELS:
        if not case.may_use(level):
            continue
        case.relies_on(level)
        marks = Marks(trials=tuple(_named(marks_of(work_of(trial)), known) for trial in case.passes))
        if marks.shared() and marks.agree:
            missing = sorted(marks.shared() - _named(marks_of(work_of(case.failing)), known))
            if missing:
                return _edit_claim(case, level, missing, marks, known)
            break
    if not case.may_use(CHECKS):
        return None
    case.relies_on(CHECKS)
    return min(_check_claims(case), key=lambda suspect: (suspect.root, suspect.tool or ""), default=None)


def no_level(case: Case) -> str:
    """Why nothing is claimed about a trial that works by commands, for the reader."""
    if len(case.passes) < AGREEING:
        return "one passed trial does not say which of its edits are needed"
    known = _paths(case)
    for _, marks_of in LEVELS:
        marks = Marks(trials=tuple(_named(marks_of(work_of(trial)), known) for trial in case.passes))
        if marks.shared() and marks.agree:
            return "the trial edits what all passed trials edit, and no check separates it"
    return "passed trials agree in no file that they change, and no check separates the trial"


def has_mark(case: Case, suspect: Suspect, trial: PreparedTrial) -> bool:
    """Whether a trial shows what a claim at one of these levels says: the edit is missing, the check fails."""
    work = work_of(trial)
    if suspect.level == CHECKS:
        check = work.checks.get(suspect.expected_value or "")
        return check is not None and check.open
    marks_of = dict(LEVELS)[suspect.level]
    return (suspect.expected_value or "") not in _named(marks_of(work), _paths(case))


def _paths(case: Case) -> tuple[str, ...]:
    """All paths that any trial of the case changed or tried to, shortest first."""
    works = [work_of(trial) for trial in (case.failing, *case.passes)]
    found = {path for work in works for path in (*work.files, *(name for name, _ in work.idle))}
    return tuple(sorted(found, key=lambda path: (len(path), path)))


def _name(path: str, known: Sequence[str]) -> str:
    """A path by the shortest known one that it ends in: containers keep their work in other folders. A name
    without a folder stands for a file right below a folder of the root only."""
    for short in known:
        below = path.startswith("/") and path.count("/") <= IN_ROOT
        if path == short or (path.endswith(f"/{short}") and ("/" in short or below)):
            return short
    return path


def _named(marks: frozenset[str], known: Sequence[str]) -> frozenset[str]:
    split = (mark.partition("::") for mark in marks)
    return frozenset(f"{_name(path, known)}{sign}{name}" for path, sign, name in split)


def _edit_claim(case: Case, level: str, missing: Sequence[str], marks: Marks, known: Sequence[str]) -> Suspect:
    own, path = work_of(case.failing), missing[0].partition("::")[0]
    shown = missing[0].removesuffix("::")
    total = len(case.passes)
    idle = [at for name, at in own.idle if _name(name, known) == path]
    what = f"{len(missing)} places that all {total} passed trials change" if len(missing) > 1 else shown
    if idle and not any(_name(name, known) == path for name in own.files):
        step = case.steps[idle[0]]
        return _suspect(
            case, Kind.INEFFECTIVE_WRITE, step, level, missing[0],
            f"edit of {path} had no effect",
            f"The edit of {path} changed nothing and was not repaired; all {total} passed trials change it.",
        )  # fmt: skip
    theirs = frozenset.union(*marks.trials)
    others = [
        file
        for file in own.files.values()
        if _name(file.path, known) not in _plain(theirs) and not file.created
    ]
    if others and not any(_name(name, known) == path for name in own.files):
        first = min(others, key=lambda file: file.position)
        other = _name(first.path, known)
        return _suspect(
            case, Kind.WRONG_ARGUMENT, case.steps[first.position], level, missing[0],
            f"edit of {other} instead of {path}",
            f"The failed trial edits {other}, which no passed trial does; all {total} passed trials"
            f" change {what}.",
            path="path",
        )  # fmt: skip
    last = case.last_agent_step or case.steps[-1]
    kind = Kind.MISSING_STEP if own.paths() else Kind.EARLY_STOP
    return _suspect(
        case, kind, last, level, missing[0], f"edit of {shown} missing",
        f"The failed trial ends without a change of {shown}; all {total} passed trials change {what}.",
    )  # fmt: skip


def _check_claims(case: Case) -> Iterator[Suspect]:
    """Checks that all passes ran and left passing, and that the trial ran and left failing."""
    own = work_of(case.failing).checks
    for target in sorted(own):
        theirs = [work_of(trial).checks.get(target) for trial in case.passes]
        opened = own[target].opened
        if opened is None or not all(check is not None and check.known and not check.open for check in theirs):
            continue
        error = f" ({own[target].error})" if own[target].error else ""
        yield _suspect(
            case, Kind.UNRECOVERED_ERROR, case.steps[opened], CHECKS, target,
            f"{target} fails at the end",
            f"{target} fails{error} from here to the end of the trial; in all {len(theirs)} passed trials it"
            " passes at the end.",
        )  # fmt: skip


def _suspect(
    case: Case, kind: Kind, step: PreparedStep, level: str, mark: str, headline: str, sentence: str,
    path: str | None = None,
) -> Suspect:  # fmt: skip
    last = case.last_agent_step
    end = last.position if last is not None and kind is Kind.UNRECOVERED_ERROR else step.position
    return Suspect(
        kind=kind, actor=Blame.AGENT, root=step.position, manifest=end, level=level, tool=step.step.name,
        path=path, expected_value=mark, said=(headline, sentence), reference=case.passes[0],
    )  # fmt: skip


def _plain(marks: frozenset[str]) -> frozenset[str]:
    return frozenset(mark.partition("::")[0] for mark in marks)
