"""What the card asks of every trial, worked out while the steps of a trial are at hand.

Steps of large logs stay in their files; without this, every figure would read them again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from trajdiff.model import TaskTrials, Trial
from trajdiff.reliability.behaviour import answer_of, calls_of, writes_of
from trajdiff.reliability.hard_gates import Breach, breach
from trajdiff.settings import GateRule


class TrialFacts(Struct, frozen=True, kw_only=True):
    """What is wanted of one trial: its writes, its answer, all its calls (None where nobody will ask), and how
    it breaks each gate."""

    writes: tuple[str, ...]
    answer: str
    calls: Mapping[str, int] | None = None
    breaches: tuple[Breach | None, ...] = ()


def work_out(
    task: TaskTrials, write_tools: Collection[str], rules: Sequence[GateRule]
) -> tuple[TrialFacts | None, ...]:
    """The facts of each trial of the task; None for those whose steps are in memory."""
    return tuple(
        TrialFacts(
            writes=writes_of(trial, write_tools),
            answer=answer_of(trial),
            calls=calls_of(trial) if task.task.expected_actions else None,
            breaches=tuple(breach(rule, trial) for rule in rules),
        )
        if _memo(trial) is not None
        else None
        for trial in task.trials
    )


def take_over(
    task: TaskTrials,
    facts: Sequence[TrialFacts | None],
    write_tools: Collection[str],
    rules: Sequence[GateRule],
) -> None:
    """Remembers what was worked out for each trial of the task, here or elsewhere."""
    for trial, known in zip(task.trials, facts, strict=False):
        memo = _memo(trial)
        if memo is None or known is None:
            continue
        memo["writes", *sorted(write_tools)] = known.writes
        memo["answer"] = known.answer
        if known.calls is not None:
            memo["calls"] = Counter(known.calls)
        for rule, found in zip(rules, known.breaches, strict=False):
            if rule.score is None:
                memo["gate", repr(rule)] = found


def _memo(trial: Trial) -> dict[Hashable, Any] | None:
    return getattr(trial.steps, "memo", None)
