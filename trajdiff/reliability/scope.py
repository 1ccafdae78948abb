"""Support coverage and human remedy: what stands beside the success rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from trajdiff.reliability.pass_k import InvalidCountsError

if TYPE_CHECKING:
    from trajdiff.model import TaskTrials


class Coverage(Struct, frozen=True, kw_only=True):
    """Rates, or None where the recording does not say.

    ``support_coverage`` is tasks in scope / tasks received; ``human_remedy_rate`` the share of counted trials
    accepted only after a person's correction; ``unassisted_rate`` the share accepted without.
    """

    tasks_received: int
    out_of_scope: int | None
    support_coverage: float | None
    human_remedy_rate: float | None
    unassisted_rate: float | None
    human_minutes: float | None
    minutes_per_unassisted: float | None


def out_of_scope(task: TaskTrials) -> bool:
    """Whether a trial of the task says that the task is outside the declared scope."""
    return any(trial.human.in_scope is False for trial in task.trials)


def coverage(
    *,
    tasks_received: int,
    out_of_scope: int | None = None,
    counted: int = 0,
    unassisted: int | None = None,
    corrected: int | None = None,
    human_minutes: float | None = None,
) -> Coverage:
    """The rates of counts. Raises ``InvalidCountsError`` for impossible ones."""
    parts = (unassisted or 0) + (corrected or 0)
    if not 0 <= (out_of_scope or 0) <= tasks_received or parts > counted or min(parts, counted) < 0:
        raise InvalidCountsError(
            f"{out_of_scope} of {tasks_received} tasks out of scope, {parts} of {counted} trials accepted"
        )
    known = out_of_scope is not None and tasks_received
    return Coverage(
        tasks_received=tasks_received,
        out_of_scope=out_of_scope,
        support_coverage=(tasks_received - (out_of_scope or 0)) / tasks_received if known else None,
        human_remedy_rate=corrected / counted if corrected is not None and counted else None,
        unassisted_rate=unassisted / counted if unassisted is not None and counted else None,
        human_minutes=human_minutes,
        minutes_per_unassisted=human_minutes / unassisted if human_minutes is not None and unassisted else None,
    )
