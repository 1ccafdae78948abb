"""Two runs as JSON, schema ``trajdiff.compare-runs/1``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trajdiff import __version__
from trajdiff.render.json_card import bootstrap_object
from trajdiff.render.json_text import to_json, to_jsonl

if TYPE_CHECKING:
    from trajdiff.comparison import Comparison, TaskChange
    from trajdiff.reliability.paired import PairedDifference
    from trajdiff.render.view import View
    from trajdiff.sides import Side, SideDivergence, SideTask


def render(comparison: Comparison, view: View) -> str:
    """The comparison as one object."""
    return to_json(comparison_object(comparison))


def render_lines(comparison: Comparison, view: View) -> str:
    """One object per paired task."""
    return to_jsonl(_change(one) for one in comparison.changes)


def comparison_object(comparison: Comparison) -> dict[str, Any]:
    """Everything the text says, in full precision."""
    return {
        "schema": "trajdiff.compare-runs/1",
        "tool_version": __version__,
        "seed": comparison.seed,
        "baseline": _side(comparison.baseline),
        "candidate": _side(comparison.candidate),
        "differs": list(comparison.differs),
        "tasks_paired": len(comparison.changes),
        "only_baseline": list(comparison.only_baseline),
        "only_candidate": list(comparison.only_candidate),
        "no_trials": list(comparison.no_trials),
        "decision": difference_object(comparison.decision),
        "others": [{**difference_object(one), "holm_p": adjusted} for one, adjusted in comparison.others],
        "classes": [
            {"class": name, "baseline": before, "candidate": after}
            for name, before, after in comparison.classes
        ],
        "tasks": [_change(one) for one in comparison.changes],
    }


def difference_object(made: PairedDifference) -> dict[str, Any]:
    """One paired difference."""
    return {
        "k": made.k,
        "tasks": made.tasks,
        "families": made.families,
        "baseline": made.mean_a,
        "candidate": made.mean_b,
        "difference": made.difference,
        "stderr": made.stderr,
        "stderr_unpaired": made.stderr_unpaired,
        "interval": None if made.low is None else {"low": made.low, "high": made.high},
        "reason": made.reason,
        "bootstrap": bootstrap_object(made.bootstrap),
        "wins": made.wins,
        "ties": made.ties,
        "losses": made.losses,
        "differing_tasks": made.test.differing,
        "few_differ": made.few_differ,
        "sign_flip_p": float(made.test.p),
        "sign_flip_exact": made.test.exact,
        "attainable_min_p": float(made.test.attainable),
        "detectable": made.detectable,
        "differing_at_most": made.differing_at_most,
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "name": side.name,
        "saved": side.saved,
        "counted": side.counted,
        "complete": side.complete,
        "cost": side.cost,
        "tokens": side.tokens,
        "versions": {name: list(values) for name, values in side.versions.items()},
    }


def _change(change: TaskChange) -> dict[str, Any]:
    return {
        "task_id": change.task_id,
        "change": str(change.change),
        "difference": change.difference,
        "baseline": _task(change.baseline),
        "candidate": _task(change.candidate),
        "new": [_divergence(one) for one in change.new],
        "known": [_divergence(one) for one in change.known],
        "gone": [_divergence(one) for one in change.gone],
        "new_same_path": change.new_same_path,
    }


def _task(task: SideTask) -> dict[str, Any]:
    return {
        "n": task.n,
        "c": task.c,
        "verdicts": [None if one is None else str(one) for one in task.verdicts],
        "finding": str(task.kind),
        "text": task.text,
        "complete": task.complete,
    }


def _divergence(one: SideDivergence) -> dict[str, Any]:
    return {
        "identity": one.identity,
        "trial_id": one.trial_id,
        "grade": one.grade or None,
        "text": one.text,
        "support": one.support,
    }
