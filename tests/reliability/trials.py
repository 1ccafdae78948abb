"""Small made-up trials for the tests of figures: what matters is verdict and termination, not the steps."""

from __future__ import annotations

from collections.abc import Sequence

from trajdiff.model import (
    Judgement,
    SourceRef,
    Task,
    TaskTrials,
    Termination,
    TerminationReason,
    Trial,
    Verdict,
)

Record = tuple[int, str, str]


def trial(task_id: str, number: int, reason: str, verdict: str) -> Trial:
    return Trial(
        task_id=task_id,
        trial_id=str(number),
        ordinal=number,
        steps=(),
        judgement=Judgement(state=Verdict(verdict)),
        source=SourceRef(path="runs.json", pointer=f"$[{number}]"),
        termination=Termination(reason=TerminationReason(reason)),
    )


def task_of(
    task_id: str, records: Sequence[Record], plan: int | None = None, missing: tuple[str, ...] = ()
) -> TaskTrials:
    trials = tuple(trial(task_id, *record) for record in records)
    return TaskTrials(task=Task(task_id=task_id), trials=trials, expected_n=plan, missing=missing)


def passes_of(task_id: str, n: int, c: int, plan: int | None = None) -> TaskTrials:
    """A task with n judged trials, the first c of them accepted."""
    records = [(number, "agent_done", "pass" if number < c else "fail") for number in range(n)]
    return task_of(task_id, records, plan)
