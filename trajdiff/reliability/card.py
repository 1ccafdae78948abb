"""The report card: everything about reliability that a report carries beside the point estimates."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from trajdiff.errors import UsageError
from trajdiff.model import TaskTrials
from trajdiff.reliability.behaviour import Required, TaskBehaviour, behaviour, required_steps
from trajdiff.reliability.bootstrap import SEED
from trajdiff.reliability.declared import DesignRow, design_row
from trajdiff.reliability.designs import RepeatPlan, repeat_plan
from trajdiff.reliability.effort import Effort, effort
from trajdiff.reliability.estimators import SuiteReliability, TaskReliability
from trajdiff.reliability.families import Families, recorded_families
from trajdiff.reliability.figures import SuiteFigures, suite_figures
from trajdiff.reliability.hard_gates import HardGate, hard_gates
from trajdiff.reliability.judging import Calibration, Judging, judging
from trajdiff.reliability.labels import Labels
from trajdiff.reliability.nodes import NodeReport
from trajdiff.reliability.outcomes import outcomes_of
from trajdiff.reliability.scope import out_of_scope
from trajdiff.reliability.slices import Slice, slices
from trajdiff.reliability.versions import Version, not_measured, versions
from trajdiff.reliability.weights import Weights
from trajdiff.settings import GateRule


@dataclass(frozen=True, slots=True, kw_only=True)
class CardOptions:
    """What of the card is wanted. ``detailed`` adds the bootstrap and other figures that cost a second.

    ``by`` are keys to slice by, ``plan`` asks which tasks to repeat next, ``rotation`` (i, of n) which stratum
    of the tasks that always passed. ``families`` are those of a file, or a recorded key.
    ``labels`` and ``calibration`` say how far the verdicts of a judge can be relied on, ``design`` how the
    number of trials was chosen. ``seed`` is used wherever something is drawn.
    """

    detailed: bool = False
    seed: int = SEED
    weights: Weights | None = None
    by: tuple[str, ...] = ()
    plan: bool = False
    rotation: tuple[int, int] | None = None
    families: Families | str | None = None
    labels: tuple[Labels, ...] = ()
    calibration: Calibration | None = None
    design: str | None = None


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
    families: Families | None = None
    judging: Judging | None = None
    design: DesignRow | None = None


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
    and families of unknown tasks and for a key that nothing has, ``InputError`` for a negative cost, labels
    of other trials, and a record that does not follow the declared design.
    """
    policies = {"infra": suite.infra_policy, "unscored": suite.unscored_policy}
    rated = [(task, row) for task, row in zip(tasks, rows, strict=True) if not out_of_scope(task)]
    inside, inside_rows = [task for task, _ in rated], [row for _, row in rated]
    families = _families(inside, options.families)
    if families is not None and options.weights is not None:
        raise UsageError("weights and families together are not supported")
    known = versions(tasks)
    return Card(
        figures=suite_figures(
            inside,
            inside_rows,
            detailed=options.detailed,
            seed=options.seed,
            weights=options.weights,
            families=families,
            **policies,
        ),
        gates=hard_gates(tasks, rules),
        effort=effort(tasks, detailed=options.detailed, seed=options.seed, **policies),
        behaviour=_behaviour(tasks, write_tools, paths or {}),
        required=tuple(row for task in tasks for row in required_steps(task)),
        slices=tuple(
            one
            for key in options.by
            for one in slices(inside, key, write_tools=write_tools, families=families, **policies)
        ),
        versions=known,
        not_measured=not_measured(tasks, known),
        nodes=nodes,
        detailed=options.detailed,
        seed=options.seed,
        plan=_plan(inside, inside_rows, suite, options) if options.plan else None,
        out_of_scope=tuple(task.task_id for task in tasks if out_of_scope(task)),
        families=families,
        judging=_judging(inside, families, options),
        design=_design(inside, inside_rows, suite, options.design),
    )


def _behaviour(
    tasks: Sequence[TaskTrials], write_tools: Collection[str], paths: Mapping[str, Mapping[str, int]]
) -> tuple[TaskBehaviour, ...]:
    made = (behaviour(task, write_tools, paths.get(task.task_id, {})) for task in tasks)
    return tuple(one for one in made if one is not None)


def _judging(tasks: Sequence[TaskTrials], families: Families | None, options: CardOptions) -> Judging | None:
    return judging(
        tasks,
        labels=options.labels,
        calibration=options.calibration,
        families=families,
        detailed=options.detailed,
        seed=options.seed,
    )


def _families(tasks: Sequence[TaskTrials], wanted: Families | str | None) -> Families | None:
    """Families of a file, or by a recorded key; checked against the tasks."""
    if wanted is None:
        return None
    made = recorded_families(tasks, wanted) if isinstance(wanted, str) else wanted
    made.check([task.task_id for task in tasks])
    return made


def _design(
    tasks: Sequence[TaskTrials], rows: Sequence[TaskReliability], suite: SuiteReliability, design: str | None
) -> DesignRow | None:
    if design is None:
        return None
    outcomes = {}
    for task in tasks:
        found = outcomes_of(task, infra=suite.infra_policy, unscored=suite.unscored_policy)
        outcomes[task.task_id] = [found[index] for index in sorted(found)]
    return design_row(design, outcomes, {row.task_id: row.expected for row in rows})


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
        rotation=options.rotation,
        measured=suite.pass_hat_k[-1] if k else None,
    )
