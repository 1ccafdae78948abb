"""The report card: everything about reliability that a report carries beside the point estimates (16)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from trajdiff.model import TaskTrials
from trajdiff.reliability.behaviour import Required, TaskBehaviour, behaviour, required_steps
from trajdiff.reliability.bootstrap import SEED
from trajdiff.reliability.designs import RepeatPlan, repeat_plan
from trajdiff.reliability.effort import Effort, effort, out_of_scope
from trajdiff.reliability.estimators import SuiteReliability, TaskReliability
from trajdiff.reliability.figures import SuiteFigures, suite_figures
from trajdiff.reliability.hard_gates import HardGate, hard_gates
from trajdiff.reliability.nodes import NodeReport
from trajdiff.reliability.outcomes import outcomes_of
from trajdiff.reliability.slices import Slice, slices
from trajdiff.reliability.versions import Version, not_measured, versions
from trajdiff.reliability.weights import Weights
from trajdiff.settings import GateRule


@dataclass(frozen=True, slots=True, kw_only=True)
class CardOptions:
    """What of the card is wanted. ``detailed`` adds the bootstrap and other figures that cost a second.

    ``by`` are keys to slice by, ``plan`` asks which tasks to repeat next. ``seed`` is used wherever something
    is drawn.
    """

    detailed: bool = False
    seed: int = SEED
    weights: Weights | None = None
    by: tuple[str, ...] = ()
    plan: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The card. ``nodes`` come from the findings, everything else from the trials.

    ``out_of_scope`` names tasks that are in no rate.
    """

    figures: SuiteFigures
    gates: tuple[HardGate, ...]
    effort: Effort
    behaviour: tuple[TaskBehaviour, ...]
    required: tuple[Required, ...]
    slices: tuple[Slice, ...]
    versions: tuple[Version, ...]
    not_measured: tuple[str, ...]
    nodes: NodeReport
    detailed: bool
    seed: int
    plan: RepeatPlan | None = None
    out_of_scope: tuple[str, ...] = ()

    @property
    def gates_broken(self) -> bool:
        """Whether any hard gate was broken."""
        return any(gate.broken for gate in self.gates)


def build_card(
    tasks: Sequence[TaskTrials],
    rows: Sequence[TaskReliability],
    suite: SuiteReliability,
    nodes: NodeReport,
    options: CardOptions,
    *,
    rules: Sequence[GateRule] = (),
    write_tools: Collection[str] = (),
    paths: Mapping[str, Mapping[str, int]] | None = None,
) -> Card:
    """The card of ``tasks`` and their ``rows`` (same order, natural order of ids).

    ``paths`` gives for each task the number of the variant of each trial. Raises ``UsageError`` for weights
    of unknown tasks and for a key that nothing has, ``InputError`` for a negative cost.
    """
    policies = {"infra": suite.infra_policy, "unscored": suite.unscored_policy}
    rated = [(task, row) for task, row in zip(tasks, rows, strict=True) if not out_of_scope(task)]
    inside = [task for task, _ in rated]
    figures = suite_figures(
        inside,
        [row for _, row in rated],
        detailed=options.detailed,
        seed=options.seed,
        weights=options.weights,
        **policies,
    )
    known = versions(tasks)
    variants = paths or {}
    made = [behaviour(task, write_tools, variants.get(task.task_id, {})) for task in tasks]
    return Card(
        figures=figures,
        gates=hard_gates(tasks, rules),
        effort=effort(tasks, **policies),
        behaviour=tuple(one for one in made if one is not None),
        required=tuple(row for task in tasks for row in required_steps(task)),
        slices=tuple(
            one for key in options.by for one in slices(inside, key, write_tools=write_tools, **policies)
        ),
        versions=known,
        not_measured=not_measured(tasks, known),
        nodes=nodes,
        detailed=options.detailed,
        seed=options.seed,
        plan=_plan(inside, [row for _, row in rated], suite, options) if options.plan else None,
        out_of_scope=tuple(task.task_id for task in tasks if out_of_scope(task)),
    )


def _plan(
    tasks: Sequence[TaskTrials],
    rows: Sequence[TaskReliability],
    suite: SuiteReliability,
    options: CardOptions,
) -> RepeatPlan:
    first = []
    for task in tasks:
        found = outcomes_of(task, infra=suite.infra_policy, unscored=suite.unscored_policy)
        if found:
            first.append((task.task_id, found[min(found)]))
    k = len(suite.pass_hat_k)
    return repeat_plan(
        [(row.task_id, row.n, row.c) for row in rows],
        trials=max(suite.n_max, 1),
        seed=options.seed,
        first=first,
        k=k or None,
        measured=suite.pass_hat_k[-1] if k else None,
    )
