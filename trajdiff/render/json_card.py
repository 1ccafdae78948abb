"""The report card as JSON: full precision, null where a value does not exist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from trajdiff.reliability.intervals import LEVEL, SuiteInterval
from trajdiff.render.json_effort import (
    consistency_object,
    cost_object,
    coverage_object,
    latency_object,
)
from trajdiff.render.judges_text import agreement_object, corrected_object

if TYPE_CHECKING:
    from trajdiff.reliability.adaptive import AdaptiveDesign
    from trajdiff.reliability.association import Relabelling
    from trajdiff.reliability.bootstrap import BootstrapInterval
    from trajdiff.reliability.card import Card
    from trajdiff.reliability.declared import DesignRow
    from trajdiff.reliability.designs import RepeatPlan
    from trajdiff.reliability.estimators import SuiteReliability
    from trajdiff.reliability.hard_gates import HardGate
    from trajdiff.reliability.judging import Judging
    from trajdiff.reliability.nodes import NodeFigures, TaskSplit
    from trajdiff.reliability.slices import Slice
    from trajdiff.reliability.weights import WeightedRow
    from trajdiff.report import Report


def card_object(report: Report, card: Card) -> dict[str, Any]:
    """Everything of the card, in one object."""
    return {
        "method": {
            "estimator": "combinatorial, without replacement",
            "interval": "Wilson on the effective number of tasks, t quantile, capped",
            "level": LEVEL,
            "units": "tasks" if card.families is None else "families",
            "seed": card.seed,
        },
        "metrics": _metrics(report.suite, card),
        "adaptive_n": _adaptive(card.figures.adaptive),
        "families": _families(card),
        "design": _design(card.design),
        "judge": None if card.judging is None else _judge(card.judging),
        "weighted": _weighted(card.figures.weighted),
        "histogram": [{"n": n, "tasks_by_passes": list(row)} for n, row in card.figures.histogram],
        "spread": _spread(card),
        "gap": report.suite.gap,
        "flip_rate": report.suite.flip_rate,
        "per_task": _per_task(card),
        "hard_gates": [gate_object(gate) for gate in card.gates],
        "coverage": coverage_object(card),
        "cost": cost_object(card),
        "latency": latency_object(card),
        "consistency": consistency_object(card),
        "required_steps": _required(card),
        "slices": [_slice(one) for one in card.slices],
        "nodes": [_node(node) for node in card.nodes.nodes],
        "nodes_tested": card.nodes.tested,
        "nodes_untestable": card.nodes.untestable,
        "deviating_share_of_passes": card.nodes.deviating,
        "plan": _plan(card.plan),
        "versions": {
            version.name: {"values": list(version.values), "trials_without": version.without}
            for version in card.versions
        },
        "not_measured": list(card.not_measured),
    }


def _per_task(card: Card) -> list[dict[str, Any]]:
    splits = {split.task_id: split for split in card.nodes.splits}
    return [
        {
            "task_id": one.task_id,
            "n": one.n,
            "c": one.c,
            "low": one.low,
            "high": one.high,
            "gap": one.gap,
            "split": _split(splits.get(one.task_id)),
        }
        for one in card.figures.tasks
    ]


def _split(split: TaskSplit | None) -> dict[str, Any] | None:
    if split is None:
        return None
    return {
        "p": split.p,
        "attainable_min": split.attainable,
        "luck": split.luck,
        "nodes": split.compared,
        "relabelling": _relabelling(split.relabelling),
    }


def _required(card: Card) -> list[dict[str, Any]]:
    return [
        {
            "task_id": row.task_id,
            "trial_id": row.trial_id,
            "passed": row.passed,
            "relation": row.relation,
            "precision": row.precision,
            "recall": row.recall,
        }
        for row in card.required
    ]


def interval_object(found: SuiteInterval | None) -> dict[str, Any] | None:
    """The headline interval."""
    if found is None:
        return None
    return {
        "low": found.low,
        "high": found.high,
        "n_eff": found.n_eff,
        "units": found.units,
        "capped": found.capped,
        "few_tasks": found.few_tasks,
    }


def bootstrap_object(found: BootstrapInterval | None) -> dict[str, Any] | None:
    """The bootstrap's interval, with what it rests on."""
    if found is None:
        return None
    return {
        "low": found.low,
        "high": found.high,
        "degenerate": found.degenerate,
        "resamples": found.resamples,
        "seed": found.seed,
    }


def gate_object(gate: HardGate) -> dict[str, Any]:
    """One hard gate with every trial that broke it."""
    return {
        "name": gate.name,
        "trials": len(gate.breaches),
        "tasks": len(gate.tasks),
        "trials_checked": gate.trials_checked,
        "tasks_checked": gate.tasks_checked,
        "trials_unjudged": gate.unjudged,
        "references": [
            {"task_id": one.task_id, "trial_id": one.trial_id, "step": one.step, "text": one.text}
            for one in gate.breaches
        ],
        "upper95": gate.upper,
    }


