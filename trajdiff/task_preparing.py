"""One task made ready: its trials comparable, the graph of its passes, the table of all, each made once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from trajdiff.align.graph import SuccessGraph, align_to, success_graph
from trajdiff.align.prepared import PreparedTrial, Preparer
from trajdiff.align.rows import aligned_table
from trajdiff.align.similarity import Costs
from trajdiff.align.stored_table import stays_in_files
from trajdiff.align.table import AlignedTable
from trajdiff.divergence.argument_roles import RoleCount, role_counts
from trajdiff.divergence.borrowed import References, renamed
from trajdiff.divergence.case import Levels
from trajdiff.divergence.gold import gold_trial
from trajdiff.model import TaskTrials, Trial, Verdict

Found = TypeVar("Found")


class Answers:
    """What was found out about the trials of one task, with the levels that it rested on: asked again with
    fewer levels, an answer that rested on none of those left out is the same."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], tuple[Levels, Any]] = {}

    def under(self, levels: Levels, question: tuple[str, str], answer: Callable[[Levels], Found]) -> Found:
        """The answer to a question with these levels, which take note of what it relied on."""
        known = self._found.get(question)
        if known is None or not known[0].relied <= levels.allowed <= known[0].allowed:
            own = Levels(levels.allowed)
            known = self._found[question] = own, answer(own)
        levels.relied |= known[0].relied
        found: Found = known[1]
        return found


@dataclass(frozen=True, kw_only=True)
class PreparedTask:
    """One task made ready: all comparable trials, and the graph of its passes (or of its failures).

    ``borrowed`` are passes from elsewhere, used where the task has none; ``borrowed_first``: in any case.
    ``reference`` names the one pass that the user wants to compare with.
    """

    task: TaskTrials
    trials: Mapping[str, PreparedTrial]
    costs: Costs
    gold: PreparedTrial | None = None
    borrowed: tuple[PreparedTrial, ...] = ()
    borrowed_first: bool = False
    reference: str | None = None
    answers: Answers = field(default_factory=Answers, compare=False, repr=False)

    def of(self, verdict: Verdict) -> tuple[PreparedTrial, ...]:
        """Comparable trials with this verdict, in order."""
        return tuple(
            self.trials[t.trial_id] for t in self.task.with_verdict(verdict) if t.trial_id in self.trials
        )

    @property
    def compared_with(self) -> Sequence[PreparedTrial]:
        """The passes with steps that failing trials are compared with: the one that the user named, or all."""
        passes = self.of(Verdict.PASS)
        return [trial for trial in passes if trial.trial_id == self.reference] or passes

    def release(self) -> None:
        """Lets go of what refers to itself, so that it is freed at once: a search for it takes as long as
        to look at some trials."""
        self.costs.graphs.clear()
        self.costs.merged.clear()
        self.costs.table = None
        for trial in (*self.trials.values(), *self.borrowed, *([self.gold] if self.gold is not None else [])):
            trial.memo.clear()

    @cached_property
    def graph(self) -> SuccessGraph | None:
        """The graph of the passes, None where no pass has steps."""
        return success_graph(self.compared_with, self.costs) if self.compared_with else None

    @cached_property
    def table(self) -> AlignedTable | None:
        """All trials beside each other, None where no trial has steps."""
        base = self.of(Verdict.FAIL) or tuple(self.trials.values())
        graph = self.graph or (success_graph(base, self.costs) if base else None)
        if graph is None:
            return None
        inside = {trial.trial_id for trial in graph.trials}
        rest = [t for t in self.trials.values() if t.trial_id not in inside]
        order = [t.trial_id for t in (*graph.trials, *rest)]
        aligned = [(trial, align_to(graph, trial)) for trial in rest]
        bare = stays_in_files(self.task, order)
        return aligned_table(graph, aligned, order, self.graph is not None, bare=bare)

    @cached_property
    def ways_to_pass(self) -> tuple[str, ...]:
        """Where the passes succeed in different ways."""
        return self.graph.ways() if self.graph is not None else ()

    @cached_property
    def roles(self) -> tuple[RoleCount, ...]:
        """What the arguments of the passes' calls are for."""
        return role_counts(self.graph)


def prepare_task(
    preparer: Preparer,
    task: TaskTrials,
    references: References | None = None,
    others: Mapping[str, Sequence[Trial]] | None = None,
) -> PreparedTask:
    """The task made ready; ``others`` are, by task, passes of other groups on the same problem."""
    references = references or References()
    path = task.trials[0].source.path if task.trials else ""
    # Tasks that have passes never use recorded reference calls.
    gold = None if task.passes else gold_trial(task.task, preparer, path)
    named = references.borrowed.get(task.task_id, ())
    elsewhere = named or (() if gold is not None else (others or {}).get(task.task_id, ()))
    comparable = [trial for trial in task.trials if trial.comparable]
    prepared = preparer.trials([*comparable, *renamed(elsewhere)])
    return PreparedTask(
        task=task,
        trials={trial.trial_id: trial for trial in prepared[: len(comparable)]},
        costs=Costs(),
        gold=None if named else gold,
        borrowed=prepared[len(comparable) :],
        borrowed_first=bool(named) and references.first,
        reference=references.own.get(task.task_id),
    )
