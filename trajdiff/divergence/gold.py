"""Recorded reference calls as a borrowed reference for tasks that no trial passes (grade C).

The expected actions of a benchmark are a set of required writes, never a sequence to copy: reads among them
are one way of getting there and are left out. An empty set is legal and means that nothing may be changed.
"""

from __future__ import annotations

import json

from trajdiff.align.prepared import PreparedTrial, Preparer
from trajdiff.model import (
    Actor,
    Arguments,
    ArgumentState,
    Effect,
    Judgement,
    Result,
    SourceRef,
    Step,
    StepKind,
    Task,
    Trial,
    Verdict,
)

#: What stands in the place of a trial id.
NAME = "expected actions"


def gold_trial(task: Task, preparer: Preparer, path: str) -> PreparedTrial | None:
    """The task's expected writes as a trial of their own, or None where none are recorded."""
    if task.expected_actions is None:
        return None
    source = SourceRef(path=path, pointer="")
    steps: list[Step] = []
    for action in task.expected_actions:
        effect = preparer.effect_of.get(action.name, Effect.UNKNOWN)
        if action.actor != Actor.AGENT or effect not in (Effect.WRITE, Effect.UNKNOWN):
            continue
        arguments = action.arguments if isinstance(action.arguments, dict) else {}
        step = Step(
            index=len(steps),
            actor=Actor.AGENT,
            kind=StepKind.TOOL_CALL,
            source=source,
            name=action.name,
            arguments=Arguments(
                raw=json.dumps(arguments, default=str), parsed=arguments, state=ArgumentState.OK
            ),
            result=Result(text="", is_error=False),
        )
        steps.append(step)
    trial = Trial(
        task_id=task.task_id,
        trial_id=NAME,
        ordinal=0,
        steps=tuple(steps),
        judgement=Judgement(state=Verdict.PASS, rule="expected actions of the task"),
        source=source,
    )
    return preparer.trial(trial)