def _metrics(suite: SuiteReliability, card: Card) -> list[dict[str, Any]]:
    figures = card.figures
    made: list[dict[str, Any]] = []
    curves = (
        ("pass_hat", suite.pass_hat_k, figures.hat, figures.hat_bootstrap),
        ("pass_at", suite.pass_at_k, figures.at, figures.at_bootstrap),
    )
    adaptive = card.design is not None or (figures.adaptive is not None and figures.adaptive.certain)
    for name, values, intervals, drawn in curves:
        for k, (value, interval) in enumerate(zip(values, intervals, strict=False), 1):
            entry: dict[str, Any] = {
                "name": name,
                "k": k,
                "estimate": None if adaptive else value,
                "stderr": None if interval is None else interval.stderr,
                "interval": None if adaptive else interval_object(interval),
                "bootstrap": bootstrap_object(drawn[k - 1]) if drawn else None,
                "tasks_used": suite.tasks - len(suite.no_trials),
            }
            if adaptive:
                entry["reason"] = "number of trials depends on outcomes"
            elif interval is None:
                entry["reason"] = "1 task: no interval"
            made.append(entry)
    return made


def _adaptive(design: AdaptiveDesign | None) -> dict[str, Any]:
    if design is None:
        return {"suspected": False, "pattern": None}
    return {"suspected": True, "pattern": design.pattern, "certain": design.certain}


def _families(card: Card) -> dict[str, Any] | None:
    found = card.families
    if found is None:
        return None
    ids = [one.task_id for one in card.figures.tasks]
    return {
        "source": found.source,
        "units": len(set(found.of(ids))),
        "by_task": {task: found.by_task.get(task) for task in ids},
    }


def _design(row: DesignRow | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {
        "design": row.design,
        "text": row.text,
        "pass_hat_k": [
            {"k": k, "value": value, "interval": interval_object(found)} for k, value, found in row.points
        ],
    }


def _judge(found: Judging) -> dict[str, Any]:
    return {
        "agreement": None if found.agreement is None else agreement_object(found.agreement),
        "calibration": None if found.calibration is None else list(found.calibration),
        "raw": found.raw,
        "tasks": found.tasks,
        "corrected": corrected_object(found.corrected),
        "corrected_pass_hat_k": [
            {"k": k, "value": value, "low": low, "high": high}
            for k, (value, low, high) in enumerate(found.curve, 1)
        ],
    }


def _relabelling(found: Relabelling | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "p": float(found.p),
        "best_p": float(found.best_p),
        "relabellings": found.relabellings,
        "seed": found.seed,
    }


def _weighted(row: WeightedRow | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {
        "source": row.source,
        "kish": row.kish,
        "tasks": row.tasks,
        "unweighted": list(row.unweighted),
        "pass_hat_k": [
            {"k": k, "value": value, "interval": interval_object(row.intervals[k - 1])}
            for k, value in enumerate(row.pass_hat_k, 1)
        ],
    }


def _spread(card: Card) -> dict[str, Any] | None:
    spread, fault = card.figures.spread, card.figures.fault
    if spread is None:
        return None
    return {
        "within": float(spread.within),
        "between": float(spread.between),
        "icc": spread.icc,
        "stderr": spread.stderr,
        "stderr_if_trials_doubled": None if spread.less_than_chance else spread.stderr_with(trials=2),
        "stderr_if_tasks_doubled": None if spread.less_than_chance else spread.stderr_with(tasks=2),
        "trial_index_means": [
            {"index": index, "mean": mean, "tasks": tasks} for index, mean, tasks in card.figures.index_means
        ],
        "cochran_q": None if fault is None else fault.q,
        "cochran_p": None if fault is None else fault.p,
    }


def _slice(one: Slice) -> dict[str, Any]:
    return {
        "key": one.key,
        "value": one.value,
        "tasks": one.tasks,
        "trials": one.trials,
        "passed": one.passed,
        "pass_hat_k": points(one.pass_hat_k),
        "interval": interval_object(one.interval),
        "few_tasks": one.few_tasks,
    }


def points(values: Sequence[float]) -> list[dict[str, Any]]:
    """A curve as points."""
    return [{"k": k, "value": value} for k, value in enumerate(values, 1)]


def _node(node: NodeFigures) -> dict[str, Any]:
    test = node.test
    return {
        "node": node.name,
        "tables": [
            {"task_id": one.task_id, "a": one.table.a, "r": one.table.r, "c": one.table.c, "n": one.table.n}
            for one in node.tables
        ],
        "p": None if test.p is None else float(test.p),
        "mid_p": None if test.mid_p is None else float(test.mid_p),
        "attainable_min": None if test.attainable_mid_p is None else float(test.attainable_mid_p),
        "q": node.q,
        "risk_difference": node.difference,
        "ceiling": None if node.ceiling is None else {"k": node.k, "value": node.ceiling},
        "exploratory": node.exploratory,
    }


def _plan(plan: RepeatPlan | None) -> dict[str, Any] | None:
    if plan is None:
        return None
    return {
        "failed": list(plan.failed),
        "sampled": list(plan.sampled),
        "left": list(plan.left),
        "weight": plan.weight,
        "seed": plan.seed,
        "trials": plan.trials,
        "k": plan.k,
        "rotation": None if plan.rotation is None else list(plan.rotation),
        "naive": plan.naive,
        "measured": plan.measured,
    }
