"""Scope, cost, time and consistency of the report card as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trajdiff.reliability.card import Card


def coverage_object(card: Card) -> dict[str, Any]:
    """Tasks in and out of scope, what people did; null for what no trial records."""
    cover = card.effort.coverage
    return {
        "tasks_received": cover.tasks_received,
        "out_of_scope": list(card.out_of_scope),
        "support_coverage": cover.support_coverage,
        "human_remedy_rate": cover.human_remedy_rate,
        "unassisted_rate": cover.unassisted_rate,
        "human_minutes": cover.human_minutes,
        "minutes_per_unassisted": cover.minutes_per_unassisted,
    }


def cost_object(card: Card) -> dict[str, Any]:
    """US dollars, in all and per accepted delivery, and tokens."""
    cost = card.effort.cost
    return {
        "total": cost.total,
        "accepted": cost.accepted,
        "per_accepted": cost.per_accepted,
        "reason": cost.reason,
        "trials_without_cost": cost.without_cost,
        "lower_bound": cost.lower_bound,
        "interval": None
        if card.effort.cost_interval is None
        else dict(zip(("low", "high", "share_without_delivery"), card.effort.cost_interval, strict=True)),
        "tokens": card.effort.tokens,
        "trials_without_tokens": card.effort.trials - card.effort.trials_with_tokens,
    }


def latency_object(card: Card) -> dict[str, Any] | None:
    """Seconds of the counted trials; None where none is recorded."""
    found = card.effort.latency
    if found is None:
        return None
    return {
        "p50": found.p50,
        "p95": found.p95,
        "max": found.maximum,
        "at_limit": found.at_limit,
        "trials": found.trials,
        "trials_without": found.without,
    }


def consistency_object(card: Card) -> list[dict[str, Any]]:
    """Paths, writes and answers of each task beside its pass rate, and its criteria."""
    return [
        {
            "task_id": one.task_id,
            "trials": one.trials,
            "paths": one.paths,
            "writes": one.writes.distinct,
            "answers": one.answers,
            "pass_rate": one.writes.pass_rate,
            "writes_agreement": one.writes.output_agreement,
            "writes_modal_share": one.writes.modal_share,
            "verdict_agreement": one.writes.verdict_agreement,
            "reading": str(one.writes.reading),
            "failures_alike": one.failures_alike,
            "criteria": [
                {"name": each.name, "met": each.met, "trials": each.trials, "class": str(each.stability)}
                for each in one.criteria
            ],
        }
        for one in card.behaviour
    ]
