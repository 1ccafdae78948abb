"""Two runs of the same tasks: differences per task, what changed, which divergences are new, known or gone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from trajdiff.divergence.finding import FindingKind
from trajdiff.errors import UsageError
from trajdiff.natural import natural_key
from trajdiff.reliability.paired import (
    PairedDifference,
    holm,
    largest_k,
    pair_tasks,
    paired_difference,
)
from trajdiff.reliability.pass_k import InvalidCountsError
from trajdiff.reliability.versions import differences
from trajdiff.sides import Side, SideDivergence, SideTask, counts_of

if TYPE_CHECKING:
    from trajdiff.reliability.families import Families


class Change(StrEnum):
    """What became of a task."""

    FIXED = "fixed"
    BROKEN = "broken"
    UP = "mean up, still mixed"
    DOWN = "mean down, still mixed"
    GAINED = "never passed, now sometimes"
    LOST = "sometimes passed, now never"
    SAME = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskChange:
    """One task on both sides. ``difference`` is that of pass^1; divergences are compared by identity."""

    baseline: SideTask
    candidate: SideTask
    change: Change
    difference: float
    new: tuple[SideDivergence, ...] = ()
    known: tuple[SideDivergence, ...] = ()
    gone: tuple[SideDivergence, ...] = ()
    new_same_path: bool = False

    @property
    def task_id(self) -> str:
        """Id of the task."""
        return self.candidate.task_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Baseline against candidate.

    ``decision`` is the difference at the k fixed in advance, ``others`` those at further k with Holm's p over
    all of them, ``changes`` every paired task in natural order. ``differs`` is what is recorded and not the
    same; ``no_trials`` names paired tasks without a counted trial on one side, which are in no figure.
    """

    baseline: Side
    candidate: Side
    decision: PairedDifference
    others: tuple[tuple[PairedDifference, float], ...]
    changes: tuple[TaskChange, ...]
    only_baseline: tuple[str, ...]
    only_candidate: tuple[str, ...]
    no_trials: tuple[str, ...]
    differs: tuple[str, ...]
    classes: tuple[tuple[str, int, int], ...]
    seed: int

    def of(self, change: Change) -> tuple[TaskChange, ...]:
        """Tasks with this change."""
        return tuple(one for one in self.changes if one.change is change)


def compare_sides(
    baseline: Side,
    candidate: Side,
    *,
    k: int | None = None,
    with_bootstrap: bool = True,
    seed: int = 0,
    families: Families | None = None,
) -> Comparison:
    """Pairs tasks by id, each side with its own n. ``k`` is the decision (default: the largest all have).

    ``families`` are then the units of interval, bootstrap and sign flips. Raises ``InvalidCountsError`` where
    no task can be paired, ``UsageError`` for a k that some task lacks.
    """
    paired = pair_tasks(baseline.tasks, candidate.tasks)
    used = [task for task in paired.compared if baseline.tasks[task].n and candidate.tasks[task].n]
    if not used:
        raise InvalidCountsError(
            f"{baseline.name} and {candidate.name} have no task in common with counted trials on both sides"
        )
    a, b = counts_of(baseline, used), counts_of(candidate, used)
    most = largest_k(a, b)
    if k is not None and k > most:
        raise UsageError(f"k is {k}: a paired task has {most} counted trial{'s' * (most != 1)} on one side")
    chosen = k or most
    units = families.of(used) if families is not None else None
    decision = paired_difference(a, b, chosen, families=units, with_bootstrap=with_bootstrap, seed=seed)
    ks = sorted({1, chosen})
    rest = [paired_difference(a, b, other, families=units, seed=seed) for other in ks if other != chosen]
    adjusted = holm([float(one.test.p) for one in (decision, *rest)])[1:] if rest else ()
    return Comparison(
        baseline=baseline,
        candidate=candidate,
        decision=decision,
        others=tuple(zip(rest, adjusted, strict=True)),
        changes=tuple(_change(baseline.tasks[task], candidate.tasks[task]) for task in used),
        only_baseline=paired.only_a,
        only_candidate=paired.only_b,
        no_trials=tuple(task for task in paired.compared if task not in set(used)),
        differs=_differs(baseline, candidate),
        classes=_classes(a, b),
        seed=seed,
    )


def _change(before: SideTask, after: SideTask) -> TaskChange:
    old = {one.identity for one in before.divergences}
    now = {one.identity for one in after.divergences}
    return TaskChange(
        baseline=before,
        candidate=after,
        change=_kind(before, after),
        difference=after.c / after.n - before.c / before.n,
        new=_first(one for one in after.divergences if one.identity not in old),
        known=_first(one for one in after.divergences if one.identity in old),
        gone=_first(one for one in before.divergences if one.identity not in now),
        new_same_path=after.kind is FindingKind.SAME_PATH and before.kind is not FindingKind.SAME_PATH,
    )


def _first(found: Iterable[SideDivergence]) -> tuple[SideDivergence, ...]:
    """One divergence per identity, the first of its trials."""
    kept: dict[str, SideDivergence] = {}
    for one in found:
        kept.setdefault(one.identity, one)
    return tuple(sorted(kept.values(), key=lambda one: (one.grade or "Z", natural_key(one.trial_id))))


def _kind(before: SideTask, after: SideTask) -> Change:
    always_before, always_after = before.c == before.n, after.c == after.n
    if always_before or always_after:
        if always_before is always_after:
            return Change.SAME
        return Change.FIXED if always_after else Change.BROKEN
    if not before.c or not after.c:
        if not before.c and not after.c:
            return Change.SAME
        return Change.GAINED if after.c else Change.LOST
    step = after.c * before.n - before.c * after.n
    return Change.SAME if not step else Change.UP if step > 0 else Change.DOWN


def _differs(baseline: Side, candidate: Side) -> tuple[str, ...]:
    if baseline.trials and candidate.trials:
        return differences(baseline.trials, candidate.trials)
    told = []
    for name in baseline.versions:
        left, right = baseline.versions[name], candidate.versions.get(name)
        if right is not None and left != right:
            told.append(f"{name} differs: {', '.join(left)} against {', '.join(right)}")
    return tuple(told)


def _classes(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> tuple[tuple[str, int, int], ...]:
    def counted(pairs: Sequence[tuple[int, int]]) -> tuple[int, int, int]:
        always = sum(c == n for n, c in pairs)
        never = sum(c == 0 for _, c in pairs)
        return always, len(pairs) - always - never, never

    names = ("always pass", "mixed", "never pass")
    return tuple(zip(names, counted(a), counted(b), strict=True))
